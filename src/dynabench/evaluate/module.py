"""Base of all modules: a pure core (`update`, `merge`, `result`), and `compute`, which collects batches.

A module is a class with its `columns`, a card in a YAML file of the module's name beside it, and two functions:
- `update(*columns, *, options) -> State` reduces a batch of clean rows to a state (`states`);
- `formula(total, *, options) -> {key: array}` computes the result from the state's total, or from a block of totals
  with a leading axis: so one formula gives the value, the scores per example and ten thousand replicates.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np

from dynabench.evaluate.card import Card, CardFile
from dynabench.evaluate.columns import Column, as_numbers, copy_column, join_batches, to_numpy
from dynabench.evaluate.resampling import bootstrap_intervals
from dynabench.evaluate.states import State, Sums
from dynabench.evaluate.values import to_plain

Kind = Literal["metric", "measurement", "comparison"]


class Module:
    """A metric, measurement or comparison. Use its subclasses through `dynabench.evaluate.load`."""

    kind: ClassVar[Kind] = "metric"
    card: ClassVar[Card] = CardFile()  # type: ignore[assignment] # a subclass may have `card = Card(...)` instead
    columns: ClassVar[Mapping[str, Column]]
    optional: ClassVar[Mapping[str, Column]] = {}  # columns that may be left out, such as sample_weight
    apart: ClassVar[frozenset[str]] = frozenset()  # columns that need not be as long as the others
    configs: ClassVar[tuple[str, ...]] = ("default",)
    arrays: ClassVar[bool] = False  # whether lists are NumPy arrays in Hugging Face `evaluate`
    empty: ClassVar[bool] = False  # whether no rows have a result
    version: ClassVar[int] = 1  # raised when results change, so that stored scores are computed again
    on_pages: ClassVar[bool] = True  # whether pages compute it for strangers: False for what runs or loads its inputs
    takes_probabilities: ClassVar[bool] = (
        False  # whether `of_probabilities` makes its columns of an evaluator's answers
    )
    own_name: ClassVar[str] = ""  # where it is not the file's
    update: Callable[..., Any]
    formula: Callable[..., Mapping[str, Any]]

    def __init_subclass__(cls, name: str = "") -> None:
        """`name` is the module's where its Python file has several."""
        super().__init_subclass__()
        cls.own_name = name

    def __init__(self, config_name: str | None = None, *, compat: bool = False, **options: Any) -> None:
        """`options` become the defaults of `compute`; `compat` returns what Hugging Face `evaluate` returns."""
        if config_name is not None and config_name not in self.configs:
            raise ValueError(f"{self.name} has no config {config_name!r}; there are {', '.join(self.configs)}")
        self.config_name = config_name or self.configs[0]
        self.compat = compat
        self.options = options
        self._check_options(options)
        self._batches: list[dict[str, Any]] = []  # of columns; a batch at a time, so that threads do not mix rows

    # The pure core

    def merge(self, first: Any, second: Any) -> Any:
        """Return the state of both batches: `merge(update(a), update(b))` gives the result of `update(a + b)`."""
        return first + second

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """Return the result as plain Python, from a state. Raises ValueError where it is undefined.

        Modules with own options of `result` do not see those that they were loaded with: pass
        `**module.options_for(module.result)`, as `compute` does.
        """
        scores: dict[str, Any] = to_plain(self.formula(state.total(), **self.options_for(self.formula, options)))
        return scores

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """Return scores of each row, arrays (n,). Raises ValueError where a single row has none."""
        if isinstance(state, Sums):
            return dict(self.formula(state.alone(), **self.options_for(self.formula, options)))
        raise ValueError(f"{self.name} has no scores per example: it says something about all of them together")

    def state(self, columns: Mapping[str, Any], **options: Any) -> State:
        """Clean raw columns and `update`: for batches, threads and machines that merge later.

        Options that `update` does not take are left to `result`. Raises ValueError as `clean` does.
        """
        state: State = self.update(**self.clean(columns), **self.options_for(self.update, options))
        return state

    def options_for(self, function: Callable[..., Any], overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the options that `function` takes, of those that the module was loaded with and the `overrides`."""
        accepted = _keywords(getattr(function, "__func__", function))
        options = {**self.options, **(overrides or {})}
        return {name: value for name, value in options.items() if name in accepted or "**" in accepted}

    # The face

    def compute(
        self,
        *,
        interval: float | None = None,
        resamples: int = 9999,
        method: str = "bca",
        seed: int | None = None,
        per_example: bool = False,
        **given: Any,
    ) -> Any:
        """Return the result for these columns and all rows that were added before.

        Args:
            interval: level of bootstrap intervals, for example 0.95; the result has them under "interval" by key.
            resamples: how many times the rows are resampled.
            method: "bca", "percentile" or "basic".
            seed: of the random numbers, 0 by default; the same seed gives the same interval. Modules that draw
                random numbers themselves get it too.
            per_example: adds "per_example" with each row's scores by key.
            given: columns (`predictions=...`) and options (`average="macro"`).

        Raises:
            ValueError: rows that cannot be computed with; the message says which and what to do.
            TypeError: an option that the module does not know.
        """
        columns = {name: given.pop(name) for name in (*self.columns, *self.optional) if name in given}
        if seed is not None and "seed" in self.options_known():
            given["seed"] = seed
        self._check_options(given)
        options = {**self.options, **given}
        batches, self._batches = self._batches, []
        batches = [*batches, {name: to_numpy(column) for name, column in columns.items() if column is not None}]
        rows = join_batches(batches)
        state = self.state(rows, **options)
        if not np.any(as_numbers(rows.get("sample_weight", [1]), "sample_weight")):
            raise ValueError("sample_weight: all examples weigh 0; give at least one a positive weight")
        result = self.result(state, **self.options_for(self.result, options))
        if per_example:
            result["per_example"] = to_plain(self.per_example(state, **self.options_for(self.per_example, options)))
        if interval is not None:
            result["interval"] = self._intervals(state, options, interval, resamples, method, seed or 0)
        return self.compatible(result) if self.compat and interval is None and not per_example else result

    def add(self, **row: Any) -> None:
        """Add one row: `add(prediction=..., reference=...)`."""
        self.add_batch(**{self._plural(name): [value] for name, value in row.items()})

    def add_batch(self, **columns: Any) -> None:
        """Add a batch: `add_batch(predictions=..., references=...)`."""
        unknown = [name for name in columns if name not in self.columns and name not in self.optional]
        if unknown:
            raise ValueError(f"{self.name} takes {', '.join(self.columns)}, not {', '.join(unknown)}")
        self._batches.append({name: copy_column(values, name) for name, values in columns.items()})

    def compatible(self, result: dict[str, Any]) -> Any:
        """Return the form in which Hugging Face `evaluate` returns this result: the same, but for a few modules.

        Where it returns arrays, lists become arrays, with NaN for None.
        """
        if not self.arrays:
            return result
        return {key: np.array(value, float) if isinstance(value, list) else value for key, value in result.items()}

    def clean(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return raw columns as `update` takes them, each by its kind; unknown names are left out.

        Raises ValueError for missing, empty and unequal ones, and for values that are not of their column's kind.
        """
        missing = [name for name in self.columns if name not in columns]
        if missing:
            raise ValueError(f"{self.name} needs {' and '.join(missing)}")
        kinds = {**self.features, **self.optional}
        clean = {name: kinds[name].clean(columns[name], name) for name in kinds if name in columns}
        lengths = {name: len(column) for name, column in clean.items() if name not in self.apart}
        if len(set(lengths.values())) > 1:
            lengths_text = ", ".join(f"{name} has {n:,}" for name, n in lengths.items())
            raise ValueError(f"all columns need one value for each example: {lengths_text}")
        if not self.empty and 0 in (len(column) for column in clean.values()):
            raise ValueError(f"nothing to compute: {self.name} needs at least one example")
        return clean

    # What Hugging Face `evaluate` tells of a module

    @property
    def name(self) -> str:
        """The name under which `load` finds the module: its own or its file's."""
        return self.name_of()

    @classmethod
    def name_of(cls) -> str:
        """Return the name of the module class: its own or its file's."""
        return cls.own_name or cls.__module__.rpartition(".")[2]

    @property
    def module_type(self) -> Kind:
        """metric, measurement or comparison."""
        return self.kind

    @property
    def description(self) -> str:
        """The description from the card."""
        return self.card.description

    @property
    def citation(self) -> str:
        """The source, BibTeX or a reference, from the card."""
        return self.card.citation

    @property
    def features(self) -> dict[str, Column]:
        """The columns that the module needs, as its config takes them."""
        return dict(self.columns)

    @property
    def inputs_description(self) -> str:
        """Columns and options, a line each."""
        lines = [f"{name}: {text}" for name, text in {**self.card.inputs, **self.card.options}.items()]
        return "\n".join(lines)

    @property
    def reference_urls(self) -> Sequence[str]:
        """Addresses of further reading."""
        return self.card.references

    def __len__(self) -> int:
        """Return the number of rows that were added."""
        names = {name for batch in self._batches for name in batch}
        return max((sum(len(batch.get(name, ())) for batch in self._batches) for name in names), default=0)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {column.dtype}" for name, column in self.columns.items())
        return f"{type(self).__name__}({self.kind} {self.name!r}, {inputs})"

    @classmethod
    def lacks(cls) -> str:
        """Return the resource that the caller has to pass and that is missing here; "" where there is none."""
        return cls.card.resource

    @classmethod
    def options_known(cls) -> dict[str, inspect.Parameter]:
        """Return the keyword arguments of `update`, `formula`, `result` and `per_example`, by name."""
        parameters: dict[str, inspect.Parameter] = {}
        for name in ("update", "formula", "result", "per_example"):
            if hasattr(cls, name):
                parameters |= _keywords(getattr(cls, name))
        return {name: parameters[name] for name in parameters if name != "**"}

    def _plural(self, name: str) -> str:
        names = (*self.columns, *self.optional)
        return next((column for column in names if name in (column, column.removesuffix("s"))), name)

    def _check_options(self, options: Mapping[str, Any]) -> None:
        accepted = self.options_known()
        for name in options:
            if name not in accepted:
                has = f"its options are {', '.join(accepted)}" if accepted else "it has no options"
                raise TypeError(f"{self.name} takes {', '.join(self.columns)}; {has}; {name!r} is none of them")

    def _intervals(
        self, state: State, options: Mapping[str, Any], level: float, times: int, method: str, seed: int
    ) -> dict[str, Any]:
        if not hasattr(self, "formula"):
            raise ValueError(f"{self.name} has no interval: it is one number for all that was given")
        formula_options = self.options_for(self.formula, options)
        by_key: dict[str, Any] = to_plain(
            bootstrap_intervals(state, lambda total: self.formula(total, **formula_options), level, times, method, seed)
        )
        return by_key


class Metric(Module):
    """Predictions against references."""


class Measurement(Module):
    """A property of data."""

    kind = "measurement"


class Comparison(Module):
    """One system against another on the same examples."""

    kind = "comparison"


@cache
def _keywords(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Keyword-only parameters by name; "**" stands for any that others know."""
    keywords = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
            keywords[name if parameter.kind is parameter.KEYWORD_ONLY else "**"] = parameter
    return keywords
