"""Evaluations whose models run on Ray: by one setting, with the answers of a process here."""

import psutil
import pytest
from sqlalchemy import select

from dynabench.benchmark.evaluations import answers, evaluation_run, service
from dynabench.benchmark.evaluations.tables import Evaluation, Score, Shard
from tests.jobs.conftest import Worker, until
from tests.scoring.conftest import owner_of, place, statements

pytestmark = [pytest.mark.release, pytest.mark.xdist_group("ray_here")]

pytest.importorskip("dynabench_ray.cluster", reason="Ray is a plug-in")
__all__ = ["owner_of", "place"]


@pytest.fixture
def worker(settings, tmp_path):
    created = Worker(settings, tmp_path / "worker.log")
    yield created
    if created.process and created.process.poll() is None:
        created.end()


def answers_of(settings, database, evaluation):
    """All answers of an evaluation, and in how many shards they are."""
    with database._reads() as session:
        shards = session.scalars(select(Shard).where(Shard.evaluation_id == evaluation).order_by(Shard.first)).all()
    files = [answers.answers_path(settings, evaluation, evaluation_run.ROWS, shard.number) for shard in shards]
    return [item.answer for file in files for item in answers.read_answers(file)], len(shards)


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_ray_gives_the_answers_of_this_machine_and_outlives_its_workers(place, worker, database, settings):
    here = place()
    here.dataset("films", statements(600))
    own, theirs = here.submit("sentiment-ngram"), here.submit("sentiment-ngram")
    here.queue(submission=own)
    worker.start()
    assert here.ended(1).state == "done", worker.log_text()
    worker.end()

    here.queue(submission=theirs)
    worker.env |= {"DYNABENCH_RAY": "127.0.0.1:1", "DYNABENCH_RAY_PROCESSORS": "0.5"}
    worker.start()
    lost = here.ended(2)
    assert (lost.state, lost.code) == ("failed", "cluster"), (lost.reason, worker.log_text())
    assert "Nothing answers at the Ray cluster's address" in lost.reason
    worker.end()

    worker.env["DYNABENCH_RAY"] = "local"
    database.write(lambda session: service.run_again(session, session.get_one(Evaluation, 2)))
    worker.start()
    until(lambda: actors(worker)).kill()
    assert here.ended(2).state == "done", (here.evaluation(2).reason, worker.log_text())
    expected, shards = answers_of(settings, database, 1)
    assert shards == 3
    assert answers_of(settings, database, 2) == (expected, shards)
    with database._reads() as session:
        result = {row.metric: row.value for row in session.scalars(select(Score).where(Score.evaluation_id == 2))}
    assert 0 < result["memory"] < 4, "of one process there, not of all of Ray"
    until(lambda: not actors(worker))


def actors(worker):
    """A process of Ray that holds the model, if there is one."""
    below = psutil.Process(worker.process.pid).children(recursive=True)
    return next((item for item in below if "ray::Asker" in " ".join(item.cmdline())), None)
