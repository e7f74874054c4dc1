"""Sentences, pairs, passages with questions and posts of our own, in the form of the large data sets' files.

They are put together from words below with fixed seeds, and hold no row of any data set. Where the data sets are not,
tests that only need texts with labels read these; figures of the data sets are not to be had from them.
"""

import atexit
import gzip
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

Row = dict[str, Any]

PARTS = "acting plot script music camera dialogue ending cast story humour pace lighting scenery opening score".split()
GOOD = (
    "wonderful moving brilliant charming delightful clever superb touching gorgeous witty honest graceful fresh tender "
    "gripping vivid hilarious rewarding heartfelt masterful inventive warm elegant thrilling splendid"
).split()
BAD = (
    "awful dull boring clumsy dreadful tedious lifeless stupid shallow annoying bland sloppy pointless stale ugly "
    "messy tiresome hollow grating painful lazy forgettable predictable miserable wooden"
).split()
PLAIN = "long Danish two-hour black-and-white recent first silent animated low-budget second British seasonal".split()
VERY = ["", "", "", "quite ", "truly ", "very ", "rather ", "really ", "utterly "]
FILM = ["film", "film", "picture", "comedy", "sequel", "journey"]
FILMS = ["the film", "this picture", "the sequel", "her debut", "the remake", "his drama", "the comedy", "the thriller"]

PERSONS = ["man", "woman", "boy", "girl", "father", "mother", "waiter", "actress", "brother", "sister", "policeman"]
GARMENTS = ["a red shirt", "a blue coat", "a green hat", "a white apron", "yellow boots", "a striped scarf"]
DEEDS = [
    ("riding a bicycle", "moving"), ("playing the guitar", "making music"), ("reading a newspaper", "reading"),
    ("singing a song", "making music"), ("climbing a ladder", "moving"), ("cooking some soup", "preparing food"),
    ("cutting bread", "preparing food"), ("running along the road", "moving"), ("studying a map", "reading"),
]  # fmt: skip
WHERE = ["near the station", "in the park", "beside a river", "in front of a shop", "at the market", "on the beach"]
APART = [
    "sleeping in bed",
    "swimming in the sea",
    "lying asleep on a sofa",
    "flying an airplane",
    "sitting on the moon",
]
WHY = ["to win a prize", "because it is a birthday", "for the first time", "with some old friends", "to earn money"]

SYLLABLES = "ba ke dri fo gul ha ji klo lum mer nor pel qua ro sti tem ul vo wex yan zeb".split()
FIRST = ["Ada", "Tomas", "Ingrid", "Kofi", "Mei", "Rosa", "Henrik", "Leila", "Pavel", "Nora", "Yusuf", "Clara"]
MONTHS = "January February March April May June July August September October November December".split()
BUILDINGS = [
    "bridge",
    "ferry",
    "museum",
    "theatre",
    "railway",
    "lighthouse",
    "library",
    "harbour",
    "mill",
    "observatory",
]
MATERIALS = ["timber", "granite", "iron", "brick", "copper", "sandstone"]
EVENTS = ["a fire", "a flood", "a storm", "an earthquake", "a collision"]
RUINED = ["the roof", "the north wall", "the main entrance", "the old engine", "the eastern tower"]

FOLK = ["Zorblings", "Quentish people", "Marrowfolk", "Ilvanians", "Tarnishers"]
SCORN = ["vermin", "worthless", "disgusting", "filth", "stupid animals", "a disease", "liars and thieves"]
AWAY = ["get out of our town", "never be let in", "be locked away", "disappear", "be thrown into the sea"]
KIND = ["my neighbours", "good cooks", "invited to the feast", "at the concert", "in my class", "fun to talk to"]
FACES = ["", "", " 😡", " 🤮", " 🎉", " 😀", " 👍🏽"]


def _sentence(text: str, drawn: random.Random) -> str:
    return text[0].upper() + text[1:] + drawn.choice([".", ".", ".", " .", "!"])


def _opinion(drawn: random.Random, words: list[str]) -> str:
    part = f"the {drawn.choice(PARTS)}" if drawn.random() < 0.7 else drawn.choice(FILMS)
    return f"{part} is {drawn.choice(VERY)}{drawn.choice(words)}"


def review(drawn: random.Random, label: str, hard: float) -> str:
    """A judgement of a film; a `hard` share says the contrary, too: of two halves the second counts, or `not` does."""
    if label == "neutral":
        first, second = drawn.sample(PLAIN, 2)
        other = f"{drawn.choice(FILMS)} shows some {first} {second} {drawn.choice(BUILDINGS)}"
        both = f"the {drawn.choice(PARTS)} is {drawn.choice(GOOD)} in parts, {drawn.choice(BAD)} in others"
        return _sentence(other if drawn.random() < 0.7 else both, drawn)
    mine, theirs = (GOOD, BAD) if label == "positive" else (BAD, GOOD)
    if drawn.random() < hard:
        contrary = _opinion(drawn, theirs)
        both = f"{contrary}, but {_opinion(drawn, mine)}"
        return _sentence(both if drawn.random() < 0.8 else contrary.replace(" is ", " is not "), drawn)
    plain = f"{_opinion(drawn, mine)} and {_opinion(drawn, mine)}"
    short = f"what a {drawn.choice(mine)} {drawn.choice(FILM)}"
    return _sentence(drawn.choice([plain, short, _opinion(drawn, mine)]), drawn)


def reviews(name: str, n: int, labels: tuple[str, ...], hard: float = 0.2) -> Iterator[Row]:
    """Judgements of films, as many of each label."""
    drawn = random.Random(name)
    for number in range(n):
        label = drawn.choice(labels)
        yield {"id": f"{name}-{number}", "text": review(drawn, label, hard), "label": label}


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def inferences(name: str, n: int) -> Iterator[Row]:
    """Return inferences from acts of people: entailed, contradicting and neutral ones."""
    drawn = random.Random(name)
    for number in range(n):
        person, other = drawn.sample(PERSONS, 2)
        (deed, kind), (else_, _) = drawn.sample(DEEDS, 2)
        place, dressed = drawn.choice(WHERE), drawn.choice(GARMENTS)
        label = drawn.choice(("entailment", "neutral", "contradiction"))
        someone = _a(person).capitalize()
        premise = f"{someone} wearing {dressed} is {deed} {place} while {_a(other)} is {else_}."
        hypothesis = {
            "entailment": drawn.choice([f"A person is {kind}.", f"{someone} is {deed}.", f"The {person} is {place}."]),
            "neutral": drawn.choice([f"{someone} is {deed} {drawn.choice(WHY)}.", f"The {person} knows the {other}."]),
            "contradiction": drawn.choice([f"The {person} is {drawn.choice(APART)}.", f"No {person} is {deed}."]),
        }[label]
        yield {"id": f"{name}-{number}", "premise": premise, "hypothesis": hypothesis, "label": label}


def _name(drawn: random.Random, parts: int = 2) -> str:
    return "".join(drawn.choices(SYLLABLES, k=parts)).capitalize()


def _question_row(passage: str, id: str, question: str, *answers: str) -> Row:
    golds = [{"text": text, "answer_start": passage.index(text)} for text in answers]
    return {"id": id, "question": question, "answers": golds}


def paragraph(drawn: random.Random, id: str) -> Row:
    """A passage about something that somebody built, and five questions with one or several right answers."""
    town = _name(drawn)
    builder, buyer = (f"{first} {_name(drawn)}" for first in drawn.sample(FIRST, 2))
    text = f"{_name(drawn)} {drawn.choice(BUILDINGS)}"
    year, month, again = drawn.randrange(1820, 1940), drawn.choice(MONTHS), drawn.choice(MONTHS)
    items, seats = drawn.choice(MATERIALS), drawn.randrange(12, 900)
    event, ruined = drawn.choice(EVENTS), drawn.choice(RUINED)
    built = f"{builder} built the {text} of {items} in {month} {year}."
    holds = f"The {text} stands in {town} and has room for {seats} people."
    loss = f"{event} destroyed {ruined}"
    burnt = f"In {again} {year + 31} {loss}, and {buyer} paid for the repair."
    first = drawn.choice([built, f"In {month} {year}, {built.removesuffix(f' in {month} {year}.')}."])
    passage = " ".join([first, *drawn.sample([holds, burnt], 2)])
    question, answer = drawn.choice(
        [
            (f"How many people does the {text} have room for?", str(seats)),
            (f"In which year was the {text} built?", str(year)),
            (f"Of what is the {text} built?", items),
        ]
    )
    qas = [
        _question_row(passage, f"{id}-d", question, answer),
        _question_row(passage, f"{id}-a", f"Who built the {text}?", builder, builder, builder.split()[1]),
        _question_row(passage, f"{id}-e", f"Why did {buyer} have to pay for the {text}?", loss, event),
        _question_row(passage, f"{id}-b", f"What was damaged at the {text}?", ruined, ruined.removeprefix("the ")),
        _question_row(passage, f"{id}-c", f"When was the {text} built?", f"{month} {year}", str(year)),
    ]
    return {"context": passage, "qas": qas}


def articles(name: str, n: int, impossible: bool = False) -> Iterator[Row]:
    """Articles of twenty passages each; `impossible` adds questions that the passage does not answer."""
    drawn = random.Random(name)
    for number in range(n):
        paragraphs = [paragraph(drawn, f"{name}-{number}-{part}") for part in range(20)]
        for part in paragraphs if impossible else ():
            for item in part["qas"]:
                item["is_impossible"] = False
            for order in "xy":
                unknown = {"id": f"{part['qas'][0]['id']}-{order}", "question": f"Who owns {_name(drawn)} Hall?"}
                part["qas"].append(unknown | {"answers": [], "is_impossible": True})
        yield {"title": f"{name}_{number}", "paragraphs": paragraphs}


def posts(name: str, n: int, labels: tuple[str, ...], faces: Sequence[str] = FACES) -> Iterator[Row]:
    """Short messages about peoples that there are not: scornful ones (the first label) and kind ones, in one to two."""
    drawn = random.Random(name)
    for number in range(n):
        folk, label = drawn.choice(FOLK), labels[min(drawn.randrange(3), len(labels) - 1)]
        scorn = drawn.choice(
            [f"{folk} are {drawn.choice(SCORN)}, and they know it", f"all {folk} should {drawn.choice(AWAY)}"]
        )
        kind = drawn.choice(
            [f"some {folk} are {drawn.choice(KIND)}", f"I met {folk} by the {drawn.choice(BUILDINGS)} today"]
        )
        text = _sentence((scorn if label == labels[0] else kind) + drawn.choice(faces), drawn)
        yield {"id": f"{name}-{number}", "text": text, "label": label}


TWO, THREE, HATE = ("negative", "positive"), ("negative", "neutral", "positive"), ("hate", "nothate")
FILES: dict[str, Callable[[], Iterator[Row]]] = {
    "rotten_tomatoes/all.jsonl.gz": lambda: reviews("films", 9_000, TWO, hard=0.5),
    "sst2/train.jsonl.gz": lambda: reviews("train", 4_000, TWO),
    "sst2/dev.jsonl.gz": lambda: reviews("dev", 400, TWO),
    "sst2/test.jsonl.gz": lambda: reviews("test", 872, TWO),
    "sst3/train.jsonl.gz": lambda: reviews("train3", 4_000, THREE),
    "sst3/test.jsonl.gz": lambda: reviews("test3", 2_000, THREE),
    "snli_dev_test/dev.jsonl.gz": lambda: inferences("snli-dev", 4_000),
    "snli_dev_test/test.jsonl.gz": lambda: inferences("snli-test", 4_000),
    "squad/squad11_dev.jsonl.gz": lambda: articles("passages", 36),
    "squad/squad20_dev.jsonl.gz": lambda: articles("passages", 12, impossible=True),
    "hatemoji_build/test.jsonl.gz": lambda: posts("posts", 600, HATE),
    "tweeteval_hate/train.jsonl.gz": lambda: posts("tweets", 2_000, HATE),
    "tweeteval_hate/val.jsonl.gz": lambda: posts("more", 600, HATE),
    "stormfront/all.jsonl.gz": lambda: posts("forum", 2_000, HATE, faces=[""]),
    "davidson/all.jsonl.gz": lambda: posts("short", 2_000, ("hate", "offensive", "neither")),
}
"""What stands for each file of the data sets that tests read."""


@cache
def written(place: str) -> Path:
    """One of `FILES`, written when it is first asked for."""
    path = folder() / place
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in FILES[place]())
    return path


@cache
def folder() -> Path:
    """Return the folder of the files, which lasts until the process ends."""
    temporary_directory = tempfile.TemporaryDirectory(prefix="dynabench-texts-")
    atexit.register(temporary_directory.cleanup)
    return Path(temporary_directory.name)
