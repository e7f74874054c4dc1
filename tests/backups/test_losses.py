"""Each kind of file that the platform can lose is named by `db check --files`, and by the next backup."""

import hashlib
import json
import shutil

import pytest
from sqlalchemy import select

from dynabench.benchmark.evaluations import row_scores
from dynabench.benchmark.evaluations.tables import Evaluation
from dynabench.benchmark.registry import predictions, submission_sources, submissions
from dynabench.benchmark.registry.tables import Submission
from dynabench.cycle.tables import CycleCandidate, CycleTurn
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit import jobs
from dynabench.models import catalog, spec
from dynabench.models.backends.served import endpoint
from dynabench.operations.backups.backup import make_backup
from dynabench.operations.backups.database_copy import migrate_jobs
from dynabench.operations.backups.file_check import check_files
from dynabench.rounds.tables import Round
from tests.backups.filled import filled
from tests.scoring.conftest import by_hand, place, statements

__all__ = ["by_hand", "place"]
TOKEN = "SUBMITTED_" + "0" * 32


@pytest.fixture
def furnish():
    return filled


def put_model(settings, name):
    """A small model of this name where the platform puts models; its folder and version."""
    created = settings.folder / "models" / f".{name}"
    shutil.copytree(catalog.entry("sentiment-ngram", places=[catalog.BUILTIN]).folder, created)
    text = (created / spec.FILE).read_text().replace("name: sentiment-ngram", f"name: {name}")
    (created / spec.FILE).write_text(text)
    version = spec.version(created)
    return created.rename(created.with_name(f"{name}-{version}")), version


def enter(database, **fields):
    """Enter a submission for sentiment; its id."""

    def make(session):
        submission = Submission(**({"task_id": "sentiment", "state": "ready", "person_id": 1} | fields))
        session.add(submission)
        session.flush()
        return submission.id

    return database.write(make)


def weights_of(folder):
    return max((path for path in folder.iterdir() if path.name != spec.FILE), key=lambda item: item.stat().st_size)


def sent_model(settings, database, kind="archive", **more):
    folder, version = put_model(settings, f"sent-{kind.replace('_', '-')}")
    name = folder.name.removesuffix(f"-{version}")
    source = {"file": f"{kind}.txt", "name": "what was sent"} | more
    enter(database, kind=kind, name=name, model=name, version=version, source=source)
    if kind == "training_set":
        submission_sources.taken_path(settings, source["file"]).write_text("r1\n")
    return folder


def trained_model(settings, database):
    """A model that a turn of the cycle trained and entered."""
    folder, version = put_model(settings, "trained")
    id = enter(database, kind="installed", name="trained", model="trained", version=version)

    def train(session):
        source = session.scalars(select(Round)).first()
        turn = CycleTurn(id=1000, task_id=source.task_id, round_id=source.id, state="done", plan={}, present=[])
        session.add(turn)
        session.flush()
        session.add(
            CycleCandidate(turn_id=turn.id, position=0, name="trained", method="adapter", seed=0, state="ready",
                           version=version, submission_id=id)
        )  # fmt: skip

    database.write(train)
    return folder


def row_scores_of(settings, database):
    return next(settings.folder.glob("evaluations/*/rows.npy"))


def token(settings, database):
    endpoint.keep_token(settings.folder, TOKEN, "api.example.org", "abc")
    source = {"protocol": "oip", "url": "https://api.example.org", "token": TOKEN}
    version = put_model(settings, "endpoint")[1]
    enter(database, kind="endpoint", name="endpoint", model="endpoint", version=version, source=source)
    return settings.folder / "tokens" / TOKEN


def upload(settings, database, kind="import_data"):
    """A file that a job which waits will read."""
    path = settings.folder / "uploads" / "sent.jsonl"
    path.write_text("{}\n")
    database.write(lambda session: jobs.enqueue(session, kind, {"task": "nli", "file": str(path)}).id)
    return path


def upload_of_sent_job(settings, database):
    """A file that a job will read which the engine has not begun."""
    path = upload(settings, database)
    migrate_jobs(jobs.engine_url(settings))

    def start(job):
        jobs._client(jobs.engine_url(settings)).enqueue(
            {"workflow_name": job.kind, "queue_name": jobs.QUEUE, "workflow_id": job.id}, job.payload
        )

    jobs.send(database, start)
    jobs.release(settings)
    return path


def predicted(settings, database):
    """Predictions that were sent for a dataset."""

    def newest(session):
        version = session.scalars(select(DatasetVersion).where(DatasetVersion.state == "ready")).first()
        return version.id, session.get_one(Dataset, version.dataset_id).name

    version, dataset = database.read(newest)
    card = {"files": {dataset: hashlib.sha256(b"answers").hexdigest()}}
    id = enter(database, kind="predictions", name="predicted", model="predicted", version="1", card=card)
    database.write(lambda session: session.add(Evaluation(submission_id=id, version_id=version, state="done")))
    path = predictions.predictions_path(settings, id, version)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"answers")
    return path


LOSSES = {
    "scores of rows": row_scores_of,
    "description of a model": lambda settings, database: sent_model(settings, database) / spec.FILE,
    "weights": lambda settings, database: weights_of(sent_model(settings, database)),
    "weights trained on rows": lambda settings, database: weights_of(sent_model(settings, database, "training_set")),
    "trained model": trained_model,
    "weights of a trained model": lambda settings, database: weights_of(trained_model(settings, database)),
    "token": token,
    "upload": upload,
    "task archive": lambda settings, database: upload(settings, database, "import_task"),
    "upload of a job that was sent": upload_of_sent_job,
    "predictions": predicted,
}


@pytest.mark.release
@pytest.mark.parametrize(
    "lost", [pytest.param(name, marks=() if name in ("token", "weights") else pytest.mark.slow) for name in LOSSES]
)
def test_what_is_lost_is_named(settings, furnished, database, command, tmp_path, lost):
    path = LOSSES[lost](settings, database)
    assert database.read(check_files, settings) == []
    assert make_backup(settings, tmp_path / "before.zip").manifest.flaws == []
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    [named] = database.read(check_files, settings)
    folder = path.relative_to(settings.folder).parts
    assert "/".join(folder[:2]) in named
    assert "is missing" in named or "is damaged" in named
    assert make_backup(settings, tmp_path / "after.zip").manifest.flaws == [named]
    assert command(settings, "db", "check", "--files").exit_code == 1


DAMAGES = {
    "weights": LOSSES["weights"],
    "weights of a trained model": LOSSES["weights of a trained model"],
    "scores of rows": row_scores_of,
    "predictions": predicted,
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_what_is_damaged_is_named(settings, furnished, database, damage):
    path = DAMAGES[damage](settings, database)
    content = path.read_bytes()
    path.write_bytes(
        content[:-1] + bytes([content[-1] ^ 1]) if damage != "scores of rows" else content[: len(content) // 2]
    )
    [named] = database.read(check_files, settings)
    assert "is damaged" in named


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_models_that_operators_installed_and_rounds_ask_are_looked_for_in_all_folders(
    settings, furnished, database, tmp_path
):
    folder, version = put_model(settings, "installed")
    mine = folder.rename(folder.with_name("mine-too"))
    other, other_version = put_model(settings, "target")
    shutil.move(other, tmp_path / "models" / "a name")
    local = settings.model_copy(update={"host_url": "", "models": str(tmp_path / "models")})
    shipped = catalog.entry("sentiment-ngram", places=[catalog.BUILTIN])
    enter(database, kind="installed", name="installed", model="installed", version=version)
    enter(database, kind="installed", name="shipped", model=shipped.name, version="0" * 16)  # of an earlier release

    def aim(session):
        source = session.scalars(select(Round).where(Round.task_id == "nli", Round.state == "open")).one()
        source.targets[0].model, source.targets[0].version = "target", other_version

    database.write(aim)

    def named():
        return [
            element
            for element in database.read(check_files, local)
            if "model-" not in element and "sentiment-a" not in element
        ]

    assert named() == []
    shutil.rmtree(mine)
    shutil.rmtree(tmp_path / "models" / "a name")
    lines = "\n".join(named())
    assert f"(installed): no folder of models holds installed of version {version}" in lines
    assert f"round 1 of nli: no folder of models holds target of version {other_version}" in lines
    assert not [item for item in database.read(check_files, settings) if "no folder" in item], "other hosts have them"


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_what_went_with_an_account_is_no_loss(settings, furnished, database):
    sent_model(settings, database, "training_set")
    token(settings, database)
    assert database.read(check_files, settings) == []
    database.write(submissions.detach_person, settings, 1)
    assert not (settings.folder / "tokens" / TOKEN).exists()
    assert database.read(check_files, settings) == []


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_lost_scores_of_rows_are_made_anew_from_stored_answers(place, by_hand, settings, database, command):
    here = place()
    version, submission = here.dataset("reviews", statements(30)), here.submit("sentiment-ngram")
    here.queue(submission=submission)
    source = select(Evaluation.id).where(Evaluation.submission_id == submission, Evaluation.version_id == version)
    id = database.read(lambda session: session.scalars(source).one())
    by_hand(id)
    before = row_scores.read_row_scores(settings, id)
    assert before.shape == (2, 30)
    (settings.folder / "evaluations" / str(id) / "rows.npy").unlink()
    done = command(settings, "db", "rebuild", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["evaluations"] == 1
    assert row_scores.read_row_scores(settings, id).tolist() == before.tolist()
    assert json.loads(command(settings, "db", "rebuild", "--json").stdout)["evaluations"] == 0
