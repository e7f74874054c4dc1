"""Translated sentences about a turn's decision, made from the codes and numbers of its report."""

from collections.abc import Mapping, Sequence
from typing import Any

from dynabench.cycle.plan import PromotionRule
from dynabench.cycle.promotion import is_worse
from dynabench.cycle.report import TurnFigureOut, TurnReport, WeighedOut
from dynabench.kit.language import _, joined, restored

EXCLUDED = {
    "untrained": _("It was not trained."),
    "unscored": _("It was not scored on all rounds; its submission says why."),
    "present": _("It is a present target already."),
}
"""Why a candidate could not be compared; anything else is what ended its training."""


MAX_REASON_CHARACTERS = 2000
"""Characters of a reason that are kept; longer ones are logs, cut and in English."""


def shorten_reason(reason: str) -> str:
    """Return a reason as it is stored, cut to `MAX_REASON_CHARACTERS`."""
    return reason if len(reason) <= MAX_REASON_CHARACTERS else str(reason)[:MAX_REASON_CHARACTERS]


def restore_reason(reason: str | dict[str, Any]) -> str:
    """Return a reason that another process sent, as plain text or in the form that `language.kept` makes."""
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
        return _("share of earlier rounds' verified fooling examples that are answered right")
    if rule.by == "worst_round":
        return _("score on the worst round")
    if rule.discount:
        return _("mean score over rounds, older ones counting %(share)s %% less each", share=f"{rule.discount * 100:g}")
    return _("mean score over rounds")


def decision_text(report: TurnReport) -> str:
    """Return the decision in words, with numbers and intervals."""
    rule = PromotionRule.model_validate(report.rule)
    if not report.present:
        return _("The present targets stay: no release has a public test part on which they were scored.")
    if not report.candidates:
        return _("The present targets stay: no candidate could be compared with them.")
    promoted = [candidate for candidate in report.candidates if candidate.name in report.promoted]
    if promoted:
        lines = [
            _won(candidate, report) for name in report.promoted for candidate in promoted if candidate.name == name
        ]
        lines += _unguarded(rule, promoted, report)
        return _("By the rule “%(rule)s”: %(told)s", rule=rule_text(rule), told=joined(" ", lines))
    lines = [_lost(rule, candidate, report) for candidate in report.candidates]
    return _(
        "The present targets stay. By the rule “%(rule)s”: %(told)s", rule=rule_text(rule), told=joined(" ", lines)
    )


def _unguarded(rule: PromotionRule, promoted: Sequence[WeighedOut], report: TurnReport) -> list[str]:
    """Return what the guard on neutral data did not compare in a decision that promotes."""
    if report.neutral is None:
        return []
    if rule.neutral == []:
        return [_("The plan compares no models on neutral data.")]
    if not report.neutral:
        return [
            _(
                "There is no neutral data to compare on, so nothing says whether a model has become worse on ordinary "
                "examples."
            )
        ]
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
        return _("%(name)s is no better than %(present)s: it gains %(gain)s.", **values)
    if "sure" in candidate.lacks:
        return _("%(name)s gains %(gain)s on %(present)s, whose interval does not lie above 0.", **values)
    if "mean" not in candidate.lacks:
        return _worse_on_neutral(rule, candidate, values)
    return _(
        "%(name)s gains %(gain)s, but its mean over all rounds changes by %(mean)s; it may lose %(most)s at most.",
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
