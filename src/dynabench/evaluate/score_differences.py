"""The difference of two systems' scores by any metric, with its interval and p value.

Sources: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 14 and 16; Riezler and Maxwell, ACL
Workshop on Evaluation Measures for MT (2005) 57-64 (the bootstrap distribution is moved to the null hypothesis);
Noreen, Computer-Intensive Methods for Testing Hypotheses (1989); Phipson and Smyth, Statistical Applications in
Genetics and Molecular Biology 9 (2010) 39 (a p value from samples is never 0).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, Floats, Weights, as_list, to_numpy
from dynabench.evaluate.loading import load
from dynabench.evaluate.module import Comparison, Module
from dynabench.evaluate.paired_states import Statistic, find_swaps, jackknife, jackknife_of_groups, paired_resamples
from dynabench.evaluate.resampling import is_slow
from dynabench.evaluate.states import Additive, Rows, State
from dynabench.evaluate.values import to_plain
from dynabench.stats import bootstrap

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


ROUNDING = 1e-10  # differences closer than this, relative to the scores, differ by rounding alone
MAX_EXACT = 1 << 16  # outcomes up to which all are looked at


@dataclass(frozen=True)
class StatePair:
    """The states of two systems over the same rows."""

    first: Any
    second: Any

    def __len__(self) -> int:
        return len(self.first)

    def __add__(self, other: Self) -> "StatePair":
        return StatePair(self.first + other.first, self.second + other.second)


@dataclass(frozen=True)
class ResamplingOptions:
    """Options of resampling: the level and method of the interval, the number of resamples and the seed."""

    level: float = 0.95
    resamples: int = 9999
    method: str = "bca"
    seed: int = 0


@dataclass(frozen=True)
class ScoreDifference:
    """First score minus second, with its bootstrap replicates, shape (B,)."""

    scores: tuple[float, float]
    replicates: Floats

    @property
    def value(self) -> float:
        """The difference; exactly 0 where the scores differ by rounding alone."""
        first, second = self.scores
        return 0.0 if abs(first - second) <= self.noise else first - second

    @property
    def noise(self) -> float:
        """The size by which rounding may move the difference."""
        return ROUNDING * max(map(abs, self.scores))

    def interval(self, drawing: ResamplingOptions, acceleration: float = 0.0) -> dict[str, Any]:
        """Return low, high and standard error with level and method, in the form of other modules."""
        span = bootstrap.interval(self.value, self.replicates, drawing.level, drawing.method, acceleration)
        limits = {"low": float(span.low), "high": float(span.high), "standard_error": float(span.error)}
        return {**limits, "level": drawing.level, "method": drawing.method}

    def p(self) -> float:
        """Return the two-sided p: the share of replicates as far from the difference as the difference is from 0."""
        off = np.abs(self.replicates[np.isfinite(self.replicates)] - self.value)
        return float((1 + np.count_nonzero(off >= abs(self.value) - self.noise)) / (1 + len(off)))


def resampled_difference(
    pair: StatePair, statistic: Statistic, scores: tuple[float, float], drawing: ResamplingOptions
) -> ScoreDifference:
    """Return the difference with its replicates. Raises ValueError for fewer than 2 rows or resamples."""
    if len(pair) < 2 or drawing.resamples < 2:
        raise ValueError("an interval needs at least two examples and two resamples")
    blocks = paired_resamples([pair.first, pair.second], np.random.default_rng(drawing.seed), drawing.resamples)
    return ScoreDifference(scores, np.concatenate([statistic(first) - statistic(other) for first, other in blocks]))


def difference_acceleration(pair: StatePair, statistic: Statistic, drawing: ResamplingOptions) -> float:
    """Return the acceleration of the difference, which BCa needs; 0 for other methods."""
    if drawing.method != "bca":
        return 0.0
    leave_out = jackknife_of_groups if is_slow(pair.first) or is_slow(pair.second) else jackknife
    return float(bootstrap.acceleration(leave_out(pair.first, statistic) - leave_out(pair.second, statistic)))


def randomization_test(pair: StatePair, statistic: Statistic, drawing: ResamplingOptions) -> tuple[float, bool]:
    """Return the p value of swapping rows between systems, and whether it is exact. Two-sided.

    It is the share of outcomes with a difference at least as large. All outcomes are counted where they are 65,536 at
    most (`resamples` at most, where the rows themselves are kept, whose scores take longer), else `resamples` of them
    are drawn.
    """
    both = find_swaps(pair.first, pair.second)

    def scores(numbers: Any) -> tuple[Floats, Floats]:
        first, second = both.totals(numbers)
        return statistic(first), statistic(second)

    first, second = scores(np.zeros((1, len(both.counts)), np.int64))
    least = abs(first[0] - second[0]) - ROUNDING * max(abs(first[0]), abs(second[0]))

    def as_far(numbers: Any) -> Any:
        first, other = scores(numbers)
        return ~(np.abs(first - other) < least)  # what is not defined counts against a finding

    if both.ways <= (MAX_EXACT if isinstance(both.pool, Additive) else drawing.resamples):
        return min(sum(float(chance[as_far(numbers)].sum()) for numbers, chance in both.all()), 1.0), True
    outcomes = both.drawn(np.random.default_rng(drawing.seed), drawing.resamples)
    extreme_count = sum(int(np.count_nonzero(as_far(numbers))) for numbers in outcomes)
    return (1 + extreme_count) / (1 + drawing.resamples), False


class SignificanceTest(Comparison):
    """A comparison whose result has a p value."""

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """Raise ValueError: a test has one result for all rows."""
        raise ValueError(f"{self.name} has no scores per example: it says something about all of them together")


class ScoreTest(SignificanceTest):
    """A test of the difference between two systems' scores, by any metric whose rows can be resampled."""

    columns = {"predictions1": AnyColumn(), "predictions2": AnyColumn(), "references": AnyColumn()}
    optional = {"sample_weight": Weights(), "sources": AnyColumn()}

    def update(
        self,
        predictions1: Any,
        predictions2: Any,
        references: Any,
        sample_weight: Any = None,
        sources: Any = None,
        *,
        metric: Metric = "accuracy",
        metric_options: Mapping[str, Any] | None = None,
    ) -> StatePair:
        """Return the metric's states of both systems. Raises ValueError where they do not count the same rows."""
        measure = make_measure(metric, None, metric_options)
        possible = {"references": references, "sample_weight": sample_weight, "sources": sources}
        columns = {name: column for name, column in possible.items() if column is not None}
        first = measure.state(predictions1, columns, "predictions1")
        second = measure.state(predictions2, columns, "predictions2")
        if len(first) != len(second):
            raise ValueError(f"{measure.name} counts {len(first):,} and {len(second):,} rows, which cannot be paired")
        return StatePair(first, second)

    def test(
        self,
        pair: StatePair,
        measure: ModuleScore | FunctionScore,
        observed: ScoreDifference,
        drawing: ResamplingOptions,
    ) -> dict[str, Any]:
        """Return the p value, under "p", and further results of the test."""
        raise NotImplementedError

    def result(
        self,
        state: StatePair,
        *,
        metric: Metric = "accuracy",
        metric_options: Mapping[str, Any] | None = None,
        key: str | None = None,
        interval: float = 0.95,
        resamples: int = 9999,
        method: str = "bca",
        seed: int = 0,
        **options: Any,
    ) -> dict[str, Any]:
        """Return both scores, their difference with its interval (under "interval"), and the test's results."""
        measure, drawing = (
            make_measure(metric, key, metric_options),
            ResamplingOptions(interval, resamples, method, seed),
        )
        observed = score_difference(state, measure, drawing)
        scores = {"score1": observed.scores[0], "score2": observed.scores[1], "difference": observed.value}
        span = {"difference": observed.interval(drawing, difference_acceleration(state, measure.statistic, drawing))}
        result: dict[str, Any] = to_plain({**scores, **self.test(state, measure, observed, drawing), "interval": span})
        return result

    def compute(
        self,
        *,
        interval: float | None = None,
        resamples: int | None = None,
        method: str | None = None,
        seed: int | None = None,
        per_example: bool = False,
        **given: Any,
    ) -> Any:
        """Compute as `Module.compute` does; the result always has an interval, of level 0.95 by default."""
        overrides = {"interval": interval, "resamples": resamples, "method": method, "seed": seed}
        before = self.options
        self.options = {**before, **{name: value for name, value in overrides.items() if value is not None}}
        try:
            return super().compute(per_example=per_example, **given)
        finally:
            self.options = before


def score_difference(
    pair: StatePair, measure: ModuleScore | FunctionScore, drawing: ResamplingOptions
) -> ScoreDifference:
    """Return the difference of two systems' scores.

    Raises ValueError where one is undefined, or with fewer than two rows.
    """
    return resampled_difference(
        pair, measure.statistic, (total_score(measure, pair.first), total_score(measure, pair.second)), drawing
    )
