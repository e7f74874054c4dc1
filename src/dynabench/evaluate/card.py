"""Cards of modules: what each measures, how, on what scale and where it misleads, for pages, documentation, tests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Output:
    """One key of the result: its range (None: unbounded) and the better direction (None: neither)."""

    name: str
    text: str
    low: float | None = None
    high: float | None = None
    better: Literal["higher", "lower"] | None = None


@dataclass(frozen=True)
class Example:
    """A worked example of inputs and result. Each runs as a test; the first fills the form of the web page.

    `result` may name only some of the keys; numbers are compared to 6 digits. An example of a refusal has `error`
    instead of `result`: the message of the ValueError.
    """

    title: str
    inputs: Mapping[str, Any]
    result: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    config: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Card:
    """All that a reader must know about a module before trusting its numbers.

    `inputs` and `options` say in a line each what the columns and keyword arguments of `compute` mean; `formula`
    is plain text or TeX; `citation` BibTeX or a reference; `needs` names the extras with the libraries that the
    module uses ("metrics", "models"), `resource` what the caller has to pass because it cannot be shipped (a
    model's weights).
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
