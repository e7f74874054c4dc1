"""Perturbed copies of pairs: a shipped model's answers mostly stay, since the meaning does."""

from functools import cache

import pytest

from dynabench.adversaries.perturbations import find_transformations, generator
from dynabench.models.catalog import BUILTIN, open_model
from tests.evaluate import real

pytestmark = pytest.mark.release

LEAST = {"upper_case": 0.99, "whitespace_added": 0.99, "punctuation_added": 0.9, "misspellings": 0.75,
         "gender_swapped": 0.85}  # fmt: skip
PAIRS = 60


@cache
def model_and_answers(name):
    """A shipped model and its answers to the original rows, by uid."""
    model = open_model(BUILTIN / name, True)
    return model, {}


@pytest.mark.parametrize("name", LEAST)
def test_answers_mostly_stay(name):
    model, answers = model_and_answers("nli-ngram" if name == "whitespace_added" else "nli-minilm")
    [transformation] = find_transformations([name])
    originals, copies = {}, {}
    for row in real.rows("snli_dev_test/test.jsonl.gz", 200):
        texts = {field: row[field] for field in ("premise", "hypothesis")}
        if len(copies) < PAIRS and (edited := transformation.apply(texts, generator(0, row["id"], name))):
            originals[row["id"]] = texts
            copies[row["id"]] = texts | {field: text.text for field, text in edited.items()}
    assert len(copies) > 50
    unknown = [uid for uid in originals if uid not in answers]
    answers.update(zip(unknown, model.predict([originals[uid] for uid in unknown]), strict=True))
    outputs = zip(copies, model.predict(list(copies.values())), strict=True)
    same = sum(output.answer == answers[uid].answer for uid, output in outputs)
    assert same / len(copies) >= LEAST[name]
