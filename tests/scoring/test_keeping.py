"""Withdrawn models are not evaluated, and nothing waits for a job that has been dropped."""

import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import create_engine, select, text, update

from dynabench.benchmark import maintenance
from dynabench.benchmark.evaluations import service
from dynabench.benchmark.evaluations.tables import Evaluation, Score, Shard
from dynabench.benchmark.leaderboards import ledger
from dynabench.benchmark.registry import submissions
from dynabench.kit import jobs
from dynabench.kit.db import now
from dynabench.people.accounts.tables import Notice, Person
from tests.jobs.conftest import until
from tests.scoring.conftest import run_evaluation, statements
from tests.scoring.test_evaluating import NGRAM, folder

WAITS = "time.sleep(15) if 'waits' in rows[0]['statement'] else None"


def give_up(settings, job):
    """Write the engine's state of a workflow that too many workers began and left."""
    engine = create_engine(jobs.engine_url(settings))
    table = "workflow_status" if engine.dialect.name == "sqlite" else "dbos.workflow_status"
    update = f"UPDATE {table} SET status = 'MAX_RECOVERY_ATTEMPTS_EXCEEDED' WHERE workflow_uuid = :job"
    with engine.begin() as connection:
        assert connection.execute(text(update), {"job": job}).rowcount == 1
    engine.dispose()


@pytest.mark.slow
def test_withdrawing_ends_what_waits_and_runs_and_leaves_what_was_scored(
    place, by_hand, run_jobs, settings, database, owner_of
):
    here, sam = place(), owner_of("sam")
    model = folder(settings, "patient", WAITS)
    here.dataset("first", statements(12))
    here.submit(model, sam)
    here.queue(submission=1)
    by_hand(1)
    for name in ("second", "third", "fourth"):
        rows = [replace(row, inputs={"statement": f"{name} waits {row.uid}"}) for row in statements(12)]
        here.dataset(name, rows)
    assert here.queue(submission=1) == 3

    def withdraw(session):
        submissions.withdraw_submission(session, settings, session.get_one(Person, sam), 1)

    with ThreadPoolExecutor() as threads:
        running = threads.submit(run_evaluation, database, settings, 2)
        until(lambda: here.evaluation(2).state == "running")
        assert {here.evaluation(number).state for number in (3, 4)} == {"queued"}
        database.write(withdraw)
        run_jobs("queue_evaluations")
        assert running.result(60) == {"state": "cancelled"}
    assert {here.evaluation(item).state for item in (2, 3, 4)} == {"cancelled"}
    assert here.evaluation(1).state == "done"
    assert here.queue(submission=1) == 0
    with pytest.raises(Exception, match="withdrawn"):
        database.write(lambda session: service.retry_evaluation(session, session.get_one(Person, sam), 2))
    with database._reads() as session:
        assert session.scalars(select(Score.value).where(Score.evaluation_id == 1, Score.metric == "accuracy")).all()
        assert set(session.scalars(select(Shard.evaluation_id))) == {1}
        [line] = ledger.ledger_entries(session, None, "sentiment")
    assert (line.state, line.datasets) == ("withdrawn", 1)


@pytest.mark.slow
def test_an_evaluation_whose_job_was_given_up_ends_and_can_be_run_again(place, worker, settings, database, owner_of):
    here, sam = place(), owner_of("sam")
    here.dataset("films", statements(12))
    here.submit(folder(settings, "slow", seconds=15), sam)
    here.queue(submission=1)
    worker.start()
    until(lambda: here.evaluation(1).state == "running")
    worker.end(signal.SIGKILL)
    give_up(settings, here.evaluation(1).job_id)

    here.submit(NGRAM, sam)  # its job was sent to an engine that does not know it, as after a restore
    here.queue(submission=2)
    lost = here.evaluation(2).job_id
    database.write(lambda session: jobs._mark_sent(session, [lost]))

    worker.start()
    for number in (1, 2):
        result = here.ended(number, 30)
        assert (result.state, result.code) == ("failed", "crashed"), worker.log_text()
    with database._reads() as session:
        assert len(session.scalars(select(Notice).where(Notice.kind == "evaluation")).all()) == 2
    database.write(lambda session: service.retry_evaluation(session, session.get_one(Person, sam), 2))
    assert here.ended(2).state == "done", worker.log_text()


@pytest.mark.parametrize("code", ["unreachable", "cluster", "crashed", "failed"])
def test_what_failed_for_a_cause_that_passes_is_tried_again_three_times(place, settings, database, owner_of, code):
    here, sam = place(), owner_of("sam")
    here.dataset("films", statements(12))
    here.submit(NGRAM, sam)
    here.queue(submission=1)

    def attempts(hours):
        """Count the attempts, so long after one more failure."""

        def fail(session):
            result = session.get_one(Evaluation, 1)
            result.state, result.code, result.ended_at = "failed", code, now() - timedelta(hours=hours)

        database.write(fail)
        maintenance.tidy_evaluations(database, settings)
        outcome = here.evaluation(1)
        assert (outcome.state == "queued") == (outcome.code == "")
        return outcome.attempt

    assert [attempts(hours) for hours in (0.9, 1.1, 3.9, 4.1, 15.9, 16.1, 1000)] == [1, 2, 2, 3, 3, 4, 4]


@pytest.mark.parametrize("code", ["wrong_output", "refused", "out_of_memory", "time", "cancelled"])
def test_what_failed_by_the_model_itself_waits_for_a_person(place, settings, database, owner_of, code):
    here, sam = place(), owner_of("sam")
    here.dataset("films", statements(12))
    here.submit(NGRAM, sam)
    here.queue(submission=1)
    gone = now() - timedelta(days=3)
    failed = update(Evaluation).values(state="failed", code=code, ended_at=gone)
    database.write(lambda session: session.execute(failed))
    maintenance.tidy_evaluations(database, settings)
    assert (here.evaluation(1).state, here.evaluation(1).attempt) == ("failed", 1)
