"""Artifacts that were planted are found; where there are none, none are found but as often as is said."""

import pytest
from scipy.stats import binom

from dynabench.measuring.measures import artifacts, telling_words
from tests.measuring.samples import inference

ROUNDS = 60


def better(found):
    """Which baselines were found to give the answer away."""
    [table] = found.tables
    return [row[0] for row in table.rows if row[8] == "yes"]


def told(found):
    return {(row[0], row[1]) for table in found.tables for row in table.rows}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_planted_word_is_found_by_the_hypothesis_alone_and_by_its_own_name(seed):
    sample = inference(300, planted=0.7, seed=seed)
    found = artifacts.measure(sample)
    assert "Hypothesis alone" in better(found)
    assert "Premise alone" not in better(found)
    assert found.finding.startswith("Hypothesis alone gives the answer away")
    gain = found.figures[0]
    assert gain.name == "gain_hypothesis"
    assert gain.low > 0
    assert told(telling_words.measure(sample)) == {("nobody", "contradiction")}


def false_findings(measure, found_any, **made):
    return sum(bool(found_any(measure(inference(90, seed=100 + seed, **made)))) for seed in range(ROUNDS))


@pytest.mark.parametrize("habits", [False, True], ids=["at random", "writers with habits"])
def test_rounds_without_artifacts_show_words_at_most_as_often_as_is_said(habits):
    wrong = false_findings(telling_words.measure, told, habits=habits)
    assert wrong <= binom.ppf(0.999, ROUNDS, telling_words.LEVEL)


@pytest.mark.parametrize("habits", [False, True], ids=["at random", "writers with habits"])
def test_rounds_without_artifacts_show_baselines_at_most_as_often_as_is_said(habits, monkeypatch):
    monkeypatch.setattr(artifacts, "SHUFFLES", 99)
    wrong = false_findings(artifacts.measure, better, habits=habits)
    assert wrong <= binom.ppf(0.999, ROUNDS, artifacts.LEVEL)


def test_too_few_examples_or_one_answer_alone_say_nothing():
    assert artifacts.measure(inference(20)) is None
    one = inference(60)
    alike = [row.__class__(row.writer, row.texts, row.context, "neutral") for row in one.rows]
    same = one.__class__(tuple(alike), 60, one.fields, one.labels, one.context)
    assert artifacts.measure(same) is None
    assert telling_words.measure(same) is None
