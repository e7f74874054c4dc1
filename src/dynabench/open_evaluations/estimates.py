"""Estimates of the time and the price of an open evaluation, from what was measured, else from the kind of model."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models.protocol import ModelCard
from dynabench.open_evaluations import queries

OPENING_SECONDS = 15.0
"""Seconds that a model takes to start."""
USUAL_SECONDS = {
    "ngram": 0.001,
    "linear": 0.001,
    "lexicon": 0.002,
    "textrank": 0.01,
    "tagger": 0.005,
    "adapter": 0.02,
    "head": 0.02,
    "extractor": 0.05,
    "efficientnet": 0.1,
    "onnx": 0.05,
    "reader": 0.1,
    "ensemble": 0.1,
    "handler": 0.1,
    "transformers": 0.2,
}
"""Seconds for a row by the kind of model, where nothing was measured."""
SERVED_SECONDS = 1.0


@dataclass(frozen=True)
class ModelEstimate:
    """Seconds and price of all rows for one model; `measured` says that they come from earlier runs."""

    reference: str
    seconds: float
    price: float | None
    measured: bool


@dataclass(frozen=True)
class RunEstimate:
    """The estimate of a whole open evaluation; `price` is what is known of it, None where no model has a price.

    `unpriced` are models elsewhere whose price nobody knows.
    """

    rows: int
    models: Sequence[ModelEstimate]
    unpriced: Sequence[str]

    @property
    def seconds(self) -> float:
        """Seconds of all models, one after the other."""
        return sum(model.seconds for model in self.models)

    @property
    def price(self) -> float | None:
        """The sum of the known prices."""
        prices = [model.price for model in self.models if model.price is not None]
        return sum(prices) if prices else None

    @property
    def guessed(self) -> bool:
        """True where some model was never measured."""
        return any(not model.measured for model in self.models)


def estimate_run(session: Session, rows: int, references: Sequence[str], cards: dict[str, ModelCard]) -> RunEstimate:
    """Estimate the time and the price of `rows` rows for these models."""
    speeds: dict[str, float] = {}
    prices: dict[str, float] = {}
    for name, metric, value in session.execute(queries.measured_costs(references)):
        if metric == "price":
            prices[name] = value / 1000
        elif value > 0:
            speeds[name] = 1 / value
    for name, done, seconds, cost in session.execute(queries.answered_speeds(references)):
        if done:
            speeds[name] = seconds / done
            prices |= {name: cost / done} if cost is not None else {}
    models = []
    for reference in references:
        card = cards.get(reference)
        usual = USUAL_SECONDS.get(card.kind, SERVED_SECONDS) if card else SERVED_SECONDS
        seconds = OPENING_SECONDS + rows * speeds.get(reference, usual)
        price = prices[reference] * rows if reference in prices else None
        models.append(ModelEstimate(reference, seconds, price, reference in speeds))
    outside = [name for name in references if name not in prices and not (name in cards and cards[name].inside)]
    return RunEstimate(rows, models, [name for name in outside if "://" in name or name in cards])


def refusal(settings: Settings, estimate: RunEstimate) -> str:
    """Return why an open evaluation cannot fit; empty where it does."""
    hours = settings.evaluation_hours
    longest = max((model.seconds for model in estimate.models), default=0.0)
    if longest <= hours * 3600:
        return ""
    slow = max(estimate.models, key=lambda model: model.seconds)
    return _(
        "%(model)s may take about %(n)s hours for these rows; the limit is %(most)s. Take the first rows only, or "
        "leave this model out.",
        model=slow.reference,
        n=f"{longest / 3600:.0f}",
        most=f"{hours:g}",
    )
