"""The report of a turn as it is kept: codes and numbers, which `telling` puts into words for whoever reads them."""

from typing import Any

from pydantic import BaseModel

from dynabench.cycle.plan import Promote
from dynabench.cycle.promotion import Decision, Figure, Weighed


class TurnFigureOut(BaseModel):
    """A number with its interval, from `n` rounds or examples."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0

    @classmethod
    def of(cls, figure: Figure) -> "TurnFigureOut":
        """As JSON has it."""
        return cls(value=figure.value, low=figure.low, high=figure.high, n=figure.n)

    def figure(self) -> Figure:
        """As rules have it."""
        return Figure(self.value, self.low, self.high, self.n)


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
    """What came of a turn. `old` is the best present target, `new` the one it is compared with by round: the first that
    was promoted, else the best candidate. `excluded` are candidates that could not be compared, with the reason: a code
    of `telling.EXCLUDED`, or what ended the training. `neutral` names the turn's neutral datasets; it is null in
    reports of earlier versions. `why`, the decision in words, is made whenever it is read."""

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
    def of(cls, rule: Promote, decision: Decision | None = None, **more: Any) -> "TurnReport":
        """That of a decision by a rule; without one where nothing could be compared."""
        if decision is None:
            return cls(rule=rule.model_dump(), **more)
        return cls(
            rule=rule.model_dump(),
            old=decision.present,
            promoted=list(decision.promoted),
            level=decision.level,
            present={name: TurnFigureOut.of(figure) for name, figure in decision.figures},
            candidates=[weighed(each) for each in decision.candidates],
            **more,
        )


def weighed(each: Weighed) -> WeighedOut:
    """A candidate as JSON has it."""
    return WeighedOut(
        name=each.name, figure=TurnFigureOut.of(each.figure), gain=TurnFigureOut.of(each.gain),
        mean=TurnFigureOut.of(each.mean), passes=each.passes, lacks=list(each.lacks),
        neutral={name: TurnFigureOut.of(figure) for name, figure in each.neutral},
    )  # fmt: skip
