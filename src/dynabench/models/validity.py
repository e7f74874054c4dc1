"""The checks that a model fits a task, and that its output is an answer.

Drafting a round, checking a model and serving it use the same, so that all of them agree."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dynabench.kit.errors import Unavailable
from dynabench.kit.storable import unstorable
from dynabench.models import check_report, kinds
from dynabench.models.protocol import LARGEST, Inputs, ModelCard, ModelOutput
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice, Field, Spans, Text

SLACK = 1e-3
"""By how much probabilities may miss one."""
LONGEST = 20_000
"""Characters of a written answer."""
MOST = 1000
"""Spans of an answer, or texts with a probability."""
DRAWN = 12
"""Pictures of an answer."""
EXTRAS = 2**18
"""Characters of JSON that extras may take."""
SPAN = {"start", "end", "text"}


class Broken(Unavailable):
    """A model returned something that is no answer; says which row, what is wrong and what would be right."""


def check_outputs(card: ModelCard, batch: Sequence[Inputs], outputs: Any) -> list[ModelOutput]:
    """Return the outputs, one for each input of the batch, if each is an answer; raise `Broken` otherwise."""
    if not isinstance(outputs, list | tuple) or not all(isinstance(output, ModelOutput) for output in outputs):
        raise Broken(f"{card.name} did not return a list of outputs.")
    if len(outputs) != len(batch):
        raise Broken(f"{card.name} returned {len(outputs)} outputs for {len(batch)} inputs; one for each is needed.")
    for row, (inputs, output) in enumerate(zip(batch, outputs, strict=True)):
        if fault := _wrong(card, inputs, output):
            raise Broken(f"{card.name}, output {row}: {fault}")
    return list(outputs)


def _wrong(card: ModelCard, inputs: Inputs, output: ModelOutput) -> str:
    if not isinstance(output.answer, Mapping) or card.answer not in output.answer:
        return f"the answer lacks {card.answer!r}."
    answer = output.answer[card.answer]
    if card.returns == "label" and answer not in card.labels:
        return f"{_short(answer)} is none of the labels {', '.join(card.labels)}."
    if card.returns == "text" and (not isinstance(answer, str) or len(answer) > LONGEST):
        return f"a text of up to {LONGEST} characters is needed, not {_short(answer)}."
    if card.returns in ("spans", "tags") and (fault := _wrong_spans(card, inputs, answer)):
        return fault
    if card.returns == "pictures" and (fault := _wrong_pictures(answer)):
        return fault
    return (
        _wrong_probabilities(card, output.probabilities)
        or _wrong_extras(output.extras)
        or _wrong_text(inputs, answer, output.probabilities or {}, output.extras)
    )


def _wrong_spans(card: ModelCard, inputs: Inputs, answer: Any) -> str:
    text = str(inputs.get(card.inputs[-1], ""))
    if not isinstance(answer, list) or len(answer) > MOST:
        return f"a list of up to {MOST} spans is needed, not {_short(answer)}."
    for span in answer:
        if not isinstance(span, Mapping) or not all(type(span.get(end)) is int for end in ("start", "end")):
            return f"a span is {{start, end, text}} with whole numbers, not {_short(span)}."
        if strangers := set(span) - (SPAN | {"label"} if card.returns == "tags" else SPAN):
            return f"a span has no {_short(strangers.pop())}; put what else there is to say into extras."
        start, end = span["start"], span["end"]
        if not 0 <= start <= end <= len(text) or span.get("text") != text[start:end]:
            return f"the span {_short(span)} is not what {card.inputs[-1]!r} says there."
        if card.returns == "tags" and span.get("label") not in card.labels:
            return f"{_short(span.get('label'))} is none of the labels {', '.join(card.labels)}."
    return ""


def _wrong_pictures(answer: Any) -> str:
    if not isinstance(answer, list) or not 1 <= len(answer) <= DRAWN:
        return f"a list of 1 to {DRAWN} pictures is needed, not {_short(answer)}."
    for picture in answer:
        if not isinstance(picture, str) or not picture.startswith("data:image/") or len(picture) > LARGEST:
            return f"a picture is a data:image/... text of up to {LARGEST // 2**20} MiB, not {_short(picture)}."
    return ""


def _wrong_probabilities(card: ModelCard, probabilities: Any) -> str:
    if probabilities is None:
        return ""
    if not isinstance(probabilities, Mapping):
        return f"probabilities are an object from label to number, not {_short(probabilities)}."
    for label, value in probabilities.items():
        if not isinstance(value, float | int) or isinstance(value, bool):
            return f"the probability of {_short(label)} is {_short(value)}, a {type(value).__name__}, not a number."
        if not -SLACK <= value <= 1 + SLACK:
            return f"the probability of {_short(label)} is {_short(value)}; it must lie between 0 and 1."
    if card.returns != "label":
        fits = len(probabilities) <= MOST and all(
            isinstance(text, str) and len(text) <= LONGEST for text in probabilities
        )
        return "" if fits else f"probabilities are given for up to {MOST} texts of up to {LONGEST} characters."
    if set(probabilities) != set(card.labels):
        return (
            f"probabilities are given for {_short(sorted(map(str, probabilities)))}; needed: {', '.join(card.labels)}."
        )
    total = sum(probabilities.values())
    return "" if abs(total - 1) <= SLACK else f"the probabilities sum to {total:.4g}, not 1; apply a softmax."


def _wrong_extras(extras: Any) -> str:
    if not extras:
        return ""
    try:
        size = len(json.dumps(extras, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return f"extras must be values of JSON, not {_short(extras)}."
    return "" if size <= EXTRAS else f"extras take {size} characters as JSON; {EXTRAS} at most are kept."


def _wrong_text(inputs: Inputs, answer: Any, probabilities: Mapping[str, float], extras: Any) -> str:
    """Return the fault of text that cannot be stored; empty where it has none.

    Where the inputs hold such text, an answer may quote it.
    """
    if not extras and all(isinstance(text, str) and text.isprintable() for text in (answer, *probabilities)):
        return ""  # as nearly all labels are: nothing has to be looked through
    if not any(unstorable([answer, probabilities, extras])) or any(unstorable(list(inputs.values()))):
        return ""
    return "it holds NUL, half a surrogate pair or very deep nesting, which cannot be stored; write valid Unicode."


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, or nesting without end
        return f"a {type(value).__name__} beyond measure"
    return text if len(text) <= 80 else f"{text[:77]}..."


def target_problems(config: TaskConfig, card: ModelCard) -> dict[str, str]:
    """Return the reasons why the model cannot be asked live, by line of `model.yaml`; empty if it fits."""
    if config.drawing is not None and card.returns != "pictures":
        return {"returns": check_report.NOT_DRAWING % {"name": card.name}}
    return answer_problems(config, card)


def answer_problems(config: TaskConfig, card: ModelCard) -> dict[str, str]:
    """Return the reasons why the model cannot answer the task, by line of `model.yaml`; empty if it fits.

    Where the round's models draw, other models may still answer the questions that people are asked about
    the pictures.
    """
    if config.chat is not None:
        fits = card.returns == "text" and card.kind in kinds.kinds() and kinds.kind(card.kind).converses
        return {} if fits else {"returns": check_report.NOT_CONVERSING % {"name": card.name}}
    problems: dict[str, str] = {}
    available = list(config.model_inputs({}, {}))
    if lacking := [name for name in card.inputs if name not in available]:
        names = {"name": card.name, "lacking": ", ".join(lacking), "given": ", ".join(available)}
        problems["inputs"] = check_report.LACKS_FIELDS % names
    if card.returns == "pictures":
        return problems | _drawing_problems(config, card)
    answers = {field.name: field for field in config.answer}
    if card.answer not in answers:
        names = {"name": card.name, "answer": repr(card.answer), "known": ", ".join(answers)}
        return problems | {"answer": check_report.NO_ANSWER % names}
    return problems | _form_problems(answers[card.answer], card)


def unanswered_options(config: TaskConfig, card: ModelCard) -> list[str]:
    """Options of the task that the model never answers, though it may well be a target."""
    field = next((field for field in config.answer if field.name == card.answer), None)
    return [value for value in field.values if value not in card.labels] if isinstance(field, Choice) else []


def _drawing_problems(config: TaskConfig, card: ModelCard) -> dict[str, str]:
    name = config.drawing.name if config.drawing else ""
    if not name:
        return {"returns": check_report.NOT_ASKED_TO_DRAW % {"name": card.name}}
    if card.answer != name:
        names = {"name": card.name, "answer": repr(card.answer), "drawn": repr(name)}
        return {"answer": check_report.OTHER_PICTURE % names}
    return {"inputs": check_report.READS_PICTURE} if name in card.inputs else {}


def _form_problems(field: Field, card: ModelCard) -> dict[str, str]:
    if isinstance(field, Choice):
        strangers = [label for label in card.labels if label not in field.values]
        if card.returns in ("spans", "tags") or (card.returns == "label" and strangers):
            labels = ", ".join(strangers) or card.returns
            names = {"name": card.name, "labels": labels, "options": ", ".join(field.values)}
            return {"labels": check_report.OTHER_LABELS % names}
    expected = "spans" if isinstance(field, Spans) else "text" if isinstance(field, Text) else ""
    also = {"spans": "tags", "text": "label"}.get(expected)  # a label is a text
    if expected and card.returns not in (expected, also):
        names = {"name": card.name, "returned": card.returns, "answer": repr(field.name), "wanted": expected}
        return {"returns": check_report.OTHER_FORM % names}
    return {}
