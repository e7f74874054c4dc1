"""A person's way through the onboarding of a task: the next step, and what finishes it. In the caller's transaction.

All that a person does twice, by a reload, a second window or a repeated request, counts once: the row of their
progress is locked, a draw is recorded when it is made, and the first answer to a question stands.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from random import Random, SystemRandom
from typing import NoReturn

from sqlalchemy import delete
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.onboarding import queries
from dynabench.onboarding.tables import AttemptState, OnboardingActivity, OnboardingProgress, Qualification, QuizAttempt
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import people
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.tasks import TaskConfig
from dynabench.tasks.onboarding import Onboarding


class StepKind(StrEnum):
    """Parts of an onboarding in their order, and the states in which a person cannot go on now."""

    SCREENING = "screening"
    INSTRUCTIONS = "instructions"
    EXAMPLES = "examples"
    PRACTICE = "practice"
    QUIZ = "quiz"
    SCREENED_OUT = "screened_out"
    WAITING = "waiting"
    FAILED = "failed"


PARTS = (StepKind.SCREENING, StepKind.INSTRUCTIONS, StepKind.EXAMPLES, StepKind.PRACTICE, StepKind.QUIZ)
READ = (StepKind.INSTRUCTIONS, StepKind.EXAMPLES)
"""Parts that are done when a person goes on."""


@dataclass(frozen=True)
class OnboardingStep:
    """The next step of a person: the `number`th of `total` parts, or a state in which the person cannot go on now.

    `position` counts the questions or practice items that are done in this part, of `size`. `attempt` is the number of
    the attempt at the quiz that runs or would be next, of `attempts`; `attempt_id` is that of the one that runs.
    `until` is when a waiting person may try again.
    """

    kind: StepKind
    activity: OnboardingActivity
    number: int
    total: int
    position: int = 0
    size: int = 0
    attempt: int = 0
    attempts: int = 0
    attempt_id: int | None = None
    until: datetime | None = None

    @property
    def over(self) -> bool:
        """True where the person cannot go on by themselves."""
        return self.kind in (StepKind.SCREENED_OUT, StepKind.FAILED)


@dataclass(frozen=True)
class Path:
    """The onboarding of a task for one activity: its section, its config's version, and its parts in order."""

    task_id: str
    activity: OnboardingActivity
    section: Onboarding
    config: TaskConfig
    version_id: int
    parts: tuple[StepKind, ...]


def parts_of(config: TaskConfig, activity: OnboardingActivity) -> tuple[StepKind, ...]:
    """Return the parts that the onboarding of a config has for an activity; () where there is none."""
    section = config.onboarding
    if section is None or activity not in section.activities:
        return ()
    texts = config.instructions.create if activity == OnboardingActivity.WRITE else config.instructions.validate
    present = {
        StepKind.SCREENING: section.screening,
        StepKind.INSTRUCTIONS: texts,
        StepKind.EXAMPLES: section.examples,
        StepKind.PRACTICE: section.practice,
        StepKind.QUIZ: section.questions_for(activity),
    }
    return tuple(kind for kind in PARTS if present[kind])


def read_path(session: Session, task_id: str, activity: OnboardingActivity) -> Path | None:
    """Return the onboarding of a task for an activity, of the config that people see; None where there is none."""
    version_id = session.scalar(round_queries.OPEN_VERSION, {"task": task_id})
    version_id = version_id or rounds.get_task(session, task_id).version_id
    if version_id is None:
        return None
    config = rounds.config_of(session, version_id)
    parts = parts_of(config, activity)
    if config.onboarding is None or not parts:
        return None
    return Path(task_id, activity, config.onboarding, config, version_id, parts)


def is_qualified(qualification: Qualification | None, section: Onboarding, *, at: datetime) -> bool:
    """Return whether a qualification counts for an onboarding at a moment."""
    if qualification is None or qualification.version < section.version:
        return False
    return qualification.expires_at is None or qualification.expires_at > at


def next_step(session: Session, person: Person, task_id: str, activity: OnboardingActivity) -> OnboardingStep | None:
    """Return the next step that a task asks of a person before an activity.

    None where the person is qualified, needs no qualification (experts, moderators, owners), or the task asks for none.
    """
    path = read_path(session, task_id, activity)
    if path is None or not path.section.required:
        return None
    if may.may_in(session, person, Action.SKIP_ONBOARDING, task_id):
        return None
    return read_step(session, person, path)


def read_step(session: Session, person: Person, path: Path) -> OnboardingStep | None:
    """Return the next step of a person in an onboarding, asked for or not; None where the person is qualified."""
    key = (path.task_id, person.id, path.activity)
    if is_qualified(session.get(Qualification, key), path.section, at=now()):
        return None
    return _step(session, path, person.id, session.get(OnboardingProgress, key))


def _step(session: Session, path: Path, person_id: int, progress: OnboardingProgress | None) -> OnboardingStep:
    section, total = path.section, len(path.parts)
    current = progress if progress is not None and progress.version == section.version else None
    if current is not None and current.screened_out:
        return OnboardingStep(StepKind.SCREENED_OUT, path.activity, 0, total)
    order = PARTS.index(StepKind(current.done)) if current is not None and current.done else -1
    remaining = [kind for kind in path.parts if PARTS.index(kind) > order]
    kind = remaining[0] if remaining else path.parts[0]
    number = path.parts.index(kind) + 1
    if kind is StepKind.QUIZ:
        return _quiz_step(session, path, person_id, progress, number)
    if kind is StepKind.PRACTICE:
        practised = min(current.practised if current else 0, len(section.practice) - 1)
        return OnboardingStep(kind, path.activity, number, total, practised, len(section.practice))
    return OnboardingStep(kind, path.activity, number, total)


def _quiz_step(
    session: Session, path: Path, person_id: int, progress: OnboardingProgress | None, number: int
) -> OnboardingStep:
    section, after = path.section, progress.attempts_after if progress else 0
    rows = session.scalars(queries.attempts_of(path.task_id, person_id, path.activity)).all()
    counted = [row for row in rows if row.id > after and row.version == section.version]
    total, used = len(path.parts), len(counted)
    running = next((row for row in counted if row.state == AttemptState.BEGUN), None)
    if running is not None:
        answered = len(session.scalars(queries.answers_of(running.id)).all())
        size = len(running.drawn)
        return OnboardingStep(
            StepKind.QUIZ, path.activity, number, total, answered, size, used, section.attempts, running.id
        )  # fmt: skip
    if used >= section.attempts:
        return OnboardingStep(StepKind.FAILED, path.activity, number, total, attempt=used, attempts=section.attempts)
    ended = max((row.ended_at for row in counted if row.ended_at is not None), default=None)
    until = ended + timedelta(minutes=section.wait_minutes) if ended and section.wait_minutes else None
    kind = StepKind.WAITING if until is not None and until > now() else StepKind.QUIZ
    return OnboardingStep(
        kind, path.activity, number, total, 0, section.drawn, used + 1, section.attempts, None, until
    )  # fmt: skip


def require_path(session: Session, person: Person, task_id: str, activity: OnboardingActivity) -> Path:
    """Return the onboarding of a task for a person who may take part in the task; raises `NotFound` without one."""
    people.require_seat(session, person, task_id, checking=activity == OnboardingActivity.CHECK)
    path = read_path(session, task_id, activity)
    if path is None:
        raise errors.NotFound(_("This task has no onboarding for this."))
    return path


def lock_progress(session: Session, path: Path, person_id: int) -> OnboardingProgress:
    """Return a person's progress, made where it is missing and locked until the transaction ends.

    Where the owner has raised the onboarding's version since, the person begins again.
    """
    dialect = session.get_bind().dialect.name
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(OnboardingProgress)
    key = {"task_id": path.task_id, "person_id": person_id, "activity": path.activity}
    fresh = {"version": path.section.version, "done": "", "practised": 0, "screened_out": False, "attempts_after": 0}
    session.execute(insert.values(**key, **fresh, started_at=now()).on_conflict_do_nothing())
    progress = session.get_one(OnboardingProgress, tuple(key.values()), with_for_update=True, populate_existing=True)
    if progress.version != path.section.version:
        progress.version, progress.done, progress.practised = path.section.version, "", 0
        progress.screened_out = False
    return progress


def open_step(session: Session, person: Person, path: Path) -> tuple[OnboardingProgress, OnboardingStep | None]:
    """Return a person's locked progress with the next step, None where the person is qualified."""
    progress = lock_progress(session, path, person.id)
    qualification = session.get(Qualification, (path.task_id, person.id, path.activity), populate_existing=True)
    if is_qualified(qualification, path.section, at=now()):
        return progress, None
    return progress, _step(session, path, person.id, progress)


def finish_reading(
    session: Session, person: Person, task_id: str, activity: OnboardingActivity, kind: StepKind
) -> OnboardingStep | None:
    """Record that a person has read a part, and return the step after it; a part that is done already changes nothing.

    Raises `Conflict` for a part that is not read, or whose turn has not come.
    """
    path = require_path(session, person, task_id, activity)
    progress, step = open_step(session, person, path)
    if kind not in READ:
        _refuse_order()
    if step is None or kind not in path.parts:
        return step
    if step.kind is kind:
        return finish_part(session, person, path, progress, kind)
    if step.kind in PARTS and PARTS.index(kind) > PARTS.index(step.kind):
        _refuse_order()
    return step


def _refuse_order() -> NoReturn:
    raise errors.Conflict(_("Another part of the onboarding comes first. Reload the page to go on there."))


def finish_part(
    session: Session, person: Person, path: Path, progress: OnboardingProgress, kind: StepKind
) -> OnboardingStep | None:
    """Record that a part is done, and qualify the person after the last one; return the step after it."""
    progress.done = kind
    if kind is path.parts[-1]:
        qualify(session, person.id, path, progress)
        return None
    session.flush()
    return _step(session, path, person.id, progress)


def qualify(session: Session, person_id: int, path: Path, progress: OnboardingProgress) -> None:
    """Record that a person is qualified from now on; after the qualification ends, attempts count anew."""
    days = path.section.valid_days
    key = {"task_id": path.task_id, "person_id": person_id, "activity": path.activity}
    qualification = session.get(Qualification, tuple(key.values()))
    if qualification is None:
        qualification = Qualification(**key)
        session.add(qualification)
    qualification.version, qualification.at = path.section.version, now()
    qualification.expires_at = now() + timedelta(days=days) if days else None
    qualification.by_hand, qualification.granted_by = False, None
    rows = session.scalars(queries.attempts_of(path.task_id, person_id, path.activity)).all()
    progress.attempts_after = max((row.id for row in rows), default=progress.attempts_after)
    # Without a quiz all is read again when the qualification has ended, else only the quiz is repeated.
    progress.done = "" if StepKind.QUIZ not in path.parts else _before_quiz(path)
    progress.practised = 0
    session.flush()


def _before_quiz(path: Path) -> str:
    earlier = [kind for kind in path.parts if kind is not StepKind.QUIZ]
    return str(earlier[-1]) if earlier else ""


def answer_screening(
    session: Session, person: Person, task_id: str, activity: OnboardingActivity, answers: dict[str, str]
) -> OnboardingStep | None:
    """Take the answers about a person, by the name of the question, and return the step after it.

    Only whether the person goes on is stored. A second answer changes nothing.
    """
    path = require_path(session, person, task_id, activity)
    progress, step = open_step(session, person, path)
    if step is None or step.kind is not StepKind.SCREENING:
        return step
    problems = {
        f"screening.{question.name}": _("Choose one of the options.")
        for question in path.section.screening
        if answers.get(question.name) not in question.options
    }
    if problems:
        raise errors.Invalid(problems)
    if all(answers[question.name] in question.accept for question in path.section.screening):
        return finish_part(session, person, path, progress, StepKind.SCREENING)
    progress.screened_out = True
    session.flush()
    return _step(session, path, person.id, progress)


def forget_person(session: Session, person_id: int) -> None:
    """Delete what is stored of a person's onboardings, before the account is deleted."""
    for table in (QuizAttempt, Qualification, OnboardingProgress):
        session.execute(delete(table).where(table.person_id == person_id))


def new_random() -> Random:
    """Return the source of draws, which nobody can foresee."""
    return SystemRandom()
