"""Shared parts of the tests between two systems."""

from collections.abc import Mapping
from typing import Any

from dynabench.evaluate.columns import Weights
from dynabench.evaluate.module import Comparison
from dynabench.evaluate.plain_values import to_plain
from dynabench.evaluate.systems.differences import (
    ResamplingOptions,
    ScoreDifference,
    StatePair,
    difference_acceleration,
    resampled_difference,
)
from dynabench.evaluate.systems.measures import AnyColumn, FunctionScore, Metric, ModuleScore, make_measure, total_score


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
