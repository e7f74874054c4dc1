"""The guard on neutral data in a turn: which datasets it takes, what models scored there, and what it says."""

import numpy as np
import pytest
from sqlalchemy import select

from dynabench.benchmark.evaluations import row_scores
from dynabench.benchmark.evaluations.measures import REPLICATES, pack_replicates
from dynabench.benchmark.evaluations.tables import Evaluation, Score
from dynabench.benchmark.registry.tables import Submission
from dynabench.cycle import deciding, durable, round_steps, service, training
from dynabench.cycle.tables import CycleCandidate
from dynabench.datasets.stored import StoredRow
from dynabench.kit import errors
from dynabench.kit.language import speaking, translate
from dynabench.rounds import service as rounds
from tests import kept
from tests.cycle import world as turns
from tests.releases.world import collected_once

pytestmark = pytest.mark.slow

PRESENT, ROWS = "m@1", 40
PLAN = {"candidates": [{"name": "new", "method": "ngram"}], "promote": {"by": "recency"}, "anyway": True}


@pytest.fixture
def furnish():
    return collected_once


@pytest.fixture
def world(database, furnished):
    return furnished[1].moved_to(database)


class Turn:
    """A turn whose round is released, with a candidate that was trained; the tests say what both models scored."""

    def __init__(self, world, settings, plan=(), metric="accuracy"):
        self.db, self.settings, self.task, self.metric = world.db, settings, world.task, metric
        if metric != "accuracy":
            config = f"{world.source}metrics: {{primary: {metric}}}\n"
            self.db.write(lambda session: rounds.save_task(session, None, config))
        content = turns.plans.read_plan(PLAN | dict(plan))
        self.id = turns.start(self.db, content, task=self.task)
        self.db.write(round_steps.close_round, self.id, 1)
        durable.write_release(self.db, settings, self.id, 1)
        self.old = self.db.write(self._submission, "m", "1")
        self.new = self.db.write(self._candidate)
        self.db.write(deciding.queue_evaluations, [self.old, self.new])
        [self.released] = self.db.read(
            lambda s: training.ancestor_releases(s, settings, service.find_turn(s, self.task, self.id))
        )

    def _submission(self, session, model, version):
        submission = Submission(
            task_id=self.task, kind="installed", name=model, model=model, version=version, inside=True, state="ready"
        )
        session.add(submission)
        session.flush()
        return submission.id

    def _candidate(self, session):
        first = session.scalars(select(CycleCandidate)).one()
        first.state, first.version = "ready", "a" * 16
        first.submission_id = self._submission(session, first.name, first.version)
        return first.submission_id

    def remaining(self):
        """Return the number of open evaluations of the turn, and of all."""
        return self.db.read(deciding.count_remaining, self.settings, self.id, [self.old, self.new])

    def give(self, submission, values, failed=()):
        """Write the exact scores of a model on its dataset versions; some evaluations failed."""

        def write(session):
            for row in session.scalars(select(Evaluation).where(Evaluation.submission_id == submission)):
                value = values.get(row.version_id)
                row.state = "failed" if row.version_id in failed else row.state
                if value is None:
                    continue
                row.state = "done"
                rows = np.zeros((2, row.rows), np.float32)
                row_scores.store_row_scores(self.settings, row.id, rows)
                drawn = pack_replicates(np.full(REPLICATES, value))
                session.add(
                    Score(
                        evaluation_id=row.id, metric=self.metric, value=value, low=value, high=value, n=row.rows,
                        replicates=drawn,
                    )
                )  # fmt: skip

        self.db.write(write)

    def report(self):
        """Return the outcome of the turn, in words."""
        deciding.decide_turn(self.db, self.settings, self.id, 1)
        return turns.turn(self.db, self.settings, task=self.task).report


def dataset(world, settings, name, rows=ROWS):
    """Add a public dataset of sentences; returns its version's id."""
    sentences = [
        StoredRow(f"{name}{n}", {"premise": "It rains.", "hypothesis": f"{name} {n}."}, ({"label": "neutral"},))
        for n in range(rows)
    ]
    return world.db.write(kept.dataset, settings, sentences, name, task=world.task)


# On the round the candidate is better, on neutral data worse: 10 points, in the units of each metric.
@pytest.mark.parametrize(
    ("metric", "on_round", "on_neutral"),
    [("accuracy", (0.5, 0.7), (0.9, 0.8)), ("calibration_error", (0.3, 0.1), (0.1, 0.2))],
)
def test_a_candidate_that_is_worse_on_a_neutral_dataset_of_the_task_is_not_promoted(
    world, settings, metric, on_round, on_neutral
):
    films = dataset(world, settings, "films")
    turn = Turn(world, settings, metric=metric)
    for submission, on_test, outside in zip((turn.old, turn.new), on_round, on_neutral, strict=True):
        turn.give(submission, {turn.released.test: on_test, turn.released.hidden: on_test, films: outside})
    result = turn.report()
    [candidate] = result.candidates
    assert (result.promoted, candidate.lacks) == ([], ["neutral"])
    assert candidate.gain.value == pytest.approx(0.2)
    assert {name: item.value for name, item in candidate.neutral.items()} == {"films": pytest.approx(-0.1)}
    assert "is worse on neutral data: films -10.0 points" in result.why


def test_a_turn_waits_for_the_evaluations_on_neutral_data(world, settings):
    films, few = dataset(world, settings, "films"), dataset(world, settings, "few", rows=29)
    turn = Turn(world, settings)
    tests = [item for item in (turn.released.test, turn.released.hidden) if item]
    assert turn.remaining() == (2 * len(tests) + 2, 2 * len(tests) + 2), "29 rows are too few to be waited for"
    for element in (turn.old, turn.new):
        turn.give(element, dict.fromkeys(tests, 0.5))
    assert turn.remaining()[0] == 2
    turn.give(turn.old, {films: 0.5})
    turn.give(turn.new, {few: 0.5}, failed=[films])
    assert turn.remaining()[0] == 0, "a failed evaluation is waited for no more"


@pytest.mark.parametrize("failed", ["old", "new"])
def test_nobody_is_promoted_where_an_evaluation_on_neutral_data_failed(world, settings, failed):
    films = dataset(world, settings, "films")
    turn = Turn(world, settings)
    for name, submission, value in (("old", turn.old, 0.5), ("new", turn.new, 0.7)):
        scored = {turn.released.test: value, turn.released.hidden: value}
        turn.give(submission, scored if name == failed else scored | {films: 0.9}, [films] if name == failed else [])
    result = turn.report()
    [candidate] = result.candidates
    assert result.promoted == []
    assert candidate.lacks == [{"old": "present_unscored", "new": "unscored"}[failed]]
    person = {"old": f"{PRESENT} was not scored on neutral data", "new": "but was not scored on neutral data"}[failed]
    assert f"{person}: films" in result.why


def promoted(turn):
    """The report of a turn whose candidate is better on its round."""
    for submission, value in ((turn.old, 0.5), (turn.new, 0.7)):
        turn.give(submission, {turn.released.test: value, turn.released.hidden: value})
    result = turn.report()
    assert len(result.promoted) == 1
    return result


def test_a_report_says_that_there_was_no_neutral_data(world, settings):
    dataset(world, settings, "few", rows=29)
    result = promoted(Turn(world, settings))
    assert result.why.endswith(
        "There is no neutral data, so it is unknown whether a model has become worse on ordinary examples."
    )
    with speaking("es"):
        assert "datos neutrales" in translate(result.why)


def test_a_report_says_that_the_plan_switched_the_guard_off(world, settings):
    dataset(world, settings, "films")
    result = promoted(Turn(world, settings, {"promote": {"by": "recency", "neutral": []}}))
    assert result.why.endswith("The plan does not compare models on neutral data.")


def test_a_report_names_neutral_data_on_which_models_were_not_compared(world, settings):
    turn = Turn(world, settings)
    dataset(world, settings, "late")
    result = promoted(turn)
    [name] = result.promoted
    assert result.why.endswith(f"{name} and {PRESENT} were not compared on neutral data: late.")


def test_what_a_turn_learns_from_is_no_neutral_data(world, settings):
    dataset(world, settings, "films")
    learnt = Turn(world, settings, {"train": {"outside": [{"dataset": "films"}]}})
    assert "There is no neutral data" in promoted(learnt).why


def test_a_plan_may_name_a_small_dataset_but_none_that_the_task_lacks(world, settings):
    films, few = dataset(world, settings, "films"), dataset(world, settings, "few", rows=29)
    with pytest.raises(errors.Invalid) as wrong:
        Turn(world, settings, {"promote": {"neutral": ["few", "none"]}})
    assert list(wrong.value.fields) == ["promote.neutral.1"]
    turn = Turn(world, settings, {"promote": {"neutral": ["few"]}})
    for submission, value, outside in ((turn.old, 0.5, 0.9), (turn.new, 0.7, 0.8)):
        turn.give(submission, {turn.released.test: value, turn.released.hidden: value, few: outside, films: 0.9})
    assert list(turn.report().candidates[0].neutral) == ["few"]
