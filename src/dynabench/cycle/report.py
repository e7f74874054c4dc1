"""The report of a turn as it is stored: codes and numbers, which `report_text` turns into translated sentences."""

from typing import Any

from pydantic import BaseModel

from dynabench.cycle.plan import PromotionRule
from dynabench.cycle.promotion import CandidateRating, IntervalFigure, PromotionDecision


class TurnFigureOut(BaseModel):
    """A number with its interval, from `n` rounds or examples."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0

    @classmethod
    def of(cls, figure: IntervalFigure) -> "TurnFigureOut":
        """Make the schema from a figure of the rules."""
        return cls(value=figure.value, low=figure.low, high=figure.high, n=figure.n)

    def figure(self) -> IntervalFigure:
        """Return the figure that the rules compute with."""
        return IntervalFigure(self.value, self.low, self.high, self.n)


class WeighedOut(BaseModel):
    """A candidate by the rule; `lacks` says what kept it from being promoted: `gain`, `sure`, `mean`, `neutral`,
    `unscored` or `present_unscored`. `neutral` has the change of its score on each neutral dataset with its interval at
    90 %."""

    name: str
    figure: TurnFigureOut
    gain: TurnFigureOut
    mean: TurnFigureOut
    passes: bool
    lacks: list[str]
    neutral: dict[str, TurnFigureOut] = {}


class RoundChangeOut(BaseModel):
    """The error of the old and of the new target on a round's public test part, and the change with its paired
    interval (95 %): below 0 the new one errs less. `n` counts rows, `fooling` those of them that fooled their targets.
    """

    round: int
    digest: str
    n: int
    fooling: int
    old: TurnFigureOut
    new: TurnFigureOut
    change: TurnFigureOut


class TurnReport(BaseModel):
    """The result of a turn.

    `old` is the best present target, `new` the model that it is compared with by round: the first promoted
    candidate, else the best one. `excluded` has the candidates that could not be compared, each with the reason:
    a code of `report_text.EXCLUDED`, or the text that ended the training. `neutral` names the turn's neutral
    datasets; it is null in reports of earlier versions. `why`, the decision in words, is written for each reader.
    """

    rule: dict[str, Any] = {}
    old: str = ""
    new: str = ""
    promoted: list[str] = []
    why: str = ""
    level: float = 0.95
    present: dict[str, TurnFigureOut] = {}
    candidates: list[WeighedOut] = []
    excluded: dict[str, str] = {}
    rounds: list[RoundChangeOut] = []
    neutral: list[str] | None = None
    models: dict[str, str] = {}

    @classmethod
    def of(cls, rule: PromotionRule, decision: PromotionDecision | None = None, **more: Any) -> "TurnReport":
        """Make the report of a decision by a rule; without a decision, of a turn in which nothing could be compared."""
        if decision is None:
            return cls(rule=rule.model_dump(), **more)
        return cls(
            rule=rule.model_dump(),
            old=decision.present,
            promoted=list(decision.promoted),
            level=decision.level,
            present={name: TurnFigureOut.of(figure) for name, figure in decision.figures},
            candidates=[candidate_rating_out(rating) for rating in decision.candidates],
            **more,
        )


def candidate_rating_out(rating: CandidateRating) -> WeighedOut:
    """Return a candidate's rating as the JSON API shows it."""
    return WeighedOut(
        name=rating.name, figure=TurnFigureOut.of(rating.figure), gain=TurnFigureOut.of(rating.gain),
        mean=TurnFigureOut.of(rating.mean), passes=rating.passes, lacks=list(rating.lacks),
        neutral={name: TurnFigureOut.of(figure) for name, figure in rating.neutral},
    )  # fmt: skip
