"""Tasks whose answer is a text of its own."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dynabench.evaluate.evaluator.base import Evaluator, Question
from dynabench.evaluate.evaluator.classifying import built
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.predictors.network import load_network, load_processor
from dynabench.evaluate.evaluator.resolving import Parts
from dynabench.evaluate.networks import checkpoints

TEXT_KEYS = ("generated_text", "summary_text", "translation_text", "text")


class WritingEvaluator(Evaluator):
    """What tasks of written text have in common; `generation_kwargs` go to the model's `generate`."""

    defaults: ClassVar[Mapping[str, Any]] = {"input_column": "text", "label_column": "label", "generation_kwargs": None}
    pipeline_options: ClassVar[Mapping[str, Any]] = {"truncation": True}

    def inputs(self, question: Question) -> Sequence[Any]:
        """Texts."""
        return question.texts("input_column")

    def references(self, question: Question) -> dict[str, Any]:
        """The right texts."""
        return {"references": list(question.column("label_column"))}

    def predictions(self, answers: list[Any], question: Question, predictor: Predictor) -> dict[str, Any]:
        """Texts."""
        return {"predictions": [_text(answer, row) for row, answer in enumerate(answers)]}

    def writer(self, kind: Any, parts: Parts, question: Question) -> Any:
        """A writer with the task, the settings and the seed."""
        found = built(kind, parts, parts.tokenizer, "AutoTokenizer")
        found.task, found.seed = self.task, question.seed
        found.generation = settings(parts, question)
        return found


class TextGenerationEvaluator(WritingEvaluator):
    """Continues prompts; the metric sees the texts alone, as `data`. Every sequence of a prompt counts."""

    metric = "word_count"
    defaults: ClassVar[Mapping[str, Any]] = {"input_column": "text", "generation_kwargs": None}
    pipeline_options: ClassVar[Mapping[str, Any]] = {}

    def references(self, question: Question) -> dict[str, Any]:
        """There are none."""
        return {}

    def network(self, parts: Parts, question: Question) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.writer import Continuer

        return self.writer(Continuer, parts, question)  # type: ignore[no-any-return]

    def predictions(self, answers: list[Any], question: Question, predictor: Predictor) -> dict[str, Any]:
        """All texts in one list."""
        parts = ([answer] if isinstance(answer, str | Mapping) else answer for answer in answers)
        return {"data": [_text(one, row) for row, part in enumerate(parts) for one in part]}


class Text2TextGenerationEvaluator(WritingEvaluator):
    """Turns a text into another."""

    metric = "bleu"

    def network(self, parts: Parts, question: Question) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.writer import Rewriter

        return self.writer(Rewriter, parts, question)  # type: ignore[no-any-return]


class SummarizationEvaluator(Text2TextGenerationEvaluator):
    """Shortens a text."""

    metric = "rouge"


class TranslationEvaluator(Text2TextGenerationEvaluator):
    """Translates; models of many languages take `src_lang` and `tgt_lang` among the `generation_kwargs`."""


class AutomaticSpeechRecognitionEvaluator(WritingEvaluator):
    """Writes down what is said."""

    metric = "wer"
    defaults: ClassVar[Mapping[str, Any]] = {
        "input_column": "path",
        "label_column": "sentence",
        "generation_kwargs": None,
    }
    pipeline_options: ClassVar[Mapping[str, Any]] = {}

    def inputs(self, question: Question) -> Sequence[Any]:
        """Sounds; read batch by batch."""
        return question.column("input_column")

    def network(self, parts: Parts, question: Question) -> Predictor:
        """See `Evaluator`."""
        from pathlib import Path

        from dynabench.evaluate.evaluator.predictors.senses import Transcriber

        model = parts.model
        if isinstance(model, str | Path):
            model = load_network(model, _speech_class(model))
        ears = load_processor(parts.feature_extractor, model, "AutoFeatureExtractor")
        found = Transcriber(model, ears, parts.device)
        found.tokenizer = load_processor(parts.tokenizer, model, "AutoTokenizer")
        found.generation = settings(parts, question)
        return found


def settings(parts: Parts, question: Question) -> dict[str, Any]:
    """What `generate` is told: by the pipeline, if there is one, then by the caller."""
    return {**(parts.options or {}), **(question["generation_kwargs"] or {})}


def _text(answer: Any, row: int) -> str:
    if isinstance(answer, list | tuple) and len(answer) == 1:
        answer = answer[0]
    if isinstance(answer, Mapping):
        answer = next((answer[key] for key in TEXT_KEYS if key in answer), answer)
    if not isinstance(answer, str):
        raise ValueError(f"row {row}: the model answered {answer!r}; an answer is a text")
    return answer


def _speech_class(path: Any) -> str:
    """Models that write have a decoder, the others name a letter for each moment."""
    config = checkpoints.read(checkpoints.place_of(str(path)), "AutoConfig")
    return "AutoModelForSpeechSeq2Seq" if config.is_encoder_decoder else "AutoModelForCTC"
