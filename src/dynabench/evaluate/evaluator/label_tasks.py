"""Tasks with a label, or a label for each word, as answer."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from dynabench.evaluate.columns import Column, Floats, Labels, as_list
from dynabench.evaluate.evaluator.base import EvaluationInputs, Evaluator, PredictorParts
from dynabench.evaluate.evaluator.predictors.base import Predictor, load_network, load_processor
from dynabench.evaluate.evaluator.predictors.writers import NORMALIZATIONS
from dynabench.evaluate.evaluator.scoring import LabelMapping, LabelProbabilities, label_probabilities
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums


class LabelEvaluator(Evaluator):
    """An evaluator whose references are labels; the model's answers are mapped to them."""

    def references(self, question: EvaluationInputs) -> dict[str, Any]:
        """Return the label column."""
        return {"references": question.labels("label_column")}

    def check(self, question: EvaluationInputs, predictor: Predictor) -> None:
        """Raise ValueError, before the model runs, for a label that cannot be mapped."""
        self._labels(question, predictor)

    def predictions(self, answers: list[Any], question: EvaluationInputs, predictor: Predictor) -> dict[str, Any]:
        """Return predictions as labels of the data."""
        map_label = self._labels(question, predictor)
        return {"predictions": [map_label(label_of(answer, row), row) for row, answer in enumerate(answers)]}

    def probabilities(self, answers: list[Any], question: EvaluationInputs, predictor: Predictor) -> LabelProbabilities:
        """Return a probability of each label of the data."""
        references = question.labels("label_column")
        return label_probabilities(answers, references, predictor.labels, self._labels(question, predictor))

    def _labels(self, question: EvaluationInputs, predictor: Predictor) -> LabelMapping:
        references = question.labels("label_column")
        return LabelMapping(predictor.labels, references, question.classes("label_column"), question["label_mapping"])


class TextClassificationEvaluator(LabelEvaluator):
    """A label for a text, or for a pair of texts with `second_input_column`."""

    defaults: ClassVar[Mapping[str, Any]] = {
        "input_column": "text",
        "second_input_column": None,
        "label_column": "label",
        "label_mapping": None,
    }
    pipeline_options: ClassVar[Mapping[str, Any]] = {"truncation": True}
    whole_options: ClassVar[Mapping[str, Any]] = {"top_k": None}

    def inputs(self, question: EvaluationInputs) -> Sequence[Any]:
        """Return texts, or dictionaries of `text` and `text_pair`."""
        first = question.texts("input_column")
        if question["second_input_column"] is None:
            return first
        second = question.texts("second_input_column")
        return [{"text": text, "text_pair": pair} for text, pair in zip(first, second, strict=True)]

    def network(self, parts: PredictorParts, question: EvaluationInputs) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.texts import TextLabelPredictor

        return load_predictor(TextLabelPredictor, parts, parts.tokenizer, "AutoTokenizer")  # type: ignore[no-any-return]


class NaturalLanguageInferenceEvaluator(TextClassificationEvaluator):
    """A label for a premise and a hypothesis: entailment, contradiction or neutral."""

    defaults: ClassVar[Mapping[str, Any]] = {
        **TextClassificationEvaluator.defaults,
        "input_column": "premise",
        "second_input_column": "hypothesis",
    }


class MediaClassificationEvaluator(LabelEvaluator):
    """A label for an image or a sound."""

    def inputs(self, question: EvaluationInputs) -> Sequence[Any]:
        """Return the column as it is; its values are read batch by batch."""
        return question.column("input_column")

    @abstractmethod
    def network(self, parts: PredictorParts, question: EvaluationInputs) -> Predictor:
        """See `Evaluator`."""


class ImageClassificationEvaluator(MediaClassificationEvaluator):
    """A label for an image: a Pillow image, path, bytes or array."""

    defaults: ClassVar[Mapping[str, Any]] = {"input_column": "image", "label_column": "label", "label_mapping": None}

    def network(self, parts: PredictorParts, question: EvaluationInputs) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.media import ImageLabelPredictor

        return load_predictor(ImageLabelPredictor, parts, parts.feature_extractor, "AutoImageProcessor")  # type: ignore[no-any-return]


class AudioClassificationEvaluator(MediaClassificationEvaluator):
    """A label for a sound: a path, samples, or a dictionary of `array` and `sampling_rate`."""

    defaults: ClassVar[Mapping[str, Any]] = {"input_column": "file", "label_column": "label", "label_mapping": None}

    def network(self, parts: PredictorParts, question: EvaluationInputs) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.media import SoundLabelPredictor

        return load_predictor(SoundLabelPredictor, parts, parts.feature_extractor, "AutoFeatureExtractor")  # type: ignore[no-any-return]


def label_of(answer: Any, row: int) -> Any:
    """Return the label of one answer: of `{label, ...}`, of the likeliest in a list of such, or the label itself.

    Raises ValueError for an answer of another form.
    """
    if isinstance(answer, list | tuple) and answer:
        answer = max(answer, key=lambda one: one["score"]) if isinstance(answer[0], Mapping) else answer
    if isinstance(answer, Mapping) and "label" in answer:
        answer = answer["label"]
    if hasattr(answer, "item"):
        answer = answer.item()
    if answer is None or isinstance(answer, Mapping | list | tuple):
        raise ValueError(f"row {row}: the model answered {answer!r}; an answer is a label or a dictionary with one")
    return answer


def load_predictor(kind: Any, parts: PredictorParts, processor: Any, auto: str) -> Any:
    """Return a native predictor of class `kind`, loading its model and processor where they are paths."""
    from pathlib import Path

    model = load_network(parts.model, kind.auto) if isinstance(parts.model, str | Path) else parts.model
    return kind(model, load_processor(processor, model, auto), parts.device)


class TokenClassificationEvaluator(Evaluator):
    """Rows are lists of words with a list of tags. Words are joined by `join_by`; a word's tag is its first token's.

    A word without a token at its beginning (it was cut off, or has no tokens) is tagged "O".
    """

    metric = "seqeval"
    defaults: ClassVar[Mapping[str, Any]] = {"input_column": "tokens", "label_column": "ner_tags", "join_by": " "}
    pipeline_options: ClassVar[Mapping[str, Any]] = {"ignore_labels": []}

    def inputs(self, question: EvaluationInputs) -> Sequence[str]:
        """Texts."""
        return [question["join_by"].join(words) for words in self._words(question)]

    def network(self, parts: PredictorParts, question: EvaluationInputs) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.texts import Tagger

        return load_predictor(Tagger, parts, parts.tokenizer, "AutoTokenizer")  # type: ignore[no-any-return]

    def references(self, question: EvaluationInputs) -> dict[str, Any]:
        """Tags as texts. Raises ValueError for numbers without names, and for other than a tag for each word."""
        classes, tag_rows = question.classes("label_column"), []
        rows = zip(self._words(question), question.column("label_column"), strict=True)
        for row, (words, tags) in enumerate(rows):
            listed = _as_list(tags, question["label_column"], row)
            if len(listed) != len(words):
                raise ValueError(f"row {row} has {len(words)} words and {len(listed)} tags; give a tag for each word")
            tag_rows.append([_tag_name(tag, classes, row) for tag in listed])
        return {"references": tag_rows}

    def predictions(self, answers: list[Any], question: EvaluationInputs, predictor: Predictor) -> dict[str, Any]:
        """Tags of words."""
        rows = zip(answers, self._words(question), strict=True)
        return {
            "predictions": [
                word_tags(answer, words, question["join_by"], row) for row, (answer, words) in enumerate(rows)
            ]
        }

    def _words(self, question: EvaluationInputs) -> list[list[str]]:
        column = question.column("input_column")
        return [_as_list(words, question["input_column"], row) for row, words in enumerate(column)]


def word_tags(answer: Any, words: Sequence[str], join_by: str, row: int) -> list[str]:
    """Return the tag of each word, from the tokens' `{entity, start}`, or from a list of tags as it is."""
    if isinstance(answer, list | tuple) and len(answer) == len(words) and all(isinstance(tag, str) for tag in answer):
        return list(answer)
    tokens = list(answer)
    if not all(isinstance(token, Mapping) and "entity" in token and token.get("start") is not None for token in tokens):
        raise ValueError(
            f"row {row}: an answer is a tag for each word, or tokens with entity and start, not {answer!r}"
        )
    tags, token_index, start = [], 0, 0
    for word in words:
        while token_index < len(tokens) and tokens[token_index]["start"] < start:
            token_index += 1
        begins = token_index < len(tokens) and tokens[token_index]["start"] == start
        tags.append(tokens[token_index]["entity"] if begins else "O")
        start += len(word) + len(join_by)
    return tags


def _as_list(values: Any, name: str, row: int) -> list[Any]:
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise ValueError(f"{name}: row {row} is {values!r}; give words and tags as lists")
    return list(values)


def _tag_name(tag: Any, classes: Sequence[str] | None, row: int) -> str:
    if isinstance(tag, str):
        return tag
    if not classes:
        raise ValueError(f"row {row} has the tag {tag!r} and the data does not name its classes; give tags as texts")
    if not 0 <= int(tag) < len(classes):
        raise ValueError(f"row {row} has the tag {tag!r}, the data names {len(classes)} classes")
    return str(classes[int(tag)])


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


class ChoiceAccuracy(Metric, name="zero_shot"):
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
        from dynabench.evaluate.evaluator.predictors.writers import LikelihoodClassifier

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
