"""The first steps that the first page offers to a person who has written nothing yet."""

from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection import board_queries
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action


def is_new(session: Session, person: Person | None) -> bool:
    """Return whether a logged-in person has never written an example and does not run the platform.

    One index probe.
    """
    if person is None or may.may(person, Action.ADMINISTER_SITE):
        return False
    return session.scalar(board_queries.any_example_of(person.id)) is None


def first_steps(cards: list[dict[str, Any]], easiest: str) -> dict[str, Any] | None:
    """The card of the task to begin with (the one of the box if there is one, else the first open one without a
    warning) and, as `check`, that of the longest queue; None where nothing is open to write for."""
    ready = [card for card in cards if card["round"] and not card.get("warning")]
    if not ready:
        return None
    begin = next((card for card in ready if card["id"] == easiest), ready[0])
    longest = max(ready, key=lambda card: card["waiting"])
    return {"begin": begin, "check": longest if longest["waiting"] else None}
