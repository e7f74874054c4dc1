"""Evaluations of models: by a worker, which is killed and goes on, and by its steps alone, however they end."""

import dataclasses
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.metrics import matthews_corrcoef
from sqlalchemy import func, select

from dynabench.benchmark.evaluations import records, row_scores, service
from dynabench.benchmark.evaluations.measures import unpack_replicates
from dynabench.benchmark.evaluations.tables import Evaluation, Record, Score, Shard
from dynabench.benchmark.registry import predictions
from dynabench.datasets import stored
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import Twin
from dynabench.kit import jobs
from dynabench.kit.db import now
from dynabench.models import encoder
from dynabench.people.accounts.tables import Notice, Person
from dynabench.rounds import service as rounds
from dynabench.tasks import shipped_tasks
from tests.jobs.conftest import until
from tests.leaderboards.asking import board, ranks
from tests.models.handlers import need_sandbox
from tests.scoring.conftest import BAD, run_evaluation, statements

NGRAM = "sentiment-ngram"
SLOW = """
import time
class Model:
    def __init__(self, folder):
        pass

    def predict(self, rows):
        time.sleep({seconds})
        {line}
        return [{{"label": "positive"}} for row in rows]
"""


def scores_of(database, evaluation):
    with database._reads() as session:
        rows = session.scalars(select(Score).where(Score.evaluation_id == evaluation)).all()
        return {(row.metric, row.slice): row for row in rows}


def folder(settings, name, line="pass", seconds=0.0):
    """A handler that answers always the same, after it did something."""
    need_sandbox()
    at = settings.folder / "models" / name
    at.mkdir(parents=True)
    fields = {"name": name, "task": "sentiment", "kind": "handler", "inputs": "[statement]", "answer": "label",
              "labels": "[positive, negative, neutral]", "licence": "MIT",
              "options": "{memory_mb: 900, predict_seconds: 20}"}  # fmt: skip
    (at / "model.yaml").write_text("\n".join(f"{key}: {value}" for key, value in fields.items()))
    (at / "handler.py").write_text(SLOW.format(line=line, seconds=seconds))
    return name


def check_record(database, settings, evaluation):
    """The record of an evaluation is signed, and names the digests of its answers."""
    record = database.read(lambda session: session.get_one(Record, evaluation))
    key = records.public_keys(settings)[0]
    assert records.is_signature_valid(record.document, record.signature, key)
    assert not records.is_signature_valid(record.document | {"rows": 1}, record.signature, key)
    digests = {shard["digest"] for shard in record.document["shards"]}
    assert digests == set(database.read(lambda session: session.scalars(select(Shard.digest)).all()))


@pytest.mark.slow
def test_a_worker_queues_what_is_new_and_gives_an_installed_model_all_its_scores_and_a_signed_record(
    place, worker, database, settings, owner_of
):
    here, sender = place(), owner_of("sam")
    rows = statements(90)
    version = here.dataset("films", rows)
    twins = [
        StoredRow(
            f"{row.uid}-{created}", {"statement": text or row.inputs["statement"]}, row.answers, (), row.uid, created
        )
        for row in rows[:40]
        for created, text in (("same", ""), ("turned", BAD))
    ]
    here.twin(version, "robustness", twins)
    here.submit(NGRAM, sender)
    here.dataset("lost", statements(6))
    assert here.queue(dataset=2) == 1
    (settings.folder / "evaluations").mkdir()
    (settings.folder / "evaluations" / "1").write_text("a file where a folder should be")
    database.write(lambda session: jobs.enqueue(session, "queue_evaluations", {"dataset": 1}) and None)
    worker.start()
    until(lambda: database.read(lambda session: session.get(Evaluation, 2)))
    result = here.ended(2)
    assert result.state == "done", (result.code, result.reason, result.log, worker.log_text())
    assert (result.version_id, result.rows_done, result.rows) == (version, 170, 170)
    assert here.queue(submission=1) == 0
    fault = here.ended(1)
    assert (fault.state, fault.code) == ("failed", "failed"), "a fault of ours ends an evaluation too"

    scores = scores_of(database, 2)
    accuracy = scores["accuracy", ""]
    assert (accuracy.value, accuracy.n) == (1.0, 90)
    assert 0.9 < accuracy.low < 1
    assert len(unpack_replicates(accuracy.replicates)) == 1000
    assert scores["accuracy", "bad"].n == 30
    assert ("f1", "bad") not in scores
    steady = scores["robustness", ""]
    assert steady.n == 40
    assert steady.value == pytest.approx((14 + 26 * 0.5) / 40)  # the 26 good ones keep their answer in one copy of two
    assert scores["robustness_score", ""].n == 80
    for name in ("throughput", "memory", "latency_p50", "latency_p95"):
        score = scores[name, ""]
        assert 0 < score.low <= score.value <= score.high, name
        drawn = unpack_replicates(score.replicates)
        assert (np.ptp(drawn) > 0) == (score.high > score.low), "as the repeats vary"
        assert abs(drawn.mean() - score.value) <= 1.2 * (score.high - score.low) + 1e-6 * score.value
    assert 0 <= scores["calibration_error", ""].value < 0.2

    check_record(database, settings, 2)
    with database._reads() as session:
        assert [item.kind for item in session.scalars(select(Notice))] == ["evaluation"] * 2


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_new_twin_is_answered_alone_and_a_new_metric_asks_no_model(place, by_hand, run_jobs, database, settings):
    here = place()
    rows = statements(30)
    version = here.dataset("films", rows)
    here.submit(NGRAM)
    here.queue(submission=1)
    by_hand(1)
    before = database.read(lambda session: session.scalars(select(Shard)).one()).done_at
    measured = scores_of(database, 1)["throughput", ""].value
    copies = [StoredRow(f"{row.uid}-x", row.inputs, row.answers, (), row.uid, "same") for row in rows]
    twin = here.twin(version, "fairness", copies)
    assert here.queue(twin=twin) == 1
    by_hand(1)
    assert here.evaluation(1).attempt == 2
    with database._reads() as session:
        shards = {item.part: item.done_at for item in session.scalars(select(Shard))}
    assert shards["rows"] == before
    assert "fairness" in shards
    scores = scores_of(database, 1)
    assert scores["fairness", ""].value == 1.0
    assert scores["throughput", ""].value == measured

    row_scores.store_row_scores(settings, 1, np.zeros((2, 30), np.float32))

    def older(session):
        for score in session.scalars(select(Score).where(Score.metric == "accuracy")):
            score.version = 0
        return service.queue_outdated_metrics(session)

    assert database.write(older) == 1
    run_jobs("queue_evaluations")
    by_hand(1)
    assert here.evaluation(1).attempt == 3
    assert scores_of(database, 1)["accuracy", ""].version == 1
    assert row_scores.read_row_scores(settings, 1).tolist() == [[1] * 30] * 2, (
        "what is said of rows is made anew with the scores"
    )


@pytest.mark.slow
def test_a_metric_added_to_a_task_scores_every_model_from_its_stored_answers(place, run_jobs, database):
    here = place()
    rows = statements(30)
    rows[3] = dataclasses.replace(rows[3], answers=({"label": "positive"},))  # what the models answer wrong
    here.dataset("films", rows)
    for element in (NGRAM, "sentiment-minilm"):
        here.queue(submission=here.submit(element))
    run_jobs("evaluate")
    assert [here.evaluation(number).state for number in (1, 2)] == ["done", "done"]

    def answered():
        return database.read(lambda session: {row.digest: row.done_at for row in session.scalars(select(Shard))})

    before = answered()
    [shipped] = [shipped_task for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment"]
    source = shipped.source.replace("primary: accuracy", "primary: matthews_correlation")
    assert database.write(rounds.save_task, None, source).changed
    run_jobs("queue_evaluations", "evaluate")
    right = [this_row.answers[0]["label"] for this_row in rows]
    wrong = [*right[:3], "negative", *right[4:]]
    for element in (1, 2):
        score = scores_of(database, element)["matthews_correlation", ""]
        assert score.value == pytest.approx(matthews_corrcoef(right, wrong))
    assert answered() == before, "no model was asked again"
    with database._reads() as session:
        named = [session.get_one(Record, item).document["model"].get("encoder") for item in (1, 2)]
    assert named == [None, encoder.SHIPPED_FOR]


@pytest.mark.slow
def test_an_axis_of_perturbed_copies_added_to_a_task_ranks_every_model_again(place, run_jobs, database, client):
    here = place()
    [shipped] = [shipped_task for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment"]

    def perturb(axes):
        source = shipped.source.replace("perturb: [fairness, robustness]", f"perturb: [{axes}]")
        assert database.write(rounds.save_task, None, source).changed

    perturb("")
    here.dataset("films", statements(30))
    here.dataset("retired", statements(31), retired_at=now())
    here.queue(submission=here.submit(NGRAM))
    run_jobs("evaluate")
    assert here.evaluation(1).state == "done"
    assert ranks(board(client)) == {NGRAM: (1, 1)}
    perturb("robustness")
    run_jobs("queue_evaluations", "perturb_dataset", "evaluate")
    assert ("robustness", "") in scores_of(database, 1)
    assert here.evaluation(1).state == "done"
    assert ranks(board(client)) == {NGRAM: (1, 1)}
    content = database.read(lambda session: session.execute(select(Twin.version_id, Twin.axis, Twin.state)).all())
    assert [tuple(item) for item in content] == [(1, "robustness", "ready")], "copies of the dataset in use, once"


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_model_that_goes_wrong_ends_its_evaluation_with_the_reason(place, database, settings):
    here = place()
    here.dataset("open", statements(4))
    wrong = {
        "return [{'label': 'good'} for row in rows]": {"wrong_output"},
        "return [{'label': 'positive'}]": {"wrong_output"},
        "import os; os._exit(3)": {"unreachable", "crashed"},
    }
    for number, line in enumerate(wrong, start=1):
        here.submit(folder(settings, f"odd-{number}", line))
        here.queue(submission=number)
    for number, codes in enumerate(wrong.values(), start=1):
        run_evaluation(database, settings, number)
        result = here.evaluation(number)
        assert result.state == "failed"
        assert result.code in codes, (result.code, result.reason)
        assert result.code in service.CODES
        assert result.reason
    here.dataset("closed", statements(5), "hidden")
    here.queue(submission=1)
    closed = database.read(lambda session: session.scalars(select(Evaluation.id).order_by(Evaluation.id)).all())[-1]
    run_evaluation(database, settings, closed)
    hidden = here.evaluation(closed)
    assert (hidden.state, hidden.code, hidden.reason, hidden.log) == ("failed", "wrong_output", "", "")


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_model_that_takes_too_long_or_too_much_is_ended(place, settings, database, monkeypatch):
    here = place()
    here.dataset("films", statements(2))
    here.submit(folder(settings, "slow", seconds=600))
    here.queue(submission=1)
    monkeypatch.setenv("DYNABENCH_EVALUATION_ANSWER_SECONDS", "0.2")
    assert run_evaluation(database, settings, 1)["code"] == "time"
    monkeypatch.setenv("DYNABENCH_EVALUATION_MEMORY_MB", "64")
    monkeypatch.setenv("DYNABENCH_EVALUATION_ANSWER_SECONDS", "10")
    here.submit(folder(settings, "large", "self.much = bytearray(b'x') * 300_000_000; time.sleep(5)"))
    here.queue(submission=2)
    assert run_evaluation(database, settings, 2)["code"] == "out_of_memory"


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_cancelling_takes_effect_while_the_model_thinks_and_a_retry_goes_on(place, settings, database, owner_of):
    here = place()
    here.dataset("films", statements(20))
    sam = owner_of("sam")
    here.submit(folder(settings, "slow", seconds=600), sam)
    here.queue(submission=1)
    with ThreadPoolExecutor() as threads:
        running = threads.submit(run_evaluation, database, settings, 1)
        until(lambda: here.evaluation(1).state == "running")
        database.write(lambda session: service.cancel_evaluation(session, session.get_one(Person, sam), 1))
        assert running.result(60) == {"state": "cancelled"}
    handler = settings.folder / "models" / "slow" / "handler.py"
    handler.write_text(handler.read_text().replace("600", "0"))
    assert here.evaluation(1).state == "cancelled"
    database.write(lambda session: service.retry_evaluation(session, session.get_one(Person, sam), 1))
    run_evaluation(database, settings, 1)
    outcome = here.evaluation(1)
    assert (outcome.attempt, outcome.code) == (2, "model_gone")  # another file is another version


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_dataset_whose_file_changed_is_not_scored(place, settings, database):
    here = place()
    here.dataset("films", statements(20))
    here.submit(NGRAM)
    here.queue(submission=1)
    [file] = (settings.folder / "datasets").rglob("*.parquet")
    other = stored.write_rows(settings, statements(21))
    file.write_bytes(stored.rows_path(settings, other.digest).read_bytes())
    assert run_evaluation(database, settings, 1) == {"state": "failed", "code": "dataset_changed"}


@pytest.mark.release
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_workers_that_die_score_each_shard_once(place, worker, database, settings):
    here = place()
    for number in range(2):
        here.dataset(f"set{number}", statements(600))
    for model in (NGRAM, folder(settings, "calm", seconds=0.05)):
        here.queue(submission=here.submit(model))
    rng = np.random.default_rng(3)
    for _ in range(2):
        worker.start()
        until(lambda: any(here.evaluation(element).rows_done for element in range(1, 5)))
        time.sleep(rng.uniform(0, 1))
        worker.end(signal.SIGKILL)
    worker.start()
    result = [here.ended(this_number) for this_number in range(1, 5)]
    assert {item.state for item in result} == {"done"}, [(evaluation.code, evaluation.reason) for evaluation in result]
    with database._reads() as session:
        for this_item in result:
            shards = session.scalars(
                select(Shard).where(Shard.evaluation_id == this_item.id).order_by(Shard.first)
            ).all()
            assert [(shard.first, shard.rows) for shard in shards] == list(_cut(shards, 600))
            assert this_item.rows_done == 600
        assert session.scalar(select(func.count()).select_from(Record)) == 4
        names = session.execute(select(Score.evaluation_id, Score.metric, Score.slice)).all()
    assert len(names) == len(set(names))


def _cut(shards, rows):
    at = 0
    for shard in shards:
        yield at, shard.rows
        at += shard.rows
    assert at == rows


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_file_of_predictions_is_scored_without_a_model(place, by_hand, database, settings):
    import orjson
    import pyarrow as pa
    import pyarrow.parquet as pq

    here = place()
    rows = statements(40)
    version = here.dataset("films", rows)
    submission = here.submit(NGRAM, kind="predictions", inside=False, version="file")
    at = predictions.predictions_path(settings, submission, version)
    at.parent.mkdir(parents=True)
    answer = [orjson.dumps({"label": "positive"}).decode()] * 40
    created = {"uid": [row.uid for row in rows], "answer": answer, "probabilities": [None] * 40}
    pq.write_table(pa.table(created, schema=predictions.SCHEMA), at)
    assert here.queue(submission=submission) == 1
    by_hand(1)
    scores = scores_of(database, 1)
    assert scores["accuracy", ""].value == pytest.approx(26 / 40)
    assert not [name for name, _ in scores if name in ("throughput", "memory", "calibration_error")]
