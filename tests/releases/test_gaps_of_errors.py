"""Gaps of a task whose primary metric is an error, with two releases: sign, order, flags and the correction of both."""

import re

import numpy as np
import pytest
from scipy.stats import fisher_exact
from sqlalchemy import select
from statsmodels.stats.multitest import multipletests

from dynabench.benchmark.evaluations import row_scores
from dynabench.benchmark.evaluations.tables import Evaluation, Score
from dynabench.benchmark.registry.tables import Submission
from dynabench.benchmark.releases import views
from dynabench.benchmark.releases.tables import Release
from dynabench.datasets.tables import Dataset
from dynabench.rounds import service
from dynabench.rounds.tables import Round, TaskVersion
from dynabench.tasks import shipped_tasks
from tests import boards

pytestmark = pytest.mark.slow

PARTS = (("r1-test", "r1-hidden"), ("r2-test", "r2-hidden"))
ROWS = 200
# Right answers on the public and the hidden part of each round; a model's error is the share of the others.
RIGHT = {
    "model-0": ((140, 138), (141, 139)),
    "model-1": ((195, 120), (120, 120)),  # has learnt the public part of round 1
    "model-2": ((150, 128), (139, 140)),  # lucky: flagged if each round were alone
}


@pytest.fixture
def board(database, settings):
    """The task sentiment, ranked by calibration error, with two releases; its submissions by name."""
    source = next(shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment")
    source = re.sub(r"^metrics:.*$", "metrics: {primary: calibration_error}", source, flags=re.M)

    def make(session):
        service.save_task(session, None, source)
        names = [name for pair in PARTS for name in pair]
        ids = boards.furnish(session, "sentiment", (0.5,) * len(RIGHT), names, ("calibration_error",), rows=ROWS)
        version = session.scalars(select(TaskVersion.id)).one()
        sets = {row.name: row for row in session.scalars(select(Dataset))}
        for number, (test, hidden) in enumerate(PARTS, start=1):
            origin = Round(task_id="sentiment", number=number, version_id=version, state="released", fooled_when="any")
            session.add(origin)
            session.flush()
            sets[test].round_id, sets[test].kind = origin.id, "round"
            sets[hidden].kind, sets[hidden].visibility = "secret", "hidden"
            session.add(
                Release(
                    round_id=origin.id, task_id="sentiment", state="ready", rules={}, test_id=sets[test].version_id,
                    hidden_id=sets[hidden].version_id,
                )
            )  # fmt: skip
        for id, counts in zip(ids, RIGHT.values(), strict=True):
            for pair, right in zip(PARTS, counts, strict=True):
                for name, count in zip(pair, right, strict=True):
                    answer(session, settings, id, sets[name].version_id, count)
        return dict(zip(RIGHT, ids, strict=True))

    return database.write(make)


def answer(session, settings, submission, version, right):
    """Let a model have answered so many rows of a version right."""
    source = select(Evaluation).where(Evaluation.submission_id == submission, Evaluation.version_id == version)
    evaluation = session.scalars(source).one()
    score = session.scalars(select(Score).where(Score.evaluation_id == evaluation.id)).one()
    score.value = 1 - right / ROWS
    score.low, score.high = score.value - 0.03, score.value + 0.05
    rows = np.zeros((2, ROWS), np.float32)
    rows[:, :right] = 1
    row_scores.store_row_scores(settings, evaluation.id, rows)


def read(database, settings, number):
    def look(session):
        release = session.scalars(
            select(Release).join(Round, Round.id == Release.round_id).where(Round.number == number)
        )
        return views.score_gaps(session, settings, None, release.one())

    return database.read(look)


def test_less_error_on_the_public_part_is_a_gap_whose_chance_is_corrected_over_both_rounds(database, settings, board):
    first, second = read(database, settings, 1), read(database, settings, 2)
    assert [element.model for element in first] == ["model-1", "model-2", "model-0"], "the largest first"
    assert [this_item.gap for this_item in first] == pytest.approx([75 / ROWS, 22 / ROWS, 2 / ROWS])
    assert (first[0].public, first[0].hidden) == pytest.approx((5 / ROWS, 80 / ROWS))
    # The limits of a gap follow from opposite limits of the two parts.
    assert first[0].low == pytest.approx(75 / ROWS - np.hypot(0.05, 0.03))
    assert first[0].high == pytest.approx(75 / ROWS + np.hypot(0.03, 0.05))
    keys = [(at, name) for at in (0, 1) for name in RIGHT]
    tables = [[[right, ROWS - right] for right in RIGHT[name][at]] for at, name in keys]
    alone = [fisher_exact(table, "greater")[1] for table in tables]
    expected = dict(zip(keys, multipletests(alone, method="holm")[1], strict=True))
    reply = {(at, item.model): item.p for at, result in enumerate((first, second)) for item in result}
    assert reply == pytest.approx(expected)
    assert multipletests(alone[:3], method="holm")[1][2] < views.LEVEL < expected[0, "model-2"], "lucky in one of two"
    assert [item.model for item in (*first, *second) if item.flagged] == ["model-1"]


def test_a_submission_that_the_ladder_holds_back_has_no_gap(database, settings, board, person):
    """Somebody's model-0 has 31 % errors on the hidden part, model-1 clearly more, model-2 no clearly different."""
    ada = person("ada")

    def write(session):
        for row in session.scalars(select(Submission)):
            row.person_id = ada.id

    database.write(write)
    assert [item.model for item in read(database, settings, 1)] == ["model-0"]
