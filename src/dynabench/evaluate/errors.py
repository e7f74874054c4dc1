"""Errors that ask for other options, or for a library."""

from collections.abc import Mapping, Sequence
from typing import Any


class OptionChoiceError(ValueError):
    """The data need another choice of options; `choices` are options with which these data can be computed."""

    def __init__(self, message: str, choices: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(message)
        self.choices = choices


class MissingLibrary(ValueError):
    """A library that an option or a model needs is not installed; the message says how to install it."""
