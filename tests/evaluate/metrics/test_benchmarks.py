"""The metrics of GLUE, SuperGLUE, IndicGLUE and XNLI: against scikit-learn, scipy and values by hand."""

from typing import Any

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from dynabench.evaluate import load
from dynabench.evaluate.metrics import glue

three = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=20)
two = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=20)
ACCURATE = [
    *(("glue", config) for config in glue.ACCURACY_CONFIGS),
    *(("indic_glue", config) for config in glue.INDIC_ACCURACY_CONFIGS),
    *(("super_glue", config) for config in ("boolq", "copa", "rte", "wic", "wsc", "wsc.fixed", "axg")),
    ("xnli", None),
]


@pytest.mark.parametrize(("name", "config"), ACCURATE)
def test_these_tasks_take_accuracy(name: str, config: Any) -> None:
    module = load(name, config)
    assert module.compute(predictions=[0, 1, 1, 2], references=[0, 1, 2, 2]) == {"accuracy": 0.75}
    assert module.compute(predictions=["a", "b"], references=["b", "b"]) == {"accuracy": 0.5}


@pytest.mark.parametrize("where", [("glue", "mrpc"), ("glue", "qqp"), ("indic_glue", "wiki-ner")])
@given(rows=two)
def test_paraphrases_and_names_take_accuracy_and_f1(where: Any, rows: Any) -> None:
    answer, true = (list(column) for column in zip(*rows, strict=True))
    result = load(*where).compute(predictions=answer, references=true)
    assert result["accuracy"] == pytest.approx(sklearn.metrics.accuracy_score(true, answer))
    assert result["f1"] == pytest.approx(sklearn.metrics.f1_score(true, answer, zero_division=0))


@pytest.mark.release
@given(three)
def test_cb_takes_accuracy_and_macro_f1(rows: Any) -> None:
    answer, true = (list(column) for column in zip(*rows, strict=True))
    result = load("super_glue", "cb").compute(predictions=answer, references=true)
    assert result["accuracy"] == pytest.approx(sklearn.metrics.accuracy_score(true, answer))
    assert result["f1"] == pytest.approx(sklearn.metrics.f1_score(true, answer, average="macro"))


@pytest.mark.parametrize("where", [("glue", "cola"), ("super_glue", "axb")])
def test_acceptability_and_diagnostics_take_matthews_correlation(where: Any) -> None:
    answer, true = [0, 1, 1, 0, 1], [0, 1, 0, 0, 1]
    result = load(*where).compute(predictions=answer, references=true)
    assert result == {"matthews_correlation": pytest.approx(sklearn.metrics.matthews_corrcoef(true, answer))}


@given(st.lists(st.tuples(st.integers(-9, 9), st.floats(-5, 5)), min_size=2, max_size=20))
def test_similarity_takes_both_correlations(rows: Any) -> None:
    answer, true = (list(map(float, column)) for column in zip(*rows, strict=True))
    module = load("glue", "stsb")
    if len(set(answer)) == 1 or len(set(true)) == 1:
        with pytest.raises(ValueError, match="one side is constant"):
            module.compute(predictions=answer, references=true)
    elif np.std(true) > 1e-3:  # nearly constant numbers have no digits to compare
        result = module.compute(predictions=answer, references=true)
        assert result["pearson"] == pytest.approx(scipy.stats.pearsonr(answer, true).statistic, abs=1e-7)
        assert result["spearmanr"] == pytest.approx(scipy.stats.spearmanr(answer, true).statistic, abs=1e-9)


@pytest.mark.release
def test_similarity_has_the_intervals_of_scipy() -> None:
    rng = np.random.default_rng(8)
    true = rng.normal(0, 1, 60)
    answer = true + rng.normal(0, 1, 60)
    spans = load("glue", "stsb").compute(predictions=answer, references=true, interval=0.9)["interval"]
    for key, measure in (("pearson", scipy.stats.pearsonr), ("spearmanr", scipy.stats.spearmanr)):
        expected = scipy.stats.bootstrap(
            (answer, true),
            lambda *pair, measure=measure: measure(*pair).statistic,
            paired=True,
            vectorized=False,
            n_resamples=999,
            confidence_level=0.9,
            random_state=rng,
        )
        assert spans[key]["low"] == pytest.approx(expected.confidence_interval.low, abs=0.025)
        assert spans[key]["high"] == pytest.approx(expected.confidence_interval.high, abs=0.025)


def test_similarity_takes_scores_and_labels_do_not() -> None:
    assert load("glue", "stsb").compute(predictions=[0.5, 1.5], references=[0.1, 0.3])["pearson"] == pytest.approx(1)
    with pytest.raises(ValueError, match=r"row 0 is 0.5, which is no label"):
        load("glue", "mnli").compute(predictions=[0.5, 1.5], references=[0, 1])
    with pytest.raises(ValueError, match="mrpc has the classes 0 and 1; 2 is none of them"):
        load("glue", "mrpc").compute(predictions=[2], references=[1])
    with pytest.raises(ValueError, match="there are sst2, mnli"):
        load("glue", "sst3")


answers = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=20)


def multirc(rows: Any) -> tuple[Any, Any]:
    answer = [
        {"idx": {"paragraph": 7, "question": question, "answer": place}, "prediction": label}
        for place, (question, label, _) in enumerate(rows)
    ]
    return answer, [row[2] for row in rows]


@pytest.mark.release
@given(answers)
def test_lists_of_answers_are_scored_by_question(rows: Any) -> None:
    answer, true = multirc(rows)
    result = load("super_glue", "multirc").compute(predictions=answer, references=true)
    groups = [[row[1:] for row in rows if row[0] == question] for question in dict.fromkeys(row[0] for row in rows)]
    exact = [all(label == right for label, right in group) for group in groups]
    within = [sklearn.metrics.f1_score(*list(zip(*group, strict=True))[::-1], average="macro") for group in groups]
    over = sklearn.metrics.f1_score(true, [row[1] for row in rows], zero_division=0)
    assert result == {
        "exact_match": pytest.approx(np.mean(exact)),
        "f1_m": pytest.approx(np.mean(within)),
        "f1_a": pytest.approx(over),
    }


@given(answers, answers)
def test_a_question_may_be_split_over_batches(first: Any, second: Any) -> None:
    module = load("super_glue", "multirc")
    parts = [dict(zip(("predictions", "references"), multirc(part), strict=True)) for part in (first, second)]
    whole = dict(zip(("predictions", "references"), multirc(first + second), strict=True))
    assert module.result(module.merge(*(module.state(part) for part in parts))) == module.compute(**whole)


def test_an_interval_of_questions_draws_questions() -> None:
    rows = [(question, 1, int(question % 3 > 0)) for question in range(30) for _ in range(4)]
    answer, true = multirc(rows)
    state = load("super_glue", "multirc").state({"predictions": answer, "references": true})
    assert len(state) == 30
    spans = load("super_glue", "multirc").compute(predictions=answer, references=true, interval=0.9)["interval"]
    assert spans["exact_match"]["standard_error"] == pytest.approx(np.sqrt(2 / 3 * 1 / 3 / 30), rel=0.05)


def record(texts: Any, right: Any) -> tuple[Any, Any]:
    places = [{"passage": 1, "query": query} for query in range(len(texts))]
    answer = [{"idx": place, "prediction_text": text} for place, text in zip(places, texts, strict=True)]
    return answer, [{"idx": place, "answers": list(first)} for place, first in zip(places, right, strict=True)]


@pytest.mark.parametrize(
    ("text", "right", "exact", "f1"),
    [
        ("The U.S.A.", ["usa"], 1, 1),
        ("new york city", ["New York", "the city of New York"], 0, 6 / 7),
        ("", ["a"], 1, 0),  # both are empty without articles, and no word is common
        ("Paris", ["London", "Rome"], 0, 0),
    ],
)
def test_an_answer_is_compared_without_case_punctuation_and_articles(
    text: str, right: Any, exact: float, f1: float
) -> None:
    answer, true = record([text], [right])
    result = load("super_glue", "record").compute(predictions=answer, references=true)
    assert result == {"exact_match": exact, "f1": pytest.approx(f1)}


def test_answers_are_matched_by_their_place_not_their_order() -> None:
    answer, true = record(["Paris", "Rome"], [["Paris"], ["Rome"]])
    assert load("super_glue", "record").compute(predictions=answer[::-1], references=true)["exact_match"] == 1


@pytest.mark.parametrize(
    ("config", "predictions", "true", "message"),
    [
        ("record", [{"idx": {"passage": 0, "query": 0}}], [{"idx": {}, "answers": []}], "row 0 lacks prediction_text"),
        ("record", *record([None], [["a"]]), "has the prediction_text None"),
        ("record", *record(["a"], [[]]), "at least one text"),
        ("record", [record(["a"], ["a"])[0][0]] * 2, record(["a", "b"], ["a", "b"])[1], "answers the idx .* again"),
        ("multirc", [{"idx": {"paragraph": 1}, "prediction": 1}], [1], r"give \{paragraph, question\}"),
        ("multirc", *multirc([(0, 2, 1)]), "multirc has the labels 0 and 1"),
        ("multirc", *multirc([(0, 1, 3)]), "references: row 0 is .*3.*; multirc has the labels 0 and 1"),
        ("multirc", [1], [1], "row 0 lacks idx, prediction"),
    ],
)
def test_what_is_no_answer_is_told(config: str, predictions: Any, true: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load("super_glue", config).compute(predictions=predictions, references=true)


@given(st.integers(1, 40), st.integers(0, 10**6))
def test_translations_are_found_as_by_cosine_distance(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    queries, candidates = rng.normal(0, 1, (2, n, 3))
    result = load("indic_glue", "cvit-mkb-clsr").compute(predictions=queries, references=candidates)
    if n == 1:
        assert result == {"precision@10": 1.0}
        return
    distances = cdist(queries - queries.mean(0), candidates - candidates.mean(0), "cosine")
    nearest = np.argsort(distances, axis=1)[:, :10]
    assert result["precision@10"] == pytest.approx(np.mean([row in nearest[row] for row in range(n)]))


def test_vectors_that_are_all_equal_find_no_more_than_ten() -> None:
    ones = np.ones((40, 4))
    module = load("indic_glue", "cvit-mkb-clsr")
    assert module.compute(predictions=ones, references=ones) == {"precision@10": 0.25}
    span = module.compute(predictions=ones, references=ones, interval=0.9)["interval"]["precision@10"]
    assert span["standard_error"] == pytest.approx(np.sqrt(0.25 * 0.75 / 40), rel=0.05)
    with pytest.raises(ValueError, match="vectors of one length"):
        module.compute(predictions=np.ones((3, 2)), references=np.ones((3, 4)))
