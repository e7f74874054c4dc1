"""Metrics of probabilities through evaluators: against scikit-learn and a computation by hand, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import brier_score_loss, roc_auc_score

from dynabench.evaluate import combine, evaluator, load
from tests.evaluate.evaluator.tiny import bert, saved, texts

NAMES = {0: "negative", 1: "neutral", 2: "positive"}
TWO = {0: "no", 1: "yes"}
ROWS = [{"text": text, "label": NAMES[at % 3]} for at, text in enumerate(texts(60))]
PAIRS = [{"text": text, "label": TWO[at % 2]} for at, text in enumerate(texts(60))]


def network(names: dict[int, str]) -> tuple[Any, Any]:
    return bert("BertForSequenceClassification", id2label=names, label2id={name: n for n, name in names.items()})


@pytest.fixture(scope="module")
def three() -> tuple[Any, Any]:
    return network(NAMES)


def chances(model: Any, tokenizer: Any, rows: list[dict[str, str]]) -> Any:
    """Softmax of the logits, text by text."""
    with torch.no_grad():
        tokenizers = (tokenizer(row["text"], truncation=True, return_tensors="pt") for row in rows)
        return torch.cat([model(**first).logits.softmax(-1) for first in tokenizers]).double().numpy()


def test_calibration_brier_and_roc_get_the_model_s_probabilities(three: tuple[Any, Any]) -> None:
    model, tokenizer = three
    expected, true = chances(model, tokenizer, ROWS), np.array([at % 3 for at in range(60)])
    ask = evaluator("text-classification").compute
    answer = ask(model, ROWS, tokenizer=tokenizer, metric="expected_calibration_error", return_predictions=True)
    assert answer["labels"] == list(NAMES.values())
    assert np.allclose(answer["probabilities"], expected, atol=1e-5)
    by_hand = load("expected_calibration_error").compute(predictions=expected, references=true)
    assert answer["expected_calibration_error"] == pytest.approx(by_hand["expected_calibration_error"], abs=1e-5)
    brier = ask(model, ROWS, tokenizer=tokenizer, metric="brier_score")["brier_score"]
    assert brier == pytest.approx(((expected - np.eye(3)[true]) ** 2).sum(1).mean(), abs=1e-5)
    options = {"multi_class": "ovr"}
    roc = ask(model, ROWS, tokenizer=tokenizer, metric=load("roc_auc", "multiclass"), metric_options=options)
    assert roc["roc_auc"] == pytest.approx(roc_auc_score(true, expected, multi_class="ovr"), abs=1e-4)


def test_two_labels_score_as_one_probability_does() -> None:
    model, tokenizer = network(TWO)
    expected, true = chances(model, tokenizer, PAIRS)[:, 1], [at % 2 for at in range(60)]
    ask = evaluator("text-classification").compute
    brier = ask(model, PAIRS, tokenizer=tokenizer, metric="brier_score")["brier_score"]
    assert brier == pytest.approx(brier_score_loss(true, expected), abs=1e-5)
    roc = ask(model, PAIRS, tokenizer=tokenizer, metric="roc_auc")["roc_auc"]
    assert roc == pytest.approx(roc_auc_score(true, expected), abs=1e-4)


def test_a_perfectly_calibrated_model_has_no_error() -> None:
    def sure(rows: list[str]) -> list[list[dict[str, Any]]]:
        return [[{"label": "yes", "score": 0.75}, {"label": "no", "score": 0.25}] for _ in rows]

    rows = [{"text": "a", "label": "yes" if at % 4 else "no"} for at in range(40)]
    result = evaluator("text-classification").compute(sure, rows, metric="expected_calibration_error")
    assert result["expected_calibration_error"] == pytest.approx(0, abs=1e-9)


def test_metrics_of_labels_and_of_probabilities_are_combined_with_intervals(three: tuple[Any, Any]) -> None:
    model, tokenizer = three
    ask = evaluator("text-classification").compute
    both = combine(["accuracy", "brier_score"])
    answer = ask(model, ROWS, tokenizer=tokenizer, metric=both, strategy="bootstrap", n_resamples=200)
    plain = ask(model, ROWS, tokenizer=tokenizer)
    assert answer["accuracy"]["score"] == plain["accuracy"]
    low, high = answer["brier_score"]["confidence_interval"]
    assert low < answer["brier_score"]["score"] < high


def test_the_data_s_labels_are_named_in_a_mapping_whose_labels_add_up() -> None:
    def probabilities_of(rows: list[str]) -> list[list[dict[str, Any]]]:
        return [[{"label": name, "score": score} for name, score in zip("abc", (0.5, 0.3, 0.2), strict=True)]] * len(
            rows
        )

    rows = [{"text": "x", "label": 0}, {"text": "y", "label": 1}]
    result = evaluator("text-classification").compute(
        probabilities_of, rows, metric="brier_score", label_mapping={"a": 0, "b": 1, "c": 1}, return_predictions=True
    )
    assert result["probabilities"] == [[0.5, 0.5]] * 2
    assert result["brier_score"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        {"label": "yes"},
        {"label": "yes", "score": 0.7},
        [{"label": "yes", "score": 0.7}],
        {"label": "a", "score": None},
    ],
)
def test_labels_are_not_taken_for_probabilities(answer: Any) -> None:
    with pytest.raises(ValueError, match=r"row 0: .* takes a probability of every label"):
        evaluator("text-classification").compute(
            lambda rows: [answer] * len(rows), [{"text": "a", "label": "yes"}], metric="expected_calibration_error"
        )


def test_a_task_without_labels_refuses_before_the_model_is_asked() -> None:
    request: list[Any] = []

    def summarize(rows: list[Any]) -> list[Any]:
        request.extend(rows)
        return rows

    with pytest.raises(ValueError, match="takes probabilities of labels, and summarization has none"):
        evaluator("summarization").compute(summarize, [{"document": "a b", "label": "a"}], metric="brier_score")
    assert not request


def test_answers_of_labels_alone_are_not_those_of_a_checkpoint(three: tuple[Any, Any], tmp_path: Path) -> None:
    folder = saved(tmp_path / "model", *three)
    ask = evaluator("text-classification").compute
    ask(folder, ROWS, checkpoint=tmp_path / "answers")
    with pytest.raises(ValueError, match="answers"):
        ask(folder, ROWS, metric="brier_score", checkpoint=tmp_path / "answers")
