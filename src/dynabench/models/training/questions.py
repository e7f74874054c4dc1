"""Questions with their passages and answers: read, without overlap, split, scored."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynabench.intake.reader import read_objects
from dynabench.kit.errors import Invalid
from dynabench.models.protocol import Model
from dynabench.models.spec import SpanScore
from dynabench.models.training import rows
from dynabench.models.training.recipes import Recipe, Source
from dynabench.models.training.rows import Prepared
from dynabench.stats.rates import wilson
from dynabench.tasks.words import answer_words, word_f1

CHUNK = 128


@dataclass(frozen=True)
class Question:
    """One question: the model's `inputs`, all right `answers`, and where the first of them begins in the passage."""

    inputs: Mapping[str, str]
    answers: tuple[str, ...]
    start: int

    @property
    def passage(self) -> str:
        """The second input."""
        return list(self.inputs.values())[1]


def of_source(source: Source, folder: Path, recipe: Recipe) -> list[Question]:
    """Questions that have an answer, of files in SQuAD's format: one article a line."""
    found = []
    for path in rows.paths(source, folder):
        for _number, article in read_objects(path):
            paragraphs: Any = article["paragraphs"]
            found += [question for paragraph in paragraphs for question in _questions(paragraph, recipe)]
    if source.limit is not None and len(found) > source.limit:
        found = random.Random(recipe.seed).sample(found, source.limit)
    return found


def _questions(paragraph: Mapping[str, Any], recipe: Recipe) -> list[Question]:
    asked, given = recipe.inputs
    return [
        Question(
            {asked: qa["question"], given: paragraph["context"]},
            tuple(answer["text"] for answer in qa["answers"]),
            int(qa["answers"][0]["answer_start"]),
        )
        for qa in paragraph["qas"]
        if qa["answers"]
    ]


def prepare(recipe: Recipe, folder: Path) -> Prepared[Question]:
    """Everything a recipe needs; training questions on passages of a test set are dropped."""
    tests = {source.name: of_source(source, folder, recipe) for source in recipe.test}
    development = {source.name: of_source(source, folder, recipe) for source in recipe.dev}
    seen = {question.passage for part in (development, tests) for found in part.values() for question in found}
    train, counts, overlap = list[Question](), {}, 0
    for source in recipe.train:
        found = [question for question in of_source(source, folder, recipe) if _fit(question, recipe)]
        kept = [question for question in found if question.passage not in seen]
        overlap += len(found) - len(kept)
        counts[source.name] = len(kept)
        train += kept
    if not train:
        raise Invalid({"train": "No questions are left."})
    if not recipe.dev:
        train, development["dev"] = _split(train, recipe)
    return Prepared(train, development, tests, overlap, counts)


def _fit(question: Question, recipe: Recipe) -> bool:
    passage, answer = question.passage, question.answers[0]
    if recipe.extractor.once and passage.count(answer) != 1:
        return False
    return len(passage) < recipe.extractor.longest and passage.startswith(answer, question.start)


def _split(found: Sequence[Question], recipe: Recipe) -> tuple[list[Question], list[Question]]:
    """Training and development questions; those on one passage stay on one side."""
    passages = sorted({question.passage for question in found})
    held_out = set(random.Random(recipe.seed).sample(passages, round(len(passages) * recipe.held_out)))
    dev = [question for question in found if question.passage in held_out]
    return [question for question in found if question.passage not in held_out], dev


def score_questions(
    model: Model, questions: Sequence[Question], progress: Callable[[float], None] = lambda share: None
) -> SpanScore:
    """Exact match and word F1 of the model's answers as SQuAD scores them (Rajpurkar et al. 2016, section 6.1).

    Of a question's right answers the one nearest to the model's counts. A model that finds none answers with no words.
    """
    order = sorted(questions, key=lambda question: len(question.passage))
    exact, f1 = 0, 0.0
    for start in range(0, len(order), CHUNK):
        part = order[start : start + CHUNK]
        for question, output in zip(part, model.predict([one.inputs for one in part]), strict=True):
            said = " ".join(span["text"] for span in output.answer[model.card.answer])
            exact += any(answer_words(said) == answer_words(right) for right in question.answers)
            f1 += max(word_f1(said, right) for right in question.answers)
        progress(min(1.0, (start + CHUNK) / len(order)))
    n = len(order)
    rate = wilson(exact, n)
    return SpanScore(
        exact_match=round(rate.value or 0.0, 4),
        f1=round(f1 / max(n, 1), 4),
        n=n,
        low=round(rate.low or 0.0, 4),
        high=round(rate.high or 0.0, 4),
    )
