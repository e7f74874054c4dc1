"""Figures of each arm of a round, and the differences between arms.

An example counts if it is neither retracted nor hidden and a person wrote it. Time per example is from
the hand-out to the last try on it, divided by the tries; at most an hour of a hand-out counts, since its
author may have left it. Differences are from the first arm and allow for examples of one person
resembling each other; their p values are corrected for the number of arms (Holm).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from dynabench.collection.statistics import PEOPLE
from dynabench.collection.tables import Example, Standing
from dynabench.rounds.arms import Arm
from dynabench.rounds.tables import Round
from dynabench.stats import clusters
from dynabench.stats.clusters import ClusteredEstimate
from dynabench.stats.p_values import holm
from dynabench.stats.rates import Rate, clustered_rate
from dynabench.stats.verdict import Verdict

LONGEST = 3600  # seconds of a handout that count: who leaves a page open works on no example
MEASURES = {
    "mer": ("fooled", "known"),
    "vmer": ("validated", "known"),
    "verified": ("correct", "decided"),
    "seconds": ("seconds", "examples"),
}
"""Each a ratio of two sums."""
SUMS = ("examples", "known", "fooled", "validated", "decided", "correct", "seconds")

Sums = dict[str, NDArray[np.float64]]  # (people,) each


@dataclass(frozen=True)
class ArmLine:
    """The figures of an arm; `seconds` are per example, `from_first` the differences from the first arm by measure."""

    arm: Arm
    people: int
    examples: int
    unknown: int
    rates: Mapping[str, Rate]
    seconds: ClusteredEstimate
    from_first: Mapping[str, ClusteredEstimate]


def lines(session: Session, of: Round) -> list[ArmLine]:
    """The arms of a round in their order; none for a plain round. Reads all of its examples once."""
    if not of.arms:
        return []
    rows = session.execute(_sums(of.id, [arm["name"] for arm in of.arms])).all()
    place = {person: number for number, person in enumerate(sorted({row.author_id for row in rows}))}
    empty = {arm["name"]: {name: np.zeros(len(place)) for name in SUMS} for arm in of.arms}
    for row in rows:
        for name in SUMS:
            empty[row.arm][name][place[row.author_id]] += float(getattr(row, name))
    first = empty[of.arms[0]["name"]]
    differences = _corrected([_differences(empty[arm["name"]], first) for arm in of.arms[1:]])
    return [_line(arm, empty[arm["name"]], found) for arm, found in zip(of.arms, [{}, *differences], strict=True)]


def _sums(round_id: int, names: Sequence[str]) -> Select[Any]:
    """Sums by person and arm: one range of the index of rounds, a probe for each example."""

    def count(condition: Any) -> Any:
        return func.sum(case((condition, 1), else_=0))

    decided = Standing.verdict != str(Verdict.PENDING)
    correct = Standing.verdict == str(Verdict.CORRECT)
    longest = func.max(Example.seconds)
    handouts = (
        select(
            Example.author_id,
            Example.arm,
            func.count().label("examples"),
            count(Standing.fooled.is_not(None)).label("known"),
            count(Standing.fooled).label("fooled"),
            count(Standing.fooled & correct).label("validated"),
            count(decided).label("decided"),
            count(correct).label("correct"),
            case((longest > LONGEST, LONGEST), else_=longest).label("seconds"),
        )
        .join(Standing, Standing.example_id == Example.id)
        .where(Example.round_id == round_id, ~Standing.retracted, ~Standing.hidden)
        .where(Example.source.in_(PEOPLE), Example.arm.in_(names))
        .group_by(Example.handout_id, Example.author_id, Example.arm)
        .subquery()
    )
    sums = [func.sum(handouts.c[name]).label(name) for name in SUMS]
    return select(handouts.c.author_id, handouts.c.arm, *sums).group_by(handouts.c.author_id, handouts.c.arm)


def _differences(arm: Sums, first: Sums) -> dict[str, ClusteredEstimate]:
    return {
        name: clusters.difference(arm[part], arm[whole], first[part], first[whole])
        for name, (part, whole) in MEASURES.items()
    }


def _corrected(found: Sequence[dict[str, ClusteredEstimate]]) -> list[dict[str, ClusteredEstimate]]:
    """The same with p values that hold for all arms at once, measure by measure."""
    made = [dict(each) for each in found]
    for measure in MEASURES:
        tested = [each for each in made if each[measure].p is not None]
        if tested:
            for each, p in zip(tested, holm([each[measure].p or 0.0 for each in tested]), strict=True):
                known = each[measure]
                each[measure] = ClusteredEstimate(known.value, known.low, known.high, float(p))
    return made


def _line(arm: Arm, sums: Sums, from_first: Mapping[str, ClusteredEstimate]) -> ArmLine:
    return ArmLine(
        arm=arm,
        people=int((sums["examples"] > 0).sum()),
        examples=int(sums["examples"].sum()),
        unknown=int((sums["examples"] - sums["known"]).sum()),
        rates={
            name: clustered_rate(sums[part], sums[whole])
            for name, (part, whole) in MEASURES.items()
            if name != "seconds"
        },
        seconds=clusters.ratio(sums["seconds"], sums["examples"]),
        from_first=from_first,
    )
