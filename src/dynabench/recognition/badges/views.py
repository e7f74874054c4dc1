"""Badges as pages show them: awards grouped by badge, and the way to each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy.orm import Session

from dynabench.kit.language import _
from dynabench.recognition.badges import service
from dynabench.recognition.badges.definitions import BADGES, FAMILIES, Badge, BadgeMeasure, BadgeSubject
from dynabench.recognition.badges.progress import Progress, read_progress
from dynabench.recognition.badges.tables import BadgeAward
from dynabench.rounds import service as rounds

MEASURES: Mapping[BadgeMeasure, str] = {
    BadgeMeasure.JOINED: _("accounts"),
    BadgeMeasure.WRITTEN: _("written"),
    BadgeMeasure.CHECKED: _("checked"),
    BadgeMeasure.FOOLING_DAYS: _("days"),
    BadgeMeasure.VERIFIED: _("verified"),
    BadgeMeasure.AGREED: _("votes as the verdict"),
    BadgeMeasure.AGREEMENT: _("percent agreement"),
    BadgeMeasure.TASKS: _("tasks"),
    BadgeMeasure.LONGEST_RUN: _("in a row"),
    BadgeMeasure.DAYS_IN_A_ROW: _("days in a row"),
    BadgeMeasure.MODELS: _("models"),
    BadgeMeasure.MODEL_TASKS: _("tasks"),
}
"""Words that follow "7 of 10"."""


LADDERS = frozenset({"run", "days", "site", "check"})
"""Families in which each badge includes those before it."""


@dataclass(frozen=True)
class BadgeView:
    """A badge with the subjects for which a person has it, and the way to it: `value` of `goal`, in words `measure`."""

    badge: Badge
    people: int = 0
    subjects: Sequence[str] = ()
    earned_at: datetime | None = None
    measure: str = ""
    value: int = 0
    goal: int = 0

    @property
    def share(self) -> float:
        """The part of the way that is done."""
        return self.value / self.goal if self.goal else 0.0


@dataclass(frozen=True)
class BadgeFamily:
    """A group of badges."""

    title: str
    badges: Sequence[BadgeView]

    @property
    def earned(self) -> int:
        """The number of badges that the viewer has."""
        return sum(view.earned_at is not None for view in self.badges)


def subject_name(session: Session, award: BadgeAward) -> str:
    """Return the subject of an award in words: a task's name, a model's name, a day; empty for the site."""
    badge = BADGES[award.badge]
    if badge.subject is BadgeSubject.TASK:
        return rounds.task_config(session, award.subject).name
    if badge.subject is BadgeSubject.WEEK:
        return _("week of %(day)s", day=date.fromisoformat(award.subject).isoformat())
    return award.subject


def earned_badges(session: Session, person_id: int) -> list[BadgeView]:
    """Return the badges that a person has, the last earned first, each once with its subjects."""
    awards: dict[str, list[BadgeAward]] = {}
    for award in service.awards_of(session, person_id):
        if award.badge in BADGES:  # a badge that a later version has no longer
            awards.setdefault(award.badge, []).append(award)
    return [
        BadgeView(
            BADGES[key],
            subjects=[name for award in group if (name := subject_name(session, award))],
            earned_at=group[0].at,
        )
        for key, group in awards.items()
    ]


def without_lower(views: Sequence[BadgeView]) -> list[BadgeView]:
    """Leave out badges that a higher one of the same ladder includes, such as 5 in a row beside 10 in a row."""
    highest: dict[str, int] = {}
    for view in views:
        family = view.badge.family
        highest[family] = max(highest.get(family, 0), _height(view.badge))
    return [
        view for view in views if view.badge.family not in LADDERS or _height(view.badge) == highest[view.badge.family]
    ]


def _height(badge: Badge) -> int:
    return max(badge.needs.values(), default=0)


def badge_families(session: Session, person_id: int | None) -> list[BadgeFamily]:
    """Return all badges by family, with the progress of a person where one asks."""
    owners = service.count_owners(session)
    earned = {view.badge.key: view for view in earned_badges(session, person_id)} if person_id is not None else {}
    progress = read_progress(session, person_id) if person_id is not None else None
    families: dict[str, list[BadgeView]] = {name: [] for name in FAMILIES}
    for badge in BADGES.values():
        families[badge.family].append(_view(badge, owners, earned.get(badge.key), progress))
    return [BadgeFamily(FAMILIES[name], badges) for name, badges in families.items()]


def _view(badge: Badge, owners: Mapping[str, int], earned: BadgeView | None, progress: Progress | None) -> BadgeView:
    way = progress.best(badge) if progress else None
    return BadgeView(
        badge,
        people=owners.get(badge.key, 0),
        subjects=earned.subjects if earned else (),
        earned_at=earned.earned_at if earned else None,
        measure=MEASURES[way[0]] if way else "",
        value=way[1] if way else 0,
        goal=way[2] if way else 0,
    )
