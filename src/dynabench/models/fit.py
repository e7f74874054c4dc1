"""Whether a model can be a target of a task: the same answer where rounds are drafted and where models are checked."""

from dynabench.language import _
from dynabench.models import kinds
from dynabench.models.protocol import Card
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice, Field, Spans, Text


def as_target(config: TaskConfig, card: Card) -> dict[str, str]:
    """What keeps the model from being asked live, by the line of `model.yaml` that says so; empty if it fits."""
    if config.drawing is not None and card.returns != "pictures":
        return {"returns": _("%(name)s does not draw: this task needs models of kind openai-images.", name=card.name)}
    return problems(config, card)


def problems(config: TaskConfig, card: Card) -> dict[str, str]:
    """What keeps the model from answering the task, by the line of `model.yaml` that says so; empty if it fits.

    Where the round's models draw, others may still answer what people are asked about the pictures.
    """
    if config.chat is not None:
        fits = card.returns == "text" and card.kind in kinds.kinds() and kinds.kind(card.kind).converses
        told = _(
            "%(name)s does not converse: a chat needs language models of kind openai or transformers", name=card.name
        )
        return {} if fits else {"returns": _("%(told)s with returns: text.", told=told)}
    found: dict[str, str] = {}
    given = list(config.model_inputs({}, {}))
    if lacking := [name for name in card.inputs if name not in given]:
        told = _("%(name)s needs the fields %(names)s, which the task lacks", name=card.name, names=", ".join(lacking))
        found["inputs"] = _("%(told)s; it has %(names)s.", told=told, names=", ".join(given))
    if card.returns == "pictures":
        return found | _drawn(config, card)
    answers = {field.name: field for field in config.answer}
    if card.answer not in answers:
        told = _(
            "%(name)s answers %(answer)s, which is no answer of the task", name=card.name, answer=repr(card.answer)
        )
        return found | {"answer": _("%(told)s; answers are %(names)s.", told=told, names=", ".join(answers))}
    return found | _of_another_form(answers[card.answer], card)


def unsaid(config: TaskConfig, card: Card) -> list[str]:
    """Options of the task that the model never answers, though it may well be a target."""
    field = next((field for field in config.answer if field.name == card.answer), None)
    return [value for value in field.values if value not in card.labels] if isinstance(field, Choice) else []


def _drawn(config: TaskConfig, card: Card) -> dict[str, str]:
    name = config.drawing.name if config.drawing else ""
    if not name:
        return {"returns": _("%(name)s draws pictures, which nobody asks for in this task.", name=card.name)}
    if card.answer != name:
        return {
            "answer": _(
                "%(name)s answers %(answer)s; what is drawn in this task is %(name2)s.",
                name=card.name,
                answer=repr(card.answer),
                name2=repr(name),
            )
        }
    return {"inputs": _("What is drawn cannot be read before.")} if name in card.inputs else {}


def _of_another_form(field: Field, card: Card) -> dict[str, str]:
    if isinstance(field, Choice):
        strangers = [label for label in card.labels if label not in field.values]
        if card.returns in ("spans", "tags") or (card.returns == "label" and strangers):
            told = _("%(name)s returns %(what)s", name=card.name, what=", ".join(strangers) or card.returns)
            return {
                "labels": _("%(told)s; the task's options are %(names)s.", told=told, names=", ".join(field.values))
            }
    wanted = "spans" if isinstance(field, Spans) else "text" if isinstance(field, Text) else ""
    also = {"spans": "tags", "text": "label"}.get(wanted)  # a label is a text
    if wanted and card.returns not in (wanted, also):
        return {
            "returns": _(
                "%(name)s returns %(returns)s; the task's answer %(name2)s is %(wanted)s.",
                name=card.name,
                returns=card.returns,
                name2=repr(field.name),
                wanted=wanted,
            )
        }
    return {}
