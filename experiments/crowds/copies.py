"""Error rates of the near-duplicate signal: known copies among texts of other people.

Copies are made of hypotheses of SNLI in ways that people use; pairs of different people's hypotheses about different
premises are the innocent ones.
"""

import gzip
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dynabench.stats.minhash import near_pairs
from dynabench.stats.rates import Rate, wilson

TEXTS = 1_000
THRESHOLDS = (0.7, 0.8, 0.9)
Change = Callable[[random.Random, str], str]


def _change_case(_rng: random.Random, text: str) -> str:
    return text.upper().rstrip(".") + " !"


def _add_word(rng: random.Random, text: str) -> str:
    return f"{text} {rng.choice(('today', 'indeed', 'here', 'again'))}"


def _drop_word(rng: random.Random, text: str) -> str:
    words = text.split()
    del words[rng.randrange(len(words))]
    return " ".join(words)


def _replace_word(rng: random.Random, text: str) -> str:
    words = text.split()
    words[rng.randrange(len(words))] = rng.choice(("person", "quickly", "green", "house"))
    return " ".join(words)


CHANGES: dict[str, Change] = {
    "word for word": lambda _rng, text: text,
    "other case and punctuation": _change_case,
    "a word added": _add_word,
    "a word left out": _drop_word,
    "a word replaced": _replace_word,
}


@dataclass(frozen=True)
class CopyRates:
    """Copies found by the signal, for each way to change them, and texts of other people that it marks wrongly."""

    threshold: float
    rates: dict[str, Rate]
    false_alarms: Rate


def measure_copies(folder: Path, seed: int = 20) -> Iterator[CopyRates]:
    """Yield the rates at each of `THRESHOLDS`."""
    with gzip.open(folder / "snli_dev_test" / "dev.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = list(map(json.loads, file))
    rng = random.Random(seed)
    by_premise = {row["premise"]: row["hypothesis"] for row in rows if len(row["hypothesis"].split()) > 3}
    texts = rng.sample(sorted(set(by_premise.values())), TEXTS)
    for threshold in THRESHOLDS:
        rates = {}
        for name, change in CHANGES.items():
            copies = [change(rng, text) for text in texts]
            pairs = set(near_pairs([*texts, *copies], threshold))
            originals = {place - TEXTS for _first, place in pairs if place >= TEXTS}
            rates[name] = wilson(len(originals), TEXTS)
        alarms = {place for _first, place in near_pairs(texts, threshold)}
        yield CopyRates(threshold, rates, wilson(len(alarms), TEXTS))
