"""Small mixes whose labels follow from a word, and a program that trains on them."""

import random
import sys
from pathlib import Path

from dynabench.models.training.mixing import Mix, MixPart
from dynabench.models.training.rows import TrainingRow

WORDS = {"positive": ["good", "great"], "neutral": ["usual", "plain"], "negative": ["bad", "poor"]}


def rows(count, seed):
    rng = random.Random(seed)
    labels = [rng.choice(list(WORDS)) for _ in range(count)]
    return [
        TrainingRow({"statement": f"A {rng.choice(WORDS[label])} film, number {rng.random():.9f}"}, label)
        for label in labels
    ]


def mix(count=40, **changes):
    parts = [MixPart("round 1", rows(count, 1), 1.0, "CC-BY-4.0"), MixPart("round 2", rows(count, 2), 1.5, "CC-BY-4.0")]
    values = {"parts": parts, "dev": rows(24, 3), "tests": {"round 2 test": rows(16, 4)}}
    return Mix("sentiment", ("statement",), "label", tuple(WORDS), **(values | changes))


def main(folder):
    """Train one model by each method, and tell each step."""
    from dynabench.models.training.run import retrain

    for method in ("ngram", "head", "lora"):
        retrain(
            mix(20),
            folder / method,
            name=f"tiny-{method}",
            method=method,
            epochs=2,
            checkpoints=folder / f"{method}.run",
            progress=lambda stage, share, remark, method=method: print(method, stage, flush=True),
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
