"""Toxicity and regard, through classifiers of transformers, their pipelines, functions and the shipped models."""

import json

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, pipeline

from dynabench.evaluate import load
from dynabench.evaluate.networks.encoders import class_probabilities
from dynabench.models.backends.ngram import NgramModel
from dynabench.models.catalog import BUILTIN

pytestmark = pytest.mark.release

HATE = "nothate,hate"
REGARD = "neutral,positive,negative,other"


def alone(folder, text):
    """Probabilities of one text by the model called without batches."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        result = model(**tokenizer(text, return_tensors="pt", truncation=True)).logits[0].double().softmax(0)
    return dict(zip(model.config.id2label.values(), result.tolist(), strict=True))


@pytest.mark.parametrize("batch_size", [1, 3, 32])
def test_probabilities_stand_by_name_and_in_the_order_of_the_texts(bert, texts, batch_size):
    folder = str(bert(REGARD))
    names, result = class_probabilities(folder, texts, batch_size)
    assert names == ("negative", "neutral", "other", "positive")
    for row, text in enumerate(texts):
        right = alone(folder, text)
        assert result[row] == pytest.approx([right[name] for name in names], abs=1e-5)


def test_a_pipeline_of_transformers_is_a_function_like_others(bert, texts):
    folder = str(bert(REGARD))
    pipe = pipeline("text-classification", model=folder, top_k=None, truncation=True, device="cpu")
    names, result = class_probabilities(pipe, texts)
    assert (names, result.tolist()) == (
        class_probabilities(folder, texts)[0],
        pytest.approx(class_probabilities(folder, texts)[1], abs=1e-5),
    )


def test_several_labels_at_once_are_each_a_sigmoid(bert, texts):
    folder = str(bert(HATE))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    model.config.problem_type = "multi_label_classification"
    names, result = class_probabilities((model, tokenizer), texts[:2])
    with torch.no_grad():
        right = model(**tokenizer(texts[0], return_tensors="pt")).logits[0].sigmoid().tolist()
    assert names == ("hate", "nothate")
    assert result[0] == pytest.approx(right[::-1], abs=1e-5)


@pytest.mark.parametrize("aggregation", ["all", "maximum", "ratio"])
def test_toxicity_is_the_probability_of_the_label(bert, texts, aggregation):
    folder = str(bert(HATE))
    scores = [alone(folder, text)["hate"] for text in texts]
    threshold = float(np.median(scores))
    result = load("toxicity", folder).compute(predictions=texts, aggregation=aggregation, threshold=threshold - 1e-4)
    right = {
        "all": ("toxicity", scores),
        "maximum": ("max_toxicity", max(scores)),
        "ratio": ("toxicity_ratio", np.mean([score >= threshold - 1e-4 for score in scores])),
    }
    name, value = right[aggregation]
    assert result[name] == pytest.approx(value, abs=1e-5)
    json.dumps(result, allow_nan=False)


def test_a_shipped_model_measures_toxicity_through_a_function():
    model = NgramModel.load(BUILTIN / "hate-ngram")

    def scores(texts):
        return [answer.probabilities for answer in model.predict([{"statement": text} for text in texts])]

    values = ["I love the library", "I hate them all, they are vermin"]
    label = next(name for name in scores(values[:1])[0] if name.startswith("hate"))
    toxicity = load("toxicity").compute(predictions=values, model=scores, toxic_label=label)["toxicity"]
    assert toxicity == pytest.approx([answer[label] for answer in scores(values)])
    assert toxicity[0] < toxicity[1]


def test_a_shipped_model_of_sentiment_tells_kind_from_unkind_words_about_a_group():
    model = NgramModel.load(BUILTIN / "sentiment-ngram")

    def scores(texts):
        return [answer.probabilities for answer in model.predict([{"statement": text} for text in texts])]

    regard_difference = load("regard", "compare", model=scores).compute(
        data=["xyz were wonderful and kind", "a wonderful film by xyz"],
        references=["xyz were boring and stupid", "a terrible waste of time by xyz"],
    )["regard_difference"]
    assert regard_difference["positive"] > 0 > regard_difference["negative"]
    assert sum(regard_difference.values()) == pytest.approx(0, abs=1e-6)


def test_compat_leaves_out_the_mean_and_options_are_checked(bert):
    folder = str(bert(HATE))
    assert list(load("toxicity", folder, compat=True).compute(predictions=["a"])) == ["toxicity"]
    with pytest.raises(ValueError, match="no aggregation 'mean'"):
        load("toxicity", folder).compute(predictions=["a"], aggregation="mean")
    with pytest.raises(ValueError, match="the model's labels are hate, nothate"):
        load("toxicity", folder).compute(predictions=["a"], toxic_label="offensive")
    with pytest.raises(ValueError, match="toxicity needs a model"):
        load("toxicity").compute(predictions=["a"])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (0.5, "mapping of class to probability"),
        ({"hate": 1.5}, "between 0 and 1"),
        ({"hate": float("nan")}, "between 0 and 1"),
        ("hate", "mapping of class to probability"),
    ],
)
def test_answers_that_are_no_probabilities_are_told(answer, message):
    with pytest.raises(ValueError, match=message):
        load("toxicity").compute(predictions=["a"], model=lambda texts: [answer] * len(texts))


def test_regard_compares_means_by_label(bert, texts):
    folder = str(bert(REGARD))
    data, references = texts[:3], texts[3:]
    mine = [alone(folder, text) for text in data]
    other = [alone(folder, text) for text in references]
    module = load("regard", "compare", model=folder)

    def means(rows, by=np.mean):
        return {name: float(by([row[name] for row in rows])) for name in rows[0]}

    difference = module.compute(data=data, references=references)["regard_difference"]
    assert difference == pytest.approx(
        {name: value - means(other)[name] for name, value in means(mine).items()}, abs=1e-5
    )
    average = module.compute(data=data, references=references, aggregation="average")
    assert list(average) == ["average_data_regard", "average_references_regard"]
    assert average["average_references_regard"] == pytest.approx(means(other), abs=1e-5)
    highest = module.compute(data=data, references=references, aggregation="maximum")
    assert highest["max_data_regard"] == pytest.approx(means(mine, np.max), abs=1e-5)
    assert highest["max_references_regard"] == pytest.approx(means(other, np.max), abs=1e-5)


def test_regard_alone_ranks_the_labels_of_each_text(bert, texts):
    folder = str(bert(REGARD))
    regard = load("regard", model=folder).compute(data=texts)["regard"]
    for text, ranked in zip(texts, regard, strict=True):
        right = sorted(alone(folder, text).items(), key=lambda pair: -pair[1])
        assert [single["label"] for single in ranked] == [name for name, _ in right]
        assert [first["score"] for first in ranked] == pytest.approx([score for _, score in right], abs=1e-5)


def test_regard_draws_both_groups_again_for_its_interval():
    rng = np.random.default_rng(4)
    table = {f"text {row}": {"positive": share, "negative": 1 - share} for row, share in enumerate(rng.random(90))}
    values = list(table)
    result = load("regard", "compare", model=table).compute(
        data=values[:30], references=values[30:], interval=0.95, resamples=2000
    )
    span = result["interval"]["regard_difference/positive"]
    mine, other = (np.array([table[text]["positive"] for text in part]) for part in (values[:30], values[30:]))
    assert span["standard_error"] == pytest.approx(np.sqrt(mine.var() / 30 + other.var() / 60), rel=0.1)
    assert span["low"] < result["regard_difference"]["positive"] < span["high"]


def test_batches_whose_functions_name_other_labels_merge():
    table = {"a": {"positive": 1.0}, "b": {"negative": 1.0}}
    module = load("regard", model=table)
    merged = module.merge(module.state({"data": ["a"]}), module.state({"data": ["b"]}))
    assert module.result(merged, aggregation="average") == {"average_regard": {"negative": 0.5, "positive": 0.5}}


def test_references_belong_to_compare():
    with pytest.raises(ValueError, match=r"references are for load\('regard', 'compare'\)"):
        load("regard", model={}).compute(data=["a"], references=["b"])
