"""The catalogues as templates and scripts use them."""

import json
from functools import cache
from typing import Any

from dynabench.kit.language import FOLDER, catalogue, current


def gettext(message: str) -> str:
    """A template's text in the current language."""
    return catalogue(current.get()).gettext(message)


def ngettext(message: str, plural: str, number: int) -> str:
    """A template's text about `number` things in the current language."""
    return catalogue(current.get()).ngettext(message, plural, number)


def pgettext(context: str, message: str) -> str:
    """A template's text that means different things in different places."""
    return catalogue(current.get()).pgettext(context, message)


def script_texts() -> dict[str, str]:
    """Return the texts of the pages' scripts, English to the current language; {} for English."""
    return {} if current.get() == "en" else _script_texts(current.get())


@cache
def _script_texts(language: str) -> dict[str, str]:
    words = catalogue(language)
    return {text: words.gettext(text) for text in _texts()}


@cache
def _texts() -> tuple[str, ...]:
    messages: Any = json.loads((FOLDER / "scripts.json").read_text("utf-8"))
    return tuple(messages)
