"""Zero-shot classification: the class that a language model finds likeliest after a row's text."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from dynabench.evaluate.columns import Column, Floats, Labels, as_list
from dynabench.evaluate.evaluator.base import EvaluationInputs, Evaluator
from dynabench.evaluate.evaluator.classifying import load_predictor
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.predictors.chooser import NORMALIZATIONS
from dynabench.evaluate.evaluator.resolving import PredictorParts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums


class ClassScores(Column):
    """A list of numbers for each row, one a class; rows may differ in how many."""

    dtype = "list of float64"
    text = "score of each class of each example"

    def clean(self, values: Any, name: str) -> list[Floats]:
        """Rows without two finite numbers at least are refused."""
        rows = [np.asarray(row, float) for row in as_list(values, name)]
        for row, scores in enumerate(rows):
            if scores.ndim != 1 or len(scores) < 2 or not np.isfinite(scores).all():
                raise ValueError(f"{name}: row {row} is {scores}; give a finite score for each of at least two classes")
        return rows


class ChoiceAccuracy(Metric):
    """Accuracy and loss of choices among scored classes."""

    columns = {"predictions": ClassScores(), "references": Labels()}

    def update(self, predictions: list[Floats], references: Ints | list[str]) -> Sums:
        """Return for each row whether the choice is right, and its loss; shape (n, 2)."""
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

    `normalization` says how classes of different length compare: "sum", "token", "byte" or "unconditional"; see
    `predictors.chooser`. A callable gets dictionaries of `text` and `classes` and returns a score for each class.
    The default metric is accuracy and loss; another metric gets class numbers.
    """

    defaults: ClassVar[Mapping[str, Any]] = {
        "input_column": "text",
        "classes_column": "classes",
        "label_column": "target",
        "normalization": "sum",
    }

    def inputs(self, question: EvaluationInputs) -> Sequence[Any]:
        """Dictionaries of `text` and `classes`."""
        rows = zip(question.texts("input_column"), self._classes(question), strict=True)
        return [{"text": text, "classes": classes} for text, classes in rows]

    def network(self, parts: PredictorParts, question: EvaluationInputs) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.chooser import LikelihoodClassifier

        classifier = load_predictor(LikelihoodClassifier, parts, parts.tokenizer, "AutoTokenizer")
        classifier.normalization = question["normalization"]
        return classifier  # type: ignore[no-any-return]

    def check(self, question: EvaluationInputs, predictor: Predictor) -> None:
        """See `Evaluator`."""
        if question["normalization"] not in NORMALIZATIONS:
            raise ValueError(f"normalization={question['normalization']!r} is none of {', '.join(NORMALIZATIONS)}")

    def references(self, question: EvaluationInputs) -> dict[str, Any]:
        """Numbers of the right classes."""
        rows = zip(self._classes(question), question.labels("label_column"), strict=True)
        return {"references": [_class_number(classes, right, row) for row, (classes, right) in enumerate(rows)]}

    def default_metric(self, question: EvaluationInputs) -> Metric:
        """Accuracy and loss, from the scores."""
        return ChoiceAccuracy()

    def predictions(self, answers: list[Any], question: EvaluationInputs, predictor: Predictor) -> dict[str, Any]:
        """Scores of the classes."""
        for row, (scores, classes) in enumerate(zip(answers, self._classes(question), strict=True)):
            if not isinstance(scores, list | tuple | np.ndarray) or len(scores) != len(classes):
                raise ValueError(f"row {row}: {scores!r} is not one score for each of {len(classes)} classes")
        return {"predictions": [list(map(float, scores)) for scores in answers]}

    def _classes(self, question: EvaluationInputs) -> list[list[str]]:
        name, class_lists = question["classes_column"], []
        for row, classes in enumerate(question.column("classes_column")):
            texts = list(classes) if isinstance(classes, Sequence | np.ndarray) and not isinstance(classes, str) else []
            if len(texts) < 2 or not all(isinstance(text, str) and text for text in texts):
                raise ValueError(f"{name}: row {row} is {classes!r}; give a list of at least two texts")
            class_lists.append(texts)
        return class_lists


def _class_number(classes: Sequence[str], right: Any, row: int) -> int:
    if isinstance(right, str):
        if list(classes).count(right) != 1:
            raise ValueError(f"row {row}: {right!r} is not one of its classes {', '.join(classes)}")
        return list(classes).index(right)
    if isinstance(right, bool) or right != int(right) or not 0 <= right < len(classes):
        raise ValueError(f"row {row}: {right!r} is no number of one of its {len(classes)} classes")
    return int(right)
