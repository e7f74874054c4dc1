"""Whether a module's worked examples give what its card says."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dynabench.evaluate.card import Example
from dynabench.evaluate.lacking import Lacking
from dynabench.evaluate.module import Module


@dataclass
class Checked:
    """Of a module's examples, a sentence for each that goes otherwise than its card says, or lacks a library here."""

    failures: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)


def check(module: type[Module]) -> Checked:
    """Compute all worked examples."""
    found = Checked()
    for example in module.card.examples:
        try:
            told = _told(module, example)
        except Lacking as lacking:
            found.lacking.append(f"{example.title}: {lacking}")
        else:
            found.failures += [f"{example.title}: {told}"] if told else []
    return found


def failures(module: type[Module]) -> list[str]:
    """What went otherwise than the card says, a sentence for each example; [] where all is well."""
    return check(module).failures


def same(found: Any, said: Any) -> bool:
    """Whether a result has all that is said, numbers to 6 digits."""
    if isinstance(said, Mapping):
        return isinstance(found, Mapping) and all(key in found and same(found[key], said[key]) for key in said)
    if isinstance(said, list | tuple):
        return isinstance(found, list | tuple) and len(found) == len(said) and all(map(same, found, said))
    if isinstance(said, float | int) and not isinstance(said, bool) and isinstance(found, float | int):
        return math.isclose(found, said, rel_tol=1e-6, abs_tol=1e-9)
    return bool(found == said)


def _told(module: type[Module], example: Example) -> str:
    try:
        found = module(example.config).compute(**example.inputs, **example.options)
    except Lacking:
        raise
    except ValueError as error:
        if example.error is None:
            return f"it is refused: {error}"
        return "" if example.error in str(error) else f"the error is {error!s}, not {example.error!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if example.error is not None:
        return f"it gives {found} and no error"
    return "" if same(found, dict(example.result)) else f"it gives {found}, the card says {dict(example.result)}"
