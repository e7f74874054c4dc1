"""The quiz and the practice of an onboarding: drawing questions, answering them, and what is explained afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.onboarding import queries
from dynabench.onboarding.service import (
    PARTS,
    OnboardingStep,
    Path,
    StepKind,
    finish_part,
    open_step,
    qualify,
    require_path,
)
from dynabench.onboarding.tables import AttemptState, OnboardingActivity, QuizAnswer, QuizAttempt
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.tasks.onboarding import QuizQuestion


@dataclass(frozen=True)
class AskedQuestion:
    """A question of a person's attempt as it is asked: its options in the attempt's order, without the answer."""

    attempt_id: int
    position: int
    size: int
    question: str
    options: Sequence[str]


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question that a person has answered, explained. `passed` is None until the attempt has ended."""

    position: int
    size: int
    question: str
    options: Sequence[str]
    chosen: str
    right: str
    is_right: bool
    explanation: str
    passed: bool | None
    score: int
    pass_mark: int


@dataclass(frozen=True)
class PractisedItem:
    """A practice item that a person has answered: whether it agrees with the right answer, and why that is right."""

    position: int
    size: int
    agrees: bool
    answer: dict[str, Any]
    right: dict[str, Any]
    explanation: str


def draw_questions(
    bank: Sequence[QuizQuestion], number: int, seen: dict[str, int], rng: Random
) -> list[dict[str, Any]]:
    """Draw a quiz: first questions that the person has answered least often, each equally likely among those."""
    shuffled = rng.sample(list(bank), len(bank))
    chosen = sorted(shuffled, key=lambda question: seen.get(question.name, 0))[:number]
    rng.shuffle(chosen)
    return [
        {"name": question.name, "order": rng.sample(range(len(question.options)), len(question.options))}
        for question in chosen
    ]


def begin_attempt(
    session: Session, person: Person, task_id: str, activity: OnboardingActivity, rng: Random
) -> QuizAttempt:
    """Begin an attempt at the quiz, or return the one that runs: it counts from now on, and its draw stands.

    Raises `Conflict` before the quiz's turn, after the last attempt, and while the person has to wait.
    """
    path = require_path(session, person, task_id, activity)
    _progress, step = open_step(session, person, path)
    if step is None:
        raise errors.Conflict(_("You are qualified already."))
    if step.kind is not StepKind.QUIZ:
        raise errors.Conflict(_refusal(step))
    if step.attempt_id is not None:
        return session.get_one(QuizAttempt, step.attempt_id)
    seen = {row[0]: row[1] for row in session.execute(queries.drawn_before(task_id, person.id, activity))}
    earlier = session.scalars(queries.attempts_of(task_id, person.id, activity)).all()
    bank = path.section.questions_for(activity)
    attempt = QuizAttempt(
        task_id=task_id,
        person_id=person.id,
        activity=activity,
        number=1 + max((row.number for row in earlier), default=0),
        version=path.section.version,
        version_id=path.version_id,
        drawn=draw_questions(bank, path.section.drawn, seen, rng),
    )
    session.add(attempt)
    session.flush()
    return attempt


def _refusal(step: OnboardingStep) -> str:
    if step.kind is StepKind.WAITING and step.until is not None:
        return _("You can try again after %(until)s UTC.", until=f"{step.until:%Y-%m-%d %H:%M}")
    if step.kind is StepKind.FAILED:
        return _("You have used all attempts. Ask an owner of the task for another one.")
    if step.kind is StepKind.SCREENED_OUT:
        return _("You cannot take part in this task.")
    return _("Another part of the onboarding comes first. Reload the page to go on there.")


def own_attempt(session: Session, person: Person, attempt_id: int, *, locked: bool = False) -> QuizAttempt:
    """Return an attempt of one's own, or `NotFound`."""
    attempt = session.get(QuizAttempt, attempt_id, with_for_update=locked, populate_existing=locked)
    if attempt is None or attempt.person_id != person.id:
        raise errors.NotFound(_("You have no such attempt at a quiz."))
    return attempt


def _question(session: Session, attempt: QuizAttempt, position: int) -> tuple[QuizQuestion, list[str]]:
    section = rounds.config_of(session, attempt.version_id).onboarding
    if section is None or not 0 <= position < len(attempt.drawn):
        raise errors.NotFound(_("This attempt has no such question."))
    drawn = attempt.drawn[position]
    question = section.question(drawn["name"])
    return question, [question.options[index] for index in drawn["order"]]


def asked_question(session: Session, person: Person, attempt_id: int) -> AskedQuestion | None:
    """Return the question of an attempt that the person answers next; None where all are answered."""
    attempt = own_attempt(session, person, attempt_id)
    position = len(session.scalars(queries.answers_of(attempt.id)).all())
    if position >= len(attempt.drawn):
        return None
    question, options = _question(session, attempt, position)
    return AskedQuestion(attempt.id, position, len(attempt.drawn), question.question, options)


def answer_question(session: Session, person: Person, attempt_id: int, position: int, option: str) -> AnsweredQuestion:
    """Take a person's answer to the question at a position, and return it explained.

    The first answer stands, whatever is sent again. The last one ends the attempt and may qualify the person.
    """
    attempt = own_attempt(session, person, attempt_id)
    path = require_path(session, person, attempt.task_id, OnboardingActivity(attempt.activity))
    progress, _step = open_step(session, person, path)  # the lock under which a person's answers come one by one
    attempt = own_attempt(session, person, attempt_id, locked=True)
    answers = session.scalars(queries.answers_of(attempt.id)).all()
    if position < len(answers):
        return explain_answer(session, person, attempt_id, position)
    if position > len(answers):
        raise errors.Conflict(_("Answer the questions in their order. Reload the page to go on there."))
    question, options = _question(session, attempt, position)
    if option not in options:
        raise errors.Invalid({"option": _("Choose one of the options.")})
    is_right = option == question.right
    session.add(
        QuizAnswer(attempt_id=attempt.id, position=position, question=question.name, option=option, right=is_right)
    )
    attempt.right += is_right
    session.flush()
    if position + 1 == len(attempt.drawn):
        _end(session, path, progress, attempt)
    return explain_answer(session, person, attempt_id, position)


def _end(session: Session, path: Path, progress: Any, attempt: QuizAttempt) -> None:
    section = rounds.config_of(session, attempt.version_id).onboarding
    passed = section is not None and attempt.right >= section.pass_mark
    attempt.state, attempt.ended_at = AttemptState.PASSED if passed else AttemptState.FAILED, now()
    session.flush()
    if passed and attempt.version == path.section.version:
        qualify(session, attempt.person_id, path, progress)


def explain_answer(session: Session, person: Person, attempt_id: int, position: int) -> AnsweredQuestion:
    """Return a question that the person has answered, with the right answer and its explanation; else `NotFound`."""
    attempt = own_attempt(session, person, attempt_id)
    answers = session.scalars(queries.answers_of(attempt.id)).all()
    if not 0 <= position < len(answers):
        raise errors.NotFound(_("You have not answered this question."))
    question, options = _question(session, attempt, position)
    section = rounds.config_of(session, attempt.version_id).onboarding
    ended = attempt.state != AttemptState.BEGUN
    answer = answers[position]
    return AnsweredQuestion(
        position=position,
        size=len(attempt.drawn),
        question=question.question,
        options=options,
        chosen=answer.option,
        right=question.right,
        is_right=answer.right,
        explanation=question.explanation,
        passed=attempt.state == AttemptState.PASSED if ended else None,
        score=sum(row.right for row in answers),
        pass_mark=section.pass_mark if section else 0,
    )


def practise(
    session: Session, person: Person, task_id: str, activity: OnboardingActivity, position: int, values: Any
) -> PractisedItem:
    """Take a person's answer to a practice item and return it with the right one; items come in their order.

    An item may be tried again for its feedback. The last one finishes the practice, right or not.
    """
    path = require_path(session, person, task_id, activity)
    progress, step = open_step(session, person, path)
    items = path.section.practice
    if StepKind.PRACTICE not in path.parts or not 0 <= position < len(items):
        raise errors.NotFound(_("There is no such practice item."))
    if step is not None and step.kind in PARTS and PARTS.index(step.kind) < PARTS.index(StepKind.PRACTICE):
        raise errors.Conflict(_("Another part of the onboarding comes first. Reload the page to go on there."))
    now_here = step is not None and step.kind is StepKind.PRACTICE
    if now_here and position > progress.practised:
        raise errors.Conflict(_("Another practice item comes first. Reload the page to go on there."))
    item = items[position]
    around = {**item.context, **item.input}
    answer = path.config.clean_answer(values, context=item.context, input=item.input)
    if now_here and position == progress.practised:
        progress.practised += 1
        if progress.practised == len(items):
            finish_part(session, person, path, progress, StepKind.PRACTICE)
    session.flush()
    agrees = path.config.agrees(answer, item.answer, around)
    return PractisedItem(position, len(items), agrees, answer, dict(item.answer), item.explanation)
