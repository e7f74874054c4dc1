"""Writes the rows of the shipped task `data-selection`: `python scripts/selection_pool.py`.

Messages to a town hall, made of `selection_words.yaml`. In the pool most are about a few aspects of two topics, and
what was noted at the phone or picked in the app is often labelled wrongly, so it matters which rows one learns from.
The development and test rows have all aspects alike and right labels, in sentences that the pool has too.
"""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
INTO = HERE.parent / "src/dynabench/tasks/builtin"
SEED = 7
POOL, DEV, TEST = 640, 112, 336
WRONG = {"desk": 0.02, "phone": 0.35, "app": 0.65}
"""How often a message's topic was noted wrongly, by where it came in."""
COMING = {"desk": 4, "phone": 3, "app": 5}
SKEW = {"roads": 8, "noise": 5, "waste": 3, "water": 3}


def message(words: dict[str, Any], sentence: str, rng: random.Random) -> str:
    """A sentence with its slots filled, perhaps with something before and after it."""
    parts = [rng.choice(words["leads"]), sentence, rng.choice(words["ends"])]
    text = " ".join(part for part in parts if part)
    for slot, values in words["slots"].items():
        while f"{{{slot}}}" in text:
            text = text.replace(f"{{{slot}}}", rng.choice(values), 1)
    return re.sub(r"(^|[.?:!] )([a-z])", lambda found: found[1] + found[2].upper(), text)


def even(words: dict[str, Any], rng: random.Random) -> Iterator[tuple[str, str, str]]:
    """Message, topic and aspect, all aspects alike, for ever."""
    while True:
        for topic, aspects in words["topics"].items():
            for aspect, sentences in aspects.items():
                yield message(words, rng.choice(sentences), rng), topic, aspect


def skewed(words: dict[str, Any], rng: random.Random) -> Iterator[tuple[str, str, str]]:
    """The same, with most messages about the first aspects of the first topics."""
    while True:
        topic = rng.choices(list(SKEW), list(SKEW.values()))[0]
        aspects = list(words["topics"][topic])
        aspect = rng.choices(aspects, [1.5**-place for place in range(len(aspects))])[0]
        yield message(words, rng.choice(words["topics"][topic][aspect]), rng), topic, aspect


def part(name: str, count: int, given: Iterator[tuple[str, str, str]], seen: set[str]) -> list[dict[str, Any]]:
    """Rows whose texts are not `seen` yet."""
    rows: list[dict[str, Any]] = []
    for text, topic, aspect in given:
        if len(rows) == count:
            return rows
        if text not in seen:
            seen.add(text)
            uid = f"{name}-{len(rows) + 1:03d}"
            rows.append({"uid": uid, "inputs": {"message": text}, "answers": [{"topic": topic}], "tags": [aspect]})
    return rows


def mislabelled(rows: list[dict[str, Any]], topics: list[str], rng: random.Random) -> None:
    """Say in the tags where each message came in, and give some another topic."""
    for row in rows:
        source = rng.choices(list(COMING), list(COMING.values()))[0]
        row["tags"] = [source]
        if rng.random() < WRONG[source]:
            [answer] = row["answers"]
            answer["topic"] = rng.choice([topic for topic in topics if topic != answer["topic"]])


def main() -> None:
    """Write the three files."""
    words = yaml.safe_load((HERE / "selection_words.yaml").read_text(encoding="utf-8"))
    rng, seen = random.Random(SEED), set[str]()
    parts = {"test": part("t", TEST, even(words, rng), seen), "dev": part("d", DEV, even(words, rng), seen)}
    parts["pool"] = part("p", POOL, skewed(words, rng), seen)
    mislabelled(parts["pool"], list(words["topics"]), rng)
    for name, rows in parts.items():
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (INTO / f"data-selection.{name}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
