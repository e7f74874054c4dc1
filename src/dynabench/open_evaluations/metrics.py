"""The metrics that an open evaluation can compute, and the scores of one model with intervals and replicates."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynabench.benchmark.evaluations.measures import ACCURACIES, BoundMetric, Replicates, bind_metric
from dynabench.evaluate import loading
from dynabench.evaluate.chosen_metrics import ChosenMetric, parse_metric
from dynabench.evaluate.evaluator.scoring import LabelProbabilities
from dynabench.evaluate.resampling import score_replicates
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.models.protocol import ModelOutput
from dynabench.open_evaluations.kinds import OpenTask, RoleKind
from dynabench.open_evaluations.multiple_choice import ChoiceList, read_answered_choice
from dynabench.open_evaluations.rows import find_number
from dynabench.stats.rates import wilson
from dynabench.tasks.fields import Field

NAME = re.compile(r"[a-z][a-z0-9_]{1,60}")
UNSAFE = frozenset({"code_eval", "pass_at_k", "competition_math", "perplexity", "bertscore", "bleurt", "comet",
                    "frugalscore", "mauve", "bits_per_byte"})  # fmt: skip
"""Modules that run what a model wrote, or need a model of their own."""


@dataclass(frozen=True)
class ComputedScore:
    """One number of a metric; `metric` is its text with options, `better` the direction of a metric of the hub."""

    metric: str
    key: str
    value: float
    low: float | None
    high: float | None
    n: int
    replicates: Replicates | None = None
    better: str = ""


@dataclass(frozen=True)
class ScoredAnswers:
    """The answers of one model beside the right ones, row by row; `chances` are probabilities by label of the rows."""

    field: Field
    predictions: Sequence[Any]
    right: Sequence[Sequence[Any]]
    chances: Sequence[Mapping[str, float] | None] = ()


def read_metric(text: str) -> ChosenMetric:
    """Return the metric that a text such as `f1:average=macro` names; raises `Invalid` under `metrics`."""
    name = text.partition(":")[0]
    shipped = loading.shipped_modules()["metric"]
    if not NAME.fullmatch(name) or name in UNSAFE or name not in shipped:
        message = _("There is no metric %(name)s that can be computed here.", name=repr(name[:60]))
        raise errors.Invalid({"metrics": message})
    try:
        return parse_metric(text)
    except ValueError as error:
        raise errors.Invalid({"metrics": str(error)}) from None


def offered_metrics(task: OpenTask) -> list[str]:
    """Return the names of further metrics that fit the form of the task's answers."""
    usual_names = {metric.partition(":")[0] for metric in task.metrics}
    fitting_tasks = {task.name} | ({"text-classification"} if task.labelled else set())
    fitting_tasks |= {"text-regression", "tabular-regression"} if task.reference.kind is RoleKind.NUMBER else set()
    names = []
    for name in loading.shipped_modules()["metric"]:
        if name in usual_names or name in UNSAFE:
            continue
        module = loading.find_module(name)
        if fitting_tasks & set(module.card.tasks):
            names.append(name)
    return names


def compute_scores(metric: ChosenMetric, answers: ScoredAnswers, digest: str) -> Iterator[ComputedScore]:
    """Yield the numbers of a metric, each with its 95 % interval; raises ValueError where it is not defined here."""
    bound = _bind(metric, answers)
    columns: dict[str, Any] = dict(bound.columns)
    result = bound.module.compute(**columns)
    if not isinstance(result, Mapping):
        result = {bound.key: result}
    try:
        drawn = score_replicates(bound.module, bound.columns, digest)
    except ValueError:
        drawn = {}
    n = len(answers.predictions)
    for key in numbers_of([output.name for output in bound.module.card.outputs], result):
        value = float(result[key]) * bound.scale
        score = with_interval(metric.title, key, value, n, drawn[key] * bound.scale if key in drawn else None)
        yield _as_rate(score) if key in ACCURACIES else score


def numbers_of(described: Sequence[str], result: Mapping[str, Any]) -> list[str]:
    """Return the keys of the numbers of a result that its card describes, at most eight; raises ValueError for none."""
    numbers = [
        key
        for key in result
        if isinstance(result[key], int | float | np.number)
        and not isinstance(result[key], bool)
        and np.isfinite(result[key])
    ]
    chosen = [key for key in described if key in numbers] or numbers
    if not chosen:
        raise ValueError("the metric has no number as its result for these rows")
    return chosen[:8]


def _bind(metric: ChosenMetric, answers: ScoredAnswers) -> BoundMetric:
    module = metric.kind
    if not getattr(module, "takes_probabilities", False):
        return bind_metric(metric.name, answers.field, answers.predictions, answers.right, metric.options)
    chances = [row for row in answers.chances if row]
    if len(chances) != len(answers.predictions):
        raise ValueError("the metric takes probabilities, and the model gives none")
    loaded: Any = metric.module()
    labels = tuple(sorted({label for row in chances for label in row} | {right[0] for right in answers.right}))
    table = np.array([[row.get(label, 0.0) for label in labels] for row in chances])
    table_of_labels = LabelProbabilities(table, [right[0] for right in answers.right], labels)
    columns = dict(loaded.of_probabilities(table_of_labels.rows, table_of_labels.references, table_of_labels.labels))
    options = {name: columns.pop(name) for name in list(columns) if name in loaded.options_known()}
    rebuilt = metric.kind(None, **{**metric.options, **options})
    return BoundMetric(rebuilt, columns, rebuilt.card.outputs[0].name)


def with_interval(metric: str, key: str, value: float, n: int, drawn: Replicates | None) -> ComputedScore:
    """Return a score with the 95 % interval of its replicates.

    It has none without replicates, nor where they are all equal: one without width would claim that more rows change
    nothing.
    """
    if drawn is None:
        return ComputedScore(metric, key, value, None, None, n)
    filled = np.where(np.isfinite(drawn), drawn, value)
    if filled.min() == filled.max():
        return ComputedScore(metric, key, value, None, None, n, filled)
    low, high = (float(end) for end in np.quantile(filled, [0.025, 0.975]))
    return ComputedScore(metric, key, value, low, high, n, filled)


def _as_rate(score: ComputedScore) -> ComputedScore:
    """A share of the rows with Wilson's interval."""
    if score.replicates is None or not 0 <= score.value <= 1:
        return score
    rate = wilson(round(score.value * score.n), score.n)
    low, high = score.low if rate.low is None else rate.low, score.high if rate.high is None else rate.high
    return replace(score, low=low, high=high)


def answer_in_rows(
    task: OpenTask, inputs: Mapping[str, Any], output: ModelOutput, answer_field: str, meanings: Mapping[str, str]
) -> Any:
    """Return a model's answer in the labels of the rows; labels without a meaning stay as they are, and are wrong.

    Of multiple choice it is a letter, of regression a number, where the answer names one.
    """
    answer = output.answer.get(answer_field)
    if task.reference.kind is RoleKind.CHOICE:
        text = str(answer)
        return meanings.get(text) or read_answered_choice(text, ChoiceList.of_text(inputs["choices"]))
    if task.reference.kind is RoleKind.NUMBER:
        number = find_number(str(answer))
        return str(answer) if number is None else number
    if not task.labelled:
        return answer if answer is not None else ""
    if isinstance(answer, list):
        return [{**span, "label": meanings.get(span["label"], span["label"])} for span in answer]
    text = "" if answer is None else str(answer)
    return meanings.get(text, text)


def chances_in_rows(output: ModelOutput, meanings: Mapping[str, str]) -> dict[str, float] | None:
    """Return a model's probabilities by the labels of the rows; those of labels that mean the same add up."""
    if not output.probabilities:
        return None
    sums: dict[str, float] = {}
    for label, chance in output.probabilities.items():
        name = meanings.get(label, label)
        sums[name] = sums.get(name, 0.0) + chance
    return sums
