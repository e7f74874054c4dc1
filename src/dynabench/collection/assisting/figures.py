"""Figures of help with writing in a round: outcomes of suggestions, and how often examples fooled.

An example counts if it is neither retracted nor hidden and a person wrote it. Arms that offer help are
compared with those that do not, by the arm that was drawn for each example. Authors choose themselves
whether to use a suggestion, so the rates with and without a used suggestion are shown separately and not
compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row, Select, case, func, select
from sqlalchemy.orm import Session

from dynabench.collection.assisting.service import OUTCOMES, Assistance
from dynabench.collection.statistics import PEOPLE
from dynabench.collection.tables import Example, Standing
from dynabench.rounds.tables import Round
from dynabench.stats import clusters
from dynabench.stats.clusters import ClusteredEstimate
from dynabench.stats.rates import Rate, clustered_rate

GROUPS = ("used", "unused")

Sums = dict[str, NDArray[np.float64]]  # (people,) each


@dataclass(frozen=True)
class HelpedLine:
    """An arm that offers help: examples by what became of suggestions (`unasked`: none were seen), and how often those
    made from a suggestion (`used`) and the others fooled."""

    arm: str
    examples: int
    outcomes: Mapping[str, int]
    mer: Mapping[str, Rate]


@dataclass(frozen=True)
class Helped:
    """Fooling rates of all arms with help and of all without, and the first minus the second."""

    lines: list[HelpedLine]
    with_help: Rate
    without: Rate
    difference: ClusteredEstimate


def helped(session: Session, round_: Round) -> Helped | None:
    """The figures of a round; None where no arm of it offers help. Reads all of its examples once."""
    arms = [arm["name"] for arm in round_.arms if arm.get("assistant")]
    if not arms:
        return None
    rows = session.execute(_counts(round_.id)).all()
    place = {person: number for number, person in enumerate(sorted({row.author_id for row in rows}))}
    with_help, without = _sums(place), _sums(place)
    for row in rows:
        _add(with_help if row.arm in arms else without, place[row.author_id], row)
    rates = [clustered_rate(sums["fooled"], sums["known"]) for sums in (with_help, without)]
    difference = clusters.difference(with_help["fooled"], with_help["known"], without["fooled"], without["known"])
    lines = [_line(arm, [row for row in rows if row.arm == arm], place) for arm in arms]
    return Helped(lines, rates[0], rates[1], difference)


def _line(arm: str, rows: list[Row[int, str, str, int, int, int]], place: Mapping[int, int]) -> HelpedLine:
    outcomes = dict.fromkeys((*OUTCOMES, "unasked"), 0)
    sums = {group: _sums(place) for group in GROUPS}
    for row in rows:
        outcomes[row.outcome] += row.examples
        _add(sums["used" if row.outcome in ("accepted", "edited") else "unused"], place[row.author_id], row)
    mer = {group: clustered_rate(group_sums["fooled"], group_sums["known"]) for group, group_sums in sums.items()}
    return HelpedLine(arm, sum(outcomes.values()), outcomes, mer)


def _sums(place: Mapping[int, int]) -> Sums:
    return {name: np.zeros(len(place)) for name in ("known", "fooled")}


def _add(sums: Sums, at: int, row: Row[int, str, str, int, int, int]) -> None:
    sums["known"][at] += row.known
    sums["fooled"][at] += row.fooled


def _counts(round_id: int) -> Select[int, str, str, int, int, int]:
    """Counts by person, arm and outcome: one range of the index of rounds, two probes for each example."""
    outcome = func.coalesce(Assistance.outcome, "unasked").label("outcome")
    has_outcome, fooled = Standing.fooled.is_not(None), Standing.fooled.is_(True)
    return (
        select(
            Example.author_id,
            Example.arm,
            outcome,
            func.count().label("examples"),
            func.sum(case((has_outcome, 1), else_=0)).label("known"),
            func.sum(case((fooled, 1), else_=0)).label("fooled"),
        )
        .join(Standing, Standing.example_id == Example.id)
        .outerjoin(Assistance, Assistance.example_id == Example.id)
        .where(Example.round_id == round_id, ~Standing.retracted, ~Standing.hidden, Example.source.in_(PEOPLE))
        .where(Example.arm != "")
        .group_by(Example.author_id, Example.arm, Assistance.outcome)
    )
