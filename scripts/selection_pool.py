"""Writes the rows of the shipped task `data-selection`: `python scripts/selection_pool.py`.

Messages to a town hall, made of `selection_words.yaml`. In the pool most are about a few aspects of two topics, and
what was noted at the phone or picked in the app is often labelled wrongly, so it matters which rows one learns from.
The development and test rows have all aspects alike and right labels; no sentence stands in two of the three.
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


Message = tuple[str, str, str, str]
"""A sentence, the message around it, its topic and aspect."""


def filled(text: str, words: dict[str, Any], rng: random.Random) -> str:
    """A text with its slots filled, each sentence with a capital letter."""
    for slot, values in words["slots"].items():
        while f"{{{slot}}}" in text:
            text = text.replace(f"{{{slot}}}", rng.choice(values), 1)
    return re.sub(r"(^|[.?:!] )([a-z])", lambda found: found[1] + found[2].upper(), text)


def write_message(words: dict[str, Any], topic: str, aspect: str, rng: random.Random) -> Message:
    """A sentence about an aspect, perhaps with something before and after it."""
    sentence = filled(rng.choice(words["topics"][topic][aspect]), words, rng)
    parts = [rng.choice(words["leads"]), sentence, rng.choice(words["ends"])]
    return sentence, filled(" ".join(part for part in parts if part), words, rng), topic, aspect


def even(words: dict[str, Any], rng: random.Random) -> Iterator[Message]:
    """Messages of which all aspects have as many, for ever."""
    while True:
        for topic, aspects in words["topics"].items():
            yield from (write_message(words, topic, aspect, rng) for aspect in aspects)


def skewed(words: dict[str, Any], rng: random.Random) -> Iterator[Message]:
    """Messages most of which are about the first aspects of the first topics, for ever."""
    while True:
        topic = rng.choices(list(SKEW), list(SKEW.values()))[0]
        aspects = list(words["topics"][topic])
        aspect = rng.choices(aspects, [1.5**-place for place in range(len(aspects))])[0]
        yield write_message(words, topic, aspect, rng)


def part(name: str, count: int, messages: Iterator[Message], seen: set[str]) -> list[dict[str, Any]]:
    """Rows with sentences that were not `seen` yet."""
    rows: list[dict[str, Any]] = []
    for sentence, text, topic, aspect in messages:
        if len(rows) == count:
            return rows
        if sentence not in seen:
            seen.add(sentence)
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
