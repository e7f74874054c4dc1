"""What tests between two systems share."""

from collections.abc import Mapping
from typing import Any

from dynabench.evaluate.columns import Weights
from dynabench.evaluate.module import Comparison
from dynabench.evaluate.plain import plain
from dynabench.evaluate.systems.differences import Difference, Drawing, Pair, drawn, rate
from dynabench.evaluate.systems.scored import Anything, Metric, Scored, ScoredBy, scored, single


class SignificanceTest(Comparison):
    """A comparison whose result has a p value."""

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """Raises ValueError: a test has one result for all rows."""
        raise ValueError(f"{self.name} has no scores per example: it says something about all of them together")


class ScoreTest(SignificanceTest):
    """A test of the difference between two systems' scores, by any metric whose rows can be resampled."""

    columns = {"predictions1": Anything(), "predictions2": Anything(), "references": Anything()}
    optional = {"sample_weight": Weights(), "sources": Anything()}

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
    ) -> Pair:
        """The metric's states of both systems. Raises ValueError where they do not count the same rows."""
        measure = scored(metric, None, metric_options)
        given = {"references": references, "sample_weight": sample_weight, "sources": sources}
        columns = {name: column for name, column in given.items() if column is not None}
        first = measure.state(predictions1, columns, "predictions1")
        second = measure.state(predictions2, columns, "predictions2")
        if len(first) != len(second):
            raise ValueError(f"{measure.name} counts {len(first):,} and {len(second):,} rows, which cannot be paired")
        return Pair(first, second)

    def test(self, pair: Pair, measure: Scored | ScoredBy, found: Difference, drawing: Drawing) -> dict[str, Any]:
        """The p value, under "p", and what else the test has to say."""
        raise NotImplementedError

    def result(
        self,
        state: Pair,
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
        """Both scores, their difference with its interval (under "interval"), and what the test says."""
        measure, drawing = scored(metric, key, metric_options), Drawing(interval, resamples, method, seed)
        found = difference(state, measure, drawing)
        told = {"score1": found.scores[0], "score2": found.scores[1], "difference": found.value}
        span = {"difference": found.interval(drawing, rate(state, measure.statistic, drawing))}
        result: dict[str, Any] = plain({**told, **self.test(state, measure, found, drawing), "interval": span})
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
        """As `Module.compute`; the result always has an interval, of level 0.95 unless another is asked for."""
        asked = {"interval": interval, "resamples": resamples, "method": method, "seed": seed}
        before = self.options
        self.options = {**before, **{name: value for name, value in asked.items() if value is not None}}
        try:
            return super().compute(per_example=per_example, **given)
        finally:
            self.options = before


def difference(pair: Pair, measure: Scored | ScoredBy, drawing: Drawing) -> Difference:
    """Of the two systems' scores. Raises ValueError where one is not defined, or there are fewer than two rows."""
    return drawn(pair, measure.statistic, (single(measure, pair.first), single(measure, pair.second)), drawing)
