"""The check that a model can be a target of a task.

Drafting a round and checking a model both use it, so that both give the same answer.
"""

from dynabench.models import check_words, kinds
from dynabench.models.protocol import Card
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice, Field, Spans, Text


def as_target(config: TaskConfig, card: Card) -> dict[str, str]:
    """Return the reasons why the model cannot be asked live, by line of `model.yaml`; empty if it fits."""
    if config.drawing is not None and card.returns != "pictures":
        return {"returns": check_words.NOT_DRAWING % {"name": card.name}}
    return problems(config, card)


def problems(config: TaskConfig, card: Card) -> dict[str, str]:
    """Return the reasons why the model cannot answer the task, by line of `model.yaml`; empty if it fits.

    Where the round's models draw, other models may still answer the questions that people are asked about
    the pictures.
    """
    if config.chat is not None:
        fits = card.returns == "text" and card.kind in kinds.kinds() and kinds.kind(card.kind).converses
        return {} if fits else {"returns": check_words.NOT_CONVERSING % {"name": card.name}}
    found: dict[str, str] = {}
    given = list(config.model_inputs({}, {}))
    if lacking := [name for name in card.inputs if name not in given]:
        names = {"name": card.name, "lacking": ", ".join(lacking), "given": ", ".join(given)}
        found["inputs"] = check_words.LACKS_FIELDS % names
    if card.returns == "pictures":
        return found | _drawn(config, card)
    answers = {field.name: field for field in config.answer}
    if card.answer not in answers:
        names = {"name": card.name, "answer": repr(card.answer), "known": ", ".join(answers)}
        return found | {"answer": check_words.NO_ANSWER % names}
    return found | _of_another_form(answers[card.answer], card)


def unsaid(config: TaskConfig, card: Card) -> list[str]:
    """Options of the task that the model never answers, though it may well be a target."""
    field = next((field for field in config.answer if field.name == card.answer), None)
    return [value for value in field.values if value not in card.labels] if isinstance(field, Choice) else []


def _drawn(config: TaskConfig, card: Card) -> dict[str, str]:
    name = config.drawing.name if config.drawing else ""
    if not name:
        return {"returns": check_words.NOT_ASKED_TO_DRAW % {"name": card.name}}
    if card.answer != name:
        names = {"name": card.name, "answer": repr(card.answer), "drawn": repr(name)}
        return {"answer": check_words.OTHER_PICTURE % names}
    return {"inputs": check_words.READS_PICTURE} if name in card.inputs else {}


def _of_another_form(field: Field, card: Card) -> dict[str, str]:
    if isinstance(field, Choice):
        strangers = [label for label in card.labels if label not in field.values]
        if card.returns in ("spans", "tags") or (card.returns == "label" and strangers):
            labels = ", ".join(strangers) or card.returns
            names = {"name": card.name, "labels": labels, "options": ", ".join(field.values)}
            return {"labels": check_words.OTHER_LABELS % names}
    wanted = "spans" if isinstance(field, Spans) else "text" if isinstance(field, Text) else ""
    also = {"spans": "tags", "text": "label"}.get(wanted)  # a label is a text
    if wanted and card.returns not in (wanted, also):
        names = {"name": card.name, "returned": card.returns, "answer": repr(field.name), "wanted": wanted}
        return {"returns": check_words.OTHER_FORM % names}
    return {}
