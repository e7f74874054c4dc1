"""The measures of a model on a dataset (names, units, directions), and the columns that metrics compute them from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dynabench import evaluate
from dynabench.evaluate.module import Module
from dynabench.kit.language import _
from dynabench.tasks.fields import Choice, Field, LabelledSpans, Number, Spans, Text, YesNo
from dynabench.tasks.words import answer_words

Replicates = NDArray[np.float64]
"""(B,) values of one score over samples of the dataset's rows."""
REPLICATES = 1000


@dataclass(frozen=True)
class Measure:
    """The display and weight of a number. `scale` is the factor for display, such as 100 for percent.

    `limits` are the worst and the best value, as people read them, between which a board gives 0 to 100 points;
    None where no such values can be named.
    """

    name: str
    title: str
    better: Literal["higher", "lower"] = "higher"
    unit: str = "%"
    scale: float = 100.0
    cost: bool = False
    limits: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The worst and the best value: those declared, or for percent 0 and 100."""
        if self.limits is not None or self.unit != "%":
            return self.limits
        return (0.0, 100.0) if self.better == "higher" else (100.0, 0.0)

    @property
    def direction(self) -> int:
        """1 where more is better, else -1."""
        return 1 if self.better == "higher" else -1


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("accuracy", _("Accuracy")),
        Measure("f1", "F1"),
        Measure("exact_match", _("Exact match")),
        Measure("fairness", _("Fairness")),
        Measure("robustness", _("Robustness")),
        Measure("fairness_score", _("Score on fairness twins")),
        Measure("robustness_score", _("Score on robustness twins")),
        Measure("calibration_error", _("Calibration error"), "lower"),
        Measure("throughput", _("Throughput"), unit=_("examples/s"), scale=1.0, cost=True, limits=(0.0, 100.0)),
        Measure("memory", _("Memory"), "lower", "GiB", 1.0, cost=True, limits=(32.0, 0.0)),
        Measure("latency_p50", _("Median latency"), "lower", "ms", 1.0, cost=True, limits=(1000.0, 0.0)),
        Measure("latency_p95", _("Latency, 95th percentile"), "lower", "ms", 1.0, cost=True, limits=(1000.0, 0.0)),
        Measure("size", _("Size"), "lower", "MiB", 1.0, cost=True, limits=(4096.0, 0.0)),
        Measure("others", _("Background load during the run"), "lower", cost=True),
        Measure("price", _("Price of 1,000 examples"), "lower", "", 1.0, cost=True),
        Measure("spent", _("Price of all its answers"), "lower", "", 1.0, cost=True),
    )
}

ACCURACIES = ("accuracy", "exact_match")
"""Primary metrics that are shares of right answers, as human accuracy is one."""
OWN_VERSION = 1
"""Version of the measures that are computed here: raised when a formula changes."""
MODULES = {
    "accuracy": "accuracy",
    "f1": "f1",
    "exact_match": "exact_match",
    "calibration_error": "expected_calibration_error",
}
"""Measures that are a module of the evaluation library under this name."""


def find_measure(name: str) -> Measure:
    """Return the measure of this name; a name that is not listed here is a metric of the evaluation library, whose
    card gives the direction."""
    if name in MEASURES:
        return MEASURES[name]
    from dynabench import evaluate

    outputs = evaluate.load(name).card.outputs
    main = outputs[0]
    better: Literal["higher", "lower"] = main.better or "higher"
    limits = None
    if main.low is not None and main.high is not None:
        limits = (main.low, main.high) if better == "higher" else (main.high, main.low)
    return Measure(name, name.replace("_", " ").capitalize(), better, "", 1.0, limits=limits)


def formula_version(name: str) -> int:
    """The version of the formula behind a measure: that of the evaluation library's module, else `OWN`."""
    from dynabench.evaluate import loading

    if name in MEASURES and name not in MODULES:
        return OWN_VERSION
    return loading.find_module(MODULES.get(name, name)).version


def pack_replicates(values: Replicates) -> bytes:
    """Return replicates (B,) as the bytes that are stored."""
    return np.asarray(values, "<f4").tobytes()


def unpack_replicates(stored: bytes) -> Replicates:
    """Return the replicates (B,) of stored bytes."""
    return np.frombuffer(stored, "<f4").astype(np.float64)


SQUAD = {"f1": "f1", "exact_match": "exact_match", "exact": "exact_match"}
LABELLED = {"f1": "f1", "precision": "precision", "recall": "recall", "labelled_spans_f1": "f1"}
"""Metrics of labelled spans, and the result of `labelled_spans_f1` that each is."""
AVERAGED = ("f1", "precision", "recall")
"""Metrics of one class; of several classes their mean is taken."""


@dataclass(frozen=True)
class BoundMetric:
    """A module with its columns, the key of its result that counts, and what that is multiplied with."""

    module: Module
    columns: Mapping[str, list[Any]]
    key: str
    scale: float = 1.0


def bind_metric(
    name: str,
    field: Field,
    predictions: Sequence[Any],
    accepted_answers: Sequence[Sequence[Any]],
    options: Mapping[str, Any] | None = None,
) -> BoundMetric:
    """Return the metric `name` with its columns, for predictions and the accepted answers of each row.

    `options` are those of the metric's module. Raises ValueError where there is no such metric or it cannot be
    computed from such answers.
    """
    if isinstance(field, Spans) and name in SQUAD:
        return _squad(name, predictions, accepted_answers)
    if isinstance(field, LabelledSpans) and name in LABELLED:
        return _labelled(LABELLED[name], field, predictions, accepted_answers)
    if isinstance(field, Number):
        return _numbers(name, field, predictions, accepted_answers, options or {})
    chosen_options = dict(options or {})
    columns = comparison_columns(field, predictions, accepted_answers)
    if isinstance(field, Choice | YesNo) or name in ("accuracy", "exact_match"):
        return _load(name, columns, **(({"average": "macro"} if name in AVERAGED else {}) | chosen_options))
    several = comparison_columns(field, predictions, accepted_answers, several=True)
    try:
        bound = _load(name, several, **chosen_options)
        bound.module.clean(several)
    except ValueError:
        return _load(name, columns, **chosen_options)
    return bound


def comparison_columns(
    field: Field, predictions: Sequence[Any], accepted_answers: Sequence[Sequence[Any]], several: bool = False
) -> dict[str, list[Any]]:
    """Return predictions and references as texts: of each row the accepted answer that was given, else the first one.

    With `several` the references of a row are the list of all accepted answers.
    """
    texts = [_comparison_text(field, value) for value in predictions]
    if several:
        lists = [[_comparison_text(field, value) for value in accepted] for accepted in accepted_answers]
        return {"predictions": texts, "references": lists}
    nearest = [
        _comparison_text(field, _nearest(field, prediction, accepted))
        for prediction, accepted in zip(predictions, accepted_answers, strict=True)
    ]
    return {"predictions": texts, "references": nearest}


def _numbers(
    name: str,
    field: Number,
    predictions: Sequence[Any],
    accepted_answers: Sequence[Sequence[Any]],
    options: Mapping[str, Any],
) -> BoundMetric:
    """Of numbers, which models may give as text."""
    numbers = [field.number(value) for value in predictions]
    if None in numbers:
        raise ValueError("an answer is no number")
    columns = {"predictions": numbers, "references": [value[0] for value in accepted_answers]}
    return _load("mae" if name == "accuracy" else name, columns, **options)


def _comparison_text(field: Field, answer: Any) -> str:
    """An answer as the text by which it is compared: of what is neither text nor spans, its words."""
    return text_of_answer(answer) if isinstance(field, Text | Choice | Spans) else field.in_words(answer)


def is_exact(field: Field, prediction: Any, accepted: Sequence[Any]) -> bool:
    """Return True if an answer is the same as one of the accepted ones."""
    return any(same_answer(field, prediction, reference) for reference in accepted)


def same_answer(field: Field, first: Any, second: Any) -> bool:
    """Return True if two answers are the same; marked texts are, if the words of all parts are."""
    if isinstance(field, Spans):
        return _marked(first) == _marked(second)
    return field.same(first, second)


def _marked(answer: Any) -> list[list[str]]:
    parts = answer if isinstance(answer, list) else [answer]
    return [words for part in parts if (words := answer_words(text_of_answer(part)))]


def text_of_answer(answer: Any) -> str:
    """Return an answer as text: of marked texts the first one, an empty text where nothing is marked."""
    if isinstance(answer, list):
        return text_of_answer(answer[0]) if answer else ""
    return str(answer["text"]) if isinstance(answer, Mapping) and "text" in answer else str(answer)


def _nearest(field: Field, prediction: Any, accepted: Sequence[Any]) -> Any:
    """The prediction where it is right, else the first reference."""
    for reference in accepted:
        if same_answer(field, prediction, reference):
            return prediction
    return accepted[0]


def _squad(name: str, predictions: Sequence[Any], accepted_answers: Sequence[Sequence[Any]]) -> BoundMetric:
    """Of spans, word F1 and exact match in the manner of SQuAD; of version 2 where some questions have no answer."""
    references = [[text for value in accepted if (text := text_of_answer(value))] for accepted in accepted_answers]
    columns: dict[str, list[Any]] = {
        "predictions": [text_of_answer(value) for value in predictions],
        "references": references,
    }
    if all(references):
        return BoundMetric(evaluate.load("squad"), columns, SQUAD[name], 0.01)
    key = {"exact_match": "exact", "f1": "f1"}[SQUAD[name]]
    chances = [
        {"prediction_text": text, "id": str(row), "no_answer_probability": 0.0}
        for row, text in enumerate(columns["predictions"])
    ]
    references_by_id = [
        {"id": str(row), "answers": {"text": texts, "answer_start": [0] * len(texts)}}
        for row, texts in enumerate(references)
    ]
    return BoundMetric(evaluate.load("squad_v2"), {"predictions": chances, "references": references_by_id}, key, 0.01)


def _labelled(
    key: str, field: Field, predictions: Sequence[Any], accepted_answers: Sequence[Sequence[Any]]
) -> BoundMetric:
    """Of spans with labels, by place and label; of several right answers the one that was given, else the first."""
    nearest = [
        _nearest(field, prediction or [], accepted) or []
        for prediction, accepted in zip(predictions, accepted_answers, strict=True)
    ]
    columns = {"predictions": [prediction or [] for prediction in predictions], "references": nearest}
    return BoundMetric(evaluate.load("labelled_spans_f1"), columns, key)


def _load(name: str, columns: Mapping[str, list[Any]], **options: Any) -> BoundMetric:
    try:
        module = evaluate.load(name, **options)
    except TypeError as error:
        raise ValueError(str(error)) from None
    return BoundMetric(module, columns, module.card.outputs[0].name)
