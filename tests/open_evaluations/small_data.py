"""Small files of every kind of problem, written for these tests."""

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from sklearn.datasets import load_digits

from dynabench.tasks.shipped import digit_image

Row = Mapping[str, Any]


def json_lines(rows: Iterable[Row]) -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def table(rows: Sequence[Row]) -> bytes:
    """CSV; lists and objects are cells of JSON."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    for row in rows:
        writer.writerow({name: value if isinstance(value, str | int | float) else json.dumps(value)
                         for name, value in row.items()})  # fmt: skip
    return out.getvalue().encode()


def zipped(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


PEOPLE = ("woman", "man", "child", "farmer", "singer")


def inferences() -> list[Row]:
    pairs = []
    for person in PEOPLE:
        premise = f"A {person} is playing a guitar on a small stage."
        pairs += [
            {"premise": premise, "hypothesis": f"A {person} plays an instrument.", "gold_label": "Entailment"},
            {"premise": premise, "hypothesis": f"A {person} is famous in the town.", "gold_label": "Neutral"},
            {"premise": premise, "hypothesis": f"The {person} is sleeping in bed.", "gold_label": "Contradiction"},
        ]
    return pairs


TOWNS = ("Arlen", "Brixa", "Corvel", "Dunmere", "Eastholm", "Farrow")


def questions() -> list[Row]:
    """In the manner of SQuAD, with several right answers."""
    rows = []
    for number, town in enumerate(TOWNS):
        year = 1800 + 7 * number
        passage = f"The bridge of {town} was opened in {year}. It is {40 + number} metres long and made of stone."
        answers = {"text": [str(year), f"in {year}"], "answer_start": [passage.index(str(year)), 0]}
        rows.append({"id": str(number), "question": f"When was the bridge of {town} opened?", "context": passage,
                     "answers": answers})  # fmt: skip
    return rows


def documents() -> list[Row]:
    return [
        {
            "article": f"The council of {town} opened a new library in the town on Monday. The library of {town} has "
            f"{n + 3} floors. Rain fell all day. Many people of {town} came to the library to borrow books.",
            "highlights": f"The council of {town} opened a new library.",
        }
        for n, town in enumerate(TOWNS)
    ]


TRANSLATIONS = (
    ("good morning", "guten Morgen"), ("thank you", "danke"), ("the cat", "die Katze"), ("the dog", "der Hund"),
    ("the house is big", "das Haus ist groß"), ("water and bread", "Wasser und Brot"),
)  # fmt: skip


def translations() -> list[Row]:
    """Two languages in one object, as many data sets of the hub have them."""
    return [{"translation": {"en": source, "de": target}} for source, target in TRANSLATIONS]


NAMES = ("O", "B-person", "I-person", "B-place", "B-date")


def tagged(numbers: bool = False) -> list[Row]:
    rows = []
    for number, town in enumerate(TOWNS):
        words = ["Maria", "Keller", "moved", "to", town, "in", str(1950 + number), "."]
        tags = ["B-person", "I-person", "O", "O", "B-place", "O", "B-date", "O"]
        rows.append({"tokens": words, "ner_tags": [NAMES.index(tag) for tag in tags] if numbers else tags})
    return rows


def conll() -> bytes:
    """Words and tags in lines, sentences divided by empty lines."""
    sentences = ["\n".join(f"{word} {tag}" for word, tag in zip(row["tokens"], row["ner_tags"], strict=True))
                 for row in tagged()]  # fmt: skip
    return ("-DOCSTART- O\n\n" + "\n\n".join(sentences) + "\n").encode()


def digit_folders(copies: int = 3) -> bytes:
    """Handwritten digits in folders that are called by them."""
    labels = load_digits().target
    files = {}
    for label in range(10):
        for copy, at in enumerate(np.flatnonzero(labels == label)[-copies:]):
            files[f"digits/{label}/{copy}.png"] = png(digit_image(int(at)))
    return zipped(files)


SHAPES = (("circle", "red"), ("rectangle", "blue"), ("triangle", "green"), ("circle", "yellow"), ("rectangle", "teal"))
COLOURS = {
    "red": (220, 0, 0),
    "blue": (0, 0, 220),
    "green": (0, 140, 0),
    "yellow": (220, 220, 0),
    "teal": (0, 128, 128),
}


def _shape(shape: str, colour: str) -> bytes:
    picture = Image.new("RGB", (64, 64), "white")
    draw, ink = ImageDraw.Draw(picture), COLOURS[colour]
    if shape == "circle":
        draw.ellipse((16, 16, 48, 48), fill=ink)
    elif shape == "rectangle":
        draw.rectangle((12, 20, 52, 44), fill=ink)
    else:
        draw.polygon([(32, 12), (12, 50), (52, 50)], fill=ink)
    return png(picture)


def shapes_zip(top: str = "shapes/") -> bytes:
    """A table of questions whose cells name pictures beside it."""
    files, rows = {}, []
    for number, (shape, colour) in enumerate(SHAPES):
        files[f"{top}pictures/{number}.png"] = _shape(shape, colour)
        for question, answer in (("What color is the shape?", colour), ("What shape is present?", shape)):
            rows.append({"file_name": f"pictures/{number}.png", "question": question, "answer": answer})
    return zipped({f"{top}questions.csv": table(rows), **files})


def prompts() -> list[Row]:
    return [{"prompt": f"Say the name of the town: {town}", "completion": town} for town in TOWNS]


QUIZ = (
    ("Which animal barks?", ("cat", "dog", "cow", "bee"), 1),
    ("Which animal gives milk?", ("cow", "bee", "dog", "cat"), 0),
    ("Which animal flies?", ("dog", "cat", "cow", "bee"), 3),
    ("Which animal purrs?", ("bee", "cow", "cat", "dog"), 2),
    ("Which animal makes honey?", ("dog", "bee", "cat", "cow"), 1),
    ("Which animal is milked?", ("bee", "dog", "cow", "cat"), 2),
)
RIGHT = {"barks": "dog", "milk": "cow", "flies": "bee", "purrs": "cat", "honey": "bee", "milked": "cow"}


def quiz(form: str) -> list[Row]:
    """Questions with four choices: `list` with the place, `letters` in four columns, `texts` with the text, `nested`
    as in ARC."""
    rows: list[Row] = []
    for question, choices, right in QUIZ:
        if form == "list":
            rows.append({"question": question, "choices": list(choices), "answer": right})
        elif form == "letters":
            rows.append({"question": question, **dict(zip("ABCD", choices, strict=True)), "answer": "ABCD"[right]})
        elif form == "texts":
            named = {f"option_{letter}": text for letter, text in zip("abcd", choices, strict=True)}
            rows.append({"question": question, **named, "correct": choices[right]})
        else:
            labels = list("1234") if right % 2 else list("ABCD")
            rows.append({"question": question, "choices": {"text": list(choices), "label": labels},
                         "answerKey": labels[right]})  # fmt: skip
    return rows


def similarities() -> list[Row]:
    rows = []
    for number, town in enumerate(TOWNS * 2):
        rows.append({"text": f"The road to {town} is {number + 1} km long.", "score": round((number + 1) * 0.4, 2)})
    return rows
