"""The ways to train the simulation's models: what they read of a text, how they learn, what they answer."""

from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from dynabench.kit.errors import Invalid
from experiments.simulation.task_data import IntArray, LabelledRows, TaskData
from experiments.simulation.text_vectors import ProgressCallback

Probabilities = NDArray[np.float64]
"""Probabilities of each answer, shape (n, K)."""
Features = NDArray[Any]
"""What a method's models read of n rows, shape (n, ...); indexed by row."""
M = TypeVar("M")


class TrainingMethod(ABC, Generic[M]):
    """A way to train models. The same rows, seed and number of threads give the same answers."""

    description: ClassVar[str]
    """The model in the report's words, what the report cannot show because of it, and how it was run."""
    limits: ClassVar[str]
    execution: ClassVar[str]

    def __init__(self, data: TaskData) -> None:
        self.data = data

    @abstractmethod
    def embed(self, rows: LabelledRows, folder: Path, report_progress: ProgressCallback) -> Features:
        """Compute what models read of rows; `folder` stores values that are used again."""

    @abstractmethod
    def fit(self, features: Features, labels: IntArray, development: tuple[Features, IntArray], seed: int) -> M:
        """Train a model on rows and choose among variants on the development rows."""

    @abstractmethod
    def predict(self, model: M, features: Features) -> Probabilities:
        """Return a model's probabilities."""


METHODS = {"heads": "linear_head:HeadMethod", "lora": "lora_adapter:AdapterMethod"}
"""Module and class of each method by name; a module is imported when its method is used."""


def find_method(name: str) -> type[TrainingMethod[Any]]:
    """Return the method with a name; raises `Invalid` with the list of names where there is none."""
    if name not in METHODS:
        raise Invalid({"method": f"One of {', '.join(METHODS)}."})
    module, _, class_name = METHODS[name].partition(":")
    return cast(type[TrainingMethod[Any]], getattr(import_module(f"experiments.simulation.{module}"), class_name))
