"""Signed records of an evaluation, and their check: model, dataset and result, so that others can verify them.

The signature is Ed25519 (RFC 8032) over the document in canonical JSON: keys sorted, no blanks, UTF-8.
"""

import base64
import json
import os
import platform
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench import __version__
from dynabench.benchmark.evaluations import costs, evaluation_run, measures, queries
from dynabench.benchmark.evaluations.answers import AnswerColumns
from dynabench.benchmark.evaluations.measures import formula_version
from dynabench.benchmark.evaluations.model_process import ModelLimits, ModelProcess
from dynabench.benchmark.evaluations.tables import Record
from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets import stored
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.evaluate.evaluator.running import hardware
from dynabench.kit.db import Database, now
from dynabench.kit.errors import Conflict, Invalid, NotFound
from dynabench.kit.language import _
from dynabench.kit.settings import Settings, sync_folder, write_new
from dynabench.models import catalog
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import service as rounds
from dynabench.tasks.config import TaskConfig

FORMAT = "dynabench-record-1"
LIBRARIES = ("numpy", "torch", "transformers", "peft", "onnxruntime", "safetensors", "tokenizers")
KEY_FILE, OLDER_KEYS_FILE = "signing-key", "signing-keys-older"


def store_record(session: Session, settings: Settings, evaluation: int) -> None:
    """Sign a record of the evaluation's present shards and scores; it replaces an earlier record."""
    session.flush()
    check_key(session, settings)
    document = _document(session, evaluation) | {"key": public_keys(settings)[0]}
    record = session.get(Record, evaluation) or Record(evaluation_id=evaluation)
    record.document, record.signature, record.made_at = document, sign_document(settings, document), now()
    session.add(record)


def check_key(session: Session, settings: Settings) -> None:
    """Raise `Conflict` where the newest record was signed with a key that this home folder does not know.

    A new key made beside old records would let every one of them appear forged.
    """
    newest = session.scalar(select(Record.document).order_by(Record.made_at.desc()).limit(1))
    if newest is None:
        return
    key_exists, named = (settings.folder / KEY_FILE).exists(), newest.get("key", "")
    if not key_exists or (named and named not in public_keys(settings)):
        state = (
            f"{settings.folder / KEY_FILE} is another key"
            if key_exists
            else f"There is no {settings.folder / KEY_FILE}"
        )
        raise Conflict(
            f"{state}, and the database holds records of evaluations that were signed with "
            f"{named or 'an earlier one'}. Put the files {KEY_FILE} and {OLDER_KEYS_FILE} of a backup in "
            "their places (`dynabench restore` does). If the key is lost for good, run `dynabench evaluate new-key`: "
            "old records then hold as those of an earlier key."
        )


def renew_key(session: Session, settings: Settings) -> str:
    """Create a new signing key and return its public key; all keys that records name stay in `public_keys`."""
    known_keys = set(public_keys(settings)) if (settings.folder / KEY_FILE).exists() else set(_older(settings))
    named = sorted({str(document.get("key", "")) for document in session.scalars(select(Record.document))} - known_keys)
    for key in filter(None, named):
        _remember(settings, key)
    return rotate_key(settings) if (settings.folder / KEY_FILE).exists() else public_keys(settings)[0]


def sign_document(settings: Settings, document: dict[str, Any]) -> str:
    """The document's signature in base64."""
    return base64.b64encode(sign_bytes(settings, canonical_json(document))).decode()


def sign_bytes(settings: Settings, content: bytes) -> bytes:
    """Return the signature of bytes under the deployment's present key."""
    return _private(settings).sign(content)


def public_keys(settings: Settings) -> list[str]:
    """Return the keys for checking signatures, 32 bytes in base64 each: the present one, then earlier ones, newest
    first."""
    return [_public(_private(settings)), *_older(settings)[::-1]]


def rotate_key(settings: Settings) -> str:
    """Replace the private key and return the new public key; the old public key stays in `public_keys`, so that old
    records still verify."""
    old, new_key = _public(_private(settings)), Ed25519PrivateKey.generate()
    _remember(settings, old)
    waiting = settings.folder / f".{KEY_FILE}-{secrets.token_hex(8)}"
    write_new(waiting, new_key.private_bytes_raw())
    waiting.replace(settings.folder / KEY_FILE)
    sync_folder(settings.folder)
    return _public(new_key)


def is_signature_valid(document: dict[str, Any], signature: str, key: str) -> bool:
    """Return True if the signature is that of the document under this public key; False also for a malformed key."""
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
        public.verify(base64.b64decode(signature, validate=True), canonical_json(document))
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def canonical_json(document: Mapping[str, Any]) -> bytes:
    """Return the bytes of a document that are signed, or that its digest is of: JSON with sorted names, no blanks."""
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def _private(settings: Settings) -> Ed25519PrivateKey:
    """The deployment's key, made at first use; of two processes that make it at once, one's stays."""
    path = settings.folder / KEY_FILE
    if not path.exists():
        write_new(path, Ed25519PrivateKey.generate().private_bytes_raw())
    state = path.stat()
    return _read(path, state.st_mtime_ns, state.st_ino)


@lru_cache(maxsize=8)
def _read(path: Path, changed: int, file: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(path.read_bytes())


def _older(settings: Settings) -> list[str]:
    older = settings.folder / OLDER_KEYS_FILE
    return older.read_text().split() if older.exists() else []


def _remember(settings: Settings, public: str) -> None:
    with (settings.folder / OLDER_KEYS_FILE).open("a") as file:
        file.write(f"{public}\n")
        file.flush()
        os.fsync(file.fileno())


def _public(key: Ed25519PrivateKey) -> str:
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def _document(session: Session, evaluation: int) -> dict[str, Any]:
    evaluation_row, submission, dataset_version, dataset = evaluation_run.load_evaluation(session, evaluation)
    disclosure = Disclosure.at_most(dataset.visibility)
    digest = disclosure.digest(dataset_version)
    shards = session.scalars(queries.finished_shards(evaluation)).all()
    # Without the digest of what was answered to hidden rows: few answers can be guessed.
    shard_fields = ("part", "number", "first", "rows", *(("digest",) if disclosure.marks else ()))
    scores = session.scalars(queries.all_scores(evaluation)).all()
    return {
        "format": FORMAT,
        "evaluation": evaluation,
        "task": dataset.task_id,
        "model": _model(submission),
        "dataset": _dataset(dataset, dataset_version, digest),
        "attempt": evaluation_row.attempt,
        "answered_at": max(item.done_at for item in shards).isoformat(),
        "asked": any(evaluation_row.started_at is None or item.done_at >= evaluation_row.started_at for item in shards),
        "rows": evaluation_row.rows_done,
        "seeds": {"replicates": digest, "sample": digest},
        "batch_size": costs.BATCH,
        "repeats": costs.REPEATS,
        "machine": hardware(),
        "python": platform.python_version(),
        "libraries": {name: library_version for name in LIBRARIES if (library_version := _version(name))},
        "code": __version__,
        "shards": [{name: getattr(item, name) for name in shard_fields} for item in shards],
        "scores": [
            {name: getattr(item, name) for name in ("metric", "version", "value", "low", "high", "n")}
            for item in scores
            if not item.slice
        ],
        "made_at": now().isoformat(),
    }


def _model(submission: Submission) -> dict[str, Any]:
    """With the digest of the encoder that the model shares with others, where it reads by one."""
    encoder = submission.card.get("encoder", "")
    fields = {"name": submission.model, "version": submission.version, "kind": submission.kind}
    return fields | ({"encoder": encoder} if encoder else {})


def _dataset(dataset: Dataset, version: DatasetVersion, digest: str) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "version": version.number,
        "digest": digest,
        "rows": version.rows,
        "visibility": dataset.visibility,
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


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
        return is_signature_valid(self.document, self.signature, key or self.key)


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
        raise Invalid({"record": _("%(path)s is not a record (%(error)s).", path=path, error=repr(error))}) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Invalid({"record": _("%(path)s is not a document of the format %(format)s.", path=path, format=FORMAT)})
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
    return trusted_record(record.document, record.signature, public_keys(settings))


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
                rows.predictions.append(output.answer.get(field.name))
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
            chosen = measures.bind_metric(name, rows.answer, rows.predictions, rows.right)
            columns: dict[str, Any] = dict(chosen.columns)
            value = float(chosen.module.compute(**columns)[chosen.key]) * chosen.scale
            yield ScoreComparison(name, score["value"], value, abs(value - score["value"]) <= tolerance)


def _batches(settings: Settings, digest: str) -> Iterator[list[stored.StoredRow]]:
    batch: list[stored.StoredRow] = []
    for row in stored.read_rows(settings, digest):
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
    if not digest or not stored.rows_path(settings, digest).is_file():
        raise NotFound(
            _(
                "The rows of %(name)s (%(value)s) are missing.",
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
