"""Records checked where they are read: the signature anywhere, the scores again where model and rows are at hand."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.disclosure import Disclosure
from dynabench.datasets import stored
from dynabench.db import Database
from dynabench.errors import Invalid, NotFound
from dynabench.language import _
from dynabench.models import catalog
from dynabench.rounds import service as rounds
from dynabench.scoring import columns, queries, records
from dynabench.scoring.asking import Asked, Limits
from dynabench.scoring.gathering import Gathered
from dynabench.scoring.measures import version_of
from dynabench.scoring.tables import Record
from dynabench.settings import Settings
from dynabench.tasks.config import TaskConfig

BATCH = 256
TOLERANCE = 0.005
"""By how much a score may differ: in other batches, or on another processor, near ties may fall otherwise."""


@dataclass(frozen=True)
class Signed:
    """A document with its signature; `key` is the public key that it says it was signed with."""

    document: dict[str, Any]
    signature: str
    key: str

    def holds(self, key: str = "") -> bool:
        """Whether the signature is the document's under `key`, by default its own."""
        return records.verified(self.document, self.signature, key or self.key)


@dataclass(frozen=True)
class Compared:
    """One score as recorded and as it is now; `same` within the tolerance."""

    metric: str
    recorded: float
    now: float
    same: bool


def read(path: Path) -> Signed:
    """A record as the API gives it, from a file; raises `Invalid` for anything else."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        document, signature, key = told["document"], str(told["signature"]), str(told.get("key", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Invalid({"record": _("%(path)s is no record (%(error)s).", path=path, error=repr(error))}) from None
    if not isinstance(document, dict) or document.get("format") != records.FORMAT:
        raise Invalid(
            {"record": _("%(path)s holds no document of the format %(format)s.", path=path, format=records.FORMAT)}
        )
    return Signed(document, signature, key)


def own(settings: Settings, evaluation: int) -> Signed:
    """The record of an evaluation of this deployment; raises `NotFound`."""
    database = Database(settings.url)
    try:
        found = database.read(lambda session: session.get(Record, evaluation))
    finally:
        database.close()
    if found is None:
        raise NotFound(_("There is no record of an evaluation %(evaluation)s here.", evaluation=evaluation))
    return trusted(found.document, found.signature, records.public_keys(settings))


def trusted(document: dict[str, Any], signature: str, keys: Sequence[str]) -> Signed:
    """A record under the key that it names, if that is one of the server's `keys`, else under the present one."""
    return Signed(document, signature, document["key"] if document.get("key") in keys else keys[0])


def outdated(document: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Metrics of a record whose version is another one here, with both versions: their values are not compared."""
    both = [(each["metric"], each["version"], version_of(each["metric"])) for each in document["scores"]]
    return [each for each in both if each[1] != each[2]]


def again(settings: Settings, document: dict[str, Any], tolerance: float = TOLERANCE) -> Iterator[Compared]:
    """Ask the model about the dataset's rows again and compare the scores of the whole.

    Runs where this version of the model and the rows of this digest are; raises `NotFound` where they are not, and
    `Stopped` as an evaluation does. What was measured of time and memory is not compared.
    """
    model, digest = document["model"], _rows(settings, document["task"], document["dataset"])
    entry = catalog.entry(model["name"], model["version"])
    config = _config(settings, document["task"])
    field = next(each for each in config.answer if entry.card and each.name == entry.card.answer)
    limits = Limits(settings.evaluation_memory_mb, settings.evaluation_answer_seconds)
    asked = Asked(entry.folder, limits, lambda: None)
    rows = Gathered(field)
    try:
        for batch in _batches(settings, digest):
            for row, output in zip(batch, asked.ask([row.inputs for row in batch], BATCH).outputs, strict=True):
                rows.said.append(output.answer.get(field.name))
                rows.right.append([each[field.name] for each in row.answers if field.name in each] or [None])
    finally:
        asked.close()
    yield from _compared(document, rows, {config.metrics.primary, *config.metrics.report}, tolerance)


def _compared(document: dict[str, Any], rows: Gathered, names: set[str], tolerance: float) -> Iterator[Compared]:
    for score in document["scores"]:
        name = score["metric"]
        if name in names and score["version"] == version_of(name):
            chosen = columns.metric(name, rows.answer, rows.said, rows.right)
            given: dict[str, Any] = dict(chosen.columns)
            value = float(chosen.module.compute(**given)[chosen.key]) * chosen.scale
            yield Compared(name, score["value"], value, abs(value - score["value"]) <= tolerance)


def _batches(settings: Settings, digest: str) -> Iterator[list[stored.Stored]]:
    batch: list[stored.Stored] = []
    for row in stored.read(settings, digest):
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _rows(settings: Settings, task: str, of: dict[str, Any]) -> str:
    """The digest of a recorded dataset's rows, of which a record says a commitment where they are hidden."""
    digest = of["digest"]
    if Disclosure.at_most(of["visibility"]).hidden:
        database = Database(settings.url)
        try:
            version = database.read(lambda s: s.scalar(queries.version(task, of["name"], of["version"])))
        finally:
            database.close()
        digest = version.digest if version and version.commitment == digest else ""
    if not digest or not stored.path(settings, digest).is_file():
        raise NotFound(_("The rows of %(name)s (%(value)s) are not here.", name=of["name"], value=of["digest"][:16]))
    return str(digest)


def _config(settings: Settings, task: str) -> TaskConfig:
    def read(session: Session) -> TaskConfig:
        return rounds.newest_config(session, task)

    database = Database(settings.url)
    try:
        return database.read(read)
    finally:
        database.close()
