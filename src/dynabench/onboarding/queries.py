"""Every `select` over attempts, answers and qualifications, with its cost."""

from sqlalchemy import Select, func, select

from dynabench.onboarding.tables import QuizAnswer, QuizAttempt


def attempts_of(task_id: str, person_id: int, activity: str) -> Select[QuizAttempt]:
    """All attempts of a person at the quiz of an activity, oldest first: one short range of an index."""
    return (
        select(QuizAttempt)
        .where(
            QuizAttempt.task_id == task_id,
            QuizAttempt.person_id == person_id,
            QuizAttempt.activity == activity,
        )
        .order_by(QuizAttempt.number)
    )


def answers_of(attempt_id: int) -> Select[QuizAnswer]:
    """The answers of an attempt in the order of its questions: one range of the primary key."""
    return select(QuizAnswer).where(QuizAnswer.attempt_id == attempt_id).order_by(QuizAnswer.position)


def drawn_before(task_id: str, person_id: int, activity: str) -> Select[str, int]:
    """The number of times that a person has answered each question: the ranges of the person's attempts."""
    return (
        select(QuizAnswer.question, func.count())
        .join(QuizAttempt, QuizAttempt.id == QuizAnswer.attempt_id)
        .where(
            QuizAttempt.task_id == task_id,
            QuizAttempt.person_id == person_id,
            QuizAttempt.activity == activity,
        )
        .group_by(QuizAnswer.question)
    )
