"""Trains the shipped reader: `python scripts/train_reader.py DATA_FOLDER`.

It learns from the even articles of SQuAD 2.0's development set when the answer that `qa-minilm` finds is none, and is
scored on the odd ones. What it asks in its turn, `qa-minilm` and `boolq-ngram`, stays as it is.
"""

import argparse
import gzip
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from dynabench.evaluate import load
from dynabench.models import catalog, spec
from dynabench.models.backends import reader
from dynabench.models.backends.encoded import ExtractorModel, FoundAnswers
from dynabench.models.backends.reader import NONE, answered
from dynabench.models.catalog import BUILTIN
from dynabench.stats.rates import wilson
from dynabench.tasks.words import word_f1

NAME = "qa-extended-reader"
MEMBERS = ("qa-minilm", "boolq-ngram")
SEED, CHUNK = 7, 128


class AskedQuestion(NamedTuple):
    """A question; no answers where the passage has none."""

    question: str
    passage: str
    answers: tuple[str, ...]

    @property
    def inputs(self) -> dict[str, str]:
        """Inputs of a reader."""
        return {"question": self.question, "passage": self.passage}


def questions(articles: Sequence[dict[str, Any]], few: int) -> Iterator[AskedQuestion]:
    """Every `few`-th question of the articles."""
    every = (
        AskedQuestion(qa["question"], paragraph["context"], tuple(answer["text"] for answer in qa["answers"]))
        for article in articles
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    )
    yield from (request for place, request in enumerate(every) if place % few == 0)


def find_answers(extractor: ExtractorModel, requests: Sequence[AskedQuestion]) -> Iterator[FoundAnswers]:
    """Yield the extractor's answers, and print the time that they took."""
    began = time.monotonic()
    for start in range(0, len(requests), CHUNK):
        yield from extractor.candidates([item.inputs for item in requests[start : start + CHUNK]])
        print(f"{start}/{len(requests)} {time.monotonic() - began:.0f} s", end="\r", flush=True)


def train(requests: Sequence[AskedQuestion], extractor: ExtractorModel) -> reader.ReaderWeights:
    """A logistic regression of whether there is no answer, and the threshold that makes F1 highest."""
    text = list(find_answers(extractor, requests))
    table = np.array(
        [reader.weigh_evidence(a.question, a.passage, f.spans, f.strength) for a, f in zip(requests, text, strict=True)]
    )
    none = np.array([not item.answers for item in requests])
    mean, scale = table.mean(0), table.std(0) + 1e-6
    fitted = LogisticRegression(C=0.3, max_iter=1000).fit((table - mean) / scale, none)
    chances = fitted.predict_proba((table - mean) / scale)[:, 1]
    gains = np.array(
        [
            max((word_f1(answered(a.question, f), r) for r in a.answers), default=0)
            for a, f in zip(requests, text, strict=True)
        ]
    )
    marks = np.linspace(0.3, 0.7, 41)
    scores = [float(np.where(chances > mark, none, gains).mean()) for mark in marks]
    print(f"\nlearnt from {len(requests)} questions: F1 {max(scores):.4f} at {marks[int(np.argmax(scores))]:.2f}")
    for name, weight in zip(reader.NAMES, fitted.coef_[0], strict=True):
        print(f"  {name:18} {weight:+.3f}")
    return reader.ReaderWeights(
        mean=mean.round(6).tolist(),
        scale=scale.round(6).tolist(),
        weight=fitted.coef_[0].round(6).tolist(),
        bias=round(float(fitted.intercept_[0]), 6),
        threshold=round(float(marks[int(np.argmax(scores))]), 2),
    )


def predicted(folder: Path, requests: Sequence[AskedQuestion]) -> list[str]:
    """Return the answers of the code that serves the weights, empty for "no answer"."""
    model = catalog.open_model(folder)
    message: list[str] = []
    for start in range(0, len(requests), CHUNK):
        outputs = model.predict([item.inputs for item in requests[start : start + CHUNK]])
        message += [output.answer["answer"] for output in outputs]
        print(f"{start}/{len(requests)}", end="\r", flush=True)
    return ["" if text == NONE else text for text in message]


def score(rows: Sequence[tuple[AskedQuestion, str]]) -> dict[str, Any]:
    """SQuAD 2.0's exact match and F1."""
    created = load("squad_v2").compute(
        predictions=[text for _, text in rows], references=[list(item.answers) for item, _ in rows]
    )
    rate = wilson(round(created["exact"] * len(rows) / 100), len(rows))
    numbers = {"exact_match": created["exact"] / 100, "f1": created["f1"] / 100, "low": rate.low, "high": rate.high}
    return {**{key: round(value, 4) for key, value in numbers.items()}, "n": len(rows)}


def main() -> None:
    """Learn on one half of the articles, score on the other, write the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--few", type=int, default=1, help="take every so manieth question")
    parser.add_argument("--out", type=Path, default=BUILTIN / NAME)
    values = parser.parse_args()
    with gzip.open(values.data / "squad" / "squad20_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        articles = [json.loads(line) for line in lines]
    rest, held = (list(questions(articles[part::2], values.few)) for part in (0, 1))
    extractor = catalog.open_model(BUILTIN / MEMBERS[0])
    if not isinstance(extractor, ExtractorModel):
        raise TypeError(f"{MEMBERS[0]} is no extractor")
    weights = train(rest, extractor)
    if values.out.exists():
        shutil.rmtree(values.out)
    values.out.mkdir(parents=True)
    (values.out / reader.FILE).write_text(weights.model_dump_json(indent=1) + "\n", encoding="utf-8")
    write(values.out, {})
    rows = list(zip(held, predicted(values.out, held), strict=True))
    scores = {
        "SQuAD 2.0 dev, odd articles": score(rows),
        "of these, with an answer": score([row for row in rows if row[0].answers]),
        "of these, without one": score([row for row in rows if not row[0].answers]),
    }
    write(values.out, scores)
    print(json.dumps(scores))


def write(folder: Path, scores: dict[str, Any]) -> None:
    """`model.yaml`."""
    details = {
        "name": NAME,
        "task": "qa-extended",
        "kind": "reader",
        "inputs": ["question", "passage"],
        "answer": "answer",
        "returns": "text",
        "options": {"members": [f"{name}@{spec.version(BUILTIN / name)}" for name in MEMBERS]},
        "languages": ["en"],
        "licence": "CC-BY-SA-4.0",
        "summary": "qa-minilm and boolq-ngram, with a classifier of when the passage has no answer.",
        "data": ["SQuAD 2.0 dev, even articles"],
        "seed": SEED,
        "scores": scores,
    }
    spec.write(folder, details)


if __name__ == "__main__":
    main()
