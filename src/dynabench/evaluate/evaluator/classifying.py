"""Tasks with a label as answer."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dynabench.evaluate.evaluator.base import EvaluationInputs, Evaluator
from dynabench.evaluate.evaluator.mapping import LabelMapping
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.predictors.network import load_network, load_processor
from dynabench.evaluate.evaluator.probabilities import LabelProbabilities, label_probabilities
from dynabench.evaluate.evaluator.resolving import PredictorParts


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
        from dynabench.evaluate.evaluator.predictors.classifier import TextLabelPredictor

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
        from dynabench.evaluate.evaluator.predictors.senses import ImageLabelPredictor

        return load_predictor(ImageLabelPredictor, parts, parts.feature_extractor, "AutoImageProcessor")  # type: ignore[no-any-return]


class AudioClassificationEvaluator(MediaClassificationEvaluator):
    """A label for a sound: a path, samples, or a dictionary of `array` and `sampling_rate`."""

    defaults: ClassVar[Mapping[str, Any]] = {"input_column": "file", "label_column": "label", "label_mapping": None}

    def network(self, parts: PredictorParts, question: EvaluationInputs) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.senses import SoundLabelPredictor

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
