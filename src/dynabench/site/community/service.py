"""A person's own work: withdrawal of examples, and deletion of the account."""

from sqlalchemy.orm import Session

from dynabench.announcements import service as announcements
from dynabench.benchmark.leaderboards import snapshots
from dynabench.benchmark.registry import service as registry
from dynabench.benchmark.registry import submissions
from dynabench.collection import notes
from dynabench.collection.assisting import service as assisting
from dynabench.collection.chat import service as conversations
from dynabench.collection.drawing import service as drawings
from dynabench.collection.withdrawal import withdraw
from dynabench.datasets import library
from dynabench.kit.settings import Settings
from dynabench.people.accounts import service as accounts
from dynabench.people.accounts.tables import Person
from dynabench.people.notices import service as notices
from dynabench.rounds import people
from dynabench.rounds.service import record_act


def withdraw_own_examples(
    session: Session, person: Person, task_id: str | None = None, number: int | None = None
) -> int:
    """Withdraw examples by `collection.withdrawal.withdraw`, recorded in the audit log; return their number."""
    count = withdraw(session, person, task_id, number)
    if count:
        record_act(session, person, "examples.withdraw", task=task_id, round=number, examples=count)
    return count


def delete_own_account(session: Session, settings: Settings, person_id: int, *, withdraw_examples: bool) -> int:
    """Delete an account: identifying data is deleted, examples stay without a name or are withdrawn.

    Roles, bans, notices, tokens, sessions and the links that the person made for others are deleted too. Models
    that the person kept or submitted, datasets and boards stay without an owner; files and tokens of submissions,
    and conversations and drawn pictures that were not sent, are deleted. Returns the number of withdrawn
    examples; those of released rounds are public and stay.
    """
    person = session.get_one(Person, person_id, with_for_update=True)
    count = withdraw_own_examples(session, person) if withdraw_examples else 0
    people.forget_person(session, person_id)
    announcements.forget(session, person_id)
    conversations.forget(session, person_id)
    drawings.forget(session, person_id)
    assisting.forget(session, person_id)
    for statement in notes.forget(person_id):
        session.execute(statement)
    notices.forget_person(session, person_id)
    registry.remove_keeper(session, person_id)
    submissions.detach_person(session, settings, person_id)
    library.forget_person(session, person_id)
    snapshots.detach_person(session, person_id)
    accounts.delete_account(session, person_id)
    return count
