"""Two models side by side: differences, tests and their correction, rows."""

import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest

from dynabench.benchmark.leaderboards.comparison import (
    AnswerTally,
    chosen_rows,
    compare_entrants,
    paired_difference,
    significance,
    tally_answers,
)
from dynabench.datasets.tables import Dataset
from tests.boards import board_of

Rights = arrays(np.float32, 30, elements=st.sampled_from([0.0, 1.0, float("nan")]))


def test_two_copies_of_a_model_are_never_told_apart():
    drawn = np.random.default_rng(0).normal(0.8, 0.02, 1000)
    assert paired_difference(drawn, drawn, 0.0) == (0.0, 0.0, 1.0)
    right = np.ones(50, np.float32)
    assert significance(right, right) == ("mcnemar", 1.0)


def test_a_clear_difference_is_found_and_its_interval_holds_it():
    rng = np.random.default_rng(1)
    rows = rng.random(500)
    places = rng.integers(500, size=(1000, 500))
    a, b = rows < 0.9, rows < 0.8
    low, high, p = paired_difference(a[places].mean(1), b[places].mean(1), a.mean() - b.mean())
    assert 0 < low < a.mean() - b.mean() < high < 0.2
    assert p < 1e-6


def test_few_rows_that_differ_are_tested_exactly():
    a, b = np.zeros(40, np.float32), np.zeros(40, np.float32)
    a[:9], b[30:32] = 1, 1
    assert significance(a, b) == ("mcnemar", pytest.approx(binomtest(2, 11).pvalue))


def test_shares_of_a_row_are_exchanged_at_random():
    rng = np.random.default_rng(2)
    a = rng.random(200).astype(np.float32)
    name, p = significance(a, np.clip(a + rng.normal(0.1, 0.1, 200), 0, 1).astype(np.float32))
    assert name == "approximate_randomization"
    assert p < 0.01
    assert significance(a, rng.permutation(a))[1] > 0.5


def test_rows_without_an_answer_are_not_paired():
    nothing = np.full(5, np.nan, np.float32)
    assert significance(nothing, np.ones(5, np.float32)) is None
    assert tally_answers(nothing, np.ones(5, np.float32)) == AnswerTally(0, 0, 0, 0)


@given(Rights, Rights)
def test_every_row_that_both_answered_is_of_one_kind(a, b):
    result = tally_answers(a, b)
    assert result.rows == int((~np.isnan(a) & ~np.isnan(b)).sum())
    assert chosen_rows(a, b, "differ").sum() == result.a + result.b
    assert tally_answers(b, a) == AnswerTally(result.right, result.b, result.a, result.wrong)


def ask(client, **params):
    return client.get("/api/v1/tasks/sentiment/compare", params=params)


@pytest.fixture
def ids(client):
    items = client.get("/api/v1/tasks/sentiment/matrix").json()["items"]
    return {item["entrant"]["label"]: item["entrant"]["id"] for item in items}


@pytest.mark.slow
def test_a_better_model_is_named_with_the_datasets_and_equal_ones_are_not_told_apart(client, ids):
    document = ask(client, a=ids["model-0"], b=ids["model-1"]).json()
    assert document["conclusion"] == "model-0 is better than model-1 in accuracy on all 3 datasets."
    primary = [difference for difference in document["differences"] if difference["metric"] == "accuracy"]
    assert {item["better"] for item in primary} == {"a"}
    assert [element["test"] for element in primary] == ["mcnemar", "mcnemar", "paired_bootstrap"]
    assert all(this_item["corrected_p"] >= this_item["p"] for this_item in primary)
    back = ask(client, a=ids["model-1"], b=ids["model-0"]).json()
    assert back["conclusion"] == document["conclusion"]
    same = ask(client, a=ids["model-1"], b=ids["model-2"]).json()
    assert same["conclusion"].startswith("No clear difference")
    assert {
        this_difference["p"] for this_difference in same["differences"] if this_difference["metric"] == "accuracy"
    } == {1.0}


def test_costs_have_a_difference_and_no_test(client, ids):
    differences = ask(client, a=ids["model-0"], b=ids["model-1"]).json()["differences"]
    costs = [item for item in differences if item["metric"] == "throughput"]
    assert [(cost["difference"], cost["p"], cost["better"]) for cost in costs] == [(10.0, None, None)] * 3


def rows(client, ids, **params):
    values = {"a": ids["model-0"], "b": ids["model-1"], "dataset": "first"} | params
    return client.get("/api/v1/tasks/sentiment/compare/examples", params=values)


def test_rows_on_which_they_disagree_are_paged_without_gaps_or_repeats(client, ids):
    seen, after = [], -1
    while after is not None:
        page = rows(client, ids, limit=7, after=after).json()
        seen += [item["uid"] for item in page["items"]]
        after = page["next"]
    tally = page["tally"]
    assert len(seen) == len(set(seen)) == tally["a"] + tally["b"] > 7
    assert sum(tally.values()) == 120
    assert seen == sorted(seen, key=lambda uid: int(uid.rpartition("-")[2]))


def test_each_row_says_what_was_asked_what_is_right_and_what_both_said(client, ids):
    row = rows(client, ids, shown="a").json()["items"][0]
    assert next(iter(row["inputs"].values())).startswith("number")
    assert list(row["reference"].values()) == ["positive"] or list(row["reference"].values()) == ["Positive"]
    assert row["a"]["right"]
    assert not row["b"]["right"]
    assert row["a"]["answer"] == row["reference"] != row["b"]["answer"]


def test_rows_are_filtered_by_kind_and_tag(client, ids):
    assert all(element["a"]["right"] for element in rows(client, ids, shown="right").json()["items"])
    odd = rows(client, ids, tag="odd", limit=100).json()["items"]
    assert {tuple(item["tags"]) for item in odd} == {("odd",)}
    assert rows(client, ids, tag="no such tag").json()["items"] == []


@pytest.mark.slow
@pytest.mark.parametrize("visibility", ["hidden", "scoring"])
def test_rows_that_are_not_public_are_refused(client, ids, database, visibility):
    database.write(lambda s: setattr(s.query(Dataset).filter_by(name="second").one(), "visibility", visibility))
    assert rows(client, ids, dataset="second").status_code == 403
    page = client.get(f"/tasks/sentiment/compare?a={ids['model-0']}&b={ids['model-1']}&dataset=second")
    assert page.status_code == 403
    tests = {
        difference["dataset"]: difference["test"]
        for difference in ask(client, a=ids["model-0"], b=ids["model-1"]).json()["differences"][:3]
    }
    assert tests["second"] == ("mcnemar" if visibility == "scoring" else "paired_bootstrap")


def test_files_that_are_gone_leave_the_stored_scores(client, ids, settings):
    shutil.rmtree(settings.folder / "evaluations")
    differences = ask(client, a=ids["model-0"], b=ids["model-1"]).json()["differences"]
    assert {item["test"] for item in differences if item["metric"] == "accuracy"} <= {"paired_bootstrap", "mcnemar"}
    assert rows(client, ids).json()["items"] == []
    assert client.get(f"/tasks/sentiment/compare?a={ids['model-0']}&b={ids['model-1']}").status_code == 200


@pytest.mark.parametrize("after", ["-2", "x", str(2**40)])
def test_nonsense_places_are_refused(client, ids, after):
    assert rows(client, ids, after=after).status_code == 422


def test_the_page_says_the_conclusion_and_shows_rows(client, ids):
    page = client.get(f"/tasks/sentiment/compare?a={ids['model-0']}&b={ids['model-1']}").text
    assert "model-0 is better than model-1 in accuracy on all 3 datasets." in page
    assert "number" in page
    part = client.get(f"/tasks/sentiment/compare?a={ids['model-0']}&b={ids['model-1']}", headers={"HX-Request": "true"})
    assert "<html" not in part.text
    assert client.get("/tasks/sentiment/compare", headers={"HX-Request": "true"}).status_code == 200


def test_p_values_of_a_metric_are_corrected_by_holm_over_its_datasets():
    """By hand: of two datasets the smaller p counts twice, and the larger at least as much."""
    rng = np.random.default_rng(3)
    noise = np.stack([rng.normal(0, 0.02, 1000) for _ in range(2)])
    values = np.array([[[0.8, 0.8]] * 2, [[0.8 - gain, 0.8 - gain] for gain in (0.048, 0.042)]])
    replicates = np.repeat(values[..., None], 1000, axis=-1)
    replicates[0] += noise[:, None]
    board = board_of(["accuracy", "f1"], values, replicates.astype(np.float32), [100, 100])
    result = compare_entrants(board, *board.entrants, lambda item: None)
    for metric in board.metrics:
        small, large = sorted((element.p, element.corrected) for element in result if element.metric == metric)
        assert small[0] < 0.025 < large[0] < 0.05
        assert small[1] == pytest.approx(2 * small[0])
        assert large[1] == pytest.approx(max(large[0], 2 * small[0]))
