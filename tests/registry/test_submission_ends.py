"""How checks end that a worker, a clock or a person ends, and what is checked over a wire."""

import os
import signal
import time
import zipfile
from functools import partial

import pytest
from sqlalchemy import select

from dynabench import jobs
from dynabench.models import archives
from dynabench.registry import keeping
from dynabench.registry.tables import Submission
from dynabench.rounds import waiting
from tests.jobs.conftest import Worker, until
from tests.models.handlers import doing, need_sandbox, write
from tests.registry.test_submission_checks import ended, enter, upload
from tests.registry.test_submissions import SENT
from tests.scoring.test_keeping import give_up


@pytest.fixture
def settings(settings):
    return settings.model_copy(update={"private_endpoints": "127.0.0.1"})


@pytest.fixture
def worker(settings, tmp_path, owner):
    made = Worker(settings, tmp_path / "worker.log")
    made.env |= {"DYNABENCH_CHECK_MEMORY_MB": "3000", "OMP_NUM_THREADS": "1"}
    made.env["DYNABENCH_PRIVATE_ENDPOINTS"] = settings.private_endpoints
    yield made
    if made.process and made.process.poll() is None:
        made.end()


@pytest.fixture
def ada(person, owner):
    return person("ada")


def sleeper(tmp_path, name):
    need_sandbox()
    folder = write(tmp_path / name, doing("import time; time.sleep(120)"), name=name)
    return archives.pack(folder, tmp_path / f"{name}.zip")


def state(caller, id):
    return caller.get(f"/api/v1/submissions/{id}").json()["state"]


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_check_ends_when_its_time_is_up_or_its_submitter_says_so(ada, worker, tmp_path, settings, database):
    worker.env["DYNABENCH_CHECK_SECONDS"] = "10"
    worker.start()
    id = enter(ada, "archive", "slow", sleeper(tmp_path, "slow"))
    made = ended(ada, worker, id)
    assert (made["state"], made["code"]) == ("failed", "timeout"), made
    assert ada.post(f"/api/v1/submissions/{id}/retry").status_code == 200
    until(lambda: state(ada, id) == "checking")
    assert ada.post(f"/api/v1/submissions/{id}/cancel").status_code == 200
    assert ada.get(f"/api/v1/submissions/{id}").json()["code"] == "cancelled"
    until(lambda: not list((settings.folder / "checks").iterdir()))
    assert state(ada, id) == "failed"


@pytest.mark.parametrize("database_kind", ["sqlite", "postgres"], indirect=True)
def test_a_check_whose_job_was_given_up_ends_and_leaves_no_folder(ada, worker, tmp_path, settings, database):
    worker.start()
    id = enter(ada, "archive", "slow", sleeper(tmp_path, "slow"))
    until(lambda: state(ada, id) == "checking")
    worker.end(signal.SIGKILL)
    give_up(settings, database.read(lambda s: s.get_one(Submission, id)).job_id)
    worker.start()
    made = ended(ada, worker, id)
    assert (made["state"], made["code"]) == ("failed", "crashed")
    until(lambda: not list((settings.folder / "checks").iterdir()))


def test_files_of_what_failed_and_of_what_was_never_entered_go_after_a_day(ada, tmp_path, settings, database):
    path = tmp_path / "p.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("model.yaml", "name: p")
    id, other = enter(ada, "adapter", "one", path), enter(ada, "adapter", "two", path)
    upload(ada, path)

    def fail(session):
        session.get_one(Submission, id).state = "failed"

    database.write(fail)
    uploads = settings.folder / "uploads"
    files = [each for each in uploads.rglob("*") if each.is_file()]
    assert len(files) == 3
    keeping.tidy(database, settings)
    assert all(each.exists() for each in files)
    for each in files:
        os.utime(each, (time.time(), time.time() - waiting.KEPT - 60))
    keeping.tidy(database, settings)
    [left] = [each for each in uploads.rglob("*") if each.is_file()]
    assert left.name == database.read(lambda s: s.get_one(Submission, other)).source["file"]
    refused = ada.post(f"/api/v1/submissions/{id}/retry")
    assert (refused.status_code, "kept for a day" in refused.text) == (409, True)


@pytest.mark.parametrize("database_kind", ["sqlite", "postgres"], indirect=True)
def test_a_served_model_is_checked_over_its_protocol_and_its_inputs_count_as_leaving(
    ada, worker, settings, database, rules
):
    worker.start()
    said = {"kind": "endpoint", "protocol": "oip", "url": rules.url}
    send = partial(ada.post, SENT)
    good = send(json=said | {"name": "served", "model": "nli-a"}).json()["id"]
    bad = send(json=said | {"name": "nowhere", "model": "no-such-model"}).json()["id"]
    made = ended(ada, worker, good)
    assert (made["state"], made["inside"]) == ("ready", False), (made, worker.said())
    assert rules.rules["nli-a"].seen
    queued = [job.payload for job in database.read(_queued)]
    assert {"submission": good} in queued
    made = ended(ada, worker, bad)
    assert made["state"] == "failed"
    assert made["reason"]


def _queued(session):
    return session.scalars(select(jobs.Job).where(jobs.Job.kind == "queue_evaluations")).all()
