"""The score that a board shows by default says something of one model alone: no other model and no handful of rows
moves it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.benchmark.evaluations.measures import REPLICATES, find_measure
from dynabench.benchmark.leaderboards import drawings
from dynabench.benchmark.leaderboards.board_views import Matrix, MatrixLine
from dynabench.benchmark.ranking import dataset_steps, default_weights, rank_entrants
from dynabench.benchmark.standings import ScoreCell, TaskBoard
from dynabench.kit.language import translate
from tests.boards import board_of, scored_dataset, submitted

METRICS = tuple(map(find_measure, ("accuracy", "fairness", "throughput", "memory")))
MODELS = st.lists(
    st.tuples(st.floats(0, 100), st.floats(0, 100), st.floats(0.01, 1e5), st.floats(0.01, 64)), min_size=1, max_size=5
)


def board(values: list[list[tuple[float, ...]]], rows: list[int]) -> TaskBoard:
    """A board of values by model and dataset, as people read them, whose intervals are points."""
    array = np.array(values, float) / [metric.scale for metric in METRICS]
    replicates = np.repeat(array[..., None], 8, axis=-1).astype(np.float32)
    return board_of([metric.name for metric in METRICS], array, replicates, rows)


def score(board: TaskBoard, name: str = "model-0") -> float:
    ranking = rank_entrants(board, default_weights(board))
    value = next(row.score.value for row in ranking.rows if row.entrant.name == name)
    assert value is not None
    return value


@given(models=MODELS, tiny=MODELS)
def test_other_models_and_tiny_datasets_move_no_default_score(models, tiny):
    alone = score(board([[models[0]]], [400]))
    assert -1e-6 <= alone <= 100 + 1e-6
    assert score(board([[model] for model in models], [400])) == pytest.approx(alone)
    both = [[item, tiny[number % len(tiny)]] for number, item in enumerate(models)]
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
    data = scored_dataset(1, 400)
    lines = []
    for number, mean in enumerate(means):
        drawn = mean + noise * rng.standard_normal(REPLICATES)
        cell = ScoreCell(mean, *map(float, np.quantile(drawn, [0.025, 0.975])), 400, drawn)
        lines.append(MatrixLine(submitted(number), (cell, cell), cell, None, {}))
    return Matrix(METRICS[0], (data, data), tuple(lines), 0.0)


def test_no_model_leads_a_matrix_whose_data_do_not_tell_it_from_the_next():
    assert translate(drawings.matrix_finding(matrix_of([0.81, 0.80, 0.50], 0.05))) == "2 of 3 models share the lead"
    assert translate(drawings.matrix_finding(matrix_of([0.81, 0.60, 0.50], 0.005))) == "model-0 leads over 2 columns"
