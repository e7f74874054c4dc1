"""Jobs that an administrator cancels and runs again, with a real worker."""

import pytest

from dynabench.kit import job_control, jobs
from dynabench.kit.jobs import Job, JobState
from tests.jobs.conftest import until

pytestmark = pytest.mark.release

MISSING = "FileNotFoundError: [Errno 2] No such file or directory: 'nothing'"


def state_of(database, settings, id):
    return job_control.job_status(database, settings, id).state


def test_a_failed_job_runs_again_under_its_id(worker, database, settings, client):
    """One whose file is not there fails; with the file it is done."""
    payload = {"task": "gone", "file": "nothing"}
    id = database.write(lambda session: jobs.enqueue(session, "import_contexts", payload).id)
    worker.start()
    until(lambda: state_of(database, settings, id) == JobState.FAILED)
    status = job_control.job_status(database, settings, id)
    assert status.error
    assert status.may_retry
    for runs in range(2, 5):  # each in the moment in which its end is known, while the worker still clears up after it
        job_control.retry_job(database, settings, id)
        until(lambda: state_of(database, settings, id) == JobState.FAILED, pause=0)
        until(lambda runs=runs: worker.log_text().count(MISSING) == runs)
    assert [beat.name for beat in database.read(job_control.list_workers)]
    figures = job_control.queue_figures(database, settings)
    assert (figures.waiting, figures.running, figures.failed) == (0, 0, 1)


def test_a_cancelled_job_is_never_sent_and_runs_when_it_is_retried(worker, database, settings, client):
    payload = {"metric": "accuracy"}
    id = database.write(lambda session: jobs.enqueue(session, "queue_evaluations", payload).id)
    job_control.cancel_job(database, settings, id)
    worker.start()
    until(lambda: database.read(job_control.list_workers))
    assert state_of(database, settings, id) == JobState.CANCELLED
    assert jobs.progress(settings, database.read(lambda s: s.get_one(Job, id)))["state"] == JobState.CANCELLED
    job_control.retry_job(database, settings, id)
    until(lambda: state_of(database, settings, id) == JobState.DONE)
    with pytest.raises(Exception, match="cannot be run again"):
        job_control.retry_job(database, settings, id)
