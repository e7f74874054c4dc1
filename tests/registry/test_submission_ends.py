"""Ends of checks by a worker, a clock or a person, and checks over a wire."""

import os
import signal
import time
import zipfile
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select

from dynabench.benchmark import maintenance
from dynabench.benchmark.registry.tables import Submission
from dynabench.kit import jobs
from dynabench.models import archives
from dynabench.rounds import uploaded_files
from tests.jobs.conftest import Worker, until
from tests.models.handlers import doing, need_sandbox, write
from tests.registry.sending import SENT
from tests.registry.test_submission_checks import ended, enter, upload
from tests.scoring.test_keeping import give_up

ROW = b'{"premise": "It rains.", "hypothesis": "It is dry.", "label": "contradiction"}'


@pytest.fixture
def settings(settings):
    return settings.model_copy(update={"private_endpoints": "127.0.0.1"})


@pytest.fixture
def worker(settings, tmp_path, owner):
    created = Worker(settings, tmp_path / "worker.log")
    created.env |= {"DYNABENCH_CHECK_MEMORY_MB": "3000", "OMP_NUM_THREADS": "1"}
    created.env["DYNABENCH_PRIVATE_ENDPOINTS"] = settings.private_endpoints
    yield created
    if created.process and created.process.poll() is None:
        created.end()


def sleeper(tmp_path, name):
    need_sandbox()
    folder = write(tmp_path / name, doing("import time; time.sleep(120)"), name=name)
    return archives.pack(folder, tmp_path / f"{name}.zip")


def state(caller, id):
    return caller.get(f"/api/v1/submissions/{id}").json()["state"]


@pytest.mark.release
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_check_ends_when_its_time_is_up_or_its_submitter_says_so(ada, worker, tmp_path, settings, database):
    worker.env["DYNABENCH_CHECK_SECONDS"] = "10"
    worker.start()
    id = enter(ada, "archive", "slow", sleeper(tmp_path, "slow"))
    created = ended(ada, worker, id)
    assert (created["state"], created["code"]) == ("failed", "timeout"), created
    assert ada.post(f"/api/v1/submissions/{id}/retry").status_code == 200
    until(lambda: state(ada, id) == "checking")
    assert ada.post(f"/api/v1/submissions/{id}/cancel").status_code == 200
    assert ada.get(f"/api/v1/submissions/{id}").json()["code"] == "cancelled"
    until(lambda: not list((settings.folder / "checks").iterdir()))
    assert state(ada, id) == "failed"


@pytest.mark.release
@pytest.mark.parametrize("database_kind", ["sqlite", "postgres"], indirect=True)
def test_a_check_whose_job_was_given_up_ends_and_leaves_no_folder(ada, worker, tmp_path, settings, database):
    worker.start()
    id = enter(ada, "archive", "slow", sleeper(tmp_path, "slow"))
    until(lambda: state(ada, id) == "checking")
    worker.end(signal.SIGKILL)
    give_up(settings, database.read(lambda s: s.get_one(Submission, id)).job_id)
    worker.start()
    created = ended(ada, worker, id)
    assert (created["state"], created["code"]) == ("failed", "crashed")
    until(lambda: not list((settings.folder / "checks").iterdir()))


def test_files_of_what_failed_and_of_what_was_never_entered_go_after_a_day(ada, tmp_path, settings, database):
    path = tmp_path / "p.zip"
    with zipfile.ZipFile(path, "w") as zip_file:
        zip_file.writestr("model.yaml", "name: p")
    id, other = enter(ada, "adapter", "one", path), enter(ada, "adapter", "two", path)
    upload(ada, path)

    def fail(session):
        session.get_one(Submission, id).state = "failed"

    database.write(fail)
    uploads = settings.folder / "uploads"
    files = [this_path for this_path in uploads.rglob("*") if this_path.is_file()]
    assert len(files) == 3
    maintenance.tidy_submissions(database, settings)
    assert all(element.exists() for element in files)
    aged(uploads)
    maintenance.tidy_submissions(database, settings)
    [remaining] = [item for item in uploads.rglob("*") if item.is_file()]
    assert remaining.name == database.read(lambda s: s.get_one(Submission, other)).source["file"]
    refused = ada.post(f"/api/v1/submissions/{id}/retry")
    assert (refused.status_code, "kept for a day" in refused.text) == (409, True)


def aged(folder):
    """Everything below a folder, made more than a day old."""
    result = list(folder.rglob("*"))
    for item in result:
        os.utime(item, (time.time(), time.time() - uploaded_files.KEPT_SECONDS - 60))
    return [element for element in result if element.is_file()]


def test_what_a_process_left_that_died_goes_after_a_day_and_what_a_job_will_read_stays(owner, ada, settings, database):
    """One died between taking a file and committing its job, others while they received, unpacked or downloaded."""
    uploads = uploaded_files.uploads_folder(settings)
    places = [
        uploads,
        uploaded_files.uploads_folder(settings, "nli", "data"),
        uploaded_files.uploads_folder(settings, "nli"),
    ]
    for place in places:
        (place / "0000--left.jsonl").write_text("{}")
        (place / ".unzipped-x").mkdir()
        (place / ".unzipped-x" / "rows.jsonl").write_text("{}")
    (uploads / ".hub-0000").mkdir()
    (uploads / ".hub-0000" / "rows.jsonl").write_text("{}")
    api = "/api/v1/tasks/nli/datasets"
    sent = owner.post(f"{api}/files", params={"name": "r.jsonl"}, content=ROW).json()["file"]
    assert owner.post(api, json={"name": "films", "file": sent}).status_code == 202
    sent = owner.post("/api/v1/tasks/nli/contexts/files", params={"name": "c.jsonl"}, content=b"{}")
    assert sent.status_code == 202
    url = {"kind": "endpoint", "name": "e", "protocol": "openai", "url": "https://api.example.org/v1", "model": "m"}
    assert ada.post(SENT, json=url | {"token": "sk-one"}).status_code == 201
    (settings.folder / "tokens" / f"SUBMITTED_{'0' * 32}").write_text("api.example.org sk-two")
    [reading, _] = database.read(_with_files)
    (uploads / f".hub-{reading.id}").mkdir()
    partial = uploads / f".hub-{reading.id}" / "rows.jsonl"
    partial.write_text("{}")
    files = [path for path in uploads.rglob("*") if path.is_file()]
    assert len(files) == 10
    maintenance.tidy_submissions(database, settings)
    assert all(item.exists() for item in files), "it may still be used"
    aged(uploads)
    aged(settings.folder / "tokens")
    maintenance.tidy_submissions(database, settings)
    named = {Path(job.payload["file"]) for job in database.read(_with_files)}
    assert {element for element in uploads.rglob("*") if element.is_file()} == named | {partial}, (
        "a job has both of its names"
    )
    assert len(named) == 2
    assert not list(uploads.rglob(".unzipped-*"))
    assert [this_path.read_text() for this_path in (settings.folder / "tokens").iterdir()] == ["api.example.org sk-one"]


def _with_files(session):
    return [job for job in session.scalars(select(jobs.Job)) if "file" in job.payload]


@pytest.mark.release
@pytest.mark.parametrize("database_kind", ["sqlite", "postgres"], indirect=True)
def test_a_served_model_is_checked_over_its_protocol_and_its_inputs_count_as_leaving(
    ada, worker, settings, database, rules
):
    worker.start()
    answer = {"kind": "endpoint", "protocol": "oip", "url": rules.url}
    send = partial(ada.post, SENT)
    good = send(json=answer | {"name": "served", "model": "nli-a"}).json()["id"]
    bad = send(json=answer | {"name": "nowhere", "model": "no-such-model"}).json()["id"]
    created = ended(ada, worker, good)
    assert (created["state"], created["inside"]) == ("ready", False), (created, worker.log_text())
    assert rules.rules["nli-a"].seen
    queued = [job.payload for job in database.read(_queued)]
    assert {"submission": good} in queued
    created = ended(ada, worker, bad)
    assert created["state"] == "failed"
    assert created["reason"]


def _queued(session):
    return session.scalars(select(jobs.Job).where(jobs.Job.kind == "queue_evaluations")).all()
