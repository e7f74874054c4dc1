"""The profile of a person: what `disclosure.shows_profile` lets a viewer see, counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection import overview
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people import disclosure
from dynabench.people.accounts import queries
from dynabench.people.accounts.tables import Person
from dynabench.recognition.badges.views import BadgeView, earned_badges, without_lower
from dynabench.recognition.records import NOTHING, Activity, TaskRecord, count_retracted, read_activity, read_records
from dynabench.rounds import service as rounds

EXAMPLES = 4
"""Verified examples that a profile shows."""


@dataclass(frozen=True)
class Profile:
    """A person's profile; `own` where the viewer is that person, who alone is told how many examples were withdrawn."""

    person: Person
    own: bool
    records: Mapping[str, TaskRecord]
    task_names: Mapping[str, str]
    activity: Activity
    badges: Sequence[BadgeView]
    examples: Sequence[Mapping[str, Any]]
    retracted: int

    @property
    def total(self) -> TaskRecord:
        """The contributions to all tasks together."""
        return reduce(add, self.records.values(), NOTHING)


def find_person(session: Session, viewer: Person | None, name: str) -> Person:
    """Return the person whom pages call by this name, where the viewer sees the profile; else `NotFound`.

    The refusal is the same for a private profile and for no such person.
    """
    person = session.scalars(queries.account_by_public_name(name.strip()[:60])).first()
    if person is None or not disclosure.shows_profile(viewer, person):
        raise errors.NotFound(_("There is no public profile of this name."))
    return person


def read_profile(session: Session, viewer: Person | None, name: str) -> Profile:
    """Return a person's profile as the viewer sees it; `NotFound` where it is private."""
    person = find_person(session, viewer, name)
    records = read_records(session, person.id)
    own = viewer is not None and viewer.id == person.id
    return Profile(
        person=person,
        own=own,
        records=records,
        task_names={task_id: rounds.task_config(session, task_id).name for task_id in records},
        activity=read_activity(session, person.id),
        badges=without_lower(earned_badges(session, person.id)),
        examples=overview.person_specimens(session, person.id, EXAMPLES),
        retracted=count_retracted(session, person.id) if own else 0,
    )
