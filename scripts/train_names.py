"""Trains the shipped tagger of names: `python scripts/train_names.py DATA_FOLDER`.

No open set of texts with marked names was at hand, so names are learnt at a distance (Mintz et al., ACL 2009):
questions of SQuAD 1.1 tell what their answers are ("Who ..." a person, "In what city ..." a place). What is so known is
found again in all passages; capitalised words of which nothing is known are left out, not taken for no names.
"""

import argparse
import gzip
import json
import random
import re
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from dynabench.evaluate import load
from dynabench.models import catalog, spec
from dynabench.models.backends import tagger
from dynabench.models.catalog import BUILTIN
from dynabench.models.training import linear
from dynabench.models.words import Word, words
from dynabench.stats.rates import wilson
from dynabench.tasks.shipped import shipped_tasks

SEED, BITS, STRENGTH, KEEP = 7, 15, 0.3, 30_000
PASSAGES = 8_000
QUIET = 0.2  # of the words that are no names are learnt from
NAME, LABELS = "ner-tagger", ("person", "place", "organisation", "date")
PLACES = "city|town|village|country|nation|state|county|province|region|continent|island|river|mountain|district"
BODIES = (
    "company|organi[sz]ation|university|college|school|team|agency|network|label|band|party|club|newspaper|magazine"
    "|institution|corporation|studio|airline|bank|publisher|museum|firm|brand|manufacturer|station|commission"
)
BODY = re.compile(rf"\b(?:{BODIES}|department|office|council|committee|ministry|institute)s?\b", re.IGNORECASE)
ASKS = (
    ("person", re.compile(r"^(?:by |to |with |from |for )?(who|whom|whose)\b", re.IGNORECASE)),
    ("place", re.compile(rf"\b(?:what|which)\b(?: \w+)? (?:{PLACES})\b|^where\b", re.IGNORECASE)),
    ("organisation", re.compile(rf"\b(?:what|which)\b(?: \w+)? (?:{BODIES})\b", re.IGNORECASE)),
)
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
DATE = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)? (?:{MONTHS})(?: \d{{4}})?|(?:{MONTHS})(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?"
    rf"(?:,? \d{{4}})?|(?:{DAYS})|(?:1[0-9]|20)\d\d(?:s\b)?)\b"
)
PEOPLES = frozenset(
    "American British English French German Italian Spanish Portuguese Dutch Russian Soviet Chinese Japanese Korean "
    "Indian Roman Greek Latin Arab Arabic Jewish Christian Christians Catholic Catholics Protestant Muslim Muslims "
    "Islamic Buddhist European Europeans African Africans Asian Western Eastern Northern Southern Swiss Swedish "
    "Polish Turkish Irish Scottish Welsh Americans Germans Romans Greeks Jews Canadian Australian Mexican Hindu "
    "Persian Ottoman Egyptian Hungarian Austrian Czech Danish Norwegian Israeli Iranian Cuban Nigerian Bible God "
    "Internet President King Queen Pope Prime Minister Mr Mrs Ms Dr Sir The A An In On At It He She They This "
    "That I".split()
)


def read(path: Path) -> list[dict[str, Any]]:
    """The articles."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def count_names(articles: Sequence[dict[str, Any]]) -> dict[tuple[str, ...], str]:
    """Return the labels of capitalised phrases on which most questions agree."""
    votes: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for article in articles:
        for paragraph in article["paragraphs"]:
            for request in paragraph["qas"]:
                label = next((label for label, form in ASKS if form.search(request["question"])), None)
                if label and (phrase := _phrase(request["answers"][0]["text"])):
                    votes[phrase]["organisation" if BODY.search(" ".join(phrase)) else label] += 1
    return {phrase: best for phrase, answer in votes.items() if (best := _agreed(answer))}


def _phrase(answer: str) -> tuple[str, ...]:
    """The words of an answer that is a name by its looks; none of another."""
    text = [word.text for word in words(answer)]
    while text and text[0].lower() in ("the", "a", "an", "in", "at", "by"):
        text = text[1:]
    small = {"of", "de", "la", "van", "von", "del", "the", "and", "for"}
    fits = 0 < len(text) < 6 and all(word[:1].isupper() or word in small or word == "." for word in text)
    return tuple(text) if fits and text[0][:1].isupper() and text[0] not in PEOPLES and len(text[-1]) > 1 else ()


def _agreed(answer: Counter[str]) -> str | None:
    [(label, most)] = answer.most_common(1)
    return label if most / answer.total() > 0.7 else None


def marked(
    articles: Sequence[dict[str, Any]], names: dict[tuple[str, ...], str]
) -> Iterator[tuple[list[Word], list[int]]]:
    """Words of each passage with their tags, -1 where nothing is known of a word in capitals."""
    small = Counter(
        word.text for a in articles for p in a["paragraphs"] for word in words(p["context"]) if word.text.islower()
    )
    longest = max(map(len, names))
    for article in articles:
        own = dict(names)
        text = " ".join(paragraph["context"] for paragraph in article["paragraphs"])
        for phrase, label in names.items():
            if label == "person" and len(phrase) > 1 and " ".join(phrase) in text:
                own.setdefault(phrase[-1:], label)  # who was named once in full goes by the last name
        for paragraph in article["paragraphs"]:
            message = list(words(paragraph["context"]))
            yield message, _tags(paragraph["context"], message, own, longest, small)


def _tags(
    text: str, message: list[Word], names: dict[tuple[str, ...], str], longest: int, small: Counter[str]
) -> list[int]:
    tags = [0 if not word.text[:1].isupper() or word.text in PEOPLES else -1 for word in message]
    for at, word in enumerate(message):
        first = at == 0 or bool(tagger.ENDS.search(message[at - 1].text))
        if first and tags[at] < 0 and small[word.text.lower()] > 20:
            tags[at] = 0
    for result in DATE.finditer(text):
        inside = [at for at, word in enumerate(message) if result.start() <= word.start and word.end <= result.end()]
        _put(tags, inside, "date")
    at = 0
    while at < len(message):
        size = next(
            (
                n
                for n in range(min(longest, len(message) - at), 0, -1)
                if tuple(w.text for w in message[at : at + n]) in names
            ),
            0,
        )
        whole = (
            size
            and not (message[at + size : at + size + 1] and message[at + size].text[:1].isupper())
            and not (at and message[at - 1].text[:1].isupper() and tags[at - 1] < 0)
        )
        if size and whole:
            _put(tags, range(at, at + size), names[tuple(w.text for w in message[at : at + size])])
        at += size or 1
    return tags


def _put(tags: list[int], places: Sequence[int], label: str) -> None:
    for order, at in enumerate(places):
        tags[at] = 2 * LABELS.index(label) + (2 if order else 1)


def train(passages: Sequence[tuple[list[Word], list[int]]]) -> tuple[Any, Any]:
    """Weights and bias of a softmax over the words whose tags are known; `QUIET` of the words that are no names."""
    rng, mask = random.Random(SEED), (1 << BITS) - 1
    columns, tags = [], []
    for text, answer in passages:
        for row, tag in zip(tagger.rows(text, mask), answer, strict=True):
            if tag > 0 or (tag == 0 and rng.random() < QUIET):
                columns.append(row)
                tags.append(tag)
    starts = np.cumsum([0, *map(len, columns)])
    table = csr_matrix((np.ones(starts[-1]), np.concatenate(columns), starts), shape=(len(tags), 1 << BITS))
    table.sum_duplicates()
    print(f"{len(tags)} words, by tag {np.bincount(tags).tolist()}", flush=True)
    labels = np.array(tags)
    barred = np.zeros((len(tags), 1 + 2 * len(LABELS)), bool)
    weights, bias = linear.fit_sparse(
        table, labels, barred, STRENGTH, lambda share, loss: print(f"{share:.2f} {loss:.4f}", end="\r")
    )
    bias[0] += np.log(1 / QUIET)
    return linear.prune(weights, KEEP), bias


def score(folder: Path, rows: Sequence[tuple[str, list[dict[str, Any]]]], field: str) -> dict[str, Any]:
    """F1 of names, and the share of texts whose names are all right, by the code that serves the weights."""
    model = catalog.open_model(folder)
    message = [output.answer["names"] for output in model.predict([{field: text} for text, _ in rows])]
    right = [spans for _, spans in rows]
    result = load("labelled_spans_f1").compute(predictions=message, references=right)
    whole = [{(s["start"], s["end"], s["label"]) for s in item} == {(s["start"], s["end"], s["label"]) for s in two}
             for item, two in zip(message, right, strict=True)]  # fmt: skip
    rate = wilson(sum(whole), len(whole))
    print({key: round(value, 4) for key, value in result.items()}, flush=True)
    numbers = {"exact_match": sum(whole) / len(whole), "f1": result["f1"], "low": rate.low, "high": rate.high}
    return {**{key: round(value, 4) for key, value in numbers.items()}, "n": len(rows)}


def distant(passages: Sequence[tuple[list[Word], list[int]]], articles: Sequence[dict[str, Any]]) -> list[Any]:
    """Passages of which nothing is left open, with the spans that the questions tell."""
    texts = (paragraph["context"] for article in articles for paragraph in article["paragraphs"])
    result = []
    for text, (message, tags) in zip(texts, passages, strict=True):
        if min(tags) >= 0 and any(tags):
            spans = [
                {"start": message[a].start, "end": message[b].end, "label": LABELS[label]}
                for a, b, label in tagger.stretches(tags)
            ]
            result.append((text, spans))
    return result


def main() -> None:
    """Train on nine tenths of the articles, score on the rest and on the task's own sentences, write the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=BUILTIN / NAME)
    values = parser.parse_args()
    articles = read(values.data / "squad" / "squad11_train.jsonl.gz")
    random.Random(SEED).shuffle(articles)
    cut = len(articles) // 10
    held, rest = articles[:cut], articles[cut:]
    began = time.monotonic()
    names = count_names(rest)
    print(f"{len(names)} names: {Counter(names.values())}", flush=True)
    passages = list(marked(rest, names))
    weights, bias = train(random.Random(SEED).sample(passages, PASSAGES))
    minutes = (time.monotonic() - began) / 60
    if values.out.exists():
        shutil.rmtree(values.out)
    values.out.mkdir(parents=True)
    tagger.save(values.out, weights, bias)
    write(values.out, {})
    own = [(seed["input"]["sentence"], seed["answer"]["names"]) for seed in shipped_seeds()]
    answer = count_names(held) | names
    scores = {
        "the task's own sentences": score(values.out, own, "sentence"),
        "held-out passages, labelled at a distance": score(
            values.out, distant(list(marked(held, answer)), held), "sentence"
        ),
    }
    write(values.out, scores)
    print(f"{minutes:.1f} minutes", json.dumps(scores))


def shipped_seeds() -> list[dict[str, Any]]:
    """The sentences with marked names that come with the task."""
    return list(next(task for task in shipped_tasks() if task.config.id == "ner").seeds())


def write(folder: Path, scores: dict[str, Any]) -> None:
    """`model.yaml`."""
    details = {
        "name": NAME,
        "task": "ner",
        "kind": "tagger",
        "inputs": ["sentence"],
        "answer": "names",
        "labels": list(LABELS),
        "returns": "tags",
        "options": {"bits": BITS},
        "languages": ["en"],
        "licence": "CC-BY-SA-4.0",
        "summary": "A linear model that marks names, learnt from the answers to questions about passages.",
        "data": ["SQuAD 1.1 train"],
        "seed": SEED,
        "scores": scores,
    }
    spec.write(folder, details)


if __name__ == "__main__":
    main()
