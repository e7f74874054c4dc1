"""Metrics with options as people write them: `f1:average=macro`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynabench.evaluate import loading
from dynabench.evaluate.inputs import module_options
from dynabench.evaluate.module import Module


@dataclass(frozen=True, eq=False)
class ChosenMetric:
    """A metric with its options, as `--metric f1:average=macro` says."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    unnamed: type[Module] | None = None  # a task's own metric that no name finds

    @classmethod
    def of(cls, metric: str | Module) -> "ChosenMetric":
        """The metric of this name, or the one that is given itself."""
        return cls(metric) if isinstance(metric, str) else cls(metric.name, unnamed=type(metric))

    @property
    def title(self) -> str:
        """The name, with the options that are set."""
        return " ".join([self.name, *(f"{name}={value}" for name, value in self.options.items())])

    @property
    def kind(self) -> type[Module]:
        """The module's class."""
        return self.unnamed or loading.find_module(self.name)

    def module(self) -> Module:
        """The module, ready to compute."""
        return self.kind(None, **self.options)


def parse_metric(text: str) -> ChosenMetric:
    """`f1:average=macro,pos_label=1`. Raises ValueError for a module or an option that is not there."""
    name, _, rest = text.partition(":")
    if Path(text).suffix == ".py":  # a path may hold a colon
        name, rest = text, ""
    known_options = module_options(loading.find_module(name))
    chosen = {}
    for part in re.split(r",(?=\w+=)", rest) if rest else []:
        key, equals, value = part.partition("=")
        if key not in known_options or not equals:
            raise ValueError(f"{name} has no option {key!r}; its options are {', '.join(known_options) or 'none'}")
        try:
            chosen[key] = known_options[key].read(value)
        except ValueError as error:
            raise ValueError(f"{name}: {key} {error}") from None
    return ChosenMetric(name, chosen)
