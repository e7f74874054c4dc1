"""The rules of promotion, against numbers that are worked out by hand."""

import dataclasses

import numpy as np
import pytest

from dynabench.cycle import report
from dynabench.cycle.plan import PromotionRule
from dynabench.cycle.promotion import ModelScores, NeutralScore, decide_promotion, rule_figure, rule_statistic
from dynabench.cycle.queries import generations
from dynabench.cycle.report import TurnReport
from dynabench.kit.language import speaking, translate

STILL = np.zeros(4)


def model(name, *values, caught=(), spread=0.0):
    """A model with these scores, whose replicates lie `spread` around them."""
    around = spread * np.array([-1.0, -1 / 3, 1 / 3, 1.0])
    result = np.array(caught, bool)
    share = result.mean() if len(result) else 0.0
    drawn = np.array([value + around for value in values])
    return ModelScores(name, np.array(values), drawn, result, share + around)


def describe(rule, figures):
    """Return the text of a decision that was stored and read again."""
    return report.add_words(TurnReport.model_validate(TurnReport.of(rule, figures).model_dump(mode="json")), {}).why


def test_the_mean_over_rounds_counts_older_rounds_less():
    source = model("m", 0.5, 0.7, 0.9)
    assert rule_statistic(PromotionRule(by="recency"), source)[0] == pytest.approx(0.7)
    # weights 0.25, 0.5, 1 of 1.75: (0.125 + 0.35 + 0.9) / 1.75
    assert rule_statistic(PromotionRule(by="recency", discount=0.5), source)[0] == pytest.approx(1.375 / 1.75)


def test_the_worst_round_is_the_least_of_each_replicate():
    model_scores = ModelScores("m", np.array([0.5, 0.6]), np.array([[0.4, 0.7], [0.6, 0.5]]), np.zeros(0, bool), STILL)
    value, drawn = rule_statistic(PromotionRule(by="worst_round"), model_scores)
    assert value == 0.5
    assert drawn.tolist() == [0.4, 0.5]


def test_fooling_is_the_share_of_fooling_examples_that_are_caught_with_wilsons_interval():
    result = rule_figure(
        PromotionRule(by="fooling"), model("m", 0.5, caught=[True, True, False, False, False, False, False, False])
    )
    assert (result.value, result.n) == (0.25, 8)
    # Wilson, k = 2, n = 8, z = 1.959964: centre (2 + 1.920729) / 11.841459, half width
    # 1.959964 / 11.841459 * sqrt(8 * 0.25 * 0.75 + 0.960365)
    assert result.low == pytest.approx(0.331102 - 0.259622, abs=1e-5)
    assert result.high == pytest.approx(0.331102 + 0.259622, abs=1e-5)


def test_the_best_of_those_that_surely_gain_is_promoted_and_says_so():
    rule = PromotionRule(by="recency")
    promotion = decide_promotion(
        rule, [model("old@1", 0.5, 0.5)], [model("a", 0.6, 0.6), model("b", 0.7, 0.7), model("c", 0.4, 0.4)]
    )
    assert promotion.promoted == ("b",)
    assert promotion.level == pytest.approx(1 - 0.05 / 3)
    assert [candidate.lacks for candidate in promotion.candidates] == [(), (), ("gain", "mean")]
    assert "b is promoted: it reaches 70.0 %" in describe(rule, promotion)
    assert "+20.0 points" in describe(rule, promotion)
    both = decide_promotion(
        PromotionRule(by="recency", most=2), [model("old@1", 0.5)], [model("a", 0.6), model("b", 0.7)]
    )
    assert both.promoted == ("b", "a")


def test_ties_and_gains_that_may_be_chance_keep_the_present_target():
    rule, old = PromotionRule(by="recency"), model("old@1", 0.5, 0.5)
    tied = decide_promotion(rule, [old], [model("a", 0.4, 0.6)])
    assert (tied.promoted, tied.candidates[0].lacks) == ((), ("gain",))
    assert describe(rule, tied).startswith("The current targets stay.")
    unsure = decide_promotion(rule, [old], [model("a", 0.52, 0.52, spread=0.1)])
    assert (unsure.promoted, unsure.candidates[0].lacks) == ((), ("sure",))
    assert "but the interval includes 0" in describe(rule, unsure)
    assert decide_promotion(PromotionRule(surely=False), [old], [model("a", 0.52, 0.52, spread=0.1)]).promoted == ("a",)
    assert "no candidate could be compared" in describe(rule, decide_promotion(rule, [old], []))


def test_catching_fooling_examples_does_not_pay_for_errors_elsewhere():
    rule = PromotionRule(by="fooling", most_lost=0.02)
    old = model("old@1", 0.8, caught=[False] * 4)
    contrary = model("contrary", 0.5, caught=[True] * 4)
    promotion = decide_promotion(rule, [old], [contrary])
    assert (promotion.promoted, promotion.candidates[0].lacks) == ((), ("mean",))
    assert "the most it may lose is 2" in describe(rule, promotion)
    assert decide_promotion(PromotionRule(by="fooling", most_lost=0.5), [old], [contrary]).promoted == ("contrary",)


def beside(subject, **neutral):
    """The model with scores and replicates on neutral datasets; None for an evaluation that failed."""
    drawn = {
        name: NeutralScore(None, STILL)
        if value is None
        else NeutralScore(value[0], value[0] + value[1] * np.linspace(-1, 1, 101))
        for name, value in neutral.items()
    }
    return dataclasses.replace(subject, neutral=drawn)


def test_a_candidate_that_is_worse_on_neutral_data_for_sure_is_not_promoted_and_the_report_says_why():
    rule, old = PromotionRule(), beside(model("old@1", 0.5), films=(0.9, 0.0), books=(0.8, 0.0))
    for better in ("films", "books"):  # worse for sure on one of two, however good on the other
        scores = {"films": (0.89, 0.01), "books": (0.79, 0.01)} | {better: (0.99, 0.0)}
        promotion = decide_promotion(rule, [old], [beside(model("a", 0.6), **scores)])
        assert (promotion.promoted, promotion.candidates[0].lacks) == ((), ("neutral",))
    promotion = decide_promotion(rule, [old], [beside(model("a", 0.6), films=(0.832, 0.05), books=(0.8, 0.0))])
    assert (promotion.promoted, promotion.candidates[0].lacks) == ((), ("neutral",))
    assert "a gains +10.0 points (+10.0 to +10.0), but is worse on neutral data: films -6.8 points" in describe(
        rule, promotion
    )
    assert dict(promotion.candidates[0].neutral)["films"].high < 0


def test_losses_on_neutral_data_that_may_be_chance_keep_nobody_back_unless_they_are_large_or_the_plan_asks():
    old = beside(model("old@1", 0.5), films=(0.9, 0.0), books=(0.8, 0.0))
    unsure = beside(model("a", 0.6), films=(0.88, 0.05), books=(0.8, 0.0))
    assert decide_promotion(PromotionRule(), [old], [unsure]).promoted == ("a",)
    strict = decide_promotion(PromotionRule(neutral_sure=True), [old], [unsure])
    assert (strict.promoted, strict.candidates[0].lacks) == ((), ("neutral",))
    large = beside(model("a", 0.6), films=(0.85, 0.1), books=(0.75, 0.1))
    promotion = decide_promotion(PromotionRule(), [old], [large])
    assert (promotion.promoted, promotion.candidates[0].lacks) == ((), ("neutral",))
    assert "books -5.0 points" in describe(PromotionRule(), promotion)
    assert decide_promotion(PromotionRule(neutral_lost=0.06), [old], [large]).promoted == ("a",)


def test_a_candidate_whose_evaluation_on_neutral_data_failed_is_not_promoted():
    old = beside(model("old@1", 0.5), films=(0.9, 0.0))
    promotion = decide_promotion(PromotionRule(), [old], [beside(model("a", 0.6), films=None)])
    assert (promotion.promoted, promotion.candidates[0].lacks) == ((), ("unscored",))
    assert "was not scored on neutral data: films" in describe(PromotionRule(), promotion)
    assert decide_promotion(PromotionRule(), [old], [model("a", 0.6)]).promoted == ("a",), (
        "a dataset that came after the evaluations"
    )


def test_a_decision_is_kept_in_codes_and_told_in_the_readers_language():
    rule = PromotionRule(by="recency")
    promotion = decide_promotion(rule, [model("old@1", 0.5, 0.5)], [model("a", 0.7, 0.7)])
    stored = TurnReport.of(rule, promotion, excluded={"b": "unscored", "c": "Out of memory."})
    assert stored.why == ""
    words = report.add_words(stored, {})
    assert words.excluded["b"].startswith("Not scored on all rounds")
    assert words.excluded["c"] == "Out of memory."
    with speaking("es"):
        assert translate(words.why) != words.why
        assert translate(words.excluded["b"]) != words.excluded["b"]
    assert "no release has a public test part" in report.add_words(TurnReport.of(rule), {}).why
    assert report.add_words(TurnReport(why="Because."), {}).why == "Because."


def test_candidates_have_to_beat_the_best_of_several_targets():
    promotion = decide_promotion(PromotionRule(), [model("weak@1", 0.4), model("strong@1", 0.6)], [model("a", 0.5)])
    assert (promotion.present, promotion.promoted) == ("strong@1", ())


def test_without_anything_to_compare_with_there_is_no_decision():
    with pytest.raises(ValueError, match="nothing to compare"):
        decide_promotion(PromotionRule(), [], [model("a", 0.5)])


def test_of_several_ways_to_an_ancestor_the_shortest_counts():
    merged = {1: (), 2: (1,), 3: (1,), 4: (2, 3), 5: (4, 1)}
    assert generations(merged, 5) == {5: 0, 4: 1, 1: 1, 2: 2, 3: 2}
    assert generations(merged, 3) == {3: 0, 1: 1}
