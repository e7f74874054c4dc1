"""Signed records: what an evaluation was of, on what, with which result, so that others can check it without us.

The signature is Ed25519 (RFC 8032) over the document in canonical JSON: keys sorted, no blanks, UTF-8.
"""

import base64
import os
import platform
import secrets
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
from dynabench.benchmark.disclosure import Disclosure
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.db import now
from dynabench.errors import Conflict
from dynabench.evaluate.evaluator.hardware import hardware
from dynabench.registry.tables import Submission
from dynabench.scoring import costs, planning, queries
from dynabench.scoring.tables import Record, Score, Shard
from dynabench.secret_file import sync_folder, write_new
from dynabench.settings import Settings

FORMAT = "dynabench-record-1"
LIBRARIES = ("numpy", "torch", "transformers", "peft", "onnxruntime", "safetensors", "tokenizers")
KEY, OLDER = "signing-key", "signing-keys-older"


def keep(session: Session, settings: Settings, evaluation: int) -> None:
    """Sign what the evaluation's shards and scores say now; an earlier record gives way."""
    session.flush()
    check_key(session, settings)
    document = _document(session, evaluation) | {"key": public_keys(settings)[0]}
    record = session.get(Record, evaluation) or Record(evaluation_id=evaluation)
    record.document, record.signature, record.made_at = document, sign(settings, document), now()
    session.add(record)


def check_key(session: Session, settings: Settings) -> None:
    """Raise `Conflict` where the newest record was signed with a key that this home folder does not know.

    A new key made beside old records would let every one of them appear forged.
    """
    newest = session.scalar(select(Record.document).order_by(Record.made_at.desc()).limit(1))
    if newest is None:
        return
    here, named = (settings.folder / KEY).exists(), newest.get("key", "")
    if not here or (named and named not in public_keys(settings)):
        state = f"{settings.folder / KEY} is another key" if here else f"There is no {settings.folder / KEY}"
        raise Conflict(
            f"{state}, and the database holds records of evaluations that were signed with "
            f"{named or 'an earlier one'}. Put the files {KEY} and {OLDER} of a backup in their places (`dynabench "
            "restore` does). If the key is lost for good, run `dynabench evaluate new-key`: old records then hold as "
            "those of an earlier key."
        )


def renew_key(session: Session, settings: Settings) -> str:
    """Sign with a new key from now on; all keys that records name stay in `public_keys`. The new public key."""
    known = set(public_keys(settings)) if (settings.folder / KEY).exists() else set(_older(settings))
    named = sorted({str(document.get("key", "")) for document in session.scalars(select(Record.document))} - known)
    for key in filter(None, named):
        _remember(settings, key)
    return rotate(settings) if (settings.folder / KEY).exists() else public_keys(settings)[0]


def sign(settings: Settings, document: dict[str, Any]) -> str:
    """The document's signature in base64."""
    return base64.b64encode(_private(settings).sign(canonical(document))).decode()


def public_keys(settings: Settings) -> list[str]:
    """The keys that signatures are checked with, 32 bytes in base64 each: that of new ones first, then earlier ones,
    newest first."""
    return [_public(_private(settings)), *_older(settings)[::-1]]


def rotate(settings: Settings) -> str:
    """Sign with a new key from now on, and forget the old private one; its public half stays in `public_keys`, so that
    old records still hold. The new public key."""
    old, made = _public(_private(settings)), Ed25519PrivateKey.generate()
    _remember(settings, old)
    waiting = settings.folder / f".{KEY}-{secrets.token_hex(8)}"
    write_new(waiting, made.private_bytes_raw())
    waiting.replace(settings.folder / KEY)
    sync_folder(settings.folder)
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
        write_new(path, Ed25519PrivateKey.generate().private_bytes_raw())
    state = path.stat()
    return _read(path, state.st_mtime_ns, state.st_ino)


@lru_cache(maxsize=8)
def _read(path: Path, changed: int, file: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(path.read_bytes())


def _older(settings: Settings) -> list[str]:
    older = settings.folder / OLDER
    return older.read_text().split() if older.exists() else []


def _remember(settings: Settings, public: str) -> None:
    with (settings.folder / OLDER).open("a") as file:
        file.write(f"{public}\n")
        file.flush()
        os.fsync(file.fileno())


def _public(key: Ed25519PrivateKey) -> str:
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def _document(session: Session, evaluation: int) -> dict[str, Any]:
    found, submission, of, dataset = planning.whole(session, evaluation)
    disclosure = Disclosure.at_most(dataset.visibility)
    digest = disclosure.digest(of)
    shards = session.scalars(queries.shards(evaluation)).all()
    scores = session.scalars(queries.scores(evaluation)).all()
    return {
        "format": FORMAT,
        "evaluation": evaluation,
        "task": dataset.task_id,
        "model": _model(submission),
        "dataset": _dataset(dataset, of, digest),
        "attempt": found.attempt,
        "answered_at": max(each.done_at for each in shards).isoformat(),
        "asked": any(found.started_at is None or each.done_at >= found.started_at for each in shards),
        "rows": found.rows_done,
        "seeds": {"replicates": digest, "sample": digest},
        "batch_size": costs.BATCH,
        "repeats": costs.REPEATS,
        "machine": hardware(),
        "python": platform.python_version(),
        "libraries": {name: known for name in LIBRARIES if (known := _version(name))},
        "code": __version__,
        "shards": [_shard(each, disclosure) for each in shards],
        "scores": [_score(each) for each in scores if not each.slice],
        "made_at": now().isoformat(),
    }


def _model(submission: Submission) -> dict[str, Any]:
    """With the digest of the encoder that the model shares with others, where it reads by one."""
    encoder = submission.card.get("encoder", "")
    found = {"name": submission.model, "version": submission.version, "kind": submission.kind}
    return found | ({"encoder": encoder} if encoder else {})


def _dataset(dataset: Dataset, version: DatasetVersion, digest: str) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "version": version.number,
        "digest": digest,
        "rows": version.rows,
        "visibility": dataset.visibility,
    }


def _shard(shard: Shard, disclosure: Disclosure) -> dict[str, Any]:
    """Return a shard without the digest of what was answered to hidden rows: few answers can be guessed."""
    names = ("part", "number", "first", "rows", *(("digest",) if disclosure.marks else ()))
    return {name: getattr(shard, name) for name in names}


def _score(score: Score) -> dict[str, Any]:
    return {name: getattr(score, name) for name in ("metric", "version", "value", "low", "high", "n")}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
