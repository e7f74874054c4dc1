"""Tasks with a written text as answer."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dynabench.evaluate.evaluator.base import EvaluationInputs, Evaluator
from dynabench.evaluate.evaluator.classifying import load_predictor
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.predictors.network import load_network, load_processor
from dynabench.evaluate.evaluator.resolving import PredictorParts
from dynabench.evaluate.networks import checkpoints

TEXT_KEYS = ("generated_text", "summary_text", "translation_text", "text")


class TextOutputEvaluator(Evaluator):
    """Base of tasks with text as answer; `generation_kwargs` go to the model's `generate`."""

    defaults: ClassVar[Mapping[str, Any]] = {"input_column": "text", "label_column": "label", "generation_kwargs": None}
    pipeline_options: ClassVar[Mapping[str, Any]] = {"truncation": True}

    def inputs(self, question: EvaluationInputs) -> Sequence[Any]:
        """Return the input texts."""
        return question.texts("input_column")

    def references(self, question: EvaluationInputs) -> dict[str, Any]:
        """Return the right texts."""
        return {"references": list(question.column("label_column"))}

    def predictions(self, answers: list[Any], question: EvaluationInputs, predictor: Predictor) -> dict[str, Any]:
        """Return the predicted texts. Raises ValueError for an answer that is no text."""
        return {"predictions": [_text(answer, row) for row, answer in enumerate(answers)]}

    def writer(self, kind: Any, parts: PredictorParts, question: EvaluationInputs) -> Any:
        """Return a predictor of class `kind` with the task, the generation settings and the seed."""
        predictor = load_predictor(kind, parts, parts.tokenizer, "AutoTokenizer")
        predictor.task, predictor.seed = self.task, question.seed
        predictor.generation = generation_settings(parts, question)
        return predictor


class TextGenerationEvaluator(TextOutputEvaluator):
    """Continues prompts; the metric gets the texts alone, as `data`. Every generated sequence counts."""

    metric = "word_count"
    defaults: ClassVar[Mapping[str, Any]] = {"input_column": "text", "generation_kwargs": None}
    pipeline_options: ClassVar[Mapping[str, Any]] = {}

    def references(self, question: EvaluationInputs) -> dict[str, Any]:
        """Return no columns: generated texts have no references."""
        return {}

    def network(self, parts: PredictorParts, question: EvaluationInputs) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.writer import PromptContinuer

        return self.writer(PromptContinuer, parts, question)  # type: ignore[no-any-return]

    def predictions(self, answers: list[Any], question: EvaluationInputs, predictor: Predictor) -> dict[str, Any]:
        """Return all generated texts in one list."""
        parts = ([answer] if isinstance(answer, str | Mapping) else answer for answer in answers)
        return {"data": [_text(sequence, row) for row, part in enumerate(parts) for sequence in part]}


class Text2TextGenerationEvaluator(TextOutputEvaluator):
    """Turns a text into another."""

    metric = "bleu"

    def network(self, parts: PredictorParts, question: EvaluationInputs) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.writer import EncoderDecoderWriter

        return self.writer(EncoderDecoderWriter, parts, question)  # type: ignore[no-any-return]


class SummarizationEvaluator(Text2TextGenerationEvaluator):
    """Shortens a text."""

    metric = "rouge"


class TranslationEvaluator(Text2TextGenerationEvaluator):
    """Translates; models of many languages take `src_lang` and `tgt_lang` among the `generation_kwargs`."""


class AutomaticSpeechRecognitionEvaluator(TextOutputEvaluator):
    """Transcribes speech."""

    metric = "wer"
    defaults: ClassVar[Mapping[str, Any]] = {
        "input_column": "path",
        "label_column": "sentence",
        "generation_kwargs": None,
    }
    pipeline_options: ClassVar[Mapping[str, Any]] = {}

    def inputs(self, question: EvaluationInputs) -> Sequence[Any]:
        """Return the column of sounds, which are read batch by batch."""
        return question.column("input_column")

    def network(self, parts: PredictorParts, question: EvaluationInputs) -> Predictor:
        """See `Evaluator`."""
        from pathlib import Path

        from dynabench.evaluate.evaluator.predictors.senses import Transcriber

        model = parts.model
        if isinstance(model, str | Path):
            model = load_network(model, _speech_class(model))
        extractor = load_processor(parts.feature_extractor, model, "AutoFeatureExtractor")
        transcriber = Transcriber(model, extractor, parts.device)
        transcriber.tokenizer = load_processor(parts.tokenizer, model, "AutoTokenizer")
        transcriber.generation = generation_settings(parts, question)
        return transcriber


def generation_settings(parts: PredictorParts, question: EvaluationInputs) -> dict[str, Any]:
    """Return the options of `generate`: those of the pipeline, if there is one, then those of the caller."""
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
    config = checkpoints.read_pretrained(checkpoints.locate_model(str(path)), "AutoConfig")
    return "AutoModelForSpeechSeq2Seq" if config.is_encoder_decoder else "AutoModelForCTC"
