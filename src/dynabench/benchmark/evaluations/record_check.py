"""The check of signed records: the signature anywhere, the scores where the model and the rows are available."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import metric_columns, queries, records
from dynabench.benchmark.evaluations.answer_columns import AnswerColumns
from dynabench.benchmark.evaluations.measures import formula_version
from dynabench.benchmark.evaluations.model_process import ModelLimits, ModelProcess
from dynabench.benchmark.evaluations.tables import Record
from dynabench.datasets import stored
from dynabench.kit.db import Database
from dynabench.kit.errors import Invalid, NotFound
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models import catalog
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import service as rounds
from dynabench.tasks.config import TaskConfig

BATCH = 256
TOLERANCE = 0.005
"""By how much a score may differ: in other batches, or on another processor, near ties may fall otherwise."""


@dataclass(frozen=True)
class SignedRecord:
    """A document with its signature; `key` is the public key that it says it was signed with."""

    document: dict[str, Any]
    signature: str
    key: str

    def holds(self, key: str = "") -> bool:
        """Return True if the signature is the document's under `key`, by default its own key."""
        return records.is_signature_valid(self.document, self.signature, key or self.key)


@dataclass(frozen=True)
class ScoreComparison:
    """One score as recorded and as it is now; `same` within the tolerance."""

    metric: str
    recorded: float
    now: float
    same: bool


def read_record(path: Path) -> SignedRecord:
    """Read a record, in the form of the API, from a file; raises `Invalid` for any other content."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        document, signature, key = content["document"], str(content["signature"]), str(content.get("key", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Invalid({"record": _("%(path)s is no record (%(error)s).", path=path, error=repr(error))}) from None
    if not isinstance(document, dict) or document.get("format") != records.FORMAT:
        raise Invalid(
            {"record": _("%(path)s holds no document of the format %(format)s.", path=path, format=records.FORMAT)}
        )
    return SignedRecord(document, signature, key)


def own_record(settings: Settings, evaluation: int) -> SignedRecord:
    """The record of an evaluation of this deployment; raises `NotFound`."""
    database = Database(settings.url)
    try:
        record = database.read(lambda session: session.get(Record, evaluation))
    finally:
        database.close()
    if record is None:
        raise NotFound(_("There is no record of an evaluation %(evaluation)s here.", evaluation=evaluation))
    return trusted_record(record.document, record.signature, records.public_keys(settings))


def trusted_record(document: dict[str, Any], signature: str, keys: Sequence[str]) -> SignedRecord:
    """A record under the key that it names, if that is one of the server's `keys`, else under the present one."""
    return SignedRecord(document, signature, document["key"] if document.get("key") in keys else keys[0])


def outdated_metrics(document: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Return the metrics of a record whose version here is another, with both versions: their values are not
    compared."""
    both = [(entry["metric"], entry["version"], formula_version(entry["metric"])) for entry in document["scores"]]
    return [entry for entry in both if entry[1] != entry[2]]


def compare_again(
    settings: Settings, document: dict[str, Any], tolerance: float = TOLERANCE
) -> Iterator[ScoreComparison]:
    """Ask the model about the dataset's rows again and compare the scores of the whole.

    Runs where this version of the model and the rows of this digest are; raises `NotFound` where they are not,
    and `EvaluationStopped` as an evaluation does. Costs are not compared.
    """
    model, digest = document["model"], _rows(settings, document["task"], document["dataset"])
    entry = catalog.entry(model["name"], model["version"])
    config = _config(settings, document["task"])
    field = next(item for item in config.answer if entry.card and item.name == entry.card.answer)
    limits = ModelLimits(settings.evaluation_memory_mb, settings.evaluation_answer_seconds)
    model_process = ModelProcess(entry.folder, limits, lambda: None)
    rows = AnswerColumns(field)
    try:
        for batch in _batches(settings, digest):
            for row, output in zip(batch, model_process.ask([row.inputs for row in batch], BATCH).outputs, strict=True):
                rows.said.append(output.answer.get(field.name))
                rows.right.append([item[field.name] for item in row.answers if field.name in item] or [None])
    finally:
        model_process.close()
    yield from _compared(document, rows, {config.metrics.primary, *config.metrics.report}, tolerance)


def _compared(
    document: dict[str, Any], rows: AnswerColumns, names: set[str], tolerance: float
) -> Iterator[ScoreComparison]:
    for score in document["scores"]:
        name = score["metric"]
        if name in names and score["version"] == formula_version(name):
            chosen = metric_columns.bind_metric(name, rows.answer, rows.said, rows.right)
            given: dict[str, Any] = dict(chosen.columns)
            value = float(chosen.module.compute(**given)[chosen.key]) * chosen.scale
            yield ScoreComparison(name, score["value"], value, abs(value - score["value"]) <= tolerance)


def _batches(settings: Settings, digest: str) -> Iterator[list[stored.Stored]]:
    batch: list[stored.Stored] = []
    for row in stored.read(settings, digest):
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _rows(settings: Settings, task: str, dataset_fields: dict[str, Any]) -> str:
    """The digest of a recorded dataset's rows, of which a record says a commitment where they are hidden."""
    digest = dataset_fields["digest"]
    if Disclosure.at_most(dataset_fields["visibility"]).hidden:
        database = Database(settings.url)
        try:
            version = database.read(
                lambda s: s.scalar(queries.dataset_version(task, dataset_fields["name"], dataset_fields["version"]))
            )
        finally:
            database.close()
        digest = version.digest if version and version.commitment == digest else ""
    if not digest or not stored.path(settings, digest).is_file():
        raise NotFound(
            _(
                "The rows of %(name)s (%(value)s) are not here.",
                name=dataset_fields["name"],
                value=dataset_fields["digest"][:16],
            )
        )
    return str(digest)


def _config(settings: Settings, task: str) -> TaskConfig:
    def read(session: Session) -> TaskConfig:
        return rounds.newest_config(session, task)

    database = Database(settings.url)
    try:
        return database.read(read)
    finally:
        database.close()
