"""BLEURT, COMET and FrugalScore: one number for each row, from a regression of transformers or a function."""

import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from dynabench.evaluate import load

PREDICTIONS = ["the captain was kind", "she went to the river", "Short.", "a steel cable"]
RIGHT = ["the captain was kind to them", "she went to the library", "a ferry", "the girls crossed the river again"]
SOURCES = ["der Kapitän war nett", "sie ging", "kurz", "ein Seil"]


@pytest.fixture
def folder(bert):
    return str(bert("regression"))


def alone(folder, first, second, **options):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        return float(model(**tokenizer(first, second, return_tensors="pt", **options)).logits[0, 0])


@pytest.mark.parametrize("batch_size", [1, 3])
def test_bleurt_reads_the_reference_first(folder, batch_size):
    result = load("bleurt", folder).compute(predictions=PREDICTIONS, references=RIGHT, batch_size=batch_size)
    right = [alone(folder, reference, answer) for answer, reference in zip(PREDICTIONS, RIGHT, strict=True)]
    assert result["scores"] == pytest.approx(right, abs=1e-5)
    assert result["mean_score"] == pytest.approx(sum(right) / 4, abs=1e-5)


def test_frugalscore_reads_the_prediction_first_and_cuts(folder):
    result = load("frugalscore", folder).compute(predictions=PREDICTIONS, references=RIGHT, max_length=8)
    right = [
        alone(folder, answer, reference, max_length=8, truncation=True)
        for answer, reference in zip(PREDICTIONS, RIGHT, strict=True)
    ]
    assert result["scores"] == pytest.approx(right, abs=1e-5)


def test_comet_reads_the_prediction_then_source_and_reference(folder):
    result = load("comet", folder).compute(sources=SOURCES, predictions=PREDICTIONS, references=RIGHT, gpus=0)
    right = [
        alone(folder, answer, f"{source}[SEP]{reference}")
        for source, answer, reference in zip(SOURCES, PREDICTIONS, RIGHT, strict=True)
    ]
    assert list(result) == ["mean_score", "scores"]
    assert result["scores"] == pytest.approx(right, abs=1e-5)


def test_comet_gives_a_function_the_rows_of_its_own_package():
    rows = []

    def predict(texts):
        rows.extend(texts)
        return torch.arange(len(texts)) / 2

    result = load("comet").compute(sources=SOURCES, predictions=PREDICTIONS, references=RIGHT, model=predict)
    assert rows[1] == {"src": SOURCES[1], "mt": PREDICTIONS[1], "ref": RIGHT[1]}
    assert result == {"mean_score": 0.75, "scores": [0.0, 0.5, 1.0, 1.5]}


@pytest.mark.parametrize("name", ["bleurt", "frugalscore"])
def test_compat_gives_the_scores_alone(name):
    result = load(name, compat=True).compute(
        predictions=PREDICTIONS, references=RIGHT, model=lambda rows: [len(first) for first, _ in rows]
    )
    assert result == {"scores": [len(text) for text in (RIGHT if name == "bleurt" else PREDICTIONS)]}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda rows: [1.0], "gave 1 answers for 4"),
        (lambda rows: ["good"] * len(rows), "one number for each row"),
        (lambda rows: [[1.0, 2.0]] * len(rows), "one number for each row"),
        (lambda rows: [float("nan")] * len(rows), "no number to average"),
        (None, "bleurt needs a model"),
    ],
)
def test_answers_that_are_no_numbers_are_told(model, message):
    with pytest.raises(ValueError, match=message):
        load("bleurt").compute(predictions=PREDICTIONS, references=RIGHT, model=model)


def test_a_classifier_is_no_regression(bert):
    with pytest.raises(ValueError, match="the model has 2 outputs"):
        load("bleurt", str(bert("nothate,hate"))).compute(predictions=PREDICTIONS, references=RIGHT)
