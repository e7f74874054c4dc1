"""The check of submissions by a real worker: good and hostile archives, handlers that misbehave, predictions."""

import json
import shutil
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import select

from dynabench.benchmark.registry import predictions
from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets.tables import DatasetVersion
from dynabench.kit.settings import get_settings
from dynabench.models import archives, catalog, spec
from dynabench.models.sandbox.available import sandbox
from tests.jobs.conftest import Worker, until
from tests.kept import dataset
from tests.models.handlers import doing, write
from tests.registry.sending import SENT, pairs


@pytest.fixture
def worker(settings, tmp_path, owner):
    created = Worker(settings, tmp_path / "worker.log")
    created.env |= {"DYNABENCH_CHECK_SECONDS": "100", "DYNABENCH_CHECK_MEMORY_MB": "3000", "OMP_NUM_THREADS": "1"}
    created.start()
    yield created
    if created.process.poll() is None:
        created.end()


def upload(caller, path):
    answer = caller.post(f"{SENT}/files", params={"name": path.name}, content=path.read_bytes())
    assert answer.status_code == 201, answer.text
    return answer.json()["file"]


def enter(caller, kind, name, path, **more):
    answer = caller.post(SENT, json={"kind": kind, "name": name, "file": upload(caller, path), **more})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def ended(caller, worker, id):
    """The submission once its check has ended."""
    database = caller.client.app.state.db

    def look():
        assert worker.process.poll() is None, worker.log_text()
        state = database.read(lambda s: s.scalar(select(Submission.state).where(Submission.id == id)))
        return state not in ("queued", "checking")

    until(look, 120)
    return caller.get(f"/api/v1/submissions/{id}").json()


def ngram(tmp_path, name="nli-ngram"):
    """A zip of the shipped n-gram model; its folder too."""
    folder = tmp_path / "packed" / name
    shutil.copytree(catalog.entry("nli-ngram").folder, folder)
    return archives.pack(folder, tmp_path / f"{name}.zip"), folder


def bomb(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zip_file:
        zip_file.writestr("model.yaml", "name: bomb")
        with zip_file.open("weights.safetensors", "w") as entry:
            for _ in range(64):
                entry.write(bytes(2**20))
    return path


def bundle(path, **files):
    with zipfile.ZipFile(path, "w") as zip_file:
        for name, content in files.items():
            zip_file.writestr(name, content)
    return path


@pytest.mark.release
@pytest.mark.parametrize("database_kind", ["sqlite", "postgres"], indirect=True)
def test_a_packed_model_is_checked_and_then_in_the_catalog(ada, worker, tmp_path, settings, database):
    path, _ = ngram(tmp_path)
    created = ended(ada, worker, enter(ada, "adapter", "mine", path))
    assert created["state"] == "ready", (created, worker.log_text())
    assert created["report"]["passed"]
    assert {step["name"] for step in created["report"]["steps"]} >= {"found", "loads", "answers", "batches", "speed"}
    assert (created["model"], created["inside"], created["card"]["kind"]) == ("mine", True, "ngram")
    result = catalog.entry("mine", created["version"], catalog.folders(settings))
    assert result.card.task == "nli"
    assert spec.version(result.folder) == created["version"]
    assert not [path for path in (settings.folder / "uploads").rglob("*") if path.is_file()], "what was sent is gone"
    assert list((settings.folder / "checks").iterdir()) == []
    again = ended(ada, worker, enter(ada, "adapter", "mine", path))
    assert (again["state"], again["code"]) == ("failed", "duplicate")


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_hostile_archives_fail_with_what_is_wrong_and_leave_nothing(ada, owner, worker, tmp_path, settings, database):
    source = (Path(__file__).parents[2] / "src/dynabench/tasks/builtin/nli.yaml").read_text()
    assert owner.post("/api/v1/tasks", json={"config": source + "\nsubmissions: {per_day: 20}\n"}).status_code in (
        200,
        201,
    )
    served = tmp_path / "served"
    write(served, "", kind="oip", name="served", options={"url": "https://example.org", "model": "m"})
    (served / "handler.py").unlink()
    ids = {
        "is no path within": enter(ada, "adapter", "up", bundle(tmp_path / "up.zip", **{"../../model.yaml": "x"})),
        "200 times as large": enter(ada, "adapter", "bomb", bomb(tmp_path / "bomb.zip")),
        "pickle": enter(
            ada, "adapter", "pickle", bundle(tmp_path / "p.zip", **{"model.yaml": "x", "weights.pkl": "x"})
        ),
        "has model.yaml at its top": enter(ada, "adapter", "empty", bundle(tmp_path / "e.zip", **{"a.txt": "x"})),
        "Only models that run in the sandbox": enter(ada, "archive", "code", ngram(tmp_path)[0]),
        "Submit its address": enter(ada, "adapter", "served", archives.pack(served, tmp_path / "served.zip")),
    }
    for says, id in ids.items():
        created = ended(ada, worker, id)
        assert (created["state"], created["code"]) == ("failed", "refused"), created
        assert says in json.dumps(created["report"]), created["report"]
        assert created["report"]["steps"][0]["remedy"]
    assert not (settings.folder / "models").exists()
    assert list((settings.folder / "checks").iterdir()) == []
    assert not (settings.folder / "model.yaml").exists()


@pytest.mark.release
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_handler_that_dies_takes_nothing_with_it_and_its_log_is_its_owner_s(ada, worker, tmp_path, person, database):
    try:
        sandbox()
    except Exception as error:
        pytest.skip(f"no sandbox here: {error}")
    folder = write(tmp_path / "dies", doing("import os; print('last words', flush=True); os._exit(3)"))
    created = ended(ada, worker, enter(ada, "archive", "dies", archives.pack(folder, tmp_path / "dies.zip")))
    assert (created["state"], created["code"]) == ("failed", "wrong_output"), created
    assert created["report"]["steps"][-1]["name"]
    assert "answers" in created["reason"]
    good = ended(ada, worker, enter(ada, "adapter", "alive", ngram(tmp_path)[0]))
    assert good["state"] == "ready", "the worker goes on"


def rows(count):
    labels = ("entailment", "neutral", "contradiction")
    return [{"uid": f"r{n}", "label": labels[n % 3]} for n in range(count)]


def lines(report):
    return "".join(json.dumps(item) + "\n" for item in report)


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite", "postgres"], indirect=True)
def test_predictions_are_stored_in_the_dataset_s_order(ada, worker, settings, database, tmp_path):
    version = database.write(dataset, settings, pairs(30), "dev")
    sent = tmp_path / "p.jsonl"
    known_values = {"entailment": 0.5, "neutral": 0.25, "contradiction": 0.25}
    sent.write_text(lines([{**element, "probabilities": known_values} for element in reversed(rows(30))]))
    body = {"kind": "predictions", "name": "p", "files": {"dev": upload(ada, sent)}}
    created = ended(ada, worker, ada.post(SENT, json=body).json()["id"])
    assert created["state"] == "ready", created
    assert (created["model"], created["inside"]) == (f"predictions-{created['id']}", False)
    assert len(created["version"]) == 64
    submission, of_version = database.read(
        lambda s: (s.get_one(Submission, created["id"]), s.get_one(DatasetVersion, version))
    )
    result = list(predictions.answers(settings, submission, of_version))
    assert [item.answer for item in result] == [{"label": row["label"]} for row in rows(30)]
    assert result[0].probabilities == known_values
    of_version.id += 1
    with pytest.raises(Exception, match="no predictions for this version"):
        list(predictions.answers(settings, submission, of_version))


class TestReading:
    """Files of predictions, without a worker."""

    @pytest.fixture
    def read(self, tmp_path, monkeypatch):
        from dynabench.datasets import stored
        from dynabench.tasks import shipped_tasks

        monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "home"))
        get_settings.cache_clear()
        settings = get_settings()
        config = next(shipped_task.config for shipped_task in shipped_tasks() if shipped_task.config.id == "nli")
        digest = stored.write_rows(settings, pairs(4)).digest

        def read(content, name="p.jsonl"):
            path = tmp_path / name
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            return predictions.read_predictions(settings, config, path, name, digest, tmp_path / "out" / "1.parquet")

        yield read
        get_settings.cache_clear()

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (lambda r: r[:3], "1 of 4 rows are missing; every row needs an answer: 'r3'"),
            (lambda r: [*r, r[0]], "line 5: Row 'r0' already has an answer in line 1."),
            (lambda r: [*r, {"uid": "zz", "label": "neutral"}], "line 5: The dataset has no row 'zz'."),
            (lambda r: [{"label": "neutral"}, *r], "line 1: The line has no `uid`"),
            (lambda r: [{**r[0], "label": "maybe"}, *r[1:]], "line 1: row 'r0': 'maybe' is none of the labels"),
            (lambda r: [{"uid": "r0"}, *r[1:]], "line 1: It lacks label."),
            (
                lambda r: [{**r[0], "probabilities": {"entailment": 0.5}}, *r[1:]],
                "needed: entailment, neutral, contradiction",
            ),
            (
                lambda r: [
                    {**r[0], "probabilities": {"entailment": 0.9, "neutral": 0.9, "contradiction": 0}},
                    *r[1:],
                ],
                "the probabilities sum to 1.8, not 1",
            ),
            (
                lambda r: [
                    {**r[0], "probabilities": {"entailment": float("nan"), "neutral": 1, "contradiction": 0}},
                    *r[1:],
                ],
                "line 1",
            ),
            (lambda r: [{**r[0], "probabilities": "high"}, *r[1:]], "line 1"),
            (lambda r: [{**r[0], "label": {"a": 1}}, *r[1:]], "none of the labels"),
        ],
    )
    def test_each_error_is_named_with_its_line_and_nothing_is_stored(self, read, tmp_path, change, says):
        content = read(lines(change(rows(4))))
        assert any(says in line for line in content.lines()), content.lines()
        assert not list((tmp_path / "out").glob("*"))

    def test_csv_parquet_and_columns_of_probabilities_say_the_same(self, read, tmp_path):
        head = "uid,label,probability.entailment,probability.neutral,probability.contradiction\n"
        csv = head + "".join(f"{row['uid']},{row['label']},0.2,0.3,0.5\n" for row in rows(4))
        assert read(csv, "p.csv").lines() == []
        first = pq.read_table(tmp_path / "out/1.parquet").to_pylist()
        output_stream = pa.BufferOutputStream()
        known_values = {"entailment": 0.2, "neutral": 0.3, "contradiction": 0.5}
        pq.write_table(pa.Table.from_pylist([{**row, "probabilities": known_values} for row in rows(4)]), output_stream)
        assert read(output_stream.getvalue().to_pybytes(), "p.parquet").lines() == []
        assert pq.read_table(tmp_path / "out/1.parquet").to_pylist() == first

    @pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"PAR1nonsensePAR1", b"[[[[", b"\0\0\0"])
    @pytest.mark.parametrize("name", ["p.jsonl", "p.csv", "p.parquet", "p.json", "p.jsonl.gz"])
    def test_broken_files_are_refused(self, read, content, name):
        result = read(content, name)
        assert result.count > 0
        assert result.lines()

    def test_of_many_errors_the_first_are_named_and_all_counted(self, read):
        content = read(lines([{"uid": f"x{n}", "label": "neutral"} for n in range(500)]))
        assert content.count == 501
        assert len(content.lines()) == predictions.MAX_PROBLEMS + 1
        assert content.lines()[-1] == "and 301 more"
