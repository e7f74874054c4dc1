"""Tasks with a text as answer: written by the model, or a span of a passage."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dynabench.evaluate.evaluator.base import EvaluationInputs, Evaluator, PredictorParts
from dynabench.evaluate.evaluator.label_tasks import load_predictor
from dynabench.evaluate.evaluator.predictors.base import Predictor, load_network, load_processor
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
        from dynabench.evaluate.evaluator.predictors.writers import PromptContinuer

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
        from dynabench.evaluate.evaluator.predictors.writers import EncoderDecoderWriter

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

        from dynabench.evaluate.evaluator.predictors.media import Transcriber

        model = parts.model
        if isinstance(model, str | Path):
            config = checkpoints.read_pretrained(checkpoints.locate_model(str(model)), "AutoConfig")
            # models that write have a decoder, the others name a letter for each moment
            kind = "AutoModelForSpeechSeq2Seq" if config.is_encoder_decoder else "AutoModelForCTC"
            model = load_network(model, kind)
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


class QuestionAnsweringEvaluator(Evaluator):
    """SQuAD's format: `answers` holds `{text, answer_start}`, lists of all right answers, empty where there is none.

    `squad_v2_format` says whether questions may have no answer; by default the data decides. Then the model may
    answer nothing, and the metric is "squad_v2".
    """

    metric = "squad"
    defaults: ClassVar[Mapping[str, Any]] = {
        "question_column": "question",
        "context_column": "context",
        "id_column": "id",
        "label_column": "answers",
        "squad_v2_format": None,
    }

    def inputs(self, question: EvaluationInputs) -> Sequence[Any]:
        """Dictionaries of `question` and `context`."""
        rows = zip(question.texts("question_column"), question.texts("context_column"), strict=True)
        return [{"question": question_text, "context": context} for question_text, context in rows]

    def network(self, parts: PredictorParts, question: EvaluationInputs) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.texts import SpanReader

        reader = load_predictor(SpanReader, parts, parts.tokenizer, "AutoTokenizer")
        reader.impossible = self._may_be_none(question)
        return reader  # type: ignore[no-any-return]

    def references(self, question: EvaluationInputs) -> dict[str, Any]:
        """`{id, answers}` of each row."""
        rows = zip(self._ids(question), self._right(question), strict=True)
        return {"references": [{"id": name, "answers": right} for name, right in rows]}

    def default_metric(self, question: EvaluationInputs) -> str:
        """Return "squad_v2" where questions may have no answer, else "squad"."""
        return "squad_v2" if self._may_be_none(question) else self.metric

    def predictions(self, answers: list[Any], question: EvaluationInputs, predictor: Predictor) -> dict[str, Any]:
        """`{id, prediction_text}`, with `no_answer_probability` where questions may have no answer."""
        rows, allows_no_answer = [], self._may_be_none(question)
        for row, (name, answer) in enumerate(zip(self._ids(question), answers, strict=True)):
            span = _answer(answer, row)
            prediction = {"id": name, "prediction_text": span["answer"]}
            if allows_no_answer:
                prediction["no_answer_probability"] = _no_answer_probability(span)
            rows.append(prediction)
        return {"predictions": rows}

    def _ids(self, question: EvaluationInputs) -> list[str]:
        """The rows' names; their numbers where the data has no such column."""
        if question["id_column"] == self.defaults["id_column"] and "id" not in question.table.columns:
            return [str(row) for row in range(len(question.table))]
        return [str(row_id) for row_id in question.column("id_column")]

    def _right(self, question: EvaluationInputs) -> list[dict[str, Any]]:
        column = question.column("label_column")
        return [_answers(value, question["label_column"], row) for row, value in enumerate(column)]

    def _may_be_none(self, question: EvaluationInputs) -> bool:
        if question["squad_v2_format"] is not None:
            return bool(question["squad_v2_format"])
        return any(not right["text"] for right in self._right(question))


def _answers(value: Any, name: str, row: int) -> dict[str, Any]:
    """Right answers from `{text, answer_start}`, a list of such for one answer each, texts, or a text."""
    if isinstance(value, str):
        value = [value]
    if isinstance(value, Mapping) and "text" in value:
        texts, starts = value["text"], value.get("answer_start")
        texts = [texts] if isinstance(texts, str) else list(texts)
        starts = [starts] if isinstance(starts, int) else list(starts) if starts is not None else [-1] * len(texts)
        return {"text": texts, "answer_start": [int(start) for start in starts]}
    items: list[Any] = list(value) if hasattr(value, "__iter__") and not isinstance(value, Mapping) else [None]
    if all(isinstance(item, Mapping) and "text" in item for item in items):
        starts = [int(item.get("answer_start", item.get("start", -1))) for item in items]
        return {"text": [item["text"] for item in items], "answer_start": starts}
    if not all(isinstance(item, str) for item in items):
        raise ValueError(f"{name}: row {row} is {value!r}; give {{'text': [...], 'answer_start': [...]}} or texts")
    return {"text": items, "answer_start": [-1] * len(items)}


def _answer(answer: Any, row: int) -> Mapping[str, Any]:
    if isinstance(answer, list) and answer:
        answer = answer[0]
    if isinstance(answer, str):
        return {"answer": answer}
    if not isinstance(answer, Mapping) or not isinstance(answer.get("answer"), str):
        raise ValueError(f"row {row}: the model answered {answer!r}; an answer is a text or {{'answer': text, ...}}")
    return answer


def _no_answer_probability(answer: Mapping[str, Any]) -> float:
    """The probability that there is no answer, as far as the model gives it."""
    if answer.get("no_answer") is not None:
        return float(answer["no_answer"])
    empty = not answer["answer"]
    score = answer.get("score")
    if score is None:
        return float(empty)
    return float(score) if empty else 1.0 - float(score)
