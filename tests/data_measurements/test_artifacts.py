"""Artifacts that were planted are found; where there are none, none are found but as often as is said."""

import pytest
from scipy.stats import binom

from dynabench.insight.data_measurements.measures import MEASURES, artifacts
from tests.data_measurements.samples import inference

ROUNDS = 30


def revealing_baselines(result):
    """The baselines that give the answer away."""
    [table] = result.tables
    return [row[0] for row in table.rows if row[8] == "yes"]


def words_with_answers(result):
    return {(row[0], row[1]) for table in result.tables for row in table.rows}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_planted_word_is_found_by_the_hypothesis_alone_and_by_its_own_name(seed):
    sample = inference(300, planted=0.7, seed=seed)
    result = MEASURES["artifacts"].measure(sample)
    assert "Hypothesis only" in revealing_baselines(result)
    assert "Premise only" not in revealing_baselines(result)
    assert result.finding.startswith("A part of the input gives the answer away (Hypothesis only)")
    gain = result.figures[0]
    assert gain.name == "gain_hypothesis"
    assert gain.low > 0
    assert words_with_answers(MEASURES["telling_words"].measure(sample)) == {("nobody", "contradiction")}


def false_findings(measure, found_any, **options):
    return sum(bool(found_any(measure(inference(90, seed=100 + seed, **options)))) for seed in range(ROUNDS))


@pytest.mark.release
@pytest.mark.parametrize("habits", [False, True], ids=["at random", "writers with habits"])
def test_rounds_without_artifacts_show_words_at_most_as_often_as_is_said(habits):
    wrong = false_findings(MEASURES["telling_words"].measure, words_with_answers, habits=habits)
    assert wrong <= binom.ppf(0.999, ROUNDS, artifacts.LEVEL)


@pytest.mark.release
@pytest.mark.parametrize("habits", [False, True], ids=["at random", "writers with habits"])
def test_rounds_without_artifacts_show_baselines_at_most_as_often_as_is_said(habits, monkeypatch):
    monkeypatch.setattr(artifacts, "SHUFFLES", 99)
    wrong = false_findings(MEASURES["artifacts"].measure, revealing_baselines, habits=habits)
    assert wrong <= binom.ppf(0.999, ROUNDS, artifacts.LEVEL)


def test_too_few_examples_or_one_answer_alone_say_nothing():
    assert MEASURES["artifacts"].measure(inference(20)) is None
    sample = inference(60)
    alike = [row.__class__(row.writer, row.texts, row.context, "neutral") for row in sample.rows]
    same = sample.__class__(tuple(alike), 60, sample.fields, sample.labels, sample.context)
    assert MEASURES["artifacts"].measure(same) is None
    assert MEASURES["telling_words"].measure(same) is None
