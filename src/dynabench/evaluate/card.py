"""A module's card: what it measures, how, on what scale, where it misleads. Documentation, pages and tests use it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Output:
    """One key of the result: its range (None: unbounded) and which way is better (None: neither)."""

    name: str
    text: str
    low: float | None = None
    high: float | None = None
    better: Literal["higher", "lower"] | None = None


@dataclass(frozen=True)
class Example:
    """A worked example: what goes in and what comes out. Each runs as a test; the first fills the web page's form.

    `result` may name some of the keys only; numbers are compared to 6 digits. With `error` in its place, the words
    that the ValueError says.
    """

    title: str
    inputs: Mapping[str, Any]
    result: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    config: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Card:
    """All that a reader must know before trusting a number.

    `inputs` and `options` say in a line each what the columns and keyword arguments of `compute` mean; `formula` is
    plain text or TeX; `citation` BibTeX or a reference; `needs` names the extras of which the module uses libraries
    ("metrics", "models"), `resource` what has to be given because it cannot be shipped (a model's weights).
    """

    description: str
    formula: str
    inputs: Mapping[str, str]
    outputs: tuple[Output, ...]
    examples: tuple[Example, ...]
    limits: str
    citation: str
    options: Mapping[str, str] = field(default_factory=dict)
    tasks: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    resource: str = ""
    references: tuple[str, ...] = ()
