"""FEVER, by hand."""

import pytest

from dynabench.evaluate import load

LABELS = ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]
PREDICTIONS = [
    {"label": "SUPPORTS", "evidence": ["A", "b "]},  # whole set, one of three pieces missing
    {"label": "SUPPORTS", "evidence": ["c"]},  # wrong label with the evidence
    {"label": "REFUTES", "evidence": ["d", "x"]},  # half a set
    {"label": "NOT ENOUGH INFO", "evidence": ["y"]},  # needs none
]
REFERENCES = [
    {"label": "SUPPORTS", "evidence_sets": [["a", "b"], ["z"]]},
    {"label": "REFUTES", "evidence_sets": [["c"]]},
    {"label": "REFUTES", "evidence_sets": [["d", "e"]]},
    {"label": "NOT ENOUGH INFO", "evidence_sets": []},
]


def test_labels_and_whole_sets_of_evidence_are_counted():
    result = load("fever").compute(predictions=PREDICTIONS, references=REFERENCES, per_example=True)
    assert result["label_accuracy"] == 0.75
    assert result["fever_score"] == 0.5
    assert result["per_example"]["fever_score"] == [1, 0, 0, 1]
    assert result["evidence_precision"] == pytest.approx(4 / 6)  # a, b, c, d of a, b, c, d, x, y
    assert result["evidence_recall"] == pytest.approx(4 / 6)  # of a, b, z, c, d, e
    assert result["evidence_f1"] == pytest.approx(4 / 6)


def test_no_evidence_at_all_scores_0_without_an_error():
    rows = {
        "predictions": [{"label": "SUPPORTS", "evidence": []}],
        "references": [{"label": "SUPPORTS", "evidence_sets": [["a"]]}],
    }
    assert load("fever").compute(**rows) == {
        "label_accuracy": 1,
        "fever_score": 0,
        "evidence_precision": 0,
        "evidence_recall": 0,
        "evidence_f1": 0,
    }


def test_batches_merge_to_the_whole_and_have_intervals():
    metric = load("fever")
    parts = [
        metric.state({"predictions": PREDICTIONS[part], "references": REFERENCES[part]})
        for part in (slice(0, 3), slice(3, None))
    ]
    outcome = metric.compute(predictions=PREDICTIONS, references=REFERENCES, interval=0.9, resamples=200)
    interval = outcome.pop("interval")
    assert metric.result(metric.merge(*parts)) == pytest.approx(outcome)
    assert all(first["low"] <= outcome[key] <= first["high"] for key, first in interval.items())


@pytest.mark.parametrize(
    ("prediction", "reference", "words"),
    [
        ({"label": "SUPPORTS"}, REFERENCES[0], "row 0 lacks evidence"),
        ({"label": "SUPPORTS", "evidence": [["page", 3]]}, REFERENCES[0], "give a list of texts"),
        (PREDICTIONS[0], {"label": "SUPPORTS", "evidence_sets": ["a", "b"]}, "give a list of texts"),
        (PREDICTIONS[0], {"label": "SUPPORTS", "evidence_sets": None}, "give a list of lists"),
    ],
)
def test_what_is_no_evidence_is_refused(prediction, reference, words):
    with pytest.raises(ValueError, match=words):
        load("fever").compute(predictions=[prediction], references=[reference])
