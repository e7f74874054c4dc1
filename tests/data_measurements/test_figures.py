"""Figures against ones counted by hand, and against other libraries."""

import json

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon, pdist

from dynabench.insight.data_measurements import formatting, results
from dynabench.insight.data_measurements.measures import MEASURES, answers, artifacts, similarity
from dynabench.insight.data_measurements.measures.artifacts import bag_of_words
from dynabench.insight.data_measurements.sample import (
    ConditionCounts,
    EarlierRound,
    MarkedWords,
    RoundSample,
    SampledExample,
    TargetAnswer,
)
from dynabench.kit import language
from tests.data_measurements.samples import inference


def sample_of_texts(*texts, **more):
    rows = [SampledExample(place, {"text": text}, **more) for place, text in enumerate(texts)]
    return RoundSample(tuple(rows), len(rows), {"text": "Text"})


def value(result, name):
    return next(item.value for item in result.figures if item.name == name)


def test_concentration_of_writers():
    counts = np.array([6.0, 3.0, 1.0])
    assert answers.effective(counts) == pytest.approx(100 / 46)
    assert answers.gini(counts) == pytest.approx((6 - 3 + 6 - 1 + 3 - 1) / (3 * 10))
    assert answers.effective(np.ones(8)) == pytest.approx(8)
    assert answers.gini(np.ones(8)) == pytest.approx(0)


def test_self_bleu_is_that_of_each_text_against_all_others():
    from sacrebleu.metrics import BLEU

    texts = [text.split() for text in ("a b c d e f", "a b c d x y z", "q r a b c d e s", "m n o p q")]
    scorer = BLEU(tokenize="none", smooth_method="add-k", smooth_value=1, effective_order=False)
    for place, score in enumerate(similarity.self_bleu(texts)):
        others = [" ".join(text) for at, text in enumerate(texts) if at != place]
        assert score * 100 == pytest.approx(scorer.sentence_score(" ".join(texts[place]), others).score)


def test_distinct_n_grams_and_the_spread_of_vectors():
    assert similarity.distinct([["a", "b", "a"], ["a", "b"]], 2) == pytest.approx(2 / 3)
    vectors = np.random.default_rng(0).normal(size=(20, 6))
    assert similarity.spread(vectors) == pytest.approx(pdist(vectors, "cosine").mean())


def test_divergence_is_that_of_scipy_in_bits():
    p, q = np.array([3.0, 1, 0, 4]), np.array([1.0, 1, 5, 1])
    assert similarity.divergence(p, q) == pytest.approx(jensenshannon(p, q, base=2) ** 2)


def test_rounds_with_other_words_are_told_apart_and_alike_ones_are_not():
    here = inference(120, seed=1)
    alike, other = inference(120, seed=2), inference(120, planted=1.0, seed=3)
    for earlier, apart in ((alike, False), (other, True)):
        sample = RoundSample(here.rows, 120, here.fields, here.labels, earlier=(EarlierRound(1, earlier.rows),))
        [table] = MEASURES["similarity"].measure(sample).tables
        assert (table.rows[0][3] < 0.05) == apart


def test_cross_validated_naive_bayes_agrees_with_scikit_learn():
    from sklearn.naive_bayes import MultinomialNB

    sample = inference(150, planted=0.5)
    present, _ = bag_of_words(sample.words, 2, pairs=True)
    labels = np.array([sample.labels.index(row.label) for row in sample.rows])
    fold = artifacts.assign_folds(sample.writers, np.random.default_rng(0))
    assert all(len(set(fold[sample.writers == item])) == 1 for item in range(sample.people))
    expected = artifacts.cross_validated_predictions(present, labels[None], fold, 3)[0]
    for item in range(artifacts.FOLDS):
        train, test = fold != item, fold == item
        counts = np.bincount(labels[train], minlength=3) + 1
        model = MultinomialNB(class_prior=counts / counts.sum()).fit(present[train], labels[train])
        assert (model.predict(present[test]) == expected[test]).all()


def test_near_duplicates_by_others_and_in_earlier_rounds():
    sample = sample_of_texts(
        "The sun shines on the hill", "the sun shines on the hill.", "It rains a lot in spring", "Cats."
    )
    sample = RoundSample(
        sample.rows,
        4,
        sample.fields,
        earlier=(EarlierRound(1, (SampledExample(9, {"text": "It rains a lot in spring!"}),)),),
    )
    measured = MEASURES["near_duplicates"].measure(sample)
    assert (value(measured, "alike"), value(measured, "by_others"), value(measured, "again")) == (0.5, 0.5, 0.25)


def test_vocabulary_counts_different_words():
    measured = MEASURES["vocabulary"].measure(sample_of_texts("one two two", "two three"))
    assert (value(measured, "different"), value(measured, "words"), value(measured, "once")) == (
        3,
        5,
        pytest.approx(2 / 3),
    )


def test_complexity_finds_negations_numbers_and_words_of_the_context():
    measured = MEASURES["complexity"].measure(
        sample_of_texts("He isn't here. Never.", "It cost 5 pounds", context="it cost a lot of pounds")
    )
    assert (value(measured, "negated"), value(measured, "numbers")) == (0.5, 0.5)
    assert value(measured, "shared") == pytest.approx(3 / 9)


def test_difficulty_counts_votes_and_models_that_disagree():
    answers = (TargetAnswer("a", "yes", True, 0.9, 0.1), TargetAnswer("b", "no", False, 0.7, 0.7))
    rows = (
        SampledExample(1, {"text": "a"}, answers=answers, votes=("correct", "correct")),
        SampledExample(2, {"text": "b"}, answers=(answers[1], answers[1]), votes=("correct", "incorrect")),
        SampledExample(3, {"text": "c"}),
    )
    measured = MEASURES["difficulty"].measure(RoundSample(rows, 3, {"text": "Text"}))
    assert value(measured, "agreement") == 0.5
    assert value(measured, "apart") == 0.5
    assert value(measured, "claimed") == pytest.approx((0.4 + 0.7) / 2)
    [table] = measured.tables
    assert [row[:2] for row in table.rows] == [("a", 1.0), ("b", 0.0)]


def test_experts_that_fool_more_often_are_told_from_others():
    rng = np.random.default_rng(0)

    def group(name, first, rate):
        return ConditionCounts(name, np.arange(first, first + 12), rng.binomial(20, rate, 12), np.full(12, 20))

    measured = MEASURES["conditions"].measure(
        RoundSample((), 0, {}, groups={"source": (group("annotators", 0, 0.2), group("experts", 50, 0.6))})
    )
    assert measured.finding == "Different from the rest: annotators, experts"
    alike = {"source": (group("annotators", 0, 0.3), group("experts", 50, 0.3))}
    assert MEASURES["conditions"].measure(RoundSample((), 0, {}, groups=alike)).finding.startswith("No condition")


def test_words_that_authors_blame_are_set_against_chance():
    rows = tuple(SampledExample(place, {"text": "x"}, words=MarkedWords(2, 1 + place % 2, 0.4)) for place in range(8))
    measured = MEASURES["trick_words"].measure(RoundSample(rows, 8, {"text": "Text"}))
    assert value(measured, "shared") == 0.75
    assert value(measured, "chance") == pytest.approx(0.2)
    assert measured.finding.endswith("name words that mattered to the model")


def test_the_public_sees_nothing_that_few_writers_stand_behind():
    table = results.Table(
        "t", "T", results.make_columns(("word", "Word", "text")), (("rare",), ("common",), ("usual",)), (2, 9, 5)
    )
    measured = results.MeasureResult("x", (), (table,), 9)
    assert results.public_part(measured).tables[0].rows == (("common",), ("usual",))
    pair = results.Table("t", "T", table.columns, (("rare",), ("rest",)), (2, 9))
    assert (
        results.public_part(results.MeasureResult("x", (), (pair,), 9)).tables == ()
    )  # the rest of two tells the other
    assert results.public_part(results.MeasureResult("x", (), (), 4)) is None
    assert results.read_result(measured.document()) == measured


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_stands_empty_and_single_rounds(name):
    measure = MEASURES[name]
    assert measure.title
    assert measure.about
    for sample in (RoundSample((), 0, {"text": "Text"}), sample_of_texts("One."), sample_of_texts("", "")):
        outcome = measure.measure(sample)
        assert outcome is None or results.read_result(outcome.document()).finding


def test_what_was_found_is_kept_with_its_translations_and_old_records_are_read():
    measured = MEASURES["complexity"].measure(sample_of_texts("He isn't here. Never.", "It cost 5,000 pounds"))
    again = results.read_result(json.loads(json.dumps(measured.record())))
    assert again == results.read_result(measured.document()) == measured
    assert again.finding == "3.0 words per sentence, 50% with a negation"
    with language.speaking("es"):
        assert language.translate(again.finding) == "3,0 palabras por frase, 50\N{NO-BREAK SPACE}% con una negación"
        assert (
            language.translate(results.read_result(json.loads(json.dumps(measured.document()))).finding)
            == measured.finding
        )
        assert formatting.format_interval(0.125, 1, "share") == "de 12,5\N{NO-BREAK SPACE}% a 100,0\N{NO-BREAK SPACE}%"


def test_every_text_of_a_measure_is_in_the_catalogues():
    sample = inference(60, planted=1.0)
    for name, measure in MEASURES.items():
        outcome = measure.measure(sample)
        tables = outcome.tables if outcome else ()
        texts = [outcome.finding, *(entry.label for entry in outcome.figures)] if outcome else []
        texts += [text for entry in tables for text in (entry.title, *(item.label for item in entry.columns))]
        for text in (measure.title, measure.about, *texts):
            assert isinstance(text, language.Phrase) or text in ("n", "p", "vMER"), (name, text)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [(-12.34, "number", "−12.3"), (-0.5, "number", "−0.50"), (-0.125, "share", "−12.5%"), (-3, "count", "−3")],
)
def test_negative_values_have_one_kind_of_minus_sign(value, kind, text):
    assert formatting.format_value(value, kind).replace("\N{NO-BREAK SPACE}", "") == text
