"""An owner's figures of a round: error rates by target, arm, start, source, tag, day and annotator.

Headline rates are over examples that are neither retracted nor hidden, of the sources chosen, in arms where models were
asked; the breakdown by source shows every source, that by arm every arm. Each rate has Wilson's interval and one that
is clustered by annotator. Reads packed counts (`collection.folding`), never examples or tallies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Select, case, exists, func, select
from sqlalchemy.orm import Session

from dynabench.collection import folding, statistics
from dynabench.collection.folding import Rows
from dynabench.collection.handout_tables import Handout
from dynabench.collection.projections import CONTROL, COUNTS, SOURCES
from dynabench.collection.statistics import PEOPLE
from dynabench.collection.tables import Example, Standing
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.rounds.people import public_names
from dynabench.rounds.plan import Arm
from dynabench.rounds.tables import Round
from dynabench.stats import clusters
from dynabench.stats.clusters import ClusteredEstimate
from dynabench.stats.p_values import holm
from dynabench.stats.rates import ErrorCounts, ErrorRates, Rate, clustered_rate, error_rates
from dynabench.stats.verdict import Verdict

BY = ("target", "arm", "start", "source", "tag", "day")
AUTHOR_GROUPS = {
    "people": ("person", "expert", "owner"),
    "crowd": ("person",),
    "experts": ("expert",),
    "owners": ("owner",),
    "programs": ("program",),
}
SORTS = ("examples", "fooled", "validated", "mer", "vmer", "retracted", "hidden")


@dataclass(frozen=True)
class FigureLine(statistics.ExampleFigures):
    """The figures of the examples of one `value`; `people` counts their authors."""

    value: str


@dataclass(frozen=True)
class Annotator:
    """The figures of one person's examples; the intervals are Wilson's."""

    person_id: int
    name: str
    counts: ErrorCounts
    retracted: int
    hidden: int
    rates: ErrorRates


@dataclass(frozen=True)
class Figures:
    """The sum and its breakdowns by name, lines in the order of their values; `cumulative` has, where `by` has days,
    the lines of all examples up to and including each of them."""

    total: FigureLine
    by: dict[str, list[FigureLine]]
    cumulative: list[FigureLine]


def figures(session: Session, round_: Round, by: Sequence[str] = BY, authors: str = "people") -> Figures:
    """Return a round's figures over the examples of `authors` (`AUTHOR_GROUPS`), broken down `by` (some of `BY`).

    It runs one statement.
    """
    kinds = _kinds(authors)
    groups = folding.read(session, round_.id, sorted({"all", *by} - {"source", "target"}))
    everything = groups.get(("all", ""), np.zeros(0, folding.ROW))
    lines_by_name: dict[str, list[FigureLine]] = {}
    for name in by:
        if name == "target":
            lines_by_name[name] = _targets(session, round_, _line("", everything, kinds), AUTHOR_GROUPS[authors])
        elif name == "source":
            lines_by_name[name] = [_line(source, everything, [SOURCES.index(source)]) for source in SOURCES]
        else:
            wider = [*kinds, *(kind + CONTROL for kind in kinds)] if name == "arm" else kinds
            values = sorted(value for group, value in groups if group == name)
            lines_by_name[name] = [_line(value, groups[name, value], wider) for value in values]
    some = {
        name: [line for line in lines if line.counts.examples or line.retracted or line.hidden]
        for name, lines in lines_by_name.items()
    }
    cumulative = _cumulative([(value, rows) for (name, value), rows in groups.items() if name == "day"], kinds)
    return Figures(_line("", everything, kinds), some, cumulative)


def annotators(
    session: Session,
    round_: Round,
    *,
    authors: str = "people",
    sort: str = "validated",
    after: int = 0,
    limit: int = 50,
) -> tuple[list[Annotator], int | None]:
    """Annotators of a round from the place `after` + 1 on, most of `sort` (`SORTS`) first, and the next page's `after`.

    One statement for the counts, one for the names on the page.
    """
    if sort not in SORTS:
        raise errors.Invalid({"sort": _("Choose one of %(sorts)s.", sorts=", ".join(SORTS))})
    rows = folding.read(session, round_.id, ["all"]).get(("all", ""), np.zeros(0, folding.ROW))
    people, counts = _by_person(rows, _kinds(authors))
    seen = counts[["examples", "retracted", "hidden"]].tolist()
    keep = np.array([any(row) for row in seen], bool)
    people, counts = people[keep], counts[keep]
    order = np.lexsort((people, -_key(counts, sort)))[after : after + limit + 1]
    names = public_names(session, people[order].tolist())
    page = [
        Annotator(
            person_id=int(people[place]),
            name=names.get(int(people[place]), ""),
            counts=(some := _counts(counts[place : place + 1])),
            retracted=int(counts["retracted"][place]),
            hidden=int(counts["hidden"][place]),
            rates=error_rates(some),
        )
        for place in order[:limit]
    ]
    return page, after + limit if len(order) > limit else None


def _targets(session: Session, round_: Round, total: FigureLine, sources: Sequence[str]) -> list[FigureLine]:
    rates = statistics.by_target(session, round_, total, sources)
    return [
        FigureLine(
            target_figures.counts,
            target_figures.retracted,
            target_figures.hidden,
            target_figures.people,
            target_figures.rates,
            target_figures.clustered,
            label,
        )
        for target, target_figures in rates.items()
        if (label := statistics.label(target, list(rates)))
    ]


def _cumulative(days: list[tuple[str, Rows]], kinds: Sequence[int]) -> list[FigureLine]:
    """Lines of all rows up to and including each day, in the order of days."""
    sofar, result = np.zeros(0, folding.ROW), []
    for day, rows in sorted(days, key=itemgetter(0)):
        both = np.concatenate([sofar, rows])
        sofar = both[np.argsort(both["person"], kind="stable")]  # `_by_person` sums neighbours
        result.append(_line(day, sofar, kinds))
    return result


def _key(counts: Rows, sort: str) -> NDArray[np.float64]:
    if sort in COUNTS:
        return counts[sort].astype(float)
    part = counts["fooled" if sort == "mer" else "validated"]
    result: NDArray[np.float64] = part / np.maximum(counts["examples"] - counts["unknown"], 1)
    return result


def _kinds(authors: str) -> list[int]:
    if authors not in AUTHOR_GROUPS:
        raise errors.Invalid({"who": _("Choose one of %(who)s.", who=", ".join(AUTHOR_GROUPS))})
    return [SOURCES.index(source) for source in AUTHOR_GROUPS[authors]]


def _by_person(rows: Rows, kinds: Sequence[int]) -> tuple[NDArray[np.int64], Rows]:
    is_chosen = np.zeros(2 * CONTROL, np.bool_)
    is_chosen[list(kinds)] = True
    chosen = rows[is_chosen[rows["kind"]]]
    first = np.flatnonzero(np.diff(chosen["person"], prepend=-1))  # rows are in the order of people
    result = np.zeros(first.size, folding.ROW)
    for name in COUNTS if first.size else ():
        result[name] = np.add.reduceat(chosen[name], first)
    return chosen["person"][first], result


def _counts(rows: Rows) -> ErrorCounts:
    return ErrorCounts(**{field.name: int(rows[field.name].sum()) for field in fields(ErrorCounts)})


def _line(value: str, rows: Rows, kinds: Sequence[int]) -> FigureLine:
    _, people = _by_person(rows, kinds)
    writers = people[people["examples"] > 0]
    total = _counts(writers)
    with_outcome = writers["examples"] - writers["unknown"]
    settled = with_outcome - writers["fooled"] + writers["resolved"]
    return FigureLine(
        value=value,
        counts=total,
        retracted=int(people["retracted"].sum()),
        hidden=int(people["hidden"].sum()),
        people=len(writers),
        rates=error_rates(total),
        clustered=ErrorRates(
            mer=clustered_rate(writers["fooled"], with_outcome),
            vmer=clustered_rate(writers["validated"], with_outcome),
            vmer_resolved=clustered_rate(writers["validated"], settled),
        ),
    )


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
    """The figures of an arm; `seconds` are per example, `from_first` the differences from the first arm by measure.

    `handouts` are the contexts that were given in it, `skipped` those that their person left for another without a try.
    """

    arm: Arm
    handouts: int
    skipped: int
    people: int
    examples: int
    unknown: int
    rates: Mapping[str, Rate]
    seconds: ClusteredEstimate
    from_first: Mapping[str, ClusteredEstimate]


def lines(session: Session, round_: Round) -> list[ArmLine]:
    """The arms of a round in their order; none for a plain round. Reads all of its examples and handouts once."""
    if not round_.arms:
        return []
    handed_out = {row.arm: (row.handouts, row.skipped) for row in session.execute(_handouts(round_.id))}
    rows = session.execute(_sums(round_.id, [arm["name"] for arm in round_.arms])).all()
    place = {person: number for number, person in enumerate(sorted({row.author_id for row in rows}))}
    empty = {arm["name"]: {name: np.zeros(len(place)) for name in SUMS} for arm in round_.arms}
    for row in rows:
        for name in SUMS:
            empty[row.arm][name][place[row.author_id]] += float(getattr(row, name))
    first = empty[round_.arms[0]["name"]]
    differences = _corrected([_differences(empty[arm["name"]], first) for arm in round_.arms[1:]])
    return [
        _arm_line(arm, empty[arm["name"]], difference, *handed_out.get(arm["name"], (0, 0)))
        for arm, difference in zip(round_.arms, [{}, *differences], strict=True)
    ]


def _sums(round_id: int, names: Sequence[str]) -> Select[Any]:
    """Sums by person and arm: one range of the index of rounds, a probe for each example."""

    def count(condition: Any) -> Any:
        return func.sum(case((condition, 1), else_=0))

    decided = Standing.verdict != str(Verdict.PENDING)
    correct = Standing.verdict == str(Verdict.CORRECT)
    longest = func.max(func.coalesce(Example.active_seconds, Example.seconds))  # of work, where it was measured
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


def _handouts(round_id: int) -> Select[str, int, Any]:
    """Handouts and skips by arm: one look through the handouts, and a probe of the examples for each of the round's.

    The last handout of a person, on which they may still write, is no skip.
    """
    last = select(func.max(Handout.id)).where(Handout.round_id == round_id).group_by(Handout.person_id)
    tried = exists().where(Example.handout_id == Handout.id)
    skipped = func.sum(case((~tried & Handout.id.not_in(last), 1), else_=0))
    counts = select(Handout.arm, func.count().label("handouts"), skipped.label("skipped"))
    return counts.where(Handout.round_id == round_id).group_by(Handout.arm)


def _differences(arm: Sums, first: Sums) -> dict[str, ClusteredEstimate]:
    return {
        name: clusters.difference(arm[part], arm[whole], first[part], first[whole])
        for name, (part, whole) in MEASURES.items()
    }


def _corrected(differences: Sequence[dict[str, ClusteredEstimate]]) -> list[dict[str, ClusteredEstimate]]:
    corrected = [dict(estimates) for estimates in differences]
    for measure in MEASURES:
        tested = [estimates for estimates in corrected if estimates[measure].p is not None]
        if tested:
            for estimates, p in zip(tested, holm([estimates[measure].p or 0.0 for estimates in tested]), strict=True):
                estimate = estimates[measure]
                estimates[measure] = ClusteredEstimate(estimate.value, estimate.low, estimate.high, float(p))
    return corrected


def _arm_line(
    arm: Arm, sums: Sums, from_first: Mapping[str, ClusteredEstimate], handouts: int, skipped: int
) -> ArmLine:
    return ArmLine(
        arm=arm,
        handouts=handouts,
        skipped=skipped,
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
