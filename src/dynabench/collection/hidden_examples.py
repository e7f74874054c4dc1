"""Hiding an example from everybody but its author and the moderators, and showing it again."""

from sqlalchemy.orm import Session

from dynabench.collection import projections
from dynabench.collection.tables import Example, Hiding
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round


def hide(session: Session, actor: Person | None, example_id: int, reason: str = "") -> None:
    """Take an example out of every page, board, rate, export and queue; twice changes nothing.

    For the task's owners and moderators; `actor` None is the operator at the command line.
    """
    _set(session, actor, example_id, reason, hidden=True)


def restore(session: Session, actor: Person | None, example_id: int, reason: str = "") -> None:
    """Show a hidden example again; it counts, and goes on being checked, as before."""
    _set(session, actor, example_id, reason, hidden=False)


def _set(session: Session, actor: Person | None, example_id: int, reason: str, *, hidden: bool) -> None:
    found = session.get(Example, example_id)
    of = session.get_one(Round, found.round_id) if found else None
    # Whoever has nothing to do with the task is not told whether there is such an example.
    if found is None or of is None or not may.actor_may(session, actor, Action.LEARN_OF_EXAMPLE, of.task_id):
        raise errors.NotFound(_("There is no example %(example_id)s that you may see.", example_id=example_id))
    may.require(session, actor, Action.HIDE_EXAMPLE, of.task_id)
    if len(reason) > 500:
        raise errors.Invalid({"reason": _("Shorten this to 500 characters.")})
    standing = projections.locked(session, example_id)
    if standing is None or standing.hidden == hidden:
        return
    session.add(Hiding(example_id=example_id, hidden=hidden, reason=reason, by=actor.id if actor else None))
    projections.count_hiding(session, standing, hidden, rounds.config_of(session, of.version_id))
    kind = "example.hidden" if hidden else "example.restored"
    rounds.act(session, actor, kind, task=of.task_id, example=example_id, reason=reason)
