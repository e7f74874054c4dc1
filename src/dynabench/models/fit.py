"""Whether a model can be a target of a task: the same answer where rounds are drafted and where models are checked."""

from dynabench.models import kinds
from dynabench.models.protocol import Card
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice, Field, Spans, Text


def problems(config: TaskConfig, card: Card) -> dict[str, str]:
    """What keeps the model from answering the task, by the line of `model.yaml` that says so; empty if it fits."""
    if config.chat is not None:
        fits = card.returns == "text" and card.kind in kinds.kinds() and kinds.kind(card.kind).converses
        told = f"{card.name} does not converse: a chat needs language models of kind openai or transformers"
        return {} if fits else {"returns": f"{told} with returns: text."}
    found: dict[str, str] = {}
    given = list(config.model_inputs({}, {}))
    if lacking := [name for name in card.inputs if name not in given]:
        told = f"{card.name} needs the fields {', '.join(lacking)}, which the task lacks"
        found["inputs"] = f"{told}; it has {', '.join(given)}."
    answers = {field.name: field for field in config.answer}
    if card.answer not in answers:
        told = f"{card.name} answers {card.answer!r}, which is no answer of the task"
        return found | {"answer": f"{told}; answers are {', '.join(answers)}."}
    return found | _of_another_form(answers[card.answer], card)


def unsaid(config: TaskConfig, card: Card) -> list[str]:
    """Options of the task that the model never answers, though it may well be a target."""
    field = next((field for field in config.answer if field.name == card.answer), None)
    return [value for value in field.values if value not in card.labels] if isinstance(field, Choice) else []


def _of_another_form(field: Field, card: Card) -> dict[str, str]:
    if isinstance(field, Choice):
        strangers = [label for label in card.labels if label not in field.values]
        if card.returns in ("spans", "tags") or (card.returns == "label" and strangers):
            told = f"{card.name} returns {', '.join(strangers) or card.returns}"
            return {"labels": f"{told}; the task's options are {', '.join(field.values)}."}
    wanted = "spans" if isinstance(field, Spans) else "text" if isinstance(field, Text) else ""
    also = {"spans": "tags", "text": "label"}.get(wanted)  # a label is a text
    if wanted and card.returns not in (wanted, also):
        return {"returns": f"{card.name} returns {card.returns}; the task's answer {field.name!r} is {wanted}."}
    return {}
