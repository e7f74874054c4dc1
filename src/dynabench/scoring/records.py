"""Signed records: what an evaluation was of, on what, with which result, so that others can check it without us.

The signature is Ed25519 (RFC 8032) over the document in canonical JSON: keys sorted, no blanks, UTF-8.
"""

import base64
import os
import platform
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from sqlalchemy.orm import Session

from dynabench import __version__
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.db import now
from dynabench.evaluate.evaluator.hardware import hardware
from dynabench.scoring import costs, planning, queries
from dynabench.scoring.tables import Record, Score, Shard
from dynabench.settings import Settings

FORMAT = "dynabench-record-1"
LIBRARIES = ("numpy", "torch", "transformers", "peft", "onnxruntime", "safetensors", "tokenizers")
KEY, OLDER = "signing-key", "signing-keys-older"


def keep(session: Session, settings: Settings, evaluation: int) -> None:
    """Sign what the evaluation's shards and scores say now; an earlier record gives way."""
    session.flush()
    document = _document(session, evaluation) | {"key": public_keys(settings)[0]}
    record = session.get(Record, evaluation) or Record(evaluation_id=evaluation)
    record.document, record.signature, record.made_at = document, sign(settings, document), now()
    session.add(record)


def sign(settings: Settings, document: dict[str, Any]) -> str:
    """The document's signature in base64."""
    return base64.b64encode(_private(settings).sign(canonical(document))).decode()


def public_keys(settings: Settings) -> list[str]:
    """The keys that signatures are checked with, 32 bytes in base64 each: that of new ones first, then earlier ones,
    newest first."""
    older = settings.folder / OLDER
    earlier = older.read_text().split() if older.exists() else []
    return [_public(_private(settings)), *earlier[::-1]]


def rotate(settings: Settings) -> str:
    """Sign with a new key from now on, and forget the old private one; its public half stays in `public_keys`, so that
    old records still hold. The new public key."""
    old, made = _public(_private(settings)), Ed25519PrivateKey.generate()
    with (settings.folder / OLDER).open("a") as file:
        file.write(f"{old}\n")
        file.flush()
        os.fsync(file.fileno())
    _written(settings.folder / KEY, made).replace(settings.folder / KEY)
    return _public(made)


def verified(document: dict[str, Any], signature: str, key: str) -> bool:
    """Whether the signature is that of the document under this public key; False for what is no key."""
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
        public.verify(base64.b64decode(signature, validate=True), canonical(document))
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def canonical(document: dict[str, Any]) -> bytes:
    """The bytes that are signed."""
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def _private(settings: Settings) -> Ed25519PrivateKey:
    """The deployment's key, made at first use; of two processes that make it at once, one's stays."""
    path = settings.folder / KEY
    if not path.exists():
        waiting = _written(path, Ed25519PrivateKey.generate())
        with suppress(FileExistsError):
            os.link(waiting, path)
        waiting.unlink()
    state = path.stat()
    return _read(path, state.st_mtime_ns, state.st_ino)


def _written(path: Path, key: Ed25519PrivateKey) -> Path:
    waiting = path.with_name(f".{KEY}-{os.getpid()}")
    waiting.touch(mode=0o600)
    waiting.write_bytes(key.private_bytes_raw())
    return waiting


@lru_cache(maxsize=8)
def _read(path: Path, changed: int, file: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(path.read_bytes())


def _public(key: Ed25519PrivateKey) -> str:
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def _document(session: Session, evaluation: int) -> dict[str, Any]:
    found, submission, of, dataset = planning.whole(session, evaluation)
    told, hidden = of.told_digest(dataset.visibility), dataset.visibility == "hidden"
    shards = session.scalars(queries.shards(evaluation)).all()
    scores = session.scalars(queries.scores(evaluation)).all()
    return {
        "format": FORMAT,
        "evaluation": evaluation,
        "task": dataset.task_id,
        "model": {"name": submission.model, "version": submission.version, "kind": submission.kind},
        "dataset": _dataset(dataset, of),
        "attempt": found.attempt,
        "answered_at": max(each.done_at for each in shards).isoformat(),
        "asked": any(found.started_at is None or each.done_at >= found.started_at for each in shards),
        "rows": found.rows_done,
        "seeds": {"replicates": told, "sample": told},
        "batch_size": costs.BATCH,
        "repeats": costs.REPEATS,
        "machine": hardware(),
        "python": platform.python_version(),
        "libraries": {name: known for name in LIBRARIES if (known := _version(name))},
        "code": __version__,
        "shards": [_shard(each, hidden) for each in shards],
        "scores": [_score(each) for each in scores if not each.slice],
        "made_at": now().isoformat(),
    }


def _dataset(dataset: Dataset, version: DatasetVersion) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "version": version.number,
        "digest": version.told_digest(dataset.visibility),
        "rows": version.rows,
        "visibility": dataset.visibility,
    }


def _shard(shard: Shard, hidden: bool) -> dict[str, Any]:
    """Without the digest of what was answered to hidden rows: few answers can be guessed."""
    told = ("part", "number", "first", "rows", *(() if hidden else ("digest",)))
    return {name: getattr(shard, name) for name in told}


def _score(score: Score) -> dict[str, Any]:
    return {name: getattr(score, name) for name in ("metric", "version", "value", "low", "high", "n")}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
