"""A quiz that a task asks of workers before they write or check, for as long as a test needs it."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import func
from sqlalchemy.orm import Session

from dynabench.kit.db import Database
from dynabench.rounds.tables import Round, RoundState, TaskVersion

QUIZ = """
onboarding:
  activities: [write, check]
  questions:
    - name: label
      question: Who decides which label is right?
      options: [right people, the model]
      right: right people
    - name: plain
      question: May a text be nonsense?
      options: ["yes", "right, it may not"]
      right: "right, it may not"
  drawn: 2
  pass_mark: 2
  attempts: 1
"""


@contextmanager
def asking_a_quiz(database: Database, task: str) -> Iterator[None]:
    """Let the open round of a task ask for a quiz while the block runs."""

    def change(session: Session) -> tuple[int, int]:
        current = session.query(Round).filter_by(task_id=task, state=RoundState.OPEN).one()
        before, newest = (
            current.version_id,
            session.query(func.max(TaskVersion.number)).filter_by(task_id=task).scalar(),
        )
        text = session.get_one(TaskVersion, before).source + QUIZ
        version = TaskVersion(task_id=task, number=newest + 1, source=text)
        session.add(version)
        session.flush()
        current.version_id = version.id
        return current.id, before

    def restore(session: Session) -> None:
        session.get_one(Round, round_id).version_id = before

    round_id, before = database.write(change)
    try:
        yield
    finally:
        database.write(restore)
