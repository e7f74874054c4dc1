"""Answers that stand in a passage."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dynabench.evaluate.evaluator.base import Evaluator, Question
from dynabench.evaluate.evaluator.classifying import built
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.resolving import Parts


class QuestionAnsweringEvaluator(Evaluator):
    """SQuAD's format: `answers` holds `{text, answer_start}`, lists of all right answers, empty where there is none.

    `squad_v2_format` says whether questions may have no answer; by default the data tells. Then the model may answer
    nothing, and the metric is "squad_v2".
    """

    metric = "squad"
    defaults: ClassVar[Mapping[str, Any]] = {
        "question_column": "question",
        "context_column": "context",
        "id_column": "id",
        "label_column": "answers",
        "squad_v2_format": None,
    }

    def inputs(self, question: Question) -> Sequence[Any]:
        """Dictionaries of `question` and `context`."""
        rows = zip(question.texts("question_column"), question.texts("context_column"), strict=True)
        return [{"question": asked, "context": context} for asked, context in rows]

    def network(self, parts: Parts, question: Question) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.reader import Reader

        reader = built(Reader, parts, parts.tokenizer, "AutoTokenizer")
        reader.impossible = self._may_be_none(question)
        return reader  # type: ignore[no-any-return]

    def references(self, question: Question) -> dict[str, Any]:
        """`{id, answers}` of each row."""
        rows = zip(self._ids(question), self._right(question), strict=True)
        return {"references": [{"id": name, "answers": right} for name, right in rows]}

    def default_metric(self, question: Question) -> str:
        """By whether questions may have no answer."""
        return "squad_v2" if self._may_be_none(question) else self.metric

    def predictions(self, answers: list[Any], question: Question, predictor: Predictor) -> dict[str, Any]:
        """`{id, prediction_text}`, with `no_answer_probability` where questions may have no answer."""
        found, may_be_none = [], self._may_be_none(question)
        for row, (name, answer) in enumerate(zip(self._ids(question), answers, strict=True)):
            said = _answer(answer, row)
            one = {"id": name, "prediction_text": said["answer"]}
            if may_be_none:
                one["no_answer_probability"] = _nothing(said)
            found.append(one)
        return {"predictions": found}

    def _ids(self, question: Question) -> list[str]:
        """The rows' names; their numbers where the data has no such column."""
        if question["id_column"] == self.defaults["id_column"] and "id" not in question.table.columns:
            return [str(row) for row in range(len(question.table))]
        return [str(one) for one in question.column("id_column")]

    def _right(self, question: Question) -> list[dict[str, Any]]:
        column = question.column("label_column")
        return [_answers(value, question["label_column"], row) for row, value in enumerate(column)]

    def _may_be_none(self, question: Question) -> bool:
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
    if all(isinstance(one, Mapping) and "text" in one for one in items):
        starts = [int(one.get("answer_start", one.get("start", -1))) for one in items]
        return {"text": [one["text"] for one in items], "answer_start": starts}
    if not all(isinstance(one, str) for one in items):
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


def _nothing(said: Mapping[str, Any]) -> float:
    """The probability that there is no answer, as far as the model tells it."""
    if said.get("no_answer") is not None:
        return float(said["no_answer"])
    empty = not said["answer"]
    score = said.get("score")
    if score is None:
        return float(empty)
    return float(score) if empty else 1.0 - float(score)
