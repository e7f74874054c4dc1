"""Chunks, against the library seqeval; tags one by one, against scikit-learn's classification report."""

import warnings
from itertools import chain
from typing import Any

import numpy as np
import pytest
import seqeval.metrics
import seqeval.scheme
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import classification_report

from dynabench.evaluate import load
from dynabench.evaluate.tag_chunks import SCHEMES

KEYS = {"precision": "precision", "recall": "recall", "f1": "f1-score", "number": "support"}


def tags(letters: str, suffix: bool = False) -> st.SearchStrategy[str]:
    marks = [letter for letter in letters if letter != "O"]
    whole = st.tuples(st.sampled_from(marks), st.sampled_from(["PER", "LOC", "A-B"]))
    named = whole.map(lambda pair: f"{pair[1]}-{pair[0]}" if suffix else "-".join(pair))
    return st.one_of(st.just("O"), named, st.sampled_from(marks))


@st.composite
def tagged(draw: st.DrawFn, letters: str, suffix: bool = False) -> tuple[list[list[str]], list[list[str]]]:
    lengths = draw(st.lists(st.integers(0, 7), min_size=1, max_size=5).filter(any))
    columns = [[draw(st.lists(tags(letters, suffix), min_size=n, max_size=n)) for n in lengths] for _ in range(2)]
    return columns[0], columns[1]


def oracle(references: Any, predictions: Any, **options: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = seqeval.metrics.classification_report(
            references, predictions, output_dict=True, **{"zero_division": 0, **options}
        )
        overall = report.pop("micro avg")
        del report["macro avg"], report["weighted avg"]
        result = {kind: {ours: score[theirs] for ours, theirs in KEYS.items()} for kind, score in report.items()}
        return {
            **result,
            **{f"overall_{key}": overall[KEYS[key]] for key in ("precision", "recall", "f1")},
            "overall_accuracy": seqeval.metrics.accuracy_score(references, predictions),
        }


def agree(result: dict[str, Any], expected: dict[str, Any]) -> None:
    assert list(result) == list(expected)
    for key, value in expected.items():
        assert result[key] == pytest.approx(value), key


@given(tagged("OBIES"), st.sampled_from([0, 1]))
def test_tolerant_reading_equals_seqeval(columns: Any, zero: int) -> None:
    references, predictions = columns
    result = load("seqeval").compute(predictions=predictions, references=references, zero_division=zero)
    agree(result, oracle(references, predictions, zero_division=zero))


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(deadline=None, max_examples=25)
@given(data=st.data(), suffix=st.booleans())
def test_strict_reading_equals_seqeval(scheme: str, data: st.DataObject, suffix: bool) -> None:
    references, predictions = data.draw(tagged(SCHEMES[scheme].prefixes, suffix))
    result = load("seqeval").compute(
        predictions=predictions, references=references, mode="strict", scheme=scheme, suffix=suffix
    )
    agree(
        result,
        oracle(references, predictions, mode="strict", scheme=getattr(seqeval.scheme, scheme), suffix=suffix),
    )


@given(tagged("OBI", suffix=True))
def test_prefixes_may_follow_types(columns: Any) -> None:
    references, predictions = columns
    result = load("seqeval", suffix=True).compute(predictions=predictions, references=references)
    agree(result, oracle(references, predictions, suffix=True))


@given(st.sampled_from(["OBI", "OEI", "OBIES", "OBILU"]).flatmap(tagged))
def test_the_scheme_is_found_as_seqeval_finds_it(columns: Any) -> None:
    references, predictions = columns
    try:
        answer = oracle(references, predictions, mode="strict")
    except (ValueError, KeyError):
        return  # what seqeval cannot tell or read is said to be an error in a test below
    agree(load("seqeval").compute(predictions=predictions, references=references, mode="strict"), answer)


@pytest.mark.release
@given(tagged("OBI"), st.lists(st.integers(0, 3), min_size=5, max_size=5).filter(any))
def test_a_weight_repeats_a_sequence(columns: Any, weights: list[int]) -> None:
    references, predictions = columns
    weights = weights[: len(references)]
    rows = np.repeat(np.arange(len(references)), weights).tolist()
    again = [[column[row] for row in rows] for column in (references, predictions)]
    if not any(again[0]):
        return
    result = load("seqeval").compute(predictions=again[1], references=again[0])
    outcome = load("seqeval").compute(predictions=predictions, references=references, sample_weight=weights)
    for key, value in result.items():
        assert outcome[key] == pytest.approx(value), key


@pytest.mark.release
@given(tagged("OBIES"), tagged("OBIES"))
def test_merged_batches_equal_all_sequences(first: Any, second: Any) -> None:
    module = load("seqeval")
    states = [module.state({"references": single[0], "predictions": single[1]}) for single in (first, second)]
    whole = module.compute(references=first[0] + second[0], predictions=first[1] + second[1])
    assert module.result(module.merge(*states)) == whole


@pytest.mark.release
def test_intervals_are_of_each_type_and_draw_whole_sequences() -> None:
    from scipy.stats import bootstrap

    rng = np.random.default_rng(5)
    names = np.array(["O", "B-PER", "I-PER", "B-LOC"])
    references = [names[rng.integers(0, 4, 12)].tolist() for _ in range(40)]
    predictions = [[tag if rng.random() < 0.8 else str(rng.choice(names)) for tag in row] for row in references]
    module = load("seqeval")
    result = module.compute(predictions=predictions, references=references, interval=0.9)["interval"]

    def score(rows: Any) -> float:
        picked = [[column[int(row)] for row in rows] for column in (predictions, references)]
        value: float = load("seqeval").compute(predictions=picked[0], references=picked[1])["LOC"]["f1"]
        return value

    answer = bootstrap(
        (np.arange(40),), score, confidence_level=0.9, n_resamples=399, random_state=rng, vectorized=False
    )
    limits = result["LOC"]["f1"]
    assert limits["low"] == pytest.approx(answer.confidence_interval.low, abs=0.02)
    assert limits["high"] == pytest.approx(answer.confidence_interval.high, abs=0.02)
    assert limits["standard_error"] == pytest.approx(answer.standard_error, rel=0.1)
    assert set(result) == {"PER", "LOC", *(f"overall_{key}" for key in ("precision", "recall", "f1", "accuracy"))}


@pytest.mark.parametrize(
    ("predictions", "references", "options", "message"),
    [
        ([["NOUN"]], [["NOUN"]], {}, "take poseval"),
        ([["U-PER"]], [["U-PER"]], {}, "BILOU give mode='strict'"),
        ([["S-PER"]], [["B-PER"]], {"mode": "strict", "scheme": "IOB2"}, "predictions: row 0 has the tag 'S-PER'"),
        ([["O"]], [["O"]], {"mode": "strict"}, "give scheme="),
        ([["O"]], [["O"]], {"mode": "lenient"}, "mode is None or 'strict'"),
        ([["O"]], [["O"]], {"scheme": "IOB3"}, "IOBES, BILOU"),
        ([["O", "O"], ["O"]], [["O", "O"], ["O", "O"]], {}, "row 1 has 1 tags, its reference 2"),
        ([[]], [[]], {}, "no sequence has a tag"),
        ([["O"]], [["O"]], {"zero_division": "raise"}, "zero_division is 0 or 1"),
        ([[1]], [[1]], {}, "give a list of texts"),
        ([["O", None]], [["O", "O"]], {}, "give a list of texts"),
        ([["O", ""]], [["O", ""]], {}, "has the tag ''"),
    ],
)
def test_what_cannot_be_read_is_told(predictions: Any, references: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load("seqeval").compute(predictions=predictions, references=references, **options)


def test_batches_read_by_different_schemes_do_not_merge_silently() -> None:
    module = load("seqeval", mode="strict")
    states = [module.state({"references": [[tag]], "predictions": [["O"]]}) for tag in ("B-PER", "S-PER")]
    with pytest.raises(ValueError, match="say which it is with scheme="):
        module.merge(*states)


sentences = st.lists(
    st.lists(st.tuples(*[st.sampled_from(["NOUN", "VERB", "ADJ", "X"])] * 2), max_size=6), min_size=1, max_size=5
).filter(any)


@pytest.mark.release
@given(sentences, st.sampled_from([0, 1]))
def test_tags_one_by_one_equal_a_classification_report(rows: Any, zero: int) -> None:
    references, predictions = ([[pair[side] for pair in row] for row in rows] for side in (0, 1))
    answer = classification_report(
        list(chain(*references)), list(chain(*predictions)), output_dict=True, zero_division=zero
    )
    result = load("poseval").compute(predictions=predictions, references=references, zero_division=zero)
    assert list(result) == list(answer)
    for key, value in answer.items():
        assert result[key] == pytest.approx(value), key


def test_poseval_has_intervals_of_tags_and_averages() -> None:
    references = [["A", "B"], ["B", "B"], ["A", "A"], ["C", "A"]] * 5
    predictions = [["A", "A"], ["B", "B"], ["A", "B"], ["C", "A"]] * 5
    result = load("poseval").compute(predictions=predictions, references=references, interval=0.95)
    spans = result["interval"]
    assert set(spans) == {"A", "B", "C", "accuracy", "macro avg", "weighted avg"}
    for key in ("A", "macro avg"):
        first = spans[key]["f1-score"]
        assert first["low"] < result[key]["f1-score"] < first["high"]


def test_poseval_tells_of_nothing_to_compute() -> None:
    with pytest.raises(ValueError, match="no sequence has a tag"):
        load("poseval").compute(predictions=[[]], references=[[]])
