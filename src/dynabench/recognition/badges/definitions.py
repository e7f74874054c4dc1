"""The badges, as data: what each is called, what it takes, and how that is explained. No badge is for volume alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from dynabench.kit.language import _, ngettext


class BadgeMeasure(StrEnum):
    """Counts of a person's contributions that badges ask for (`progress.read_progress`)."""

    JOINED = "joined"
    WRITTEN = "written"
    CHECKED = "checked"
    FOOLING_DAYS = "fooling_days"
    VERIFIED = "verified"
    AGREED = "agreed"
    AGREEMENT = "agreement"
    TASKS = "tasks"
    LONGEST_RUN = "longest_run"
    DAYS_IN_A_ROW = "days_in_a_row"
    MODELS = "models"
    MODEL_TASKS = "model_tasks"


class BadgeSubject(StrEnum):
    """The thing for which a badge is earned once: the whole site, a task, a model, or a week."""

    SITE = "site"
    TASK = "task"
    MODEL = "model"
    WEEK = "week"


@dataclass(frozen=True)
class Badge:
    """A badge with what it `needs`: a least value for each measure; empty where an event earns it.

    `quiet` badges are awarded without a notice.
    """

    key: str
    title: str
    explanation: str
    needs: Mapping[BadgeMeasure, int]
    family: str
    icon: str
    subject: BadgeSubject = BadgeSubject.SITE
    quiet: bool = False


FAMILIES: Mapping[str, str] = {
    "start": _("First steps"),
    "craft": _("Finding errors"),
    "task": _("In one task"),
    "site": _("Writing and checking"),
    "run": _("Examples in a row"),
    "days": _("Days in a row"),
    "check": _("Checking"),
    "model": _("Models"),
}
"""The groups of the page of badges, in its order."""

_TIERS = (
    ("bronze", _("Bronze"), _("Bronze, all tasks")),
    ("silver", _("Silver"), _("Silver, all tasks")),
    ("gold", _("Gold"), _("Gold, all tasks")),
    ("platinum", _("Platinum"), _("Platinum, all tasks")),
    ("diamond", _("Diamond"), _("Diamond, all tasks")),
)
_TASK_GOALS = (50, 100, 200, 500, 1000)
_SITE_GOALS = ((200, 100), (500, 200), (1000, 500), (5000, 1000), (10000, 5000))
_RUNS = (5, 10, 20, 50, 100)
_DAYS = (2, 3, 5, 7, 14, 30, 90, 365)

FIRST_TO_FOOL = "first_to_fool"
ALL_TARGETS = "fooled_all_targets"
ALONE = "found_by_nobody_else"
WEEKLY_WINNER = "weekly_winner"
TOP_MODEL = "top_model"
LEAST_TRIED = 3
"""Other people who must have tried a context in vain before an error on it counts as found by nobody else."""
LEAST_OF_WEEK = 3
"""Verified fooling examples that the winner of a week needs."""


def _starting() -> list[Badge]:
    return [
        Badge(
            "welcome", _("Welcome"), _("Create an account."), {BadgeMeasure.JOINED: 1}, "start", "person", quiet=True
        ),
        Badge("first_example", _("First example"), _("Write an example."), {BadgeMeasure.WRITTEN: 1}, "start", "pen"),
        Badge(
            *("first_check", _("First check"), _("Check another person's example."), {BadgeMeasure.CHECKED: 1}),
            *("start", "check"),
        ),
        Badge(
            "back_again",
            _("Back again"),
            _("Fool a model on two different days."),
            {BadgeMeasure.FOOLING_DAYS: 2},
            "start",
            "again",
        ),
        Badge(
            "first_verified",
            _("First verified"),
            _("Fool a model with an example that other people verify."),
            {BadgeMeasure.VERIFIED: 1},
            "start",
            "check",
        ),
        Badge(
            *(
                "ten_verified",
                _("Ten verified"),
                _("Fool models with ten verified examples."),
                {BadgeMeasure.VERIFIED: 10},
            ),
            *("start", "check"),
        ),
    ]


def _events() -> list[Badge]:
    return [*_targets_fooled(), *_weeks_and_tasks()]


def _targets_fooled() -> list[Badge]:
    return [
        Badge(
            FIRST_TO_FOOL,
            _("First to fool"),
            _("Be the first whose verified example fools a model."),
            {},
            "craft",
            "flag",
            BadgeSubject.MODEL,
        ),
        Badge(
            ALL_TARGETS,
            _("Fooled them all"),
            _("Fool all models of a round that has several with one verified example."),
            {},
            "craft",
            "model",
        ),
        Badge(
            ALONE,
            _("Found by nobody else"),
            _(
                "Fool a model with a verified example on a context that %(n)s other people tried in vain.",
                n=LEAST_TRIED,
            ),
            {},
            "craft",
            "lens",
        ),
    ]


def _weeks_and_tasks() -> list[Badge]:
    return [
        Badge(
            WEEKLY_WINNER,
            _("Winner of the week"),
            _(
                "Have the most verified fooling examples of a week, at least %(n)s. Weeks end on Sunday (UTC) and are"
                " decided a day later.",
                n=LEAST_OF_WEEK,
            ),
            {},
            "craft",
            "again",
            BadgeSubject.WEEK,
        ),
        Badge(
            "four_tasks",
            _("All-rounder"),
            _("In each of four tasks, fool a model with a verified example and vote as the verdict says."),
            {BadgeMeasure.TASKS: 4},
            "craft",
            "table",
        ),
    ]


def _tiers() -> list[Badge]:
    in_task = [
        Badge(
            f"task_{key}",
            title,
            _("Fool the models of one task with %(n)s verified examples.", n=goal),
            {BadgeMeasure.VERIFIED: goal},
            "task",
            "half",
            BadgeSubject.TASK,
        )
        for (key, title, _site), goal in zip(_TIERS, _TASK_GOALS, strict=True)
    ]
    on_site = [
        Badge(
            f"site_{key}",
            title,
            _(
                "Fool models with %(verified)s verified examples, and vote %(agreed)s times as the verdict says.",
                verified=verified,
                agreed=agreed,
            ),
            {BadgeMeasure.VERIFIED: verified, BadgeMeasure.AGREED: agreed},
            "site",
            "half",
        )
        for (key, _task, title), (verified, agreed) in zip(_TIERS, _SITE_GOALS, strict=True)
    ]
    return in_task + on_site


def _streaks() -> list[Badge]:
    runs = [
        Badge(
            f"run_{goal}",
            ngettext("%(num)s in a row", "%(num)s in a row", goal),
            _(
                "Write %(n)s examples in a row that fool a model and are verified. Those that still wait for votes are"
                " skipped.",
                n=goal,
            ),
            {BadgeMeasure.LONGEST_RUN: goal},
            "run",
            "skip",
        )
        for goal in _RUNS
    ]
    days = [
        Badge(
            f"days_{goal}",
            ngettext("%(num)s day in a row", "%(num)s days in a row", goal),
            _("On each of %(n)s days in a row (UTC), write an example that fools a model and is verified.", n=goal),
            {BadgeMeasure.DAYS_IN_A_ROW: goal},
            "days",
            "again",
        )
        for goal in _DAYS
    ]
    return runs + days


def _checking() -> list[Badge]:
    return [
        Badge(
            key,
            title,
            _(
                "Vote at least %(n)s times as the verdict says, with an agreement above %(percent)s percent: the lower"
                " end of its 95%% interval counts.",
                n=votes,
                percent=percent,
            ),
            {BadgeMeasure.AGREED: votes, BadgeMeasure.AGREEMENT: percent},
            "check",
            "eye",
        )
        for key, title, votes, percent in (
            ("careful_validator", _("Careful validator"), 50, 80),
            ("trusted_validator", _("Trusted validator"), 200, 90),
        )
    ]


def _modelling() -> list[Badge]:
    return [
        Badge(
            "model_builder",
            _("Model builder"),
            _("Submit a model under your name that passes its check."),
            {BadgeMeasure.MODELS: 1},
            "model",
            "model",
        ),
        Badge(
            *("second_model", _("Second model"), _("Submit two such models."), {BadgeMeasure.MODELS: 2}),
            *("model", "model"),
        ),
        Badge(
            "multitasker",
            _("Multitasker"),
            _("Submit such models for four tasks."),
            {BadgeMeasure.MODEL_TASKS: 4},
            "model",
            "table",
        ),
        Badge(
            TOP_MODEL,
            _("Best of the board"),
            _("Submit the best of at least two models on a task's leaderboard."),
            {},
            "model",
            "flag",
            BadgeSubject.TASK,
        ),
    ]


BADGES: Mapping[str, Badge] = {
    badge.key: badge for badge in (*_starting(), *_events(), *_tiers(), *_streaks(), *_checking(), *_modelling())
}
"""All badges by their keys, which awards are stored under: a key never changes its meaning."""
