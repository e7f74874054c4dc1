"""The figures of a task's onboarding for owners and moderators, and what they do for a person."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from sqlalchemy import Integer, cast, func, select
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.onboarding import service
from dynabench.onboarding.tables import (
    AttemptState,
    OnboardingActivity,
    OnboardingProgress,
    Qualification,
    QuizAnswer,
    QuizAttempt,
)
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.stats.rates import Rate, wilson

Row = TypeVar("Row", OnboardingProgress, Qualification)


class OnboardingState(StrEnum):
    """The state of a person in an onboarding; an ended qualification asks for the quiz again."""

    UNDER_WAY = "under_way"
    QUALIFIED = "qualified"
    EXPIRED = "expired"
    FAILED = "failed"
    SCREENED_OUT = "screened_out"


@dataclass(frozen=True)
class ActivityFigures:
    """Counts of an onboarding: how many people began the onboarding for an activity, and how many of them are where."""

    activity: OnboardingActivity
    began: int
    qualified: int
    failed: int
    screened_out: int

    @property
    def under_way(self) -> int:
        """The people who began and are neither qualified nor out."""
        return self.began - self.qualified - self.failed - self.screened_out


@dataclass(frozen=True)
class QuestionFigures:
    """The answers to one question of the quiz bank; `in_bank` is false where the bank does not have it any more."""

    name: str
    question: str
    right: Rate
    in_bank: bool


@dataclass(frozen=True)
class OnboardedPerson:
    """A person in the onboarding of a task. `best` is the most right answers of an attempt, None before the first."""

    id: int
    username: str
    activity: OnboardingActivity
    state: OnboardingState
    attempts: int
    best: int | None
    since: datetime
    expires_at: datetime | None


def list_people(
    session: Session, actor: Person | None, task_id: str, *, after: int = 0, limit: int = 200
) -> list[OnboardedPerson]:
    """Return the people who began a task's onboarding, by their ids above `after`."""
    rounds.require(session, actor, Action.LIST_PEOPLE, task_id)
    chosen = (
        select(OnboardingProgress.person_id)
        .where(OnboardingProgress.task_id == task_id, OnboardingProgress.person_id > after)
        .union(select(Qualification.person_id).where(Qualification.task_id == task_id, Qualification.person_id > after))
        .subquery()
    )
    ids = list(session.scalars(select(chosen.c.person_id).order_by(chosen.c.person_id).limit(limit)))
    names = {
        row.id: row.username for row in session.execute(select(Person.id, Person.username).where(Person.id.in_(ids)))
    }
    attempts: dict[tuple[int, str], list[QuizAttempt]] = {}
    of_people = select(QuizAttempt).where(QuizAttempt.task_id == task_id, QuizAttempt.person_id.in_(ids))
    for attempt in session.scalars(of_people.order_by(QuizAttempt.number)):
        attempts.setdefault((attempt.person_id, attempt.activity), []).append(attempt)
    progress = _by_activity(session, OnboardingProgress, task_id, ids)
    qualifications = _by_activity(session, Qualification, task_id, ids)
    paths = {activity: service.read_path(session, task_id, activity) for activity in OnboardingActivity}
    rows = []
    for key in sorted(progress.keys() | qualifications.keys()):
        row, qualification, tried = progress.get(key), qualifications.get(key), attempts.get(key, [])
        activity = OnboardingActivity(key[1])
        rows.append(
            OnboardedPerson(
                key[0],
                names[key[0]],
                activity,
                _state(paths[activity], row, qualification, tried),
                len(tried),
                max((attempt.right for attempt in tried), default=None),
                qualification.at if qualification is not None else row.started_at if row is not None else now(),
                qualification.expires_at if qualification is not None else None,
            )
        )
    return rows


def _by_activity(session: Session, table: type[Row], task_id: str, ids: list[int]) -> dict[tuple[int, str], Row]:
    rows = session.scalars(select(table).where(table.task_id == task_id, table.person_id.in_(ids)))
    return {(row.person_id, row.activity): row for row in rows}


def _state(
    path: service.Path | None,
    progress: OnboardingProgress | None,
    qualification: Qualification | None,
    attempts: Sequence[QuizAttempt],
) -> OnboardingState:
    if qualification is not None and (path is None or service.is_qualified(qualification, path.section, at=now())):
        return OnboardingState.QUALIFIED
    if progress is not None and progress.screened_out:
        return OnboardingState.SCREENED_OUT
    counted = [attempt for attempt in attempts if progress is None or attempt.id > progress.attempts_after]
    if path is not None:
        counted = [attempt for attempt in counted if attempt.version == path.section.version]
        used = [attempt for attempt in counted if attempt.state == AttemptState.FAILED]
        if len(used) >= path.section.attempts:
            return OnboardingState.FAILED
    return OnboardingState.EXPIRED if qualification is not None else OnboardingState.UNDER_WAY


def read_figures(session: Session, actor: Person | None, task_id: str) -> list[ActivityFigures]:
    """Return how far people came, for each activity that the task's onboarding is for."""
    rounds.require(session, actor, Action.LIST_PEOPLE, task_id)
    states: dict[OnboardingActivity, Counter[OnboardingState]] = {
        activity: Counter()
        for activity in OnboardingActivity
        if service.read_path(session, task_id, activity) is not None
    }
    after = 0
    while people := list_people(session, actor, task_id, after=after, limit=1000):
        for person in people:
            states.setdefault(person.activity, Counter())[person.state] += 1
        after = people[-1].id
    return [
        ActivityFigures(
            activity,
            counts.total(),
            counts[OnboardingState.QUALIFIED],
            counts[OnboardingState.FAILED],
            counts[OnboardingState.SCREENED_OUT],
        )
        for activity, counts in states.items()
    ]


def read_questions(session: Session, actor: Person | None, task_id: str) -> list[QuestionFigures]:
    """Return the share of right answers to each question of the quiz, the hardest first; for owners alone."""
    rounds.require(session, actor, Action.MANAGE_TASK, task_id)
    counted = (
        select(QuizAnswer.question, func.count(), func.sum(cast(QuizAnswer.right, Integer)))
        .join(QuizAttempt, QuizAttempt.id == QuizAnswer.attempt_id)
        .where(QuizAttempt.task_id == task_id)
        .group_by(QuizAnswer.question)
    )
    counts = {name: (int(right or 0), int(number)) for name, number, right in session.execute(counted)}
    section = rounds.newest_config(session, task_id).onboarding
    bank = {question.name: question.question for question in section.questions} if section else {}
    rows = [
        QuestionFigures(name, bank.get(name, ""), wilson(*counts.get(name, (0, 0))), name in bank)
        for name in {**bank, **counts}
    ]
    return sorted(rows, key=lambda row: (row.right.value is None, row.right.value or 0.0, row.name))


def allow_again(
    session: Session, actor: Person | None, task_id: str, person_id: int, activity: OnboardingActivity
) -> None:
    """Let a person go through an onboarding anew: earlier attempts and a screening count no longer."""
    rounds.require(session, actor, Action.BAN_MEMBER, task_id)
    path, person = _subject(session, task_id, person_id, activity)
    progress = service.lock_progress(session, path, person.id)
    attempts = session.scalars(
        select(QuizAttempt.id).where(
            QuizAttempt.task_id == task_id, QuizAttempt.person_id == person.id, QuizAttempt.activity == activity
        )
    ).all()
    progress.attempts_after = max(attempts, default=progress.attempts_after)
    if progress.screened_out:
        progress.screened_out, progress.done = False, ""
    rounds.record_act(session, actor, "onboarding.reset", task=task_id, person=person.username, activity=activity.value)


def grant(session: Session, actor: Person | None, task_id: str, person_id: int, activity: OnboardingActivity) -> None:
    """Qualify a person by hand, for as long as passing the quiz would; repeated it begins anew."""
    rounds.require(session, actor, Action.BAN_MEMBER, task_id)
    path, person = _subject(session, task_id, person_id, activity)
    service.qualify(session, person.id, path, service.lock_progress(session, path, person.id))
    qualification = session.get_one(Qualification, (task_id, person.id, activity))
    qualification.by_hand, qualification.granted_by = True, actor.id if actor else None
    rounds.record_act(
        session, actor, "onboarding.granted", task=task_id, person=person.username, activity=activity.value
    )


def revoke(session: Session, actor: Person | None, task_id: str, person_id: int, activity: OnboardingActivity) -> None:
    """End a person's qualification, who then goes through the onboarding again; without one nothing changes."""
    rounds.require(session, actor, Action.BAN_MEMBER, task_id)
    _path, person = _subject(session, task_id, person_id, activity)
    qualification = session.get(Qualification, (task_id, person.id, activity))
    if qualification is None:
        return
    session.delete(qualification)
    rounds.record_act(
        session, actor, "onboarding.revoked", task=task_id, person=person.username, activity=activity.value
    )


def _subject(
    session: Session, task_id: str, person_id: int, activity: OnboardingActivity
) -> tuple[service.Path, Person]:
    path = service.read_path(session, task_id, activity)
    person = session.get(Person, person_id)
    if path is None or person is None:
        raise errors.NotFound(_("There is no such onboarding, or no such person."))
    return path, person
