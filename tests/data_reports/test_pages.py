"""Reports on the pages: asked for, measured by the worker, seen by their person alone, deleted."""

import pytest
from sqlalchemy import select

from dynabench.insight.data_reports import jobs as report_jobs
from dynabench.insight.data_reports import service, subjects
from dynabench.kit import jobs
from tests.data_reports.test_reading import write_rows
from tests.datasets.library import added, olga, work  # noqa: F401


@pytest.fixture
def ada(browser):
    mine = browser()
    mine.join("ada")
    return mine


@pytest.fixture
def mia(browser):
    other = browser()
    other.join("mia")
    return other


def send_data(browser, files, **fields):
    headers = {"X-CSRF-Token": browser.token("/data-reports")}
    return browser.client.post("/data-reports", data=fields, files=files or None, headers=headers)


def report_jobs_of(database):
    return database.read(lambda session: list(session.scalars(select(jobs.Job).where(jobs.Job.kind == service.KIND))))


def run(database, settings, job):
    key = report_jobs.measure_subjects(settings, job.payload)
    database.write(service.finish_job, job.id, {"key": key})
    service.remove_files(
        database.read(lambda session: service.unused_files(session, session.get_one(jobs.Job, job.id)))
    )


def uploads_of(settings):
    return settings.folder / "uploads" / subjects.UPLOADS


@pytest.mark.release
def test_a_file_is_measured_shown_and_deleted(ada, mia, database, settings, tmp_path):
    content = write_rows(tmp_path / "a.jsonl", 80).read_bytes()
    other = write_rows(tmp_path / "b.jsonl", 40, 3).read_bytes()
    answer = send_data(ada, {"file": ("mine.jsonl", content), "other_file": ("other.jsonl", other)})
    assert answer.status_code == 303, answer.text
    [job] = report_jobs_of(database)
    page = f"/data-reports/{job.id}"
    assert "Waiting in the queue" in ada.get(page).text
    run(database, settings, job)
    text = ada.get(page).text
    assert "Leakage" in text
    assert "80 rows" in text
    assert ada.get(f"{page}/report.pdf").content.startswith(b"%PDF")
    assert "Data measurements" in ada.get(f"{page}/report.md").text
    assert "share" in ada.get(f"{page}/labels/labels.csv").text
    assert ada.get(f"{page}/labels/none.csv").status_code == 404
    assert ada.get(f"{page}/report.exe").status_code == 404
    for path in (page, f"{page}/report.md", f"{page}/labels/figures.csv"):
        assert mia.get(path).status_code == 404
    assert mia.submit(f"{page}/delete", page="/data-reports").status_code == 404
    assert ada.submit(f"{page}/delete", page="/data-reports").status_code == 303
    assert ada.get(page).status_code == 404
    assert not [path for path in uploads_of(settings).rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("name", "content", "fields", "wrong"),
    [
        ("a.docx", b"x", {}, "Upload a file"),
        ("a.jsonl", b"", {}, "no rows"),
        ("a.jsonl", b'{"a": 1}\n', {"texts": "b"}, "no column b"),
        ("a.jsonl", b'{"text": "some words of text here"}\n', {"terms": "she"}, "pairs of words"),
        ("../../a.zip", b"PK", {}, "cannot be read"),
    ],
)
def test_files_that_cannot_be_read_are_refused_at_once(ada, settings, database, name, content, fields, wrong):
    answer = send_data(ada, {"file": (name, content)}, **fields)
    assert answer.status_code == 422
    assert wrong in answer.text
    assert not [path for path in uploads_of(settings).rglob("*") if path.is_file()]
    assert not report_jobs_of(database)


@pytest.mark.release
def test_hidden_datasets_are_measured_for_nobody(olga, work, ada, mia, client, database, settings):  # noqa: F811
    added(olga, work, name="films", visibility="public")
    added(olga, work, name="secrets", visibility="hidden")
    added(olga, work, name="scored", visibility="scoring")
    owner = type(ada)(client)
    owner.log_in("olga")
    for browser in (ada, owner):
        for name in ("secrets", "scored", "none"):
            assert send_data(browser, {}, dataset=f"sentiment/{name}").status_code == 422
            compared = send_data(browser, {}, dataset="sentiment/films", other_dataset=f"sentiment/{name}")
            assert compared.status_code == 422
    assert not report_jobs_of(database)
    assert send_data(ada, {}, dataset="sentiment/films").status_code == 303
    [job] = report_jobs_of(database)
    run(database, settings, job)
    page = f"/data-reports/{job.id}"
    assert "40 rows" in ada.get(page).text
    assert "Data reports" in ada.get("/data-reports").text
    assert ada.get("/tasks/sentiment/datasets/films").text.count("/data-reports?dataset=sentiment/films") == 1
