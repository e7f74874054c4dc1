"""The graph of a task's rounds: rounds fork and merge, and a turn trains on all ancestors of its round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.cycle import queries
from dynabench.cycle.tables import RoundParent
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.rounds import queries as round_queries
from dynabench.rounds.tables import Round


@dataclass(frozen=True)
class LineageLink:
    """A round with the numbers of its parents (the rounds that it follows) and of its children."""

    round: Round
    parents: tuple[int, ...]
    children: tuple[int, ...]


def lineage_links(session: Session, task: str) -> list[LineageLink]:
    """Return the graph of a task's rounds, newest first."""
    rounds = list(session.scalars(round_queries.rounds(task)))
    parents_by_round = parent_numbers(session, task, rounds)
    children: dict[int, list[int]] = {}
    for number in sorted(parents_by_round):
        for parent in parents_by_round[number]:
            children.setdefault(parent, []).append(number)
    return [
        LineageLink(round_, parents_by_round[round_.number], tuple(children.get(round_.number, ())))
        for round_ in rounds
    ]


def parent_numbers(session: Session, task: str, rounds: Sequence[Round]) -> dict[int, tuple[int, ...]]:
    """Return the parents of each round, by number; a round without declared parents follows the one before it."""
    numbers = {round_.id: round_.number for round_ in rounds}
    declared: dict[int, list[int]] = {}
    for round_id, parent_id in session.execute(queries.declared_parents(task)):
        declared.setdefault(numbers[round_id], []).append(numbers[parent_id])
    earlier = sorted(numbers.values())
    before = dict(zip(earlier[1:], earlier, strict=False))
    return {n: tuple(sorted(declared[n])) if n in declared else (before[n],) if n in before else () for n in earlier}


def generations(parents_by_round: Mapping[int, Sequence[int]], number: int) -> dict[int, int]:
    """Return the age in generations of round `number` (0) and of all its ancestors, by number.

    Where several paths lead to an ancestor, the shortest counts.
    """
    age_by_round, level, age = {number: 0}, [number], 0
    while level:
        age += 1
        level = sorted({parent for child in level for parent in parents_by_round.get(child, ())} - age_by_round.keys())
        age_by_round |= dict.fromkeys(level, age)
    return age_by_round


def add_parents(session: Session, task: str, new_round: Round, numbers: Sequence[int]) -> None:
    """Record the parents of a new round. Raises `Invalid` for a number that is no earlier round."""
    for number in sorted(set(numbers)):
        parent = session.scalar(round_queries.round_numbered(task, number))
        if parent is None or parent.number >= new_round.number:
            raise errors.Invalid({"next.parents": _("There is no earlier round %(number)s.", number=number)})
        session.merge(RoundParent(round_id=new_round.id, parent_id=parent.id))
