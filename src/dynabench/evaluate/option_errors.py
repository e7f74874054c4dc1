"""The error for data that need other options."""

from collections.abc import Mapping, Sequence
from typing import Any


class OptionChoiceError(ValueError):
    """The data need another choice of options; `choices` are options with which these data can be computed."""

    def __init__(self, message: str, choices: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(message)
        self.choices = choices
