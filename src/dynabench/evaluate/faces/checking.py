"""Check that a module's worked examples give the results that its card says."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dynabench.evaluate.card import Example
from dynabench.evaluate.missing_library import MissingLibrary
from dynabench.evaluate.module import Module


@dataclass
class ExampleReport:
    """A sentence for each example of a module that fails, and for each that needs a library that is not installed."""

    failures: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)


def check_examples(module: type[Module]) -> ExampleReport:
    """Compute all worked examples of a module and return the report."""
    report = ExampleReport()
    for example in module.card.examples:
        try:
            failure = _failure(module, example)
        except MissingLibrary as lacking:
            report.lacking.append(f"{example.title}: {lacking}")
        else:
            report.failures += [f"{example.title}: {failure}"] if failure else []
    return report


def failures(module: type[Module]) -> list[str]:
    """Return a sentence for each example with another result than the card says; [] where all agree."""
    return check_examples(module).failures


def matches_expected(actual: Any, expected: Any) -> bool:
    """Return whether a result has all that is expected, numbers to 6 digits."""
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(
            key in actual and matches_expected(actual[key], expected[key]) for key in expected
        )
    if isinstance(expected, list | tuple):
        return (
            isinstance(actual, list | tuple)
            and len(actual) == len(expected)
            and all(map(matches_expected, actual, expected))
        )
    if isinstance(expected, float | int) and not isinstance(expected, bool) and isinstance(actual, float | int):
        return math.isclose(actual, expected, rel_tol=1e-6, abs_tol=1e-9)
    return bool(actual == expected)


def _failure(module: type[Module], example: Example) -> str:
    try:
        result = module(example.config).compute(**example.inputs, **example.options)
    except MissingLibrary:
        raise
    except ValueError as error:
        if example.error is None:
            return f"it is refused: {error}"
        return "" if example.error in str(error) else f"the error is {error!s}, not {example.error!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if example.error is not None:
        return f"it gives {result} and no error"
    return (
        ""
        if matches_expected(result, dict(example.result))
        else f"it gives {result}, the card says {dict(example.result)}"
    )
