"""Which rounds follow which: rounds fork and merge, and a turn learns from all that its round came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.cycle import queries
from dynabench.cycle.tables import RoundParent
from dynabench.language import _
from dynabench.rounds import queries as round_queries
from dynabench.rounds.tables import Round


@dataclass(frozen=True)
class Link:
    """A round with the numbers of those it follows, and of those that follow it."""

    round: Round
    parents: tuple[int, ...]
    children: tuple[int, ...]


def links(session: Session, task: str) -> list[Link]:
    """The graph of a task's rounds, newest first."""
    rounds = list(session.scalars(round_queries.rounds(task)))
    known = parents(session, task, rounds)
    children: dict[int, list[int]] = {}
    for number in sorted(known):
        for parent in known[number]:
            children.setdefault(parent, []).append(number)
    return [Link(each, known[each.number], tuple(children.get(each.number, ()))) for each in rounds]


def parents(session: Session, task: str, rounds: Sequence[Round]) -> dict[int, tuple[int, ...]]:
    """The numbers of the rounds that each follows; where nobody said so, the one before it."""
    numbers = {each.id: each.number for each in rounds}
    said: dict[int, list[int]] = {}
    for round_id, parent_id in session.execute(queries.parents(task)):
        said.setdefault(numbers[round_id], []).append(numbers[parent_id])
    earlier = sorted(numbers.values())
    before = dict(zip(earlier[1:], earlier, strict=False))
    return {n: tuple(sorted(said[n])) if n in said else (before[n],) if n in before else () for n in earlier}


def generations(known: Mapping[int, Sequence[int]], number: int) -> dict[int, int]:
    """Round `number` and all that it came from, by number, each with how many generations older it is at least.

    Of several ways to an ancestor the shortest counts.
    """
    found, level, age = {number: 0}, [number], 0
    while level:
        age += 1
        level = sorted({parent for each in level for parent in known.get(each, ())} - found.keys())
        found |= dict.fromkeys(level, age)
    return found


def follow(session: Session, task: str, made: Round, numbers: Sequence[int]) -> None:
    """Say which rounds a new one follows. Raises `Invalid` for one that is not there."""
    for number in sorted(set(numbers)):
        parent = session.scalar(round_queries.round_numbered(task, number))
        if parent is None or parent.number >= made.number:
            raise errors.Invalid({"next.parents": _("There is no earlier round %(number)s.", number=number)})
        session.merge(RoundParent(round_id=made.id, parent_id=parent.id))
