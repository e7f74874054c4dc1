"""Prompts from templates: `{field}` stands for an input, `{labels}` for the options."""

import re
from collections.abc import Iterable, Mapping

from dynabench.kit.errors import Invalid
from dynabench.models.protocol import Card, Inputs

_PLACE = re.compile(r"\{(\w+)\}")


def check(card: Card, template: str, name: str = "options.prompt") -> None:
    """Raise `Invalid` for places that the card has nothing for, and for a template that no input enters."""
    known = [*(field for field in card.inputs if field not in card.images), "labels"]
    places = _PLACE.findall(template)
    if strangers := sorted(set(places) - set(known)):
        told = f"There is nothing for {_braced(strangers)}; there are {_braced(known)}."
        raise Invalid({name: told})


def filled(template: str, card: Card, inputs: Inputs) -> str:
    """The template with its places filled, in one pass: braces within an input stay what they are."""
    values: Mapping[str, str] = {**{name: str(inputs[name]) for name in card.inputs}, "labels": ", ".join(card.labels)}
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), template)


def plain(card: Card) -> str:
    """A template where none is given: the fields by name, and what is asked for."""
    fields = "\n".join(f"{name}: {{{name}}}" for name in card.inputs if name not in card.images)
    asked = "Answer with one of: {labels}." if card.returns == "label" else f"Answer with the {card.answer} alone."
    return f"{fields}\n{asked}"


def _braced(names: Iterable[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)
