"""Data reports by programs: an upload or a dataset is measured, compared, downloaded and deleted; repeated requests."""

from contextlib import contextmanager

import pytest

from dynabench.client import ApiError, Client
from dynabench.insight.data_reports import jobs as report_jobs
from dynabench.insight.data_reports import service
from dynabench.insight.data_reports.report import report_path
from tests.conftest import register
from tests.data_reports.test_pages import report_jobs_of, run, uploads_of
from tests.data_reports.test_reading import write_rows
from tests.datasets.library import added, olga, work  # noqa: F401


@contextmanager
def client_of(client, name):
    """The Python client of a person, in front of the application."""
    with Client("http://testserver", register(client, name).token) as mine:
        mine.http.close()
        headers, mine.http = mine.http.headers, type(client)(client.app, base_url="http://testserver")
        mine.http.headers["Authorization"] = headers["Authorization"]
        yield mine


def files_of(settings):
    return [path for path in uploads_of(settings).rglob("*") if path.is_file()]


@pytest.mark.release
def test_an_upload_is_measured_and_compared(client, database, settings, tmp_path):
    with client_of(client, "ada") as ada, client_of(client, "mia") as mia:
        data = ada.upload_data(str(write_rows(tmp_path / "a b.jsonl", 80)))
        other = ada.upload_data(str(write_rows(tmp_path / "other.jsonl", 40, 3)))
        with pytest.raises(ApiError, match="no longer here"):
            mia.measure_data(data)
        report = ada.measure_data(data, compare=other, pairs=[["She", "he"]], label="label")
        assert (report["state"], report["name"], report["compared_with"]) == ("queued", "a_b.jsonl", "other.jsonl")
        with pytest.raises(ApiError) as early:
            ada.data_report_result(report["id"])
        assert early.value.status == 409
        again = ada.measure_data(data, compare=other, pairs=[["She", "he"]], label="label")
        assert again["id"] == report["id"]
        second = ada.measure_data(data, label="-")
        [job, *_rest] = [job for job in report_jobs_of(database) if job.id == report["id"]]
        run(database, settings, job)
        assert [path.name.partition("--")[2] for path in files_of(settings)] == ["a_b.jsonl"]
        result = ada.data_report_result(report["id"])
        assert result["facts"]["rows"] == 80
        assert result["other"]["rows"] == 40
        general = next(measure for measure in result["measures"] if measure["name"] == "general")
        assert {figure["name"]: figure["value"] for figure in general["figures"]}["rows"] == 80
        assert {measure["name"] for measure in result["compared"]} == {"differences", "shared_rows", "shared_words"}
        assert ada.data_report_file(report["id"], "pdf").startswith(b"%PDF")
        assert [item["id"] for item in ada.data_reports()] == [second["id"], report["id"]]
        assert not list(mia.data_reports())
        for refused in (mia.data_report, mia.data_report_result, mia.delete_data_report):
            with pytest.raises(ApiError) as problem:
                refused(report["id"])
            assert problem.value.status == 404
        ada.delete_data_report(second["id"])
        assert not files_of(settings)
        assert [item["state"] for item in ada.data_reports()] == ["done"]
        report_path(settings, database.read(
            lambda session: service.report_job(session, session.get_one(service.Person, job.person_id), report["id"])
        ).done["key"]).unlink()  # fmt: skip
        lost = ada.data_report(report["id"])
        assert lost["state"] == "failed"
        assert "Measure the data again" in lost["problem"]


def test_lists_have_pages(client, database, settings, tmp_path):
    path = str(write_rows(tmp_path / "a.jsonl", 30))
    with client_of(client, "ada") as ada:
        data = ada.upload_data(path)
        ids = [ada.measure_data(data, seed=seed)["id"] for seed in range(5)]
        ada.delete_data_report(ids.pop(2))
        page = ada.request("GET", "/data-reports", params={"limit": 3})
        assert [item["id"] for item in page["items"]] == ids[:0:-1]
        rest = ada.request("GET", "/data-reports", params={"limit": 3, "after": page["next"]})
        assert ([item["id"] for item in rest["items"]], rest["next"]) == (ids[:1], None)


@pytest.mark.release
def test_data_that_cannot_be_measured_say_why(olga, work, client, database, settings, tmp_path):  # noqa: F811
    added(olga, work, name="films", visibility="public")
    added(olga, work, name="secrets", visibility="hidden")
    with client_of(client, "ada") as ada:
        for body, field, words in (
            ({"data": "sentiment/films"}, "data", "file:"),
            ({"data": "dataset:sentiment/none"}, "data", "no dataset"),
            ({"data": "file:../../x"}, "data", "no longer here"),
            ({"data": "dataset:sentiment/films", "compare": "dataset:sentiment/secrets"}, "compare", "no dataset"),
            ({"data": "dataset:sentiment/films", "texts": ["body"]}, "texts", "no column body"),
            ({"data": "dataset:sentiment/films", "pairs": [["she", "she"]]}, "terms", "pairs of words"),
        ):
            with pytest.raises(ApiError) as problem:
                ada.request("POST", "/data-reports", json=body)
            assert problem.value.status == 422
            assert words in problem.value.fields[field]
        assert not report_jobs_of(database)
        with pytest.raises(ApiError, match="Upload a file"):
            ada.upload_data(str(write_rows(tmp_path / "a.docx")))
        report = ada.measure_data("dataset:sentiment/films")
        run(database, settings, report_jobs_of(database)[0])
        assert ada.data_report_result(report["id"])["facts"]["rows"] == 40


def test_a_file_that_waited_too_long_is_state_without_its_path(client, database, settings, tmp_path):
    with client_of(client, "ada") as ada:
        report = ada.measure_data(ada.upload_data(str(write_rows(tmp_path / "a.jsonl"))))
        [path] = files_of(settings)
        path.unlink()
        [job] = report_jobs_of(database)
        with pytest.raises(service.errors.Problem) as problem:
            report_jobs.measure_subjects(settings, job.payload)
        database.write(service.finish_job, job.id, {"problem": problem.value.detail})
        state = ada.data_report(report["id"])
        assert state["state"] == "failed"
        assert "Upload it again" in state["problem"]
        assert str(settings.folder) not in state["problem"]
