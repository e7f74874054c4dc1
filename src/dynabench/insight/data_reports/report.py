"""The report on data: measured in one pass, stored as JSON, the same for the same content, columns and terms."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson

from dynabench.insight.data_measurements.results import MeasureResult, read_result
from dynabench.insight.data_measurements.sample import Embed
from dynabench.insight.data_reports.measured import DEFAULT_PAIRS, DEFAULT_TERMS, MeasuredData
from dynabench.insight.data_reports.measures import COMPARED, MEASURES
from dynabench.insight.data_reports.profile import DataProfile
from dynabench.insight.data_reports.sources import ChosenColumns, DataSource, Progress, choose_columns
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings

VERSION = 2
"""Grows when measures change, so that stored reports are not used again."""
STEPS = 100
"""Steps of the progress: half of them are reading."""
MOST_PAIRS = 10


@dataclass(frozen=True)
class ReportOptions:
    """The choices of a person: columns, pairs of identity terms to compare, and the seed of all samples."""

    columns: ChosenColumns = field(default_factory=ChosenColumns)
    pairs: tuple[tuple[str, str], ...] = DEFAULT_PAIRS
    seed: int = 0

    def document(self) -> dict[str, Any]:
        """Return the options for JSON."""
        document: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return document

    @classmethod
    def restore(cls, document: Mapping[str, Any]) -> "ReportOptions":
        """Return the options that `document` wrote."""
        columns = document.get("columns", {})
        chosen = ChosenColumns(**{**columns, "texts": tuple(columns.get("texts", ()))})
        return cls(chosen, tuple((first, second) for first, second in document["pairs"]), document["seed"])


@dataclass(frozen=True)
class MeasuredFacts:
    """The facts about measured data: its name, the digest of its content, its rows and the columns that were read."""

    name: str
    digest: str
    rows: int
    columns: Mapping[str, Any]


@dataclass(frozen=True)
class DataReport:
    """The results on data by measure; `other` and `compared` are there where it was compared with other data."""

    facts: MeasuredFacts
    results: Mapping[str, MeasureResult]
    other: MeasuredFacts | None = None
    compared: Mapping[str, MeasureResult] = field(default_factory=dict)
    encoder: bool = False

    def record(self) -> dict[str, Any]:
        """Return the report as it is stored, with texts that can still be translated."""
        return {
            "facts": asdict(self.facts),
            "other": asdict(self.other) if self.other else None,
            "results": {name: result.record() for name, result in self.results.items()},
            "compared": {name: result.record() for name, result in self.compared.items()},
            "encoder": self.encoder,
        }

    def document(self) -> dict[str, Any]:
        """Return the report for programs."""
        return {
            "facts": asdict(self.facts),
            "other": asdict(self.other) if self.other else None,
            "measures": [
                {"name": name, "title": MEASURES[name].title, "about": MEASURES[name].about, **_plain(result)}
                for name, result in self.results.items()
            ],
            "compared": [
                {"name": name, "title": COMPARED[name].title, "about": COMPARED[name].about, **_plain(result)}
                for name, result in self.compared.items()
            ],
        }

    def result(self, name: str) -> MeasureResult | None:
        """Return the result of a measure of one or of two data sets."""
        return self.results.get(name) or self.compared.get(name)


def _plain(result: MeasureResult) -> dict[str, Any]:
    document = result.document()
    for table in document["tables"]:
        for name in ("drawn", "line", "human", "people"):
            table.pop(name)
    del document["people"]
    return document


def read_report(record: Mapping[str, Any]) -> DataReport:
    """Return the report of a stored record; measures that no longer exist are left out."""
    other = record.get("other")
    return DataReport(
        MeasuredFacts(**record["facts"]),
        {name: read_result(record["results"][name]) for name in MEASURES if name in record["results"]},
        MeasuredFacts(**other) if other else None,
        {name: read_result(record["compared"][name]) for name in COMPARED if name in record["compared"]},
        record["encoder"],
    )


def report_key(digest: str, other: str, options: ReportOptions, encoder: bool) -> str:
    """Return the key under which a report is stored: a digest of everything that determines it."""
    parts = [VERSION, digest, other, options.document(), encoder]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def measure_data(
    source: DataSource,
    options: ReportOptions,
    other: DataSource | None = None,
    embed: Embed | None = None,
    tell: Progress = lambda done, of: None,
) -> DataReport:
    """Measure data, and compare it with other data; `tell` gets the steps done of `STEPS`.

    Raises `Invalid` for files and columns that cannot be read.
    """
    reading = STEPS // 4 if other else STEPS // 2
    data = _read(source, options, embed, lambda done, total: tell(reading * min(done, total) // max(total, 1), STEPS))
    second = None
    if other is not None:
        guessed = ReportOptions(pairs=options.pairs, seed=options.seed)
        second = _read(
            other,
            guessed,
            embed,
            lambda done, total: tell(reading + reading * min(done, total) // max(total, 1), STEPS),
        )
    number, results, compared = 0, {}, {}
    count = len(MEASURES) + (len(COMPARED) if second else 0)
    for name, measure in MEASURES.items():
        result = measure.measure(data)
        if result is not None:
            results[name] = result
        number += 1
        tell(STEPS // 2 + STEPS // 2 * number // count, STEPS)
    for name, pair in COMPARED.items() if second else ():
        assert second is not None
        result = pair.measure(data, second)
        if result is not None:
            compared[name] = result
        number += 1
        tell(STEPS // 2 + STEPS // 2 * number // count, STEPS)
    facts = _facts(source, data)
    return DataReport(facts, results, _facts(other, second) if other and second else None, compared, embed is not None)


def _read(source: DataSource, options: ReportOptions, embed: Embed | None, tell: Progress) -> MeasuredData:
    columns = choose_columns(source, options.columns)
    terms = {*DEFAULT_TERMS, *(term for pair in options.pairs for term in pair)}
    profile = DataProfile(columns, sorted(terms), options.seed).read(source, tell)
    if not profile.rows:
        raise errors.Invalid({"file": _("This file has no rows that can be read.")})
    return MeasuredData(profile, options.pairs, embed, options.seed)


def _facts(source: DataSource, data: MeasuredData) -> MeasuredFacts:
    return MeasuredFacts(source.name, source.digest, data.profile.rows, data.profile.columns.document())


def parse_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of terms from a text such as `she/he, woman/man`; the usual ones where it is empty.

    Raises `Invalid` under `terms`.
    """
    return check_pairs([part.split("/") for part in text.split(",") if part.strip()])


def check_pairs(pairs: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """Return pairs of terms in small letters; the usual ones for none. Raises `Invalid` under `terms`."""
    plain = [tuple(term.strip().lower() for term in pair) for pair in pairs]
    if any(len(pair) != 2 or not all(pair) or pair[0] == pair[1] or max(map(len, pair)) > 40 for pair in plain):
        raise errors.Invalid({"terms": _("Write pairs of words, such as she/he, woman/man.")})
    if len(plain) > MOST_PAIRS:
        raise errors.Invalid({"terms": _("Write up to %(n)s pairs.", n=MOST_PAIRS)})
    return tuple((pair[0], pair[1]) for pair in plain) or DEFAULT_PAIRS


def report_path(settings: Settings, key: str) -> Path:
    """Return the file of the report with this key."""
    return settings.folder / "measurements" / key[:2] / f"{key}.json"


def find_report(settings: Settings, key: str) -> DataReport | None:
    """Return the stored report with this key; None where there is none that can be read."""
    try:
        return read_report(orjson.loads(report_path(settings, key).read_bytes()))
    except (FileNotFoundError, orjson.JSONDecodeError, KeyError, TypeError):
        return None


def store_report(settings: Settings, key: str, report: DataReport) -> None:
    """Keep a report under its key; a reader never sees half of it."""
    path = report_path(settings, key)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    waiting = path.with_name(f".{uuid4()}")
    try:
        waiting.write_bytes(orjson.dumps(report.record(), option=orjson.OPT_SERIALIZE_NUMPY))
        waiting.replace(path)
    finally:
        waiting.unlink(missing_ok=True)
