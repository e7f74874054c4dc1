"""Onboarding in an archive: attempts at quizzes with their answers, progress, and qualifications."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, RootModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.datasets.archives.layout import ArchivePart
from dynabench.datasets.archives.records import PERSON, UNSTORED, RecordSource, RecordTarget
from dynabench.datasets.rows import Moment, format_moment
from dynabench.kit.language import _
from dynabench.onboarding.tables import (
    AttemptState,
    OnboardingActivity,
    OnboardingProgress,
    Qualification,
    QuizAnswer,
    QuizAttempt,
)
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import TaskVersion

Name = Annotated[str, Field(max_length=200)]
Number = Annotated[int, Field(ge=0, le=100_000)]


class ArchivedAnswer(ArchivePart):
    """An answer to a question of a quiz."""

    position: Number
    question: Annotated[str, Field(max_length=40)]
    option: Annotated[str, Field(max_length=300)]
    right: bool
    at: Moment


class ArchivedAttempt(ArchivePart):
    """An attempt at a quiz; `config` is the number of the config's version that it is of."""

    kind: Literal["attempt"]
    person: Name
    activity: OnboardingActivity
    number: Number
    version: Number
    config: Number
    drawn: Annotated[list[dict[str, Any]], Field(max_length=200)]
    state: AttemptState
    right: Number
    begun_at: Moment
    ended_at: Moment | None
    answers: Annotated[list[ArchivedAnswer], Field(max_length=200)]


class ArchivedProgress(ArchivePart):
    """The progress of a person; `attempts_after` is the number of the last attempt that does not count any more."""

    kind: Literal["progress"]
    person: Name
    activity: OnboardingActivity
    version: Number
    done: Annotated[str, Field(max_length=20)]
    practised: Number
    screened_out: bool
    attempts_after: Number
    started_at: Moment


class ArchivedQualification(ArchivePart):
    """A qualification of a person."""

    kind: Literal["qualification"]
    person: Name
    activity: OnboardingActivity
    version: Number
    at: Moment
    expires_at: Moment | None
    by_hand: bool


class OnboardingRecord(RootModel[ArchivedAttempt | ArchivedProgress | ArchivedQualification]):
    """A row of the list."""

    root: Annotated[ArchivedAttempt | ArchivedProgress | ArchivedQualification, Field(discriminator="kind")]


def _moment(at: Any) -> str | None:
    return format_moment(at) if at else None


RECORD = OnboardingRecord


def write_records(source: RecordSource) -> Iterator[dict[str, Any]]:
    """Yield attempts first, then progress and qualifications."""
    session, task_id = source.session, source.task_id
    answers: dict[int, list[dict[str, Any]]] = {}
    listed = select(QuizAnswer).join(QuizAttempt, QuizAttempt.id == QuizAnswer.attempt_id)
    listed = listed.where(QuizAttempt.task_id == task_id).order_by(QuizAnswer.attempt_id, QuizAnswer.position)
    for answer in session.scalars(listed):
        answers.setdefault(answer.attempt_id, []).append({
            "position": answer.position, "question": answer.question, "option": answer.option, "right": answer.right,
            "at": format_moment(answer.at),
        })  # fmt: skip
    attempts = select(QuizAttempt, TaskVersion.number.label("config"), *PERSON)
    attempts = attempts.join(Person, Person.id == QuizAttempt.person_id)
    attempts = attempts.join(TaskVersion, TaskVersion.id == QuizAttempt.version_id)
    for row in session.execute(attempts.where(QuizAttempt.task_id == task_id).order_by(QuizAttempt.id)):
        attempt: QuizAttempt = row.QuizAttempt
        yield {
            "kind": "attempt", "person": source.name(row), "activity": attempt.activity, "number": attempt.number,
            "version": attempt.version, "config": row.config, "drawn": attempt.drawn, "state": attempt.state,
            "right": attempt.right, "begun_at": format_moment(attempt.begun_at), "ended_at": _moment(attempt.ended_at),
            "answers": answers.get(attempt.id, []),
        }  # fmt: skip
    rows = [*_progress(source), *_qualifications(source)]
    yield from sorted(rows, key=lambda row: (row["kind"], row["person"], row["activity"]))


def _progress(source: RecordSource) -> Iterator[dict[str, Any]]:
    rows = select(OnboardingProgress, *PERSON).join(Person, Person.id == OnboardingProgress.person_id)
    for row in source.session.execute(rows.where(OnboardingProgress.task_id == source.task_id)):
        progress: OnboardingProgress = row.OnboardingProgress
        attempt = source.session.get(QuizAttempt, progress.attempts_after) if progress.attempts_after else None
        yield {
            "kind": "progress", "person": source.name(row), "activity": progress.activity, "version": progress.version,
            "done": progress.done, "practised": progress.practised, "screened_out": progress.screened_out,
            "attempts_after": attempt.number if attempt else 0, "started_at": format_moment(progress.started_at),
        }  # fmt: skip


def _qualifications(source: RecordSource) -> Iterator[dict[str, Any]]:
    rows = select(Qualification, *PERSON).join(Person, Person.id == Qualification.person_id)
    for row in source.session.execute(rows.where(Qualification.task_id == source.task_id)):
        held: Qualification = row.Qualification
        yield {
            "kind": "qualification", "person": source.name(row), "activity": held.activity, "version": held.version,
            "at": format_moment(held.at), "expires_at": _moment(held.expires_at), "by_hand": held.by_hand,
        }  # fmt: skip


def store_records(target: RecordTarget, rows: Sequence[tuple[int, OnboardingRecord]]) -> list[tuple[int, str]]:
    """Store the rows for accounts without a log-in; an attempt of a version that is not here is named."""
    people = target.people(row.root.person for _number, row in rows)
    unstored = []
    for number, row in rows:
        record = row.root
        values = record.model_dump(exclude={"kind", "person", "config", "answers", "attempts_after"})
        values |= {"task_id": target.task_id, "person_id": people[record.person]}
        if isinstance(record, ArchivedAttempt):
            if not _store_attempt(target.session, record, values):
                unstored.append((number, str(_(UNSTORED))))
        elif isinstance(record, ArchivedProgress):
            after = _attempt_id(target.session, values, record.attempts_after)
            target.session.add(OnboardingProgress(**values, attempts_after=after))
        else:
            target.session.add(Qualification(**values))
    target.session.flush()
    return unstored


def _store_attempt(session: Session, record: ArchivedAttempt, values: dict[str, Any]) -> bool:
    version = select(TaskVersion.id).where(TaskVersion.task_id == values["task_id"])
    version_id = session.scalar(version.where(TaskVersion.number == record.config))
    if version_id is None:
        return False
    attempt = QuizAttempt(**values, version_id=version_id)
    session.add(attempt)
    session.flush()
    session.add_all(QuizAnswer(attempt_id=attempt.id, **answer.model_dump()) for answer in record.answers)
    return True


def _attempt_id(session: Session, values: dict[str, Any], number: int) -> int:
    same = [getattr(QuizAttempt, name) == values[name] for name in ("task_id", "person_id", "activity")]
    return session.scalar(select(QuizAttempt.id).where(*same, QuizAttempt.number == number)) or 0
