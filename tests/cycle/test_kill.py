"""Two whole turns on real data, by a worker that is killed at random points, end as two undisturbed ones do."""

import random
import signal
import time
from typing import Any

import pytest
from sqlalchemy import select

from dynabench.benchmark.evaluations.measures import find_measure
from dynabench.benchmark.evaluations.tables import Evaluation, Score
from dynabench.benchmark.registry.tables import Submission
from dynabench.benchmark.releases.tables import Release
from dynabench.cycle.tables import CycleCandidate, CycleTurn
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit.db import Database
from dynabench.models.host.app import create_app as create_host
from dynabench.models.host.repository import Repository
from dynabench.rounds.tables import Round
from tests.cycle import world
from tests.jobs.conftest import Worker, until
from tests.models.conftest import served

pytestmark = [pytest.mark.release, pytest.mark.timeout(1200)]
TURNS = 2
KILLS = 3
"""Times that the worker dies in each turn, if it lasts that long."""


@pytest.fixture
def afforded(database_kind: str, pytestconfig: pytest.Config) -> None:
    """On SQLite with the tests of a release, on PostgreSQL as well with `make crash`: each takes minutes."""
    if database_kind == "postgres" and pytestconfig.getoption("crashes") < 50:
        pytest.skip("`make crash` plays it on PostgreSQL.")


def settled(database: Database) -> bool:
    """Return true once all has ended."""

    def look(session: Any) -> bool:
        going = select(Evaluation.id).where(Evaluation.state.not_in(("done", "failed", "cancelled")))
        return session.scalars(
            select(CycleTurn.state).order_by(CycleTurn.id.desc())
        ).first() == "done" and not session.scalar(going)

    return database.read(look)


def mark(database: Database) -> tuple[Any, ...]:
    """Return the progress of all parts."""

    def look(session: Any) -> tuple[Any, ...]:
        turn = session.scalars(select(CycleTurn).order_by(CycleTurn.id.desc())).first()
        ready = session.scalars(select(CycleCandidate.state)).all()
        releases = session.scalars(select(Release.state)).all()
        evaluations = session.execute(select(Evaluation.id, Evaluation.state)).all()
        return (turn.step, turn.state, *ready, *releases, *map(tuple, evaluations))

    return database.read(look)


def disturb(database: Database, worker: Worker, rng: random.Random) -> None:
    """Kill the worker some times, each a random moment after something has moved, and begin it anew."""
    for _ in range(KILLS):
        before = mark(database)

        def moved(before: tuple[Any, ...] = before) -> bool:
            assert worker.process is not None
            assert worker.process.poll() is None, worker.log_text()
            return mark(database) != before or settled(database)

        until(moved, 400)
        time.sleep(rng.uniform(0, 3))
        assert worker.end(signal.SIGKILL) == -signal.SIGKILL, worker.log_text()
        worker.start()


def played(database: Database, settings: Any, worker: Worker, rng: random.Random | None) -> None:
    """Both turns, by a worker that is killed where there is an `rng`."""
    worker.start()
    for number in range(1, TURNS + 1):
        assert world.collect(database, settings) == number
        world.start(database, world.plan(number))
        if rng is not None:
            disturb(database, worker, rng)
        until(lambda: world.turn(database, settings).state in ("done", "failed"), 400)
        assert world.turn(database, settings).state == "done", (world.turn(database, settings), worker.log_text())
    until(lambda: settled(database), 400)
    worker.end(signal.SIGKILL)


def outcome(database: Database) -> dict[str, Any]:
    """Releases, models, boards and rounds as they ended."""

    def look(session: Any) -> dict[str, Any]:
        scores = (
            select(Submission.model, Submission.version, Dataset.name, DatasetVersion.digest, Score.metric, Score.value)
            .join(Evaluation, Evaluation.submission_id == Submission.id)
            .join(Score, Score.evaluation_id == Evaluation.id)
            .join(DatasetVersion, DatasetVersion.id == Evaluation.version_id)
            .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        )
        rounds = session.scalars(select(Round).order_by(Round.number)).all()
        return {
            "releases": session.execute(
                select(Release.task_id, Release.state, Release.digest).order_by(Release.id)
            ).all(),
            "models": sorted(session.execute(select(Submission.model, Submission.version)).all()),
            "scores": sorted(row for row in session.execute(scores).all() if not find_measure(row.metric).cost),
            "rounds": [(item.number, item.state, [(t.model, t.version) for t in item.targets]) for item in rounds],
            "reports": session.scalars(select(CycleTurn.report).order_by(CycleTurn.id)).all(),
        }

    return database.read(look)


def test_a_worker_that_is_killed_ends_in_the_same_releases_models_and_boards(
    afforded, database, database_kind, settings, tmp_path, request
):
    world.begin(database, settings)
    database.close()
    server = request.getfixturevalue("server") if database_kind == "postgres" else None
    result, reports = [], []
    for name, rng in (("calm", None), ("storm", random.Random(8))):
        with world.copied(settings, tmp_path / name, server) as mine:
            db, worker = Database(mine.url), Worker(mine, tmp_path / f"{name}.log")
            try:
                with served(create_host(Repository([mine.folder / "models"])), mine.host_address):
                    played(db, mine, worker, rng)
                result.append(outcome(db))
                reports.append([world.turn(db, mine, id).report for id in range(1, TURNS + 1)])
            finally:
                if worker.process is not None and worker.process.poll() is None:
                    worker.end()
                db.close()
    calm, storm = result
    assert storm == calm
    assert len(calm["releases"]) == TURNS
    assert len(calm["models"]) == TURNS + 1
    for report in reports[1]:
        assert report.promoted, report.why
        assert report.rounds[-1].change.high < 0, "the new target errs less on the old round's test set"
