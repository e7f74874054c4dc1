"""A turn's decision in the reader's words, from the codes and numbers that its report keeps."""

from collections.abc import Mapping, Sequence
from typing import Any

from dynabench.cycle.plan import Promote
from dynabench.cycle.promotion import is_worse
from dynabench.cycle.report import TurnFigureOut, TurnReport, WeighedOut
from dynabench.language import _, joined, restored

EXCLUDED = {
    "untrained": _("It was not trained."),
    "unscored": _("It was not scored on all rounds; its submission says why."),
    "present": _("It is a present target already."),
}
"""Why a candidate could not be compared; anything else is what ended its training."""


LONGEST = 2000
"""Characters of a reason that are kept; longer ones are logs, cut and in English."""


def short(reason: str) -> str:
    """A reason as it is kept."""
    return reason if len(reason) <= LONGEST else str(reason)[:LONGEST]


def reread(reason: str | dict[str, Any]) -> str:
    """The reason that another process told, as text or as `kept` wrote it down."""
    return restored(reason) if isinstance(reason, dict) else reason


def told(report: TurnReport, reasons: Mapping[str, str]) -> TurnReport:
    """The report with its words; those that an earlier version kept stay where it kept no rule. `reasons` say, by name,
    what ended a candidate's training."""
    excluded = {name: EXCLUDED.get(code) or reasons.get(name) or code for name, code in report.excluded.items()}
    return report.model_copy(update={"why": why(report) if report.rule else report.why, "excluded": excluded})


def rule_told(rule: Promote) -> str:
    """What a rule looks at, in words."""
    if rule.by == "fooling":
        return _("share of earlier rounds' verified fooling examples that are answered right")
    if rule.by == "worst_round":
        return _("score on the worst round")
    if rule.discount:
        return _("mean score over rounds, older ones counting %(share)s %% less each", share=f"{rule.discount * 100:g}")
    return _("mean score over rounds")


def why(found: TurnReport) -> str:
    """The decision in words, with numbers and intervals."""
    rule = Promote.model_validate(found.rule)
    if not found.present:
        return _("The present targets stay: no release has a public test part on which they were scored.")
    if not found.candidates:
        return _("The present targets stay: no candidate could be compared with them.")
    promoted = [each for each in found.candidates if each.name in found.promoted]
    if promoted:
        lines = [_won(each, found) for name in found.promoted for each in promoted if each.name == name]
        lines += _unguarded(rule, promoted, found)
        return _("By the rule “%(rule)s”: %(told)s", rule=rule_told(rule), told=joined(" ", lines))
    lines = [_lost(rule, each, found) for each in found.candidates]
    return _(
        "The present targets stay. By the rule “%(rule)s”: %(told)s", rule=rule_told(rule), told=joined(" ", lines)
    )


def _unguarded(rule: Promote, promoted: Sequence[WeighedOut], found: TurnReport) -> list[str]:
    """Return what the guard on neutral data did not compare in a decision that promotes."""
    if found.neutral is None:
        return []
    if rule.neutral == []:
        return [_("The plan compares no models on neutral data.")]
    if not found.neutral:
        return [
            _(
                "There is no neutral data to compare on, so nothing says whether a model has become worse on ordinary "
                "examples."
            )
        ]
    left = {each.name: [name for name in found.neutral if name not in each.neutral] for each in promoted}
    return [
        _(
            "%(name)s and %(present)s were not compared on neutral data: %(datasets)s.",
            name=name, present=found.old, datasets=", ".join(datasets),
        )
        for name, datasets in left.items()
        if datasets
    ]  # fmt: skip


def _won(each: WeighedOut, found: TurnReport) -> str:
    return _(
        "%(name)s is promoted: it reaches %(figure)s, %(gain)s more than %(present)s.",
        name=each.name, figure=percent(each.figure), gain=points(each.gain), present=found.old,
    )  # fmt: skip


def _lost(rule: Promote, each: WeighedOut, found: TurnReport) -> str:
    known = {"name": each.name, "gain": points(each.gain), "present": found.old}
    if "gain" in each.lacks:
        return _("%(name)s is no better than %(present)s: it gains %(gain)s.", **known)
    if "sure" in each.lacks:
        return _("%(name)s gains %(gain)s on %(present)s, whose interval does not lie above 0.", **known)
    if "mean" not in each.lacks:
        return _worse_on_neutral(rule, each, known)
    return _(
        "%(name)s gains %(gain)s, but its mean over all rounds changes by %(mean)s; it may lose %(most)s at most.",
        **known, mean=points(each.mean), most=f"{rule.most_lost * 100:g}",
    )  # fmt: skip


def _worse_on_neutral(rule: Promote, each: WeighedOut, known: dict[str, str]) -> str:
    unscored = [name for name, figure in each.neutral.items() if figure.value is None]
    if unscored:
        named = joined(", ", unscored)
        if "unscored" not in each.lacks:
            return _(
                "%(name)s gains %(gain)s, but %(present)s was not scored on neutral data: %(datasets)s. Run that "
                "evaluation again, then start another turn.",
                **known, datasets=named,
            )  # fmt: skip
        return _("%(name)s gains %(gain)s, but was not scored on neutral data: %(datasets)s.", **known, datasets=named)
    worse = [name for name, figure in each.neutral.items() if is_worse(rule, figure.figure())] or list(each.neutral)
    changes = [joined(" ", [name, points(each.neutral[name])]) for name in worse]
    return _(
        "%(name)s gains %(gain)s, but is worse on neutral data: %(datasets)s.", **known, datasets=joined(", ", changes)
    )


def percent(figure: TurnFigureOut) -> str:
    """A share with its interval, in percent."""
    if figure.value is None or figure.low is None or figure.high is None:
        return "–"
    return f"{figure.value * 100:.1f} % ({figure.low * 100:.1f} to {figure.high * 100:.1f})"


def points(figure: TurnFigureOut) -> str:
    """A difference with its interval, in percentage points."""
    if figure.value is None or figure.low is None or figure.high is None:
        return "–"
    return _(
        "%(value)s points (%(low)s to %(high)s)",
        value=f"{figure.value * 100:+.1f}", low=f"{figure.low * 100:+.1f}", high=f"{figure.high * 100:+.1f}",
    )  # fmt: skip
