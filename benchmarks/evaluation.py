"""Evaluating a data set: the evaluator against a loop over a pipeline of transformers with its defaults."""

import time
import warnings
from typing import Any

from benchmarks.row import Row
from dynabench.evaluate import evaluator
from dynabench.models import encoder, runtime

SENTENCES = 200
ROUNDS = 5
WORDS = "the film was a slow but warm and honest look at two people who lose everything in one bad summer".split()
LABELS = {0: "negative", 1: "neutral", 2: "positive"}


def rows() -> list[Row]:
    """All figures of this file."""
    from transformers import pipeline

    runtime.use_threads(runtime.SMALL)
    model, tokenizer = _target()
    data = [{"text": _sentence(at), "label": LABELS[at % 3]} for at in range(SENTENCES)]
    pipe = pipeline("text-classification", model=model, tokenizer=tokenizer, device=-1)
    pipe("warm up")
    task = evaluator("sentiment-analysis")
    loops, speeds = [], []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        said = [pipe(row["text"])[0]["label"] for row in data]
        loops.append(SENTENCES / (time.perf_counter() - begun))
        found = task.compute(model, data, tokenizer=tokenizer, return_predictions=True)
        speeds.append(found["samples_per_second"])
    loop, speed = max(loops), max(speeds)
    same = sum(one == other for one, other in zip(said, found["predictions"], strict=True))
    note = f"{SENTENCES} sentences of 4 to 40 words, {same} answers the same, best of {ROUNDS} rounds"
    return [
        Row(
            "evaluation of a data set",
            speed,
            "examples/s",
            "pipeline loop",
            loop,
            "at least 3x",
            speed >= 3 * loop and same == SENTENCES,
            note,
        )
    ]


def _sentence(at: int) -> str:
    """Words in another order for each number; 4 to 40 of them."""
    return " ".join(WORDS[(at * 7 + place * (1 + at % 5)) % len(WORDS)] for place in range(4 + at * 11 % 37))


def _target() -> tuple[Any, Any]:
    """The encoder of the sentiment target with a head for three labels, and its tokenizer."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    runtime.quiet()
    torch.manual_seed(0)
    ids = {name: number for number, name in LABELS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AutoModelForSequenceClassification.from_pretrained(
            encoder.find(), id2label=LABELS, label2id=ids, dtype=torch.float32
        )
    return model.eval(), AutoTokenizer.from_pretrained(encoder.find())
