"""Prompts: a template with the inputs in it, and what a model that writes means by what it wrote."""

import re
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dynabench.kit.errors import Invalid
from dynabench.models.backends.transformers import TransformersOptions
from dynabench.models.protocol import Inputs, ModelCard, ModelOutput
from dynabench.models.validity import LONGEST, Broken

LABELS = "labels"
"""A placeholder for all labels, besides the inputs."""
EXCERPT_LENGTH = 200
QUOTES = " \"'“”‘’"


class Prompt:
    """A template such as `{premise} Does it follow that {hypothesis}?`; double braces stand for braces.

    Placeholders are names of inputs, or `labels`; nothing else is looked up in them.
    """

    def __init__(self, template: str, card: ModelCard, name: str = "options.prompt") -> None:
        """Raises `Invalid` for a template that cannot be filled."""
        self._labels = ", ".join(card.labels)
        fields = {field for field in card.inputs if field not in card.images}
        try:
            self._parts = list(string.Formatter().parse(template))
        except ValueError as error:
            raise Invalid({name: f"{error}. Write {{{{ and }}}} for braces that are meant."}) from error
        for _, field, how, conversion in self._parts:
            if field is not None and (how or conversion or field not in fields | {LABELS}):
                placeholders = ", ".join(f"{{{placeholder}}}" for placeholder in sorted(fields | {LABELS}))
                raise Invalid(
                    {name: f"{{{field}}} is none of {placeholders}. Write {{{{ and }}}} for braces that are meant."}
                )

    @property
    def order(self) -> list[str]:
        """The inputs in the order in which they stand in the template."""
        return [field for _, field, _, _ in self._parts if field not in (None, LABELS)]

    def fill(self, texts: Mapping[str, str]) -> str:
        """The template with these texts in it."""
        text_by_field = {LABELS: self._labels, **texts}
        return "".join(
            literal + (text_by_field[field] if field is not None else "") for literal, field, _, _ in self._parts
        )


def harmless(text: str, special: Iterable[str]) -> str:
    """The text with a space inside everything that the tokenizer would take for a mark of its own, such as the end of a
    turn: an author of an input must not be able to speak for the system.
    """
    marks = sorted((mark for mark in special if len(mark) > 1 and mark in text), key=len, reverse=True)
    for mark in marks:
        text = text.replace(mark, f"{mark[0]} {mark[1:]}")
    return text


def meant(card: ModelCard, options: TransformersOptions, written: str, inputs: Inputs) -> ModelOutput:
    """The answer that a model wrote, strictly read; raises `Broken`, with the text, for what is none.

    A label is meant when the text begins with it and no other label occurs in it; case, quotes and punctuation around
    it do not count. A span is meant when the whole text stands in the last input.
    """
    extras = {"generated": written[:LONGEST]}
    if card.returns == "text":
        return ModelOutput({card.answer: written.strip()[:LONGEST]}, None, extras)
    if card.returns == "label":
        return ModelOutput({card.answer: label(written, card.labels, options.labels)}, None, extras)
    return ModelOutput({card.answer: spans(written, inputs[card.inputs[-1]])}, None, extras)


def label(written: str, labels: Sequence[str], label_by_word: Mapping[str, str]) -> str:
    """The label that is meant; `label_by_word` maps the model's words to labels. Raises `Broken`."""
    names = {name.casefold(): name for name in labels} | {
        word.strip().casefold(): name for word, name in label_by_word.items()
    }
    longest = sorted(names, key=len, reverse=True)
    pattern = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in longest)
    places = list(re.finditer(pattern, written.casefold()))
    matches = {names[place.group()] for place in places}
    if len(matches) != 1 or re.search(r"\w", written.casefold()[: places[0].start()]):
        message = f"It wrote {_short(written)}, which is not one of the labels {', '.join(labels)}"
        raise Broken(f"{message}. Ask in the prompt for the label alone, or set answer: likelihood.")
    return matches.pop()


def spans(written: str, passage: str) -> list[dict[str, Any]]:
    """Return the first place of the written text in the passage; an empty list for an empty text.

    Raises `Broken` for a text that is not in the passage.
    """
    text = written.strip()
    for candidate in (text, text.strip(QUOTES), text.strip(f"{QUOTES}.")):
        at = passage.find(candidate)
        if at >= 0:
            return [{"start": at, "end": at + len(candidate), "text": candidate}] if candidate else []
    raise Broken(f"It wrote {_short(written)}, which the passage does not say. Ask in the prompt to copy from it.")


def fits(card: ModelCard, options: TransformersOptions) -> None:
    """Raise `Invalid` for a card that no model that writes can serve."""
    wrong: dict[str, str] = {}
    if card.returns == "tags":
        wrong["returns"] = "A model that writes returns a label, spans or text."
    if card.images:
        wrong["images"] = "It reads texts alone."
    strangers = sorted(set(options.labels.values()) - set(card.labels)) if card.returns == "label" else []
    if strangers:
        wrong["options.labels"] = f"{', '.join(strangers)} are none of the labels {', '.join(card.labels)}."
    if wrong:
        raise Invalid(wrong)
    if options.prompt:
        Prompt(options.prompt, card)
        Prompt(options.system, card, "options.system")


def _short(text: str) -> str:
    return repr(text if len(text) <= EXCERPT_LENGTH else f"{text[:EXCERPT_LENGTH]}...")
