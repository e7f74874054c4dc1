"""One score of any metric, ready to be resampled: predictions become a state, a state's total becomes a score."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, Floats, as_list, to_numpy
from dynabench.evaluate.loading import load
from dynabench.evaluate.module import Module
from dynabench.evaluate.states import Rows, State

Metric = str | Module | Callable[[Any, Any], float]


class AnyColumn(Column):
    """Values that the metric itself cleans."""

    text = "what the chosen metric takes"

    def clean(self, values: Any, name: str) -> Any:
        """Return a list or an array, unchanged."""
        values = to_numpy(values)
        return values if isinstance(values, np.ndarray) and values.ndim else as_list(values, name)


@dataclass(frozen=True)
class ModuleScore:
    """One key of a module's formula; where `key` is "", the first key of its card."""

    module: Module
    options: Mapping[str, Any]
    key: str = ""

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self.module.name

    @property
    def better(self) -> Literal["higher", "lower"] | None:
        """The better direction, if the card states it."""
        key = self.key or self.module.card.outputs[0].name
        return next((output.better for output in self.module.card.outputs if output.name == key), None)

    def state(self, predictions: Any, columns: Mapping[str, Any], name: str = "predictions") -> State:
        """Return the state of one system's predictions, which errors call `name`, with references and other columns.

        Raises ValueError for rows that the metric refuses, and for columns that it does not know.
        """
        accepted = [*self.module.columns, *self.module.optional]
        own = next((column for column in accepted if column.startswith("prediction")), None)
        stray = [column for column in columns if column not in accepted and column != "references"]
        if own is None or stray:
            raise ValueError(f"{self.name} takes {', '.join(accepted)}, not {', '.join(stray) or 'predictions'}")
        extra = {column: values for column, values in columns.items() if column in accepted}
        try:
            return self.module.state({own: predictions, **extra}, **self.options)
        except ValueError as error:
            raise ValueError(str(error).replace(f"{own}:", f"{name}:", 1)) from None

    def statistic(self, total: Any) -> Floats:
        """Return the score of a total: shape (), or (b,) for a block of b. Raises ValueError for an unknown key."""
        return np.asarray(self._chosen(self.module.formula(total, **self._its(self.module.formula))), float)

    def row_scores(self, state: State) -> Floats:
        """Return the score of each single row, shape (n,). Raises ValueError where single rows have none."""
        scores = self.module.per_example(state, **self._its(self.module.per_example))
        return np.asarray(self._chosen(scores), float)

    def _its(self, function: Callable[..., Any]) -> dict[str, Any]:
        return self.module.options_for(function, self.options)

    def _chosen(self, scores: Mapping[str, Any]) -> Any:
        key = self.key or self.module.card.outputs[0].name
        if not self.key and len(scores) == 1:
            key = next(iter(scores))
        if key not in scores:
            raise ValueError(f"{self.name} has no score {key!r}; choose as key one of {', '.join(scores)}")
        return scores[key]


@dataclass(frozen=True)
class FunctionScore:
    """The score that a function gives: `function(predictions, references) -> number`."""

    function: Callable[[Any, Any], float]
    better: Literal["higher", "lower"] | None = None

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def state(self, predictions: Any, columns: Mapping[str, Any], name: str = "predictions") -> Rows:
        """The rows as they are. Raises ValueError for columns other than references and for unequal lengths."""
        stray = [column for column in columns if column != "references"]
        if stray:
            raise ValueError(f"a function takes predictions and references, not {', '.join(stray)}")
        rows = Rows((_array(predictions), _array(columns["references"])))
        if len(rows.columns[1]) != len(rows):
            raise ValueError(f"{name} has {len(rows):,} rows, references has {len(rows.columns[1]):,}")
        return rows

    def statistic(self, total: Any) -> Floats:
        """See `ModuleScore`; the function is called for each of a block's resamples."""
        predictions, references = total
        if predictions.ndim == 1:
            return np.asarray(float(self.function(predictions, references)))
        pairs = zip(predictions, references, strict=True)
        return np.array([float(self.function(row_predictions, other)) for row_predictions, other in pairs])

    def row_scores(self, state: State) -> Floats:
        """Raise ValueError: a function has no score of a single row."""
        raise ValueError(f"{self.name} is a function without scores of each example; choose paired_bootstrap")


def make_measure(
    metric: Metric, key: str | None = None, options: Mapping[str, Any] | None = None
) -> ModuleScore | FunctionScore:
    """Return the score of a name, a module or a function in a form that can be resampled.

    Raises ValueError for an unknown name and for modules without a formula over rows, TypeError for options that
    the module does not take.
    """
    options = dict(options or {})
    if isinstance(metric, str | Module):
        module = load(metric) if isinstance(metric, str) else metric
        module._check_options(options)
        if not hasattr(module, "formula"):
            raise ValueError(f"{module.name} says one thing about all rows and cannot be resampled")
        return ModuleScore(module, options, key or "")
    if options or key:
        raise TypeError(f"a function takes no options and has no key, but {', '.join([*options, key or 'no key'])}")
    return FunctionScore(metric)


def total_score(measure: ModuleScore | FunctionScore, state: State) -> float:
    """Return the score of all rows. Raises ValueError where it is a list, or is not defined."""
    value = measure.statistic(state.total())
    if value.ndim:
        raise ValueError(f"{measure.name} gives a list of {len(value)} scores; choose an average, or another key")
    if not np.isfinite(value):
        raise ValueError(f"{measure.name} is not defined for these rows")
    return float(value)


def _array(values: Any) -> NDArray[Any]:
    """Rows as an array (n,): of numbers or texts where all are, else of objects."""
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values
    if len({type(value) for value in values}) == 1 and isinstance(values[0], int | float | str):
        return np.asarray(values)
    array = np.empty(len(values), object)
    array[:] = list(values)
    return array
