"""Tasks whose answer is a label."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dynabench.evaluate.evaluator.base import Evaluator, Question
from dynabench.evaluate.evaluator.mapping import Labels
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.predictors.network import load_network, load_processor
from dynabench.evaluate.evaluator.probabilities import Probabilities, probabilities
from dynabench.evaluate.evaluator.resolving import Parts


class LabelEvaluator(Evaluator):
    """References are labels; answers are mapped to them."""

    def references(self, question: Question) -> dict[str, Any]:
        """The label column."""
        return {"references": question.labels("label_column")}

    def check(self, question: Question, predictor: Predictor) -> None:
        """A label that cannot be mapped is told before the model runs."""
        self._labels(question, predictor)

    def predictions(self, answers: list[Any], question: Question, predictor: Predictor) -> dict[str, Any]:
        """Labels of the data."""
        mapped = self._labels(question, predictor)
        return {"predictions": [mapped(label_of(answer, row), row) for row, answer in enumerate(answers)]}

    def probabilities(self, answers: list[Any], question: Question, predictor: Predictor) -> Probabilities:
        """Of each label of the data."""
        references = question.labels("label_column")
        return probabilities(answers, references, predictor.labels, self._labels(question, predictor))

    def _labels(self, question: Question, predictor: Predictor) -> Labels:
        references = question.labels("label_column")
        return Labels(predictor.labels, references, question.classes("label_column"), question["label_mapping"])


class TextClassificationEvaluator(LabelEvaluator):
    """A label for a text, or for two with `second_input_column`."""

    defaults: ClassVar[Mapping[str, Any]] = {
        "input_column": "text",
        "second_input_column": None,
        "label_column": "label",
        "label_mapping": None,
    }
    pipeline_options: ClassVar[Mapping[str, Any]] = {"truncation": True}
    whole_options: ClassVar[Mapping[str, Any]] = {"top_k": None}

    def inputs(self, question: Question) -> Sequence[Any]:
        """Texts, or dictionaries of `text` and `text_pair`."""
        first = question.texts("input_column")
        if question["second_input_column"] is None:
            return first
        second = question.texts("second_input_column")
        return [{"text": text, "text_pair": pair} for text, pair in zip(first, second, strict=True)]

    def network(self, parts: Parts, question: Question) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.classifier import Classifier

        return built(Classifier, parts, parts.tokenizer, "AutoTokenizer")  # type: ignore[no-any-return]


class NaturalLanguageInferenceEvaluator(TextClassificationEvaluator):
    """Whether a hypothesis follows from a premise."""

    defaults: ClassVar[Mapping[str, Any]] = {
        **TextClassificationEvaluator.defaults,
        "input_column": "premise",
        "second_input_column": "hypothesis",
    }


class SenseEvaluator(LabelEvaluator):
    """A label for what is seen or heard."""

    def inputs(self, question: Question) -> Sequence[Any]:
        """The column as it is; its values are read batch by batch."""
        return question.column("input_column")

    @abstractmethod
    def network(self, parts: Parts, question: Question) -> Predictor:
        """See `Evaluator`."""


class ImageClassificationEvaluator(SenseEvaluator):
    """A label for an image: a Pillow image, path, bytes or array."""

    defaults: ClassVar[Mapping[str, Any]] = {"input_column": "image", "label_column": "label", "label_mapping": None}

    def network(self, parts: Parts, question: Question) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.senses import Seer

        return built(Seer, parts, parts.feature_extractor, "AutoImageProcessor")  # type: ignore[no-any-return]


class AudioClassificationEvaluator(SenseEvaluator):
    """A label for a sound: a path, samples, or a dictionary of `array` and `sampling_rate`."""

    defaults: ClassVar[Mapping[str, Any]] = {"input_column": "file", "label_column": "label", "label_mapping": None}

    def network(self, parts: Parts, question: Question) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.senses import Listener

        return built(Listener, parts, parts.feature_extractor, "AutoFeatureExtractor")  # type: ignore[no-any-return]


def label_of(answer: Any, row: int) -> Any:
    """The label of one answer: `{label, ...}`, a list of such of which the likeliest counts, or the label itself."""
    if isinstance(answer, list | tuple) and answer:
        answer = max(answer, key=lambda one: one["score"]) if isinstance(answer[0], Mapping) else answer
    if isinstance(answer, Mapping) and "label" in answer:
        answer = answer["label"]
    if hasattr(answer, "item"):
        answer = answer.item()
    if answer is None or isinstance(answer, Mapping | list | tuple):
        raise ValueError(f"row {row}: the model answered {answer!r}; an answer is a label or a dictionary with one")
    return answer


def built(kind: Any, parts: Parts, processor: Any, auto: str) -> Any:
    """A native predictor with its model and tokenizer (or feature extractor) loaded, as far as they are not."""
    from pathlib import Path

    model = load_network(parts.model, kind.auto) if isinstance(parts.model, str | Path) else parts.model
    return kind(model, load_processor(processor, model, auto), parts.device)
