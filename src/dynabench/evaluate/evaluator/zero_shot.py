"""Zero-shot classification: which of a row's classes a language model finds likeliest after the row's text."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from dynabench.evaluate.columns import Column, Floats, Labels, listed
from dynabench.evaluate.evaluator.base import Evaluator, Question
from dynabench.evaluate.evaluator.classifying import built
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.predictors.chooser import NORMALIZATIONS
from dynabench.evaluate.evaluator.resolving import Parts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums


class Scores(Column):
    """A list of numbers for each row, one a class; rows may differ in how many."""

    dtype = "list of float64"
    text = "score of each class of each example"

    def clean(self, values: Any, name: str) -> list[Floats]:
        """Rows without two finite numbers at least are refused."""
        rows = [np.asarray(row, float) for row in listed(values, name)]
        for row, scores in enumerate(rows):
            if scores.ndim != 1 or len(scores) < 2 or not np.isfinite(scores).all():
                raise ValueError(f"{name}: row {row} is {scores}; give a finite score for each of at least two classes")
        return rows


class Choices(Metric):
    """Accuracy and loss of choices among scored classes."""

    columns = {"predictions": Scores(), "references": Labels()}

    def update(self, predictions: list[Floats], references: Ints | list[str]) -> Sums:
        """Whether each row is right, and its loss; shape (n, 2)."""
        rows = []
        for row, (scores, right) in enumerate(zip(predictions, references, strict=True)):
            if isinstance(right, str) or not 0 <= right < len(scores):
                raise ValueError(f"row {row}: {right!r} is no number of one of its {len(scores)} classes")
            rows.append((float(scores.argmax() == right), float(np.logaddexp.reduce(scores) - scores[right])))
        return Sums(np.array(rows).reshape(-1, 2))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Means."""
        return {"accuracy": total[..., 0] / total[..., 2], "loss": total[..., 1] / total[..., 2]}


class ZeroShotClassificationEvaluator(Evaluator):
    """Columns: a prompt, a list of completions, and the number of the right one (or its text).

    `normalization` is how classes of different length compare: "sum", "token", "byte" or "unconditional"; see
    `predictors.chooser.Chooser`. A callable gets dictionaries of `text` and `classes` and gives a score for each class.
    The metric, unless one is given, is accuracy and loss; another gets class numbers.
    """

    defaults: ClassVar[Mapping[str, Any]] = {
        "input_column": "text",
        "classes_column": "classes",
        "label_column": "target",
        "normalization": "sum",
    }

    def inputs(self, question: Question) -> Sequence[Any]:
        """Dictionaries of `text` and `classes`."""
        rows = zip(question.texts("input_column"), self._classes(question), strict=True)
        return [{"text": text, "classes": classes} for text, classes in rows]

    def network(self, parts: Parts, question: Question) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.chooser import Chooser

        found = built(Chooser, parts, parts.tokenizer, "AutoTokenizer")
        found.normalization = question["normalization"]
        return found  # type: ignore[no-any-return]

    def check(self, question: Question, predictor: Predictor) -> None:
        """See `Evaluator`."""
        if question["normalization"] not in NORMALIZATIONS:
            raise ValueError(f"normalization={question['normalization']!r} is none of {', '.join(NORMALIZATIONS)}")

    def references(self, question: Question) -> dict[str, Any]:
        """Numbers of the right classes."""
        rows = zip(self._classes(question), question.labels("label_column"), strict=True)
        return {"references": [_number(classes, right, row) for row, (classes, right) in enumerate(rows)]}

    def default_metric(self, question: Question) -> Metric:
        """Accuracy and loss, from the scores."""
        return Choices()

    def predictions(self, answers: list[Any], question: Question, predictor: Predictor) -> dict[str, Any]:
        """Scores of the classes."""
        for row, (scores, classes) in enumerate(zip(answers, self._classes(question), strict=True)):
            if not isinstance(scores, list | tuple | np.ndarray) or len(scores) != len(classes):
                raise ValueError(f"row {row}: {scores!r} is not one score for each of {len(classes)} classes")
        return {"predictions": [list(map(float, scores)) for scores in answers]}

    def _classes(self, question: Question) -> list[list[str]]:
        name, found = question["classes_column"], []
        for row, classes in enumerate(question.column("classes_column")):
            texts = list(classes) if isinstance(classes, Sequence | np.ndarray) and not isinstance(classes, str) else []
            if len(texts) < 2 or not all(isinstance(text, str) and text for text in texts):
                raise ValueError(f"{name}: row {row} is {classes!r}; give a list of at least two texts")
            found.append(texts)
        return found


def _number(classes: Sequence[str], right: Any, row: int) -> int:
    if isinstance(right, str):
        if list(classes).count(right) != 1:
            raise ValueError(f"row {row}: {right!r} is not one of its classes {', '.join(classes)}")
        return list(classes).index(right)
    if isinstance(right, bool) or right != int(right) or not 0 <= right < len(classes):
        raise ValueError(f"row {row}: {right!r} is no number of one of its {len(classes)} classes")
    return int(right)
