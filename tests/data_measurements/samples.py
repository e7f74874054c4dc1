"""Rounds of inference made up at random, with and without words that give the label away."""

import numpy as np

from dynabench.insight.data_measurements.sample import RoundSample, SampledExample

LABELS = ("entailment", "neutral", "contradiction")
WORDS = [f"{first}{last}" for first in "bdfgklmnprst" for last in ("ato", "ine", "oru", "esk", "ual", "ims")]
SHARES = 1 / np.arange(1, len(WORDS) + 1)


def sentence(rng, least=5, most=12):
    return [str(word) for word in rng.choice(WORDS, size=rng.integers(least, most), p=SHARES / SHARES.sum())]


def inference(n=200, writers=15, planted=0.0, seed=0, habits=False):
    """A sample of `n` examples; a contradiction holds "nobody" with the probability `planted`.

    With `habits`, each writer has a word and an answer of their own, so that words and answers go together by writer.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        writer = int(rng.integers(writers))
        label = LABELS[writer % 3] if habits and rng.random() < 0.6 else LABELS[rng.integers(3)]
        words = sentence(rng) + ([f"habit{writer}"] if habits else [])
        if label == "contradiction" and rng.random() < planted:
            words.insert(0, "nobody")
        rows.append(SampledExample(writer, {"hypothesis": " ".join(words)}, " ".join(sentence(rng)), label))
    return RoundSample(tuple(rows), n, {"hypothesis": "Hypothesis"}, LABELS, "Premise", seed=seed)
