"""How models of the simulation are made: what they read of a text, how they learn, what they answer."""

from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from dynabench.cycle.simulation.encoding import Tell
from dynabench.cycle.simulation.material import Ints, Material, Rows
from dynabench.errors import Invalid

Shares = NDArray[np.float64]
"""Probabilities of each answer, shape (n, K)."""
Read = NDArray[Any]
"""What a method's models read of n rows, shape (n, ...): places choose among them."""
M = TypeVar("M")


class Method(ABC, Generic[M]):
    """One way to learn. The same rows, seed and threads give the same answers."""

    told: ClassVar[str]
    """The model in the report's words, what it does not show, and how it was run."""
    limits: ClassVar[str]
    ran: ClassVar[str]

    def __init__(self, material: Material) -> None:
        self.material = material

    @abstractmethod
    def embed(self, rows: Rows, cache: Path, tell: Tell) -> Read:
        """What models read of rows; what is worth keeping of it lies in the folder `cache`."""

    @abstractmethod
    def fit(self, read: Read, labels: Ints, development: tuple[Read, Ints], seed: int) -> M:
        """A model of these rows, chosen on the development rows."""

    @abstractmethod
    def predict(self, model: M, read: Read) -> Shares:
        """What a model answers."""


METHODS = {"heads": "head:Heads", "lora": "lora:Adapters"}
"""By name where a method is; each is imported when it is asked for."""


def kind(name: str) -> type[Method[Any]]:
    """The method of a name; raises `Invalid` with those that there are."""
    if name not in METHODS:
        raise Invalid({"method": f"One of {', '.join(METHODS)}."})
    module, _, called = METHODS[name].partition(":")
    return cast(type[Method[Any]], getattr(import_module(f"dynabench.cycle.simulation.{module}"), called))
