"""The report of a turn: what was released, trained and evaluated, who was promoted, and why, in words."""

from typing import Any

from pydantic import BaseModel

from dynabench.cycle.plan import Promote
from dynabench.cycle.promotion import Decision, Figure, Weighed
from dynabench.language import _


class FigureOut(BaseModel):
    """A number with its interval, from `n` rounds or examples."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0

    @classmethod
    def of(cls, figure: Figure) -> "FigureOut":
        """As JSON has it."""
        return cls(value=figure.value, low=figure.low, high=figure.high, n=figure.n)


class WeighedOut(BaseModel):
    """A candidate by the rule; `lacks` says what kept it from being promoted: `gain`, `sure` or `mean`."""

    name: str
    figure: FigureOut
    gain: FigureOut
    mean: FigureOut
    passes: bool
    lacks: list[str]


class RoundOut(BaseModel):
    """The error of the old and of the new target on a round's public test part, and the change with its paired
    interval (95 %): below 0 the new one errs less. `n` counts rows, `fooling` those of them that fooled their targets.
    """

    round: int
    digest: str
    n: int
    fooling: int
    old: FigureOut
    new: FigureOut
    change: FigureOut


class Report(BaseModel):
    """What came of a turn. `old` is the best present target, `new` the one it is compared with by round: the first that
    was promoted, else the best candidate. `excluded` are candidates that could not be compared, with the reason."""

    rule: dict[str, Any] = {}
    old: str = ""
    new: str = ""
    promoted: list[str] = []
    why: str = ""
    level: float = 0.95
    present: dict[str, FigureOut] = {}
    candidates: list[WeighedOut] = []
    excluded: dict[str, str] = {}
    rounds: list[RoundOut] = []
    models: dict[str, str] = {}


def weighed(each: Weighed) -> WeighedOut:
    """A candidate as JSON has it."""
    return WeighedOut(
        name=each.name, figure=FigureOut.of(each.figure), gain=FigureOut.of(each.gain), mean=FigureOut.of(each.mean),
        passes=each.passes, lacks=list(each.lacks),
    )  # fmt: skip


def rule_told(rule: Promote) -> str:
    """What a rule looks at, in words."""
    if rule.by == "fooling":
        return _("share of earlier rounds' verified fooling examples that are answered right")
    if rule.by == "worst_round":
        return _("score on the worst round")
    if rule.discount:
        return _("mean score over rounds, older ones counting %(share)s %% less each", share=f"{rule.discount * 100:g}")
    return _("mean score over rounds")


def why(rule: Promote, found: Decision) -> str:
    """The decision in words, with numbers and intervals."""
    if not found.candidates:
        return _("The present targets stay: no candidate could be compared with them.")
    promoted = [each for each in found.candidates if each.name in found.promoted]
    if promoted:
        told = [_won(each, found) for name in found.promoted for each in promoted if each.name == name]
        return _("By the rule “%(rule)s”: %(told)s", rule=rule_told(rule), told=" ".join(told))
    told = [_lost(rule, each, found) for each in found.candidates]
    return _("The present targets stay. By the rule “%(rule)s”: %(told)s", rule=rule_told(rule), told=" ".join(told))


def _won(each: Weighed, found: Decision) -> str:
    return _(
        "%(name)s is promoted: it reaches %(figure)s, %(gain)s more than %(present)s.",
        name=each.name, figure=percent(each.figure), gain=points(each.gain), present=found.present,
    )  # fmt: skip


def _lost(rule: Promote, each: Weighed, found: Decision) -> str:
    known = {"name": each.name, "gain": points(each.gain), "present": found.present}
    if "gain" in each.lacks:
        return _("%(name)s is no better than %(present)s: it gains %(gain)s.", **known)
    if "sure" in each.lacks:
        return _("%(name)s gains %(gain)s on %(present)s, whose interval does not lie above 0.", **known)
    return _(
        "%(name)s gains %(gain)s, but its mean over all rounds changes by %(mean)s; it may lose %(most)s at most.",
        **known, mean=points(each.mean), most=f"{rule.most_lost * 100:g}",
    )  # fmt: skip


def percent(figure: Figure) -> str:
    """A share with its interval, in percent."""
    if figure.value is None or figure.low is None or figure.high is None:
        return "–"
    return f"{figure.value * 100:.1f} % ({figure.low * 100:.1f} to {figure.high * 100:.1f})"


def points(figure: Figure) -> str:
    """A difference with its interval, in percentage points."""
    if figure.value is None or figure.low is None or figure.high is None:
        return "–"
    return _(
        "%(value)s points (%(low)s to %(high)s)",
        value=f"{figure.value * 100:+.1f}", low=f"{figure.low * 100:+.1f}", high=f"{figure.high * 100:+.1f}",
    )  # fmt: skip
