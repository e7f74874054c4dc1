"""Rows compared with the files that they name, and records with the keys that signed them."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from sqlalchemy import column, create_engine, func, inspect, make_url, select, table
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import answers, queries, records, row_scores
from dynabench.benchmark.evaluations.tables import Evaluation, EvaluationState, Record, Shard
from dynabench.benchmark.registry import predictions, submission_sources
from dynabench.benchmark.registry import queries as submission_queries
from dynabench.benchmark.registry.tables import Submission, SubmissionState
from dynabench.benchmark.releases import manifest
from dynabench.benchmark.releases import service as releases
from dynabench.benchmark.releases.tables import Release, ReleaseState
from dynabench.cycle.tables import CandidateState, CycleCandidate
from dynabench.datasets import stored
from dynabench.datasets.tables import Dataset, DatasetState, DatasetVersion, Twin
from dynabench.hubs.file_store import HubFileStore
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.tables import HubFile, HubReference, HubRepository
from dynabench.kit import jobs
from dynabench.kit.errors import Conflict, NotFound, Problem
from dynabench.kit.jobs import Job
from dynabench.kit.settings import Settings
from dynabench.media.store import MediaStore
from dynabench.media.tables import Media
from dynabench.models import catalog, spec
from dynabench.operations import key_check
from dynabench.operations.backups.database_copy import ENGINE
from dynabench.rounds import queries as round_queries
from dynabench.rounds import round_models

PLACED = ("archive", "adapter", "hub", "endpoint", "training_set")
"""Kinds of submissions whose model was placed in the home folder when it passed its check."""
READING = ("import_contexts", "import_data", "import_task", "perturb_dataset", "read_dataset")
"""Kinds of jobs that read a file which was sent, and delete it at their end."""
UNFINISHED = ("ENQUEUED", "DELAYED", "PENDING")
PIECE = 1024**2
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ExpectedFile:
    """A file that a row names: the row in words, and the SHA-256 of its content or another test where there is one."""

    path: Path
    row: str
    sha256: str = ""
    is_whole: Callable[[], bool] = lambda: True


def expected_files(session: Session, settings: Settings, engine: str | None = None) -> Iterator[ExpectedFile]:
    """All files that rows name, below the home folder of these settings.

    `engine` is where the state of jobs is, by default that of these settings; empty for none.
    """
    store = MediaStore.of(settings)
    for digest in session.scalars(select(Media.digest).order_by(Media.digest)):
        yield ExpectedFile(store.path(digest), f"picture or sound {digest[:12]}", digest)
    for digest in session.scalars(select(HubFile.digest).order_by(HubFile.digest)):
        yield ExpectedFile(HubFileStore.of(settings).path(digest), f"large file {digest[:12]} of the hub", digest)
    yield from _repositories(session, settings)
    for table_class, name in ((DatasetVersion, "version of a dataset"), (Twin, "perturbed copy of a dataset")):
        ready = (
            select(table_class.id, table_class.digest)
            .where(table_class.state == DatasetState.READY)
            .order_by(table_class.id)
        )
        for id, digest in session.execute(ready):
            whole = partial(_has_rows, settings, digest)
            yield ExpectedFile(stored.rows_path(settings, digest), f"{name} {id}", is_whole=whole)
    for release in session.scalars(select(Release).where(Release.state == ReleaseState.READY).order_by(Release.id)):
        place = releases.release_folder(settings, release.id)
        yield ExpectedFile(place / manifest.MANIFEST_NAME, f"release {release.id}", release.digest)
        for file in release.manifest.get("files", ()):
            yield ExpectedFile(place / file["path"], f"release {release.id}", file["sha256"])
    yield from _answers(session, settings)
    yield from _submissions(session, settings)
    yield from _uploads(session, settings, jobs.engine_url(settings) if engine is None else engine)


def _repositories(session: Session, settings: Settings) -> Iterator[ExpectedFile]:
    """All that the branches of repositories reach, as git keeps it."""
    statement = select(HubRepository.folder, HubReference.revision).join(
        HubReference, HubReference.repository_id == HubRepository.id
    )
    heads: dict[str, set[str]] = {}
    for folder, revision in session.execute(statement.order_by(HubRepository.folder)):
        heads.setdefault(folder, set()).add(revision)
    for folder, revisions in heads.items():
        store = GitStore.of(settings, folder)
        objects = store.reachable(revisions)
        with suppress(NotFound):  # an object is missing: it is the last one that the store has named
            for revision in objects:
                if store.is_packed(revision):
                    continue
                yield ExpectedFile(store.object_path(revision), f"object {revision[:12]} of a repository of the hub")


def _has_rows(settings: Settings, digest: str) -> bool:
    try:
        return stored.rows_digest(stored.read_rows(settings, digest)) == digest
    except (OSError, ValueError, KeyError):  # pyarrow's errors are among these
        return False


def _answers(session: Session, settings: Settings) -> Iterator[ExpectedFile]:
    shards = select(Shard.evaluation_id, Shard.part, Shard.number, Shard.digest)
    for evaluation, part, number, digest in session.execute(shards.order_by(Shard.evaluation_id, Shard.number)):
        yield ExpectedFile(answers.answers_path(settings, evaluation, part, number), f"evaluation {evaluation}", digest)
    for evaluation, rows in session.execute(queries.answered_evaluations()):
        whole = partial(row_scores.is_whole, settings, evaluation, rows)
        yield ExpectedFile(row_scores.row_scores_path(settings, evaluation), f"evaluation {evaluation}", is_whole=whole)


def _submissions(session: Session, settings: Settings) -> Iterator[ExpectedFile]:
    stays = Submission.person_id.is_not(None)  # what people sent is deleted with their accounts
    statement = select(Submission).where(Submission.state != SubmissionState.WITHDRAWN).order_by(Submission.id)
    for row in session.scalars(statement.where(stays)):
        name = f"submission {row.id} ({row.name})"
        if row.state in submission_queries.GOING or (row.state, row.kind) == ("ready", "training_set"):
            for file in sorted(submission_sources.file_names(row.source)):
                yield ExpectedFile(submission_sources.taken_path(settings, file), name)
        if row.kind == "endpoint" and row.source.get("token"):
            yield ExpectedFile(settings.folder / "tokens" / str(row.source["token"]), name)
    for model in _models(session):
        if model.placed:
            yield ExpectedFile(model.folder(settings) / spec.FILE, model.row)
    scored = select(Submission, DatasetVersion.id, Dataset.name).select_from(Evaluation).join(Submission)
    scored = scored.join(DatasetVersion, DatasetVersion.id == Evaluation.version_id).join(Dataset)
    done = (
        Submission.kind == "predictions",
        Submission.state == SubmissionState.READY,
        Evaluation.state == EvaluationState.DONE,
    )
    for submission, version, dataset in session.execute(scored.where(*done)):
        digest = submission.card.get("files", {}).get(dataset, "")
        path = predictions.predictions_path(settings, submission.id, version)
        yield ExpectedFile(path, f"predictions of submission {submission.id}", digest)


def _uploads(session: Session, settings: Settings, engine: str) -> Iterator[ExpectedFile]:
    reading = select(Job).where(Job.kind.in_(READING)).order_by(Job.created_at)
    going = _unfinished_jobs(engine)
    for job in session.scalars(reading):
        path = Path(str(job.payload.get("file") or ""))
        if path.is_relative_to(settings.folder) and (job.sent_at is None or job.id in going):
            yield ExpectedFile(path, f"job {job.id} ({job.kind})")


def _unfinished_jobs(url: str) -> set[str]:
    """The jobs that the engine whose state is at `url` has still to run or to end."""
    parts = make_url(url) if url else None
    if parts is None or (parts.drivername.startswith("sqlite") and not Path(str(parts.database)).exists()):
        return set()
    schema = None if parts.drivername.startswith("sqlite") else ENGINE
    engine = create_engine(parts)
    try:
        with engine.connect() as connection:
            if not inspect(connection).has_table("workflow_status", schema=schema):
                return set()
            status = table("workflow_status", column("workflow_uuid"), column("status"), schema=schema)
            return set(connection.scalars(select(status.c.workflow_uuid).where(status.c.status.in_(UNFINISHED))))
    finally:
        engine.dispose()


@dataclass(frozen=True)
class ExpectedModel:
    """A model version that a row names; `placed` where the platform itself put it into the home folder."""

    name: str
    version: str
    row: str
    placed: bool

    def folder(self, settings: Settings) -> Path:
        """Return the folder in which the platform puts models."""
        return settings.folder / "models" / f"{self.name}-{self.version}"


def _models(session: Session) -> Iterator[ExpectedModel]:
    trained = set(
        session.scalars(select(CycleCandidate.submission_id).where(CycleCandidate.state == CandidateState.READY))
    )
    with_model = (Submission.state == SubmissionState.READY, Submission.kind != "predictions")
    for submission in session.scalars(select(Submission).where(*with_model).order_by(Submission.id)):
        # Without a source it was not sent but written as if it had been, as older platforms did.
        placed = (submission.kind in PLACED and bool(submission.source)) or submission.id in trained
        yield ExpectedModel(
            submission.model, submission.version, f"submission {submission.id} ({submission.name})", placed
        )
    for round_ in session.scalars(round_queries.open_rounds()):
        for name, version in round_models.models_of(round_):
            yield ExpectedModel(name, version, f"round {round_.number} of {round_.task_id}", placed=False)


def check_models(session: Session, settings: Settings, copies: Mapping[Path, Path] | None = None) -> list[str]:
    """Name the models of rows that are damaged or in no folder of models; reads every byte of them.

    A folder of models that `copies` names is read there. Not reported: models that came with the code and changed with
    it, and those which only model hosts elsewhere have.
    """
    needed = list(_models(session))
    places = {item: (copies or {}).get(item, item) for item in catalog.folders(settings)}
    installed = _versions(places.values(), {item.name for item in needed})
    shipped = {name for name, _ in _versions([catalog.BUILTIN], {item.name for item in needed})}
    problems: dict[tuple[str, str], str] = {}
    for item in needed:
        folder = item.folder(settings)
        is_installed = (places[folder.parent] / folder.name / spec.FILE).is_file()
        if (item.name, item.version) in installed or (
            item.placed and not is_installed
        ):  # the latter is an expected file
            continue
        if is_installed:
            message = f"{folder} is damaged: its files or the shared encoder are not those of this version."
        elif item.placed or item.name in shipped or settings.host_url:
            continue
        else:
            message = f"no folder of models holds {item.name} of version {item.version}."
        problems.setdefault((item.name, item.version), f"{item.row}: {message}")
    return list(problems.values())


def _versions(places: Iterable[Path], names: Set[str]) -> set[tuple[str, str]]:
    """Name and version of each model of these names in these folders."""
    installed = set()
    for folder in chain.from_iterable(catalog.subfolders(folder_root) for folder_root in places):
        with suppress(Problem, OSError):  # it cannot be used, whatever it is
            name = spec.read(folder).name
            if name in names:
                installed.add((name, spec.version(folder)))
    return installed


def missing_files(session: Session, settings: Settings, present: Callable[[Path], bool], engine: str) -> list[str]:
    """Return a message for each expected file that is not `present`; looks at names only."""
    expected = expected_files(session, settings, engine)
    return [
        f"{expected_file.row}: {expected_file.path} is missing."
        for expected_file in expected
        if not present(expected_file.path)
    ]


def check_files(session: Session, settings: Settings, progress: Progress = lambda done, of: None) -> list[str]:
    """Return the problems of the files that rows name and of the signatures of records; reads every byte of them."""
    expected, missing, damaged = list(expected_files(session, settings)), [], []
    total = len(expected)
    for done, expected_file in enumerate(expected):
        progress(done, total)
        if not expected_file.path.is_file():
            missing.append(expected_file)
        elif not _holds(expected_file):
            damaged.append(expected_file)
    if missing:  # a job that has ended meanwhile needs its file no more
        still = {expected_file.path for expected_file in expected_files(session, settings)}
        missing = [expected_file for expected_file in missing if expected_file.path in still]
    problems = [f"{expected_file.row}: {expected_file.path} is missing." for expected_file in missing]
    problems += [
        f"{expected_file.row}: {expected_file.path} is damaged: its content is not what the row says."
        for expected_file in damaged
    ]
    problems += check_models(session, settings)
    progress(total, total)
    return problems + check_lost_keys(session, settings)


def _holds(expected_file: ExpectedFile) -> bool:
    if expected_file.sha256:
        with expected_file.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == expected_file.sha256
    return expected_file.is_whole()


def check_lost_keys(session: Session, settings: Settings) -> list[str]:
    """Name what is wrong with the secret, and the records that no key verifies."""
    lost = [] if key_check.has_secret(settings) else [f"{settings.secret_file} is missing."]
    if not lost:
        try:
            key_check.check_secret(session, settings)
        except Conflict as problem:
            lost = [problem.detail]
    return lost + check_signatures(session, settings)


def check_signatures(session: Session, settings: Settings) -> list[str]:
    """Return the records whose signature is valid under no key of this platform."""
    if not session.scalar(select(func.count()).select_from(Record)):
        return []
    if not (settings.folder / records.KEY_FILE).exists():
        return [f"{settings.folder / records.KEY_FILE} is missing: no record of an evaluation can be checked."]
    keys = records.public_keys(settings)
    return [
        f"The record of evaluation {record.evaluation_id} does not hold under any key of this platform."
        for record in session.scalars(select(Record).order_by(Record.evaluation_id).execution_options(yield_per=100))
        if not any(records.is_signature_valid(record.document, record.signature, key) for key in keys)
    ]
