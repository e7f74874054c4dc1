"""The matrix, Pareto plots, people, shared errors, and the parts of models' and datasets' pages."""

import csv
import io
import re
from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from dynabench.benchmark.leaderboards import blocks, board_views, drawings
from dynabench.benchmark.leaderboards.blocks import ties
from dynabench.benchmark.leaderboards.board_views import SaturationStep
from dynabench.benchmark.leaderboards.heat_tables import HeatCell, PhenomenonRow, slices_finding
from dynabench.benchmark.leaderboards.row_views import transfer
from dynabench.benchmark.standings import ScoreCell, mean
from dynabench.datasets.tables import Dataset
from dynabench.kit.db import now
from dynabench.stats.rates import wilson
from tests.boards import scored_dataset, submitted

TASK = "/api/v1/tasks/sentiment"


def cell(value, spread=0.0, seed=0):
    drawn = value + spread * np.random.default_rng(seed).normal(size=1000)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return ScoreCell(value, float(low), float(high), 100, drawn)


def test_the_trend_is_the_slope_over_rounds_with_an_interval_that_holds_it():
    cells = [cell(0.6, 0.01, 1), cell(0.7, 0.01, 2), cell(0.8, 0.01, 3), cell(0.1)]
    datasets = [scored_dataset(number, 10, round=number if number < 4 else None) for number in range(1, 5)]
    result = board_views.trend(datasets, cells)
    assert result.value == pytest.approx(0.1)
    assert 0 < result.low < 0.1 < result.high
    assert board_views.trend(datasets[2:], cells[2:]) is None


def test_the_mean_of_independent_datasets_is_narrower_than_its_parts():
    whole = mean([cell(0.5, 0.02, 1), cell(0.7, 0.02, 2)], [1, 1])
    assert whole.value == pytest.approx(0.6)
    assert whole.high - whole.low < 0.8 * (cell(0.5, 0.02, 1).high - cell(0.5, 0.02, 1).low)


def test_the_matrix_has_all_models_and_its_discount_moves_the_overall_score_alone(client):
    plain, steep = (client.get(f"{TASK}/matrix", params={"discount": number}).json() for number in (0, 0.9))
    assert plain["items"][0]["entrant"]["label"] == "model-0"
    assert len(plain["items"]) == len(plain["datasets"]) == 3
    assert plain["datasets"][0] == {"name": "first", "title": "First", "round": 1}
    assert [item["cells"] for item in plain["items"]] == [element["cells"] for element in steep["items"]]
    page = client.get("/tasks/sentiment/matrix").text
    tables = dict(re.findall(r"<caption>([^<]*)</caption>(.*?)</table>", page, re.DOTALL))
    rounds, hidden = tables["Rounds"], tables["Hidden test sets"]
    assert "Round 1" in rounds
    assert "Hushed" not in rounds, "the hidden part never stands beside rounds"
    assert "Hushed" in hidden


@pytest.mark.parametrize("query", ["discount=1", "discount=nan", "discount=-0.1", "discount=x"])
def test_nonsense_discounts_are_refused(client, query):
    assert client.get(f"{TASK}/matrix?{query}").status_code == 422


def test_a_retired_dataset_leaves_the_board_and_every_view_of_it(client, database):
    """Its own page and the models' pages keep its scores."""
    leaderboard = client.get(f"{TASK}/leaderboard").json()
    a, b = (row["id"] for row in leaderboard["rows"][:2])

    def seen():
        views = ("leaderboard", "matrix", f"compare?a={a}&b={b}")
        bodies = [client.get(f"{TASK}/{view}").json() for view in views]
        names = [{row["name"] for row in body["datasets"]} for body in bodies[:2]]
        names.append({row["dataset"] for row in bodies[2]["differences"]})
        sheets = ("matrix.csv", f"compare.csv?a={a}&b={b}")
        for sheet in sheets:
            lines = csv.DictReader(io.StringIO(client.get(f"/tasks/sentiment/{sheet}").text))
            names.append({line["dataset"] for line in lines})
        return names

    def plotted():
        points = client.get(f"{TASK}/pareto", params={"x": "throughput"}).json()["items"]
        return [point["y"]["n"] for point in points]

    assert seen() == [{"first", "second", "hushed"}] * 5
    assert plotted() == [360] * 3
    database.write(lambda session: setattr(session.query(Dataset).filter_by(name="second").one(), "retired_at", now()))
    assert seen() == [{"first", "hushed"}] * 5
    assert plotted() == [240] * 3
    for view in ("pareto", "slices", "transfer"):
        assert client.get(f"{TASK}/{view}", params={"dataset": "second"}).status_code == 404
    assert "Second" not in client.get("/tasks/sentiment/matrix").text
    assert client.get(f"{TASK}/datasets/second/best").json()["items"][0]["entrant"]["label"] == "model-0"
    assert "second" in client.get("/api/v1/models/model-0/scores").json()["items"][0]["scores"]


points = st.lists(st.tuples(st.integers(0, 5).map(float), st.integers(0, 5).map(float)), max_size=30)


@given(points)
def test_a_point_is_dominated_just_if_another_is_as_good_on_both_and_better_on_one(some):
    slow = [any(x >= a and y >= b and (x, y) != (a, b) for x, y in some) for a, b in some]
    assert board_views.dominated_points(some) == slow


def test_a_plot_respects_which_way_is_better_and_each_axis_can_be_chosen(client):
    document = client.get(f"{TASK}/pareto", params={"x": "throughput", "dataset": "first"}).json()
    assert [item["dominated"] for item in document["items"]] == [False, True, True]
    assert (document["x"], document["y"], document["dataset"]) == ("throughput", "accuracy", "first")
    assert client.get(f"{TASK}/pareto", params={"x": "charm"}).status_code == 404
    assert client.get(f"{TASK}/pareto", params={"dataset": "none"}).status_code == 404
    memory = client.get(f"{TASK}/pareto", params={"x": "memory"}).json()
    assert (memory["items"], memory["left_out"]) == ([], 3)
    assert "Nothing to plot yet" in client.get("/tasks/sentiment/pareto?x=memory").text


def test_saturation_goes_from_minus_one_at_the_first_model_to_nought_at_people():
    scores = [(submitted(2, day=5), cell(0.7)), (submitted(1, day=1), cell(0.5)), (submitted(3, day=9), cell(0.6)),
              (submitted(4, day=12), cell(0.95))]  # fmt: skip
    steps = board_views.saturation_steps(0.9, scores)
    assert [step.entrant.id for step in steps] == [1, 2, 4]
    assert [item.saturation for item in steps] == pytest.approx([-1, -0.5, 0.125])
    assert board_views.saturation_steps(None, scores) == board_views.saturation_steps(0.5, scores) == ()


def test_people_ahead_of_the_best_model_have_an_interval_of_both():
    result = board_views.accuracy_difference(wilson(90, 100), ScoreCell(0.8, 0.75, 0.85, 400))
    assert result.low < 0.1 < result.high
    assert board_views.accuracy_difference(wilson(0, 0), ScoreCell(0.8, 0.75, 0.85, 400)).value is None


def test_rounds_stand_with_their_best_model_before_anybody_answered_blind(client):
    items = client.get(f"{TASK}/humans").json()["items"]
    assert [(item["round"], item["dataset"], item["best"]["label"]) for item in items] == [(1, "first", "model-0")]
    assert items[0]["human"]["value"] is None
    assert "no blind answers yet" in client.get("/tasks/sentiment/humans").text


@settings(deadline=None)  # the first call imports the clustering
@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8)))
def test_shared_errors_agree_with_counting_row_by_row(fooled):
    result = transfer(fooled)
    models, rows = fooled.shape
    assert sorted(result.order) == list(range(models))
    assert result.counts.sum() == rows
    assert (result.counts * np.arange(models + 1)).sum() == fooled.sum()
    for i in range(models):
        for j in range(models):
            hit = [row for row in range(rows) if fooled[i, row]]
            share = sum(fooled[j, row] for row in hit) / len(hit) if hit else np.nan
            assert result.shares[i, j] == pytest.approx(share, nan_ok=True)


def test_models_that_fall_together_stand_together():
    rng = np.random.default_rng(0)
    a, b = rng.random(300) < 0.4, rng.random(300) < 0.4
    order = transfer(np.stack([a, b, a ^ (rng.random(300) < 0.05), b ^ (rng.random(300) < 0.05)])).order
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset((0, 2)), frozenset((1, 3))}


def test_two_copies_share_all_their_errors(client):
    document = client.get(f"{TASK}/transfer", params={"dataset": "first"}).json()
    labels = [model["label"] for model in document["models"]]
    i, j = labels.index("model-1"), labels.index("model-2")
    assert document["shares"][i][j] == document["shares"][j][i] == 1.0
    assert document["rows"] == sum(document["counts"]) == 120
    page = client.get("/tasks/sentiment/transfer?dataset=first").text
    assert "every row that fools model-1 or model-2 fools both" in page
    assert client.get(f"{TASK}/transfer", params={"dataset": "hushed"}).status_code == 403


def test_ties_are_those_whom_the_data_do_not_tell_from_the_first():
    assert ties([cell(0.8, 0.02, 1), cell(0.8, 0.02, 1), cell(0.5, 0.02, 2)]) == [True, True, False]
    assert ties([]) == []


def test_people_stand_beside_models_on_their_round_alone(client, monkeypatch):
    monkeypatch.setattr(blocks, "people_by_round", lambda session, board: {1: wilson(45, 50)})
    parts = {
        name: client.get(f"/tasks/sentiment/datasets/{name}/best", headers={"HX-Request": "true"}).text
        for name in ("first", "second")
    }
    assert ["best-people" in part for part in parts.values()] == [True, False]
    assert "90.0%" in parts["first"]


def test_a_datasets_best_models_and_hardest_slices(client):
    document = client.get(f"{TASK}/datasets/first/best").json()
    assert document["items"][0]["entrant"]["label"] == "model-0"
    assert [item["tied"] for item in document["items"]] == [True, False, False]
    slices = {this_slice["tag"]: this_slice for this_slice in document["slices"]}
    assert set(slices) == {"even", "rare"}
    assert all(element["low"] < element["value"] < element["high"] for element in slices.values())
    assert [slices[tag]["rows"] for tag in ("even", "rare")] == [60, 7]
    part = client.get("/tasks/sentiment/datasets/first/best", headers={"HX-Request": "true"}).text
    assert "model-0" in part
    assert "<html" not in part
    for address in ("/tasks/sentiment/datasets/first/best", "/models/model-0/scores", "/evaluations/1"):
        page = client.get(address, headers={"HX-Request": "true"}).text
        view = page.count("few rows")
        assert view == page.count(">rare<") > 0, (address, "small slices are marked, and no others")


def test_a_models_scores_stand_on_its_page_with_errors_by_tag(client):
    items = client.get("/api/v1/models/model-0/scores").json()["items"]
    assert items[0]["scores"]["first"]["accuracy"]["n"] == 120
    assert set(items[0]["slices"]["first"]) == {"even", "rare"}
    assert "Errors by tag" in client.get("/models/model-0/scores").text
    assert client.get("/models/nobody/scores").status_code == 404
    part = client.get("/models/nobody/scores", headers={"HX-Request": "true"})
    assert part.status_code == 200
    assert "has not been submitted" in part.text


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("tasks/sentiment/matrix.csv", 9),
        ("tasks/sentiment/pareto.csv?x=throughput", 3),
        ("tasks/sentiment/humans.csv", 1),
        ("tasks/sentiment/slices.csv?dataset=first", 9),
        ("tasks/sentiment/transfer.csv?dataset=first", 6),
        ("models/model-0/scores.csv", 3 * 4 + 2 + 2 + 1),
    ],
)
def test_every_table_is_a_file_too(client, change, path, lines):
    change("model-1", name="=cmd()")
    answer = client.get(f"/{path}")
    assert answer.headers["content-type"].startswith("text/csv")
    head, *rest = csv.reader(io.StringIO(answer.text))
    assert len(rest) == lines
    assert {len(row) for row in rest} == {len(head)}
    assert not any(value.startswith("=") for row in rest for value in row)


def test_slices_and_shared_errors_begin_with_their_finding(client):
    page = client.get("/tasks/sentiment/slices?dataset=first").text
    [finding] = re.findall(r'id="slices-title">(.*?)<', page)
    assert finding == "Accuracy of 3 models on 2 slices", "all are as good as the others"
    page = client.get("/tasks/sentiment/transfer?dataset=first").text
    [finding] = re.findall(r'id="transfer-title">(.*?)<', page)
    assert re.fullmatch("A row that fools one of these 3 models fools [0-9]+% of the others", finding)


@pytest.mark.parametrize(
    ("direction", "best"), [(1, "90.0% for ada, 40.0% for eve"), (-1, "40.0% for eve, 90.0% for ada")]
)
def test_the_finding_of_slices_names_the_best_and_the_worst_on_the_widest_slice(direction, best):
    metric = SimpleNamespace(title="Accuracy", unit="%", scale=100, direction=direction)
    lines = [SimpleNamespace(entrant=SimpleNamespace(label=name)) for name in ("ada", "bob", "eve")]
    scores = {"few": (3, (0.0, 0.5, 1.0)), "wide": (60, (0.9, 0.5, 0.4)), "narrow": (60, (0.5, 0.5, 0.6))}
    rows = []
    for tag, (n, values) in scores.items():
        cells = tuple(HeatCell(ScoreCell(value, value, value, n)) for value in values)
        rows.append(PhenomenonRow(tag, n, cells, max(values), max(values) - min(values)))
    assert slices_finding(metric, lines, rows) == f"Models differ most on “wide”: {best}"


@pytest.mark.parametrize(
    ("reached", "title"),
    [
        ((-0.5, -0.1), "Models are behind people on all 2 rounds"),
        ((-0.5, 0.1), "Models have reached human level on 1 of 2 rounds"),
    ],
)
def test_the_chart_of_saturation_says_on_how_many_rounds_models_are_behind(reached, title):
    entrant = SimpleNamespace(label="ada")
    standings = []
    for number, end in enumerate(reached, 1):
        steps = [SaturationStep(entrant, now() + timedelta(days=day), 0.5, at) for day, at in enumerate((-1.0, end))]
        standings.append(SimpleNamespace(round=number, steps=steps))
    assert str(drawings.saturation_chart(standings).title) == title


def test_a_comparison_is_a_file_too(client):
    ids = [item["entrant"]["id"] for item in client.get(f"{TASK}/matrix").json()["items"]]
    rows = list(csv.reader(io.StringIO(client.get(f"/tasks/sentiment/compare.csv?a={ids[0]}&b={ids[1]}").text)))
    assert len(rows) == 1 + 3 * 4


@pytest.mark.parametrize("view", ["matrix", "slices", "pareto", "humans", "transfer", "compare"])
def test_a_task_without_scores_says_what_will_be_there(client, view):
    page = client.get(f"/tasks/nli/{view}")
    assert page.status_code == 200
    assert 'class="empty"' in page.text or "no blind answers" in page.text
    assert "of 0 models" not in page.text
    assert client.get(f"/tasks/nothing/{view}").status_code == 404


HOSTILE_VALUES = (
    "",
    "<script>alert(1)</script>",
    "' OR 1=1 --",
    "\u202e",
    "9" * 40,
    "-1",
    "nan",
    "../../etc",
    "x" * 300,
    "\x00",
)
ADDRESSES = {
    "compare": ("a", "b", "dataset", "shown", "tag", "after"),
    "compare.csv": ("a", "b"),
    "matrix": ("metric", "discount"),
    "matrix.csv": ("metric", "discount"),
    "pareto": ("x", "y", "dataset"),
    "pareto.csv": ("x", "y", "dataset"),
    "slices": ("dataset", "metric"),
    "slices.csv": ("dataset", "metric"),
    "transfer": ("dataset",),
    "transfer.csv": ("dataset",),
    "datasets/first/best": ("limit",),
}


@pytest.mark.release
@pytest.mark.parametrize("view", ADDRESSES)
def test_hostile_addresses_are_answered_and_never_echoed_as_markup(client, view):
    values = {"a": "1", "b": "2"} if view.startswith("compare") else {}
    for name in ADDRESSES[view]:
        for value in HOSTILE_VALUES:
            for prefix in ("", "/api/v1"):
                answer = client.get(f"{prefix}/tasks/sentiment/{view}", params=values | {name: value})
                assert answer.status_code in (200, 400, 403, 404, 422), (view, name, value, answer.text[:200])
                assert "<script>alert" not in answer.text or "json" in answer.headers["content-type"]
    assert client.get(f"/models/{'x' * 200}/scores").status_code == 422
    assert client.get("/models/%00/scores").status_code in (400, 404, 422)


def test_names_and_rows_that_are_markup_are_shown_as_text(client, change, settings, database):
    change("model-0", name="<script>alert(1)</script>")
    for path in (
        "matrix",
        "slices",
        "pareto?x=throughput",
        "humans",
        "transfer",
        "compare?a=1&b=2",
        "datasets/first/best",
    ):
        page = client.get(f"/tasks/sentiment/{path}").text
        assert "<script>alert(1)" not in page, path
        assert "alert(1)" in page, path


def test_the_transfer_rate_by_hand():
    """Rows 0 to 3 fool all three models, two, one, and none: 1, 1/2 and 0 of the others; row 3 does not count."""
    result = transfer(np.array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0]], bool))
    assert result.mean == pytest.approx((1 + 0.5 + 0) / 3)
    assert result.counts.tolist() == [1, 1, 1, 1]
    assert result.rates.tolist() == [0.5, 0.25, 0.75]
    assert result.shares[1].tolist() == [1, 1, 1]
    assert result.shares[2].tolist() == pytest.approx([2 / 3, 1 / 3, 1])
    assert transfer(np.ones((1, 4), bool)).mean is None


def test_the_transfer_rate_is_of_errors(client, database):
    """By the rows of the world: two copies share all errors, so a row that fools one fools 1 or 2 of 2 others."""
    document = client.get(f"{TASK}/transfer", params={"dataset": "first"}).json()
    first, two, three = document["counts"][1:]
    assert first + two + three > 0
    assert document["mean"] == pytest.approx((0 * first + 0.5 * two + 1.0 * three) / (first + two + three))
    board_views = client.get(f"{TASK}/matrix").json()
    accuracy = {
        line["entrant"]["label"]: cell["score"]["value"]
        for line in board_views["items"]
        for cell in line["cells"]
        if cell["dataset"] == "first"
    }
    for model, rate in zip(document["models"], document["error_rates"], strict=True):
        assert rate == pytest.approx(1 - accuracy[model["label"]], abs=1e-6)
