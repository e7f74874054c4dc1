"""Texts of public data sets, read at test time (see `tests.large_data`), and others of our own where they are not."""

import gzip
import json
import random
from functools import cache
from itertools import islice
from typing import Any

from tests.large_data import data_folder, folder_with

SNLI = "snli_dev_test/dev.jsonl.gz"
PEOPLE = [
    "A man",
    "Two women",
    "The old sailor",
    "Nobody",
    "Three of the 25 children",
    "My neighbour's dog",
    "An élève",
]
DEEDS = ["is painting", "sold", "has never seen", "runs after", "was given", "isn't holding", "will mend", "drew"]
NOUNS = ["a red kite", "the well-known song", "two 3.5-inch nails", "some bread", "a $40 watch", "the blue car", "it"]
PLACES = ["by the river", "in São Paulo", "at 9 o'clock", "near the school (again)", "on a hill", "for the first time"]
SYLLABLES = "ba ce dri fo gu ha ji klo lu mna nef or pi qua ro sti tem ul vo wex yan zeb".split()
ENDS = [".", ".", "!", " .", "", "?"]
MARKS = ["very,", "and", '"quite"', "- however -", "2,000"]


@cache
def rows(place: str, most: int | None = None) -> list[dict[str, Any]]:
    """The first rows of a file of packed JSON lines: of a data set, else of our own texts in its form."""
    with gzip.open(folder_with(place) / place, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in islice(lines, most)]


def paragraphs(articles: int | None = None, name: str = "squad11_dev.jsonl.gz") -> list[dict[str, Any]]:
    """Paragraphs of the first articles of SQuAD: their `context` and their `qas`."""
    return [paragraph for article in rows(f"squad/{name}", articles) for paragraph in article["paragraphs"]]


def pairs(n: int) -> tuple[list[str], list[list[str]]]:
    """As if translated: `n` sentences with two references each; of SNLI where it is, else made up."""
    return _of_snli(n) if (data_folder() / SNLI).exists() else made_up(n)


def made_up(n: int) -> tuple[list[str], list[list[str]]]:
    """Sentences of words, numbers and marks, each with one that differs in a few words and one of another subject."""
    drawn = random.Random(n)

    def name() -> str:
        return "".join(drawn.choices(SYLLABLES, k=3)).capitalize()

    def sentence() -> list[str]:
        person, did = drawn.choice([*PEOPLE, f"{name()} from {name()}"]), drawn.choice(DEEDS)
        return f"{person} {did} {drawn.choice(NOUNS)} {drawn.choice(PLACES)}{drawn.choice(ENDS)}".split(" ")

    answer, references = [], []
    for _ in range(n):
        words = sentence()
        near = [word if drawn.random() > 0.25 else drawn.choice(sentence()) for word in words]
        if near == words or drawn.random() < 0.3:
            near.insert(drawn.randrange(len(near)), drawn.choice(MARKS))
        answer.append(" ".join(words))
        references.append([" ".join(near), " ".join(sentence())])
    return answer, references


def _of_snli(n: int) -> tuple[list[str], list[list[str]]]:
    result = rows(SNLI, n + 3)
    hypothesis = [row["hypothesis"] for row in result]
    return hypothesis[3:], [
        [row["premise"], before["premise"]] for row, before in zip(result[3:], result, strict=False)
    ]
