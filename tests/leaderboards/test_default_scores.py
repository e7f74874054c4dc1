"""The score that a board shows by default says something of one model alone: no other model and no handful of rows
moves it."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.language import said
from dynabench.leaderboards import drawings, weights
from dynabench.leaderboards.board import Board, Column, Coming, Entry, Standing
from dynabench.leaderboards.entrants import Cell, Data, Entrant
from dynabench.leaderboards.matrix import Line, Matrix
from dynabench.leaderboards.ranking import ranking
from dynabench.leaderboards.weights import dataset_steps
from dynabench.scoring.measures import REPLICATES, measure

METRICS = tuple(map(measure, ("accuracy", "fairness", "throughput", "memory")))
MODELS = st.lists(
    st.tuples(st.floats(0, 100), st.floats(0, 100), st.floats(0.01, 1e5), st.floats(0.01, 64)), min_size=1, max_size=5
)


def entry(number: int) -> Entry:
    return Entry(
        number, f"model-{number}", "installed", f"model-{number}", "1", "", None, "public", True, False, "", (), None,
        datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip


def column(number: int, rows: int) -> Column:
    return Column(f"data-{number}", f"Data {number}", "rows", "public", 5, number, 1, "0" * 64, rows, "", ())


def board(values: list[list[tuple[float, ...]]], rows: list[int]) -> Board:
    """A board of values by model and dataset, whose intervals are points."""
    array = np.array(values, float)
    models, data, _ = array.shape
    of = Standing(
        entries=tuple(map(entry, range(models))),
        datasets=tuple(column(number, many) for number, many in enumerate(rows)),
        metrics=METRICS,
        values=array,
        low=array,
        high=array,
        n=np.full(array.shape, 100),
        replicates=np.repeat(array[..., None], 8, axis=-1).astype(np.float32),
        signatures=np.full((models, data), "", object),
        held=np.zeros((models, data), bool),
    )
    return Board("t", "accuracy", of.entries, np.arange(models), of, Coming({}, frozenset()))


def score(of: Board, name: str = "model-0") -> float:
    found = ranking(of, weights.defaults(of))
    value = next(row.score.value for row in found.rows if row.entry.name == name)
    assert value is not None
    return value


@settings(max_examples=100, deadline=None)
@given(models=MODELS, tiny=MODELS)
def test_other_models_and_tiny_datasets_move_no_default_score(models, tiny):
    alone = score(board([[models[0]]], [400]))
    assert -1e-6 <= alone <= 100 + 1e-6
    assert score(board([[each] for each in models], [400])) == pytest.approx(alone)
    both = [[each, tiny[number % len(tiny)]] for number, each in enumerate(models)]
    assert score(board(both, [400, 3])) == pytest.approx(alone)


@pytest.mark.parametrize(
    ("datasets", "steps"),
    [
        ([(5, 400), (5, 29), (3, 30)], [5, 0, 3]),
        ([(0, 400), (5, 3)], [1, 0]),
        ([(5, 3), (2, 4)], [1, 1]),
        ([], []),
    ],
)
def test_datasets_below_thirty_rows_weigh_nothing_by_default(datasets, steps):
    assert dataset_steps(datasets) == steps


def matrix_of(means: list[float], noise: float) -> Matrix:
    rng = np.random.default_rng(1)
    data = Data(1, "d", "D", "rows", "public", 1, "0" * 64, 400, {}, 5, None, None)
    lines = []
    for number, mean in enumerate(means):
        drawn = mean + noise * rng.standard_normal(REPLICATES)
        cell = Cell(mean, *map(float, np.quantile(drawn, [0.025, 0.975])), 400, drawn)
        lines.append(Line(entrant(number), (cell, cell), cell, None, {}))
    return Matrix(METRICS[0], (data, data), tuple(lines), 0.0)


def entrant(number: int) -> Entrant:
    return Entrant(number, f"model-{number}", f"model-{number}", "1", datetime(2026, 1, 1, tzinfo=UTC))


def test_no_model_leads_a_matrix_whose_data_do_not_tell_it_from_the_next():
    assert said(drawings._finding(matrix_of([0.81, 0.80, 0.50], 0.05))) == "2 of 3 models share the lead"
    assert said(drawings._finding(matrix_of([0.81, 0.60, 0.50], 0.005))) == "model-0 leads over 2 columns"
