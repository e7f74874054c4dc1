"""Taking back everything that a person wrote, as long as it is not released."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, case, func, select
from sqlalchemy.orm import Session, lazyload

from dynabench.collection import eligibility, projections
from dynabench.collection.tables import Example, Hiding, Retraction
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState

AT_ONCE = 500  # ids named in one statement: databases take only so many


@dataclass(frozen=True)
class Written:
    """The examples of one person in one round.

    `examples` counts those that stand, `retracted` those that were taken back before.
    """

    task_id: str
    number: int
    state: str
    examples: int
    retracted: int

    @property
    def released(self) -> bool:
        """True if the round is released and public, so that nothing can be taken back."""
        return self.state == RoundState.RELEASED


def _retracted() -> Select[int]:
    return select(Retraction.example_id).where(Retraction.example_id == Example.id)


def written(session: Session, person_id: int) -> list[Written]:
    """Return a person's examples, counted round by round.

    Walks the index entries of the person's own examples.
    """
    taken_back = func.sum(case((_retracted().exists(), 1), else_=0))
    statement = (
        select(Round.task_id, Round.number, Round.state, func.count(), taken_back)
        .join(Example, Example.round_id == Round.id)
        .where(Example.author_id == person_id)
        .group_by(Round.id)
        .order_by(Round.task_id, Round.number)
    )
    return [
        Written(task_id=task_id, number=number, state=state, examples=count - int(gone), retracted=int(gone))
        for task_id, number, state, count, gone in session.execute(statement)
    ]


def withdraw(session: Session, person: Person, task_id: str | None = None, number: int | None = None) -> int:
    """Retract everything of a person's that is not released: of a task or a round of it where given, else of all.

    The rounds are locked for sharing, so that none is released meanwhile, then the examples' standings in the order
    of their ids: a vote comes either before or not at all. Returns how many were taken back.
    """
    mine = select(Example.round_id).where(Example.author_id == person.id)
    statement = select(Round).where(Round.id.in_(mine)).order_by(Round.id).options(lazyload(Round.targets))
    if task_id is not None:
        statement = statement.where(Round.task_id == task_id)
    if number is not None:
        statement = statement.where(Round.number == number)
    held = session.scalars(statement.with_for_update(read=True), execution_options={"populate_existing": True}).all()
    free = [held_round.id for held_round in held if held_round.state != RoundState.RELEASED]
    theirs = (Example.author_id == person.id, Example.round_id.in_(free), ~_retracted().exists())
    ids = session.scalars(select(Example.id).where(*theirs).order_by(Example.id)).all()
    for example_id in ids:  # all of them before any count changes, as voters do: nobody waits in a circle
        projections.locked(session, example_id)
    return sum(_take_back(session, ids[start : start + AT_ONCE], theirs) for start in range(0, len(ids), AT_ONCE))


def _take_back(session: Session, ids: Sequence[int], theirs: Sequence[ColumnElement[bool]]) -> int:
    examples = session.scalars(select(Example).where(*theirs, Example.id.in_(ids)).order_by(Example.id)).all()
    session.add_all(Retraction(example_id=example.id) for example in examples)
    session.flush()
    projections.count_retraction(session, *examples)
    return len(examples)


def hide(session: Session, actor: Person | None, example_id: int, reason: str = "") -> None:
    """Take an example out of every page, board, rate, export and queue; twice changes nothing.

    For the task's owners and moderators; `actor` None is the operator at the command line.
    """
    _set(session, actor, example_id, reason, hidden=True)


def restore(session: Session, actor: Person | None, example_id: int, reason: str = "") -> None:
    """Show a hidden example again; it counts, and goes on being checked, as before."""
    _set(session, actor, example_id, reason, hidden=False)


def _set(session: Session, actor: Person | None, example_id: int, reason: str, *, hidden: bool) -> None:
    round = eligibility.known_round(session, actor, example_id)
    may.require(session, actor, Action.HIDE_EXAMPLE, round.task_id)
    if len(reason) > 500:
        raise errors.Invalid({"reason": _("Shorten this to 500 characters.")})
    standing = projections.locked(session, example_id)
    if standing is None or standing.hidden == hidden:
        return
    session.add(Hiding(example_id=example_id, hidden=hidden, reason=reason, by=actor.id if actor else None))
    projections.count_hiding(session, standing, hidden, rounds.config_of(session, round.version_id))
    kind = "example.hidden" if hidden else "example.restored"
    rounds.record_act(session, actor, kind, task=round.task_id, example=example_id, reason=reason)
