"""Perturbed copies of pairs: a shipped model's answers mostly stay, since the meaning does."""

import pytest

from dynabench.adversaries.perturbations import find, generator
from dynabench.models.catalog import BUILTIN, open_model
from tests.evaluate import real

LEAST = {"upper_case": 0.99, "whitespace_added": 0.99, "punctuation_added": 0.9, "misspellings": 0.75,
         "gender_swapped": 0.85}  # fmt: skip


@pytest.mark.parametrize("name", LEAST)
def test_answers_mostly_stay(name):
    rows = real.rows("snli_dev_test/test.jsonl.gz", 200)
    [one] = find([name])
    pairs = []
    for row in rows:
        texts = {field: row[field] for field in ("premise", "hypothesis")}
        if made := one.apply(texts, generator(0, row["id"], name)):
            pairs.append((texts, texts | {field: each.text for field, each in made.items()}))
    assert len(pairs) > 50
    model = open_model(BUILTIN / "nli-ngram" if name == "whitespace_added" else BUILTIN / "nli-minilm", True)
    before, after = (model.predict([pair[side] for pair in pairs]) for side in (0, 1))
    same = sum(a.answer == b.answer for a, b in zip(before, after, strict=True))
    assert same / len(pairs) >= LEAST[name]
