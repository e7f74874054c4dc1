"""Boards on which something is missing, not finite, constant or tied."""

import math
import re

import pytest
from sqlalchemy import delete, select

from dynabench.benchmark.evaluations import measures
from dynabench.benchmark.evaluations.measures import Measure
from dynabench.benchmark.evaluations.tables import Evaluation, Score
from dynabench.benchmark.reading import _cache
from dynabench.datasets.tables import Dataset, Twin
from tests.leaderboards.asking import PAGE, board, ranks


def test_a_model_without_a_weighed_metric_is_listed_unranked_with_the_reason(client, ids, database, become):
    def forget(session):
        for score in (
            session.query(Score)
            .join(Evaluation)
            .where(Evaluation.submission_id == ids[1], Score.metric.in_(["memory", "throughput"]))
        ):
            session.delete(score)

    database.write(forget)
    become(ids[1], kind="predictions")
    last = board(client)["rows"][-1]
    assert (last["name"], last["rank"], last["score"]["value"]) == ("model-1", None, None)
    reason = "A file of predictions has no throughput, memory; set their weights to 0 to rank without them."
    assert last["unranked"] == reason
    assert "model-1" in ranks(board(client, "?m.memory=0&m.throughput=0"))


def test_a_score_that_is_not_finite_counts_as_none(client, ids, database):
    def spoil(session):
        for score in (
            session.query(Score).join(Evaluation).where(Evaluation.submission_id == ids[0], Score.metric == "accuracy")
        ):
            score.value = float("inf")

    database.write(spoil)
    _cache.clear()
    last = board(client)["rows"][-1]
    assert (last["name"], last["rank"]) == ("model-0", None)
    assert last["metrics"]["accuracy"]["value"] is None


def test_one_model_alone_and_an_empty_board(client, ids, become):
    for id in ids[1:]:
        become(id, state="withdrawn")
    result = board(client)
    assert ranks(result) == {"model-0": (1, 1)}
    become(ids[0], state="withdrawn")
    assert board(client)["rows"] == []
    assert "No models yet" in client.get(PAGE).text


def forget(database, metric, submissions, datasets=("first", "second")):
    """Take scores away as if they had not been made."""

    def write(session):
        versions = select(Dataset.version_id).where(Dataset.name.in_(datasets))
        source = select(Evaluation.id).where(
            Evaluation.submission_id.in_(submissions), Evaluation.version_id.in_(versions)
        )
        session.execute(delete(Score).where(Score.metric == metric, Score.evaluation_id.in_(source)))

    database.write(write)
    _cache.clear()


def reason(gaps, name):
    return next(row["unranked"] for row in gaps["rows"] if row["name"] == name)


def test_a_metric_that_nobody_has_yet_is_named_with_its_reason_and_the_link_that_ranks_all(client, ids, database):
    forget(database, "robustness", ids)
    assert ranks(board(client)) == {}
    assert reason(board(client), "model-0") == "No robustness; set its weight to 0 to rank without it."
    page = client.get(PAGE).text
    assert "No model has robustness yet" in page
    [link] = re.findall(r'href="([^"]+)">Rank without them', page)
    ranked = client.get(link.replace("&amp;", "&")).text
    assert "No model has robustness yet" not in ranked
    assert set(ranks(board(client, "?m.robustness=0"))) == {f"model-{n}" for n in range(4)}

    def perturbing(session):
        version = session.scalars(select(Dataset.version_id).where(Dataset.name == "first")).one()
        session.add(Twin(version_id=version, axis="robustness", state="reading"))

    database.write(perturbing)
    assert "the perturbed copies are still being made; until then" in reason(board(client), "model-0")


def test_a_model_whose_evaluation_goes_on_keeps_its_scores_and_says_its_place_in_the_queue(client, ids, database):
    forget(database, "robustness", ids)
    before = board(client)["rows"][0]["metrics"]["accuracy"]["value"]

    def queued(session):
        for item in session.scalars(select(Evaluation).order_by(Evaluation.id)):
            item.state, item.attempt = "queued", 2

    database.write(queued)
    result = board(client)
    assert max(row["metrics"]["accuracy"]["value"] for row in result["rows"]) == before
    assert reason(result, "model-0") == (
        "Measuring robustness: place 1 in the queue. Until then, set its weight to 0 to rank without it."
    )
    assert "place 7 in the queue" in reason(result, "model-3")
    assert len(ranks(board(client, "?m.robustness=0"))) == 4


def test_a_dataset_without_perturbed_copies_does_not_count_in_their_metric_and_unranks_nobody(client, ids, database):
    forget(database, "robustness", ids, ["second"])
    result = board(client)
    assert len(ranks(result)) == 4
    for row in result["rows"]:
        assert row["metrics"]["robustness"]["value"] == row["datasets"]["first"]["robustness"]["value"]
    forget(database, "robustness", ids[:1], ["first"])
    assert set(ranks(board(client))) == {"model-1", "model-2", "model-3"}
    forget(database, "accuracy", ids[1:2], ["second"])
    assert reason(board(client), "model-1") == "Not yet scored on Second."


def set_all(database, metric, value, submissions=None):
    """One value and no spread for everybody, or for some."""

    def write(session):
        rows = select(Score).join(Evaluation).where(Score.metric == metric, Score.slice == "")
        for score in session.scalars(rows if submissions is None else rows.where(
            Evaluation.submission_id.in_(submissions))):  # fmt: skip
            score.value, score.low, score.high, score.replicates = value, value, value, None

    database.write(write)
    _cache.clear()


@pytest.mark.parametrize("form", ["exact", "guarded"])
def test_all_ties_and_constant_metrics_have_finite_scores_and_shared_ranks(client, ids, database, form):
    set_all(database, "memory", 3.0)
    varied = board(client, f"?form={form}")
    assert len(ranks(varied)) == 4
    for metric in ("accuracy", "f1", "fairness", "robustness", "throughput"):
        set_all(database, metric, 0.5)
    tied = board(client, f"?form={form}")
    assert ranks(tied) == {f"model-{n}": (1, 4) for n in range(4)}
    assert len({row["score"]["value"] for row in tied["rows"]}) == 1
    assert all(math.isfinite(row["score"]["value"]) for row in (*varied["rows"], *tied["rows"]))


@pytest.mark.parametrize("form", ["exact", "guarded"])
def test_a_primary_metric_of_which_less_is_better_ranks_the_least_first(client, ids, monkeypatch, form):
    monkeypatch.setitem(measures.MEASURES, "accuracy", Measure("accuracy", "Error", "lower"))
    _cache.clear()
    only = "m.f1=0&m.fairness=0&m.robustness=0&m.throughput=0&m.memory=0"
    result = board(client, f"?{only}&form={form}")
    assert ranks(result) == {"model-3": (1, 1), "model-1": (2, 3), "model-2": (2, 3), "model-0": (4, 4)}
    assert result["rows"][0]["name"] == "model-3"
