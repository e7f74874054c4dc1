"""What somebody made and what came of it; taking it back; leaving."""

from sqlalchemy.orm import Session

from dynabench.accounts import service as accounts
from dynabench.accounts.tables import Person
from dynabench.collection import notes
from dynabench.collection.assisting import service as assisting
from dynabench.collection.chat import leaving as conversations
from dynabench.collection.drawing import service as drawings
from dynabench.collection.withdrawal import withdraw
from dynabench.datasets import library
from dynabench.leaderboards import snapshots
from dynabench.notices import service as notices
from dynabench.registry import service as registry
from dynabench.registry import submissions
from dynabench.rounds import people
from dynabench.rounds.service import act
from dynabench.settings import Settings


def take_back(session: Session, person: Person, task_id: str | None = None, number: int | None = None) -> int:
    """`collection.withdrawal.withdraw`, recorded in the audit log; returns how many examples were taken back."""
    count = withdraw(session, person, task_id, number)
    if count:
        act(session, person, "examples.withdraw", task=task_id, round=number, examples=count)
    return count


def leave(session: Session, settings: Settings, person_id: int, *, withdraw_examples: bool) -> int:
    """Delete an account: what identifies the person goes, what they wrote stays under nobody's name or is taken back.

    Roles, bans, notices, tokens, sessions and the links that they made for others go too, and models that they kept
    or submitted, datasets that they made and boards that they kept are nobody's; files and tokens that they sent with
    submissions are deleted, and conversations and drawn pictures that they did not send in. Returns how many examples
    were taken back; those of released rounds are in the world.
    """
    person = session.get_one(Person, person_id, with_for_update=True)
    count = take_back(session, person) if withdraw_examples else 0
    people.forget(session, person_id)
    conversations.forget(session, person_id)
    drawings.forget(session, person_id)
    assisting.forget(session, person_id)
    for statement in notes.forget(person_id):
        session.execute(statement)
    notices.forget(session, person_id)
    registry.forget(session, person_id)
    submissions.forget(session, settings, person_id)
    library.forget(session, person_id)
    snapshots.forget(session, person_id)
    accounts.delete_account(session, person_id)
    return count
