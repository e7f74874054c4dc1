"""A refusal that an option would mend."""

from collections.abc import Mapping, Sequence
from typing import Any


class Unchosen(ValueError):
    """The data need another choice of options; `choices` are those that these data can be computed with."""

    def __init__(self, told: str, choices: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(told)
        self.choices = choices
