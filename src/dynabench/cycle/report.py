"""The report of a turn: figures of its decision, and the translated sentences that say them."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from dynabench.cycle.plan import PromotionRule
from dynabench.cycle.promotion import CandidateRating, IntervalFigure, PromotionDecision, is_worse
from dynabench.kit.language import _, joined, restored


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
    a code of `EXCLUDED`, or the text that ended the training. `neutral` names the turn's neutral
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


EXCLUDED = {
    "untrained": _("Not trained."),
    "unscored": _("Not scored on all rounds; its submission shows why."),
    "present": _("Already a current target."),
}
"""Why a candidate could not be compared; anything else is what ended its training."""


MAX_REASON_CHARACTERS = 2000
"""Characters of a reason that are kept; longer ones are logs, cut and in English."""


def shorten_reason(reason: str) -> str:
    """Return a reason as it is stored, cut to `MAX_REASON_CHARACTERS`."""
    return reason if len(reason) <= MAX_REASON_CHARACTERS else str(reason)[:MAX_REASON_CHARACTERS]


def restore_reason(reason: str | dict[str, Any]) -> str:
    """Return a reason that another process sent, as plain text or in the form that `language.phrase_document` makes."""
    return restored(reason) if isinstance(reason, dict) else reason


def add_words(report: TurnReport, reasons: Mapping[str, str]) -> TurnReport:
    """Return the report with its words for the reader.

    Reports of an earlier version that stored no rule keep the words that they were stored with. `reasons` has, by
    name, the text that ended a candidate's training.
    """
    excluded = {name: EXCLUDED.get(code) or reasons.get(name) or code for name, code in report.excluded.items()}
    return report.model_copy(update={"why": decision_text(report) if report.rule else report.why, "excluded": excluded})


def rule_text(rule: PromotionRule) -> str:
    """Return the translated name of the value that a rule compares."""
    if rule.by == "fooling":
        return _("share of earlier rounds' verified fooling examples answered correctly")
    if rule.by == "worst_round":
        return _("score on the worst round")
    if rule.discount:
        return _("mean score over rounds, older ones counting %(share)s %% less each", share=f"{rule.discount * 100:g}")
    return _("mean score over rounds")


def decision_text(report: TurnReport) -> str:
    """Return the decision in words, with numbers and intervals."""
    rule = PromotionRule.model_validate(report.rule)
    if not report.present:
        return _("The current targets stay: no release has a public test part on which they were scored.")
    if not report.candidates:
        return _("The current targets stay: no candidate could be compared with them.")
    promoted = [candidate for candidate in report.candidates if candidate.name in report.promoted]
    if promoted:
        lines = [
            _won(candidate, report) for name in report.promoted for candidate in promoted if candidate.name == name
        ]
        lines += _unguarded(rule, promoted, report)
        return _("By the rule “%(rule)s”: %(told)s", rule=rule_text(rule), told=joined(" ", lines))
    lines = [_lost(rule, candidate, report) for candidate in report.candidates]
    return _(
        "The current targets stay. By the rule “%(rule)s”: %(told)s", rule=rule_text(rule), told=joined(" ", lines)
    )


def _unguarded(rule: PromotionRule, promoted: Sequence[WeighedOut], report: TurnReport) -> list[str]:
    """Return what the guard on neutral data did not compare in a decision that promotes."""
    if report.neutral is None:
        return []
    if rule.neutral == []:
        return [_("The plan does not compare models on neutral data.")]
    if not report.neutral:
        return [_("There is no neutral data, so it is unknown whether a model has become worse on ordinary examples.")]
    missing = {
        candidate.name: [name for name in report.neutral if name not in candidate.neutral] for candidate in promoted
    }
    return [
        _(
            "%(name)s and %(present)s were not compared on neutral data: %(datasets)s.",
            name=name,
            present=report.old,
            datasets=", ".join(datasets),
        )
        for name, datasets in missing.items()
        if datasets
    ]


def _won(candidate: WeighedOut, report: TurnReport) -> str:
    return _(
        "%(name)s is promoted: it reaches %(figure)s, %(gain)s more than %(present)s.",
        name=candidate.name,
        figure=percent_text(candidate.figure),
        gain=points_text(candidate.gain),
        present=report.old,
    )


def _lost(rule: PromotionRule, candidate: WeighedOut, report: TurnReport) -> str:
    values = {"name": candidate.name, "gain": points_text(candidate.gain), "present": report.old}
    if "gain" in candidate.lacks:
        return _("%(name)s is not better than %(present)s: the gain is %(gain)s.", **values)
    if "sure" in candidate.lacks:
        return _("%(name)s gains %(gain)s on %(present)s, but the interval includes 0.", **values)
    if "mean" not in candidate.lacks:
        return _worse_on_neutral(rule, candidate, values)
    return _(
        "%(name)s gains %(gain)s, but its mean over all rounds changes by %(mean)s; the most it may lose is %(most)s.",
        **values,
        mean=points_text(candidate.mean),
        most=f"{rule.most_lost * 100:g}",
    )


def _worse_on_neutral(rule: PromotionRule, candidate: WeighedOut, values: dict[str, str]) -> str:
    unscored = [name for name, figure in candidate.neutral.items() if figure.value is None]
    if unscored:
        named = joined(", ", unscored)
        if "unscored" not in candidate.lacks:
            return _(
                "%(name)s gains %(gain)s, but %(present)s was not scored on neutral data: %(datasets)s. Run that "
                "evaluation again, then start another turn.",
                **values,
                datasets=named,
            )
        return _("%(name)s gains %(gain)s, but was not scored on neutral data: %(datasets)s.", **values, datasets=named)
    worse = [name for name, figure in candidate.neutral.items() if is_worse(rule, figure.figure())] or list(
        candidate.neutral
    )
    changes = [joined(" ", [name, points_text(candidate.neutral[name])]) for name in worse]
    return _(
        "%(name)s gains %(gain)s, but is worse on neutral data: %(datasets)s.", **values, datasets=joined(", ", changes)
    )


def percent_text(figure: TurnFigureOut) -> str:
    """Return a share with its interval, in percent."""
    if figure.value is None or figure.low is None or figure.high is None:
        return "–"
    return f"{figure.value * 100:.1f} % ({figure.low * 100:.1f} to {figure.high * 100:.1f})"


def points_text(figure: TurnFigureOut) -> str:
    """Return a difference with its interval, in percentage points."""
    if figure.value is None or figure.low is None or figure.high is None:
        return "–"
    return _(
        "%(value)s points (%(low)s to %(high)s)",
        value=f"{figure.value * 100:+.1f}",
        low=f"{figure.low * 100:+.1f}",
        high=f"{figure.high * 100:+.1f}",
    )
