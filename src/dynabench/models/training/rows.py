"""Rows of training data: labelled inputs, and questions about passages; read from files, cleaned, without overlap."""

import hashlib
import html
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from dynabench.intake.reader import read_objects
from dynabench.kit.errors import Invalid, NotFound
from dynabench.models.training.recipes import Recipe, RecipeSource
from dynabench.models.words import spoken, words

AUXILIARIES = frozenset({"is", "are", "was", "were", "am", "can", "could", "will", "would", "should", "must", "might"})
"""Not *has* or *does*: nothing here tells “has gone” from “has a hat”."""
NEGATED = re.compile(r"\b(?:not|never)\b|n[’']t\b", re.I)
RELATIVE = frozenset({"who", "that", "which", "whose", "where", "when", "while", "as", "because", "if"})
"""After these an auxiliary may belong to another clause."""


def polar_question(statement: str) -> str:
    """The question that a plain statement answers with yes, such as “Is the dog wet?”; empty where this cannot tell.

    Statements without an auxiliary, with a negation, or with an inner clause before the auxiliary are left alone.
    """
    words = statement.strip().rstrip(".!").split()
    places = [place for place, word in enumerate(words) if word.lower() in AUXILIARIES]
    if not places or not 0 < places[0] < len(words) - 1 or NEGATED.search(statement):
        return ""
    verb = places[0]
    before = [words[0] if words[0] == "I" else words[0][0].lower() + words[0][1:], *words[1:verb]]
    if any(word.lower().strip(",") in RELATIVE for word in before):
        return ""
    return " ".join([words[verb].capitalize(), *before, *words[verb + 1 :]]) + "?"


MENTION = "@user"
_RETWEET = re.compile(r"\bRT\b:?\s*")
_ADDRESS = re.compile(r"https?://\S+|\bhttp\S*$")
_NAME = re.compile(r"@\w+:?")


def plain_tweet(text: str) -> str:
    """`text` with entities as characters, mentions as `@user`, and no addresses or retweet marks.

    Entities are undone twice: files hold tweets that were escaped by the platform and again by the program that saved
    them.
    """
    text = html.unescape(html.unescape(text))
    text = _NAME.sub(MENTION, _ADDRESS.sub("", _RETWEET.sub("", text)))
    return " ".join(text.split())


OVERLAP_WORDS = 3
"""A one-field row of at least so many words counts as seen where it occurs inside a test row's text."""


@dataclass(frozen=True)
class TrainingRow:
    """One labelled input; `among` are the labels its annotators chose from, empty for all; `times` for training.

    `twin` are the inputs of the row that this one was edited from or into, empty where none is known.
    """

    inputs: Mapping[str, str]
    label: str
    among: tuple[str, ...] = ()
    times: int = 1
    twin: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TrainingQuestion:
    """One question: the model's `inputs`, all right `answers`, and where the first of them begins in the passage."""

    inputs: Mapping[str, str]
    answers: tuple[str, ...]
    start: int
    among: ClassVar[tuple[str, ...]] = ()
    times: ClassVar[int] = 1

    @property
    def passage(self) -> str:
        """The second input."""
        return list(self.inputs.values())[1]


R = TypeVar("R")


@dataclass(frozen=True)
class PreparedRows(Generic[R]):
    """The rows that a recipe trains and tests on.

    `overlap` is the number of rows that were dropped because they occur in a test set.
    """

    train: list[R]
    development: dict[str, list[R]]
    tests: dict[str, list[R]]
    overlap: int
    counts: dict[str, int]

    @property
    def dev(self) -> list[R]:
        """The rows of all development sets."""
        return [row for rows in self.development.values() for row in rows]


def read_source(source: RecipeSource, folder: Path, recipe: Recipe) -> list[Any]:
    """Return the rows of a source in file order: questions for an extractor, labelled rows for any other kind.

    Raises `NotFound` when its files are absent.
    """
    paths = [path for pattern in source.files for path in sorted(folder.glob(pattern))]
    if not paths:
        raise NotFound(f"{source.name}: no file in {folder} matches {', '.join(source.files)}.")
    parse = _questions if recipe.kind == "extractor" else _labelled_rows
    rows = [row for path in paths for _number, raw in read_objects(path) for row in parse(raw, source, recipe)]
    if source.limit is not None and len(rows) > source.limit:
        rows = random.Random(recipe.seed).sample(rows, source.limit)
    return rows


def _labelled_rows(raw: Mapping[str, Any], source: RecipeSource, recipe: Recipe) -> Iterator[TrainingRow]:
    label = source.labels.get(str(raw[source.label]), str(raw[source.label]))
    if label not in recipe.labels:
        return
    inputs = _inputs(raw, source.columns, source, recipe)
    twin = _inputs(raw, source.twin, source, recipe) if source.twin else {}
    row = TrainingRow(inputs, label, tuple(source.only_among), source.repeat, twin)
    if source.asked and not inputs[source.asked]:
        return
    if source.part is None or source.part[0] <= split_place(row, recipe.split_seed) < source.part[1]:
        yield row


def _questions(article: Mapping[str, Any], source: RecipeSource, recipe: Recipe) -> Iterator[TrainingQuestion]:
    """Yield the questions that have an answer, of an article in SQuAD's format."""
    question_field, passage_field = recipe.inputs
    for paragraph in article["paragraphs"]:
        for qa in paragraph["qas"]:
            if answers := qa["answers"]:
                inputs = {question_field: qa["question"], passage_field: paragraph["context"]}
                yield TrainingQuestion(
                    inputs, tuple(answer["text"] for answer in answers), int(answers[0]["answer_start"])
                )


def _inputs(
    raw: Mapping[str, object], columns: Mapping[str, str], source: RecipeSource, recipe: Recipe
) -> dict[str, str]:
    texts = {name: _plain(str(raw[columns.get(name, name)])) for name in recipe.inputs}
    if source.asked:
        texts[source.asked] = polar_question(texts[source.asked])
    return {name: plain_tweet(text) for name, text in texts.items()} if source.tweets else texts


def split_place(row: TrainingRow, seed: int) -> float:
    """Return the place of a row's text between 0 and 1, whatever its case, spacing and punctuation."""
    digest = hashlib.sha256(f"{seed}:{' | '.join(key(row.inputs))}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def prepare(recipe: Recipe, folder: Path) -> PreparedRows[Any]:
    """Return everything that a recipe needs, without the training rows that occur in a test or development set.

    A labelled row occurs there if its text or its twin's does, a question if its passage does.
    """
    tests = {source.name: read_source(source, folder, recipe) for source in recipe.test}
    development = {source.name: read_source(source, folder, recipe) for source in recipe.dev}
    is_held_out = _held_out_test(
        recipe, [row for part in (development, tests) for rows in part.values() for row in rows]
    )
    train, counts, overlap = list[Any](), {}, 0
    for source in recipe.train:
        rows = [row for row in read_source(source, folder, recipe) if _is_learnable(row, recipe)]
        fresh = [row for row in rows if not is_held_out(row)]
        overlap += len(rows) - len(fresh)
        counts[source.name] = len(fresh)
        train += fresh
    if not train:
        raise Invalid({"train": f"No {'questions' if recipe.kind == 'extractor' else 'rows'} are left."})
    if not recipe.dev:
        train, development["dev"] = _split(train, recipe)
    train = [row for row in train for _ in range(row.times)]
    return PreparedRows(train, development, tests, overlap, counts)


def _held_out_test(recipe: Recipe, rows: Sequence[Any]) -> Callable[[Any], bool]:
    if recipe.kind != "extractor":
        return TestTextIndex(rows).__contains__
    passages = {question.passage for question in rows}
    return lambda question: question.passage in passages


def _is_learnable(row: Any, recipe: Recipe) -> bool:
    if recipe.kind != "extractor":
        return True
    passage, answer = row.passage, row.answers[0]
    if recipe.extractor.once and passage.count(answer) != 1:
        return False
    return len(passage) < recipe.extractor.longest and bool(passage.startswith(answer, row.start))


def _split(rows: Sequence[Any], recipe: Recipe) -> tuple[list[Any], list[Any]]:
    """Training and development rows; rows of one group stay on one side, two-way rows are for training only.

    A group shares an input: of questions the passage, of labelled rows the recipe's `group`, else the first input.
    """
    by = recipe.inputs[1] if recipe.kind == "extractor" else recipe.group or recipe.inputs[0]
    groups = sorted({row.inputs[by] for row in rows if not row.among})
    held_out = set(random.Random(recipe.seed).sample(groups, round(len(groups) * recipe.held_out)))
    dev = [row for row in rows if not row.among and row.inputs[by] in held_out]
    return [row for row in rows if row.inputs[by] not in held_out], dev


class TestTextIndex:
    """The test whether a row's text, or its twin's, occurs in the test sets.

    It occurs as the same fields together, or as one field's text inside another.
    """

    def __init__(self, rows: Sequence[TrainingRow]) -> None:
        self._whole = {key(row.inputs) for row in rows}
        self._text = "\n".join(f" {' '.join(key(row.inputs))} " for row in rows if len(row.inputs) == 1)

    def __contains__(self, row: TrainingRow) -> bool:
        return self._has(row.inputs) or (bool(row.twin) and self._has(row.twin))

    def _has(self, inputs: Mapping[str, str]) -> bool:
        texts = key(inputs)
        if texts in self._whole:
            return True
        return len(texts) == 1 and len(texts[0].split()) >= OVERLAP_WORDS and f" {texts[0]} " in self._text


def key(inputs: Mapping[str, str]) -> tuple[str, ...]:
    """The words of each text, whatever their case, spacing and punctuation."""
    return tuple(" ".join(re.findall(r"\w+", _readable(text).lower())) for text in inputs.values())


def _readable(text: str) -> str:
    """With emoji in words: texts that differ in nothing but an emoji are two texts."""
    return text if text.isascii() else " ".join(spoken(word.text) for word in words(text))


def _plain(text: str) -> str:
    """Without the escapes of tree banks."""
    return text.replace("\\/", "/").replace("-LRB-", "(").replace("-RRB-", ")").strip()
