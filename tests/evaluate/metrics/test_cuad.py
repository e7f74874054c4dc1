"""CUAD, against the published rules, written down here a second time."""

import re
import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.evaluate import load

CLAUSE = st.lists(
    st.sampled_from(["rent", "is", "due", "May", "The", "seller;", "and/or"]), min_size=1, max_size=4
).map(" ".join)
QUESTION = st.tuples(st.lists(CLAUSE, min_size=1, max_size=3), st.lists(CLAUSE, min_size=1, max_size=3), st.booleans())


def near(prediction: str, true: str, within: bool) -> bool:
    words = [set(re.sub("[.,;:]", "", text).lower().replace("/", " ").split(" ")) for text in (prediction, true)]
    return len(words[0] & words[1]) / len(words[0] | words[1]) >= 0.5 or (within and true in prediction)


def bare(text: str) -> str:
    stored = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", stored).split())


def expected(questions) -> dict[str, float]:
    points, scores, exact = [], [], []
    for answer, true, within in questions:
        hits = sum(any(near(single, clause, within) for single in answer) for clause in true)
        wrong = sum(not any(near(candidate, clause, within) for clause in true) for candidate in answer)
        precision = hits / (hits + wrong) if hits + wrong else 0
        recall = hits / len(true)
        points.append((recall, precision))
        scores.append(2 * precision * recall / (precision + recall) if precision + recall else 0)
        exact.append(any(bare(first) == bare(clause) for first in answer for clause in true))
    points.sort()
    best = [max(precision for _, precision in points[at:]) for at in range(len(points))]
    area = sum((points[at][0] - points[at - 1][0]) * (best[at] + best[at - 1]) / 2 for at in range(1, len(points)))
    at_recall = {
        f"prec_at_{level}_recall": next(
            (top for (recall, _), top in zip(points, best, strict=True) if recall >= level / 100), 0.0
        )
        for level in (80, 90)
    }
    return {"exact_match": 100 * np.mean(exact), "f1": 100 * np.mean(scores), "aupr": area, **at_recall}


def records(questions) -> dict[str, list[dict]]:
    names = [f"{at}__{'Parties' if within else 'Date'}" for at, (_, _, within) in enumerate(questions)]
    return {
        "predictions": [
            {"id": name, "prediction_text": question[0]} for name, question in zip(names, questions, strict=True)
        ],
        "references": [
            {"id": name, "answers": {"text": first[1]}} for name, first in zip(names, questions, strict=True)
        ],
    }


@settings(deadline=None)
@given(st.lists(QUESTION, min_size=1, max_size=6))
def test_clauses_score_by_the_published_rules(questions):
    assert load("cuad").compute(**records(questions)) == pytest.approx(expected(questions))


def test_a_contract_without_the_clause_is_right_only_in_silence_and_no_point_of_the_curve():
    known_values = [(["rent is due"], ["rent is due"], False), (["x"], ["the seller", "rent"], False)]
    alone = load("cuad").compute(**records(known_values))
    silent = load("cuad").compute(**records([*known_values, ([], [], False)]))
    talking = load("cuad").compute(**records([*known_values, (["y"], [], False)]))
    for key in ("aupr", "prec_at_80_recall", "prec_at_90_recall"):
        assert silent[key] == talking[key] == alone[key]
    assert silent["f1"] == pytest.approx((2 * alone["f1"] + 100) / 3)
    assert talking["f1"] == pytest.approx(2 * alone["f1"] / 3)
    assert silent["exact_match"] - talking["exact_match"] == pytest.approx(100 / 3)


def test_saying_nothing_where_clauses_are_scores_0():
    result = load("cuad").compute(predictions=[[], []], references=[["rent"], ["seller"]])
    assert result == {"exact_match": 0, "f1": 0, "aupr": 0, "prec_at_80_recall": 0, "prec_at_90_recall": 0}
    nothing = load("cuad").compute(predictions=[[]], references=[[]])
    assert nothing["f1"] == nothing["exact_match"] == 100
    assert nothing["aupr"] == nothing["prec_at_80_recall"] == 0


@settings(deadline=None)
@given(st.lists(QUESTION, min_size=2, max_size=6))
def test_batches_merge_to_the_whole_and_intervals_are_of_each_resample(questions):
    metric = load("cuad")
    rows = records(questions)
    parts = [
        metric.state({name: column[part] for name, column in rows.items()}) for part in (slice(0, 1), slice(1, None))
    ]
    state = metric.merge(*parts)
    assert metric.result(state) == metric.compute(**rows)
    drawn = np.random.default_rng(0).integers(0, len(questions), (3, len(questions)))
    block = metric.formula(state.at(drawn))
    for place, chosen in enumerate(drawn):
        first = expected([questions[row] for row in chosen])
        assert {key: values[place] for key, values in block.items()} == pytest.approx(first)


@pytest.mark.parametrize("predictions", [["rent"], [{"id": "x", "prediction_text": "rent"}], [None], [[3]]])
def test_predictions_are_lists_of_texts(predictions):
    with pytest.raises(ValueError, match="row 0"):
        load("cuad").compute(predictions=predictions, references=[["rent"]])
