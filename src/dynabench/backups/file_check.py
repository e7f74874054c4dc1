"""Rows compared with the files that they name, and records with the keys that signed them."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench import key_check
from dynabench.datasets import stored
from dynabench.datasets.tables import DatasetVersion, Twin
from dynabench.errors import Conflict
from dynabench.media.store import Store
from dynabench.media.tables import Media
from dynabench.models import spec
from dynabench.registry import predictions, submission_files
from dynabench.registry.tables import Submission
from dynabench.releases import manifest
from dynabench.releases import service as releases
from dynabench.releases.tables import Release
from dynabench.scoring import answers, records
from dynabench.scoring.tables import Evaluation, Record, Shard
from dynabench.settings import Settings

MADE = ("archive", "adapter", "hub", "endpoint")
"""Kinds of submissions whose model was placed in the home folder when it passed its check."""
PIECE = 1024**2
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ExpectedFile:
    """A file that a row names: the row in words, and the SHA-256 of its content where the row says it."""

    path: Path
    row: str
    sha256: str = ""


def expected_files(session: Session, settings: Settings) -> Iterator[ExpectedFile]:
    """All files that rows name, below the home folder of these settings."""
    store = Store.of(settings)
    for digest in session.scalars(select(Media.digest).order_by(Media.digest)):
        yield ExpectedFile(store.path(digest), f"picture or sound {digest[:12]}", digest)
    for table, name in ((DatasetVersion, "version of a dataset"), (Twin, "perturbed copy of a dataset")):
        ready = select(table.id, table.digest).where(table.state == "ready").order_by(table.id)
        for id, digest in session.execute(ready):
            yield ExpectedFile(stored.path(settings, digest), f"{name} {id}")
    for release in session.scalars(select(Release).where(Release.state == "ready").order_by(Release.id)):
        place = releases.folder(settings, release.id)
        yield ExpectedFile(place / manifest.NAME, f"release {release.id}", release.digest)
        for file in release.manifest.get("files", ()):
            yield ExpectedFile(place / file["path"], f"release {release.id}", file["sha256"])
    yield from _answers(session, settings)
    yield from _submissions(session, settings)


def _answers(session: Session, settings: Settings) -> Iterator[ExpectedFile]:
    shards = select(Shard.evaluation_id, Shard.part, Shard.number, Shard.digest)
    for evaluation, part, number, digest in session.execute(shards.order_by(Shard.evaluation_id, Shard.number)):
        yield ExpectedFile(answers.path(settings, evaluation, part, number), f"evaluation {evaluation}", digest)


def _submissions(session: Session, settings: Settings) -> Iterator[ExpectedFile]:
    kept = Submission.state.in_(("queued", "checking", "ready"))
    for each in session.scalars(select(Submission).where(kept).order_by(Submission.id)):
        name = f"submission {each.id} ({each.name})"
        if each.state != "ready" or each.kind == "training_set":
            for file in sorted(submission_files.names(each.source)):
                yield ExpectedFile(submission_files.taken(settings, file), name)
        elif each.kind in MADE and each.source:
            yield ExpectedFile(settings.folder / "models" / f"{each.model}-{each.version}" / spec.FILE, name)
    scored = select(Evaluation.submission_id, Evaluation.version_id).join(Submission)
    done = (Submission.kind == "predictions", Submission.state == "ready", Evaluation.state == "done")
    for submission, version in session.execute(scored.where(*done)):
        yield ExpectedFile(predictions.path(settings, submission, version), f"predictions of submission {submission}")


def missing_files(session: Session, settings: Settings, present: Callable[[Path], bool]) -> list[str]:
    """Which expected files are not `present`, in words; a look at each name."""
    return [
        f"{each.row}: {each.path} is missing." for each in expected_files(session, settings) if not present(each.path)
    ]


def check_files(session: Session, settings: Settings, progress: Progress = lambda done, of: None) -> list[str]:
    """What is wrong with the files that rows name and with the signatures of records; reads every byte of them."""
    expected, problems = list(expected_files(session, settings)), []
    of = len(expected)
    for done, each in enumerate(expected):
        progress(done, of)
        if not each.path.is_file():
            problems.append(f"{each.row}: {each.path} is missing.")
        elif not _holds(settings, each):
            problems.append(f"{each.row}: {each.path} is damaged: its content is not what the row says.")
    progress(of, of)
    return problems + check_lost_keys(session, settings)


def _holds(settings: Settings, each: ExpectedFile) -> bool:
    if each.sha256:
        with each.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == each.sha256
    if each.path.suffix != ".parquet" or each.path.parent.parent != settings.folder / "datasets":
        return True
    try:
        return stored.digest(stored.read(settings, each.path.stem)) == each.path.stem
    except (OSError, ValueError, KeyError):  # pyarrow's errors are among these
        return False


def check_lost_keys(session: Session, settings: Settings) -> list[str]:
    """Whether the secret is the one that keyed the rows, and which records do not hold under any key."""
    lost = [] if key_check.has_secret(settings) else [f"{settings.secret_file} is missing."]
    if not lost:
        try:
            key_check.check_secret(session, settings)
        except Conflict as problem:
            lost = [problem.detail]
    return lost + check_signatures(session, settings)


def check_signatures(session: Session, settings: Settings) -> list[str]:
    """Which records do not hold under any key of this platform."""
    if not session.scalar(select(func.count()).select_from(Record)):
        return []
    if not (settings.folder / records.KEY).exists():
        return [f"{settings.folder / records.KEY} is missing: no record of an evaluation can be checked."]
    keys = records.public_keys(settings)
    return [
        f"The record of evaluation {each.evaluation_id} does not hold under any key of this platform."
        for each in session.scalars(select(Record).order_by(Record.evaluation_id).execution_options(yield_per=100))
        if not any(records.verified(each.document, each.signature, key) for key in keys)
    ]
