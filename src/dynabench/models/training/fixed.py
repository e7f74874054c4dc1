"""The learner of tasks in which people choose training data: of the same rows always the same model."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynabench.kit.errors import Invalid
from dynabench.models import fitted, spec
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Text
from dynabench.tasks.sections import Learner

STEPS = 1000
"""Iterations of the classifier's solver."""


@dataclass(frozen=True, order=True)
class Chosen:
    """A row of a training set: its uid, the texts that the task's models read, in their order, and its label."""

    uid: str
    texts: tuple[str, ...]
    label: str


def balance(rows: Sequence[Chosen]) -> dict[str, int]:
    """Return the number of rows with each label, by label."""
    return dict(sorted(Counter(row.label for row in rows).items()))


def learn(folder: Path, config: TaskConfig, rows: Sequence[Chosen], told: str) -> Path:
    """Train the task's learner on `rows`, in whatever order they come, and make the model's `folder`; returns it.

    `told` says in a line what was learnt from. Raises `Invalid` under `rows` for what nothing can be learnt from.
    """
    if config.training is None:
        raise ValueError("this task trains no models")
    if len(balance(rows)) < 2:
        raise Invalid({"rows": "All rows have the same label; a learner needs at least two."})
    ordered = sorted(rows)
    pipeline = _pipeline(config.training.learner)
    try:
        pipeline.fit([" ".join(row.texts) for row in ordered], [row.label for row in ordered])
    except ValueError as error:
        raise Invalid({"rows": f"Nothing can be learnt from these rows: {error}."}) from error
    inputs = list(config.model_inputs({}, {}))
    languages = sorted({each.language for each in (*config.context, *config.input) if isinstance(each, Text)} - {""})
    saved = fitted.save(
        folder, pipeline, task=config.id, inputs=inputs, answer=config.answer[0].name, licence=config.data.licence,
        summary=told, data=[config.training.pool], seed=config.training.learner.seed,
        languages=languages or ["en"],
    )  # fmt: skip
    (saved / spec.README).write_text(_card(folder.name, config, ordered, told), encoding="utf-8")
    return saved


def _pipeline(learner: Learner) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    analyzer = "word" if learner.units == "words" else "char_wb"
    terms = TfidfVectorizer(analyzer=analyzer, ngram_range=tuple(learner.ngrams), sublinear_tf=True)
    classifier = {"logistic_regression": LogisticRegression, "linear_svc": LinearSVC}[learner.name]
    weight = "balanced" if learner.balanced else None
    return make_pipeline(terms, classifier(C=learner.c, class_weight=weight, max_iter=STEPS, random_state=learner.seed))


def _card(name: str, config: TaskConfig, rows: Sequence[Chosen], told: str) -> str:
    labels = "\n".join(f"| {label} | {count} |" for label, count in balance(rows).items())
    return f"# {name}\n\n{told} The task's learner for {config.name}.\n\n| label | rows |\n| --- | ---: |\n{labels}\n"
