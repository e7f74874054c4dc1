"""The figures of a round: model error rates as people validated them, and how people do beside the models.

`stats.error_rates` defines MER, vMER and vMER (resolved) from counts; here are the counts, over examples that are
neither retracted nor hidden. Human accuracy = blind answers that agree with the claim / blind answers, on items that
are not flagged either; the human-model gap takes the targets' accuracy on the same items from it. Two kinds of examples
stand apart, never in the headline figures: those by programs, always in the breakdown by source, and those of arms in
which no model was asked, in the breakdown by arm alone.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from sqlalchemy import Row, Select, case, func, select, text
from sqlalchemy.orm import Session

from dynabench.collection import projections
from dynabench.collection.tables import Example, Prediction, Standing, Tally
from dynabench.rounds import plan
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.stats.rates import (
    UNKNOWN,
    ErrorCounts,
    ErrorRates,
    HumanModelGap,
    Rate,
    clustered_error_rates,
    clustered_rate,
    error_rates,
    human_model_gap,
)
from dynabench.stats.verdict import Verdict

PEOPLE = ("person", "expert", "owner")
BREAKDOWNS = ("source", "start", "day", "arm")

TallyRow = Row[int, str, str, str, str, int, int, int, int, int, int, int]


@dataclass(frozen=True)
class ExampleFigures:
    """The figures of a set of examples.

    `rates` has Wilson intervals, `clustered` ones that allow for examples of one annotator being alike.
    """

    counts: ErrorCounts
    retracted: int
    hidden: int
    people: int
    rates: ErrorRates
    clustered: ErrorRates


@dataclass(frozen=True)
class RoundStatistics:
    """A round's figures; `by` maps `source`, `start`, `day`, `arm` to figures by value, sorted.

    `model_accuracy` is that of the targets on the items of the gap. `cumulative` has, where `by` has days, the figures
    of all examples up to and including each of them.
    """

    total: ExampleFigures
    human_accuracy: Rate
    human_model_gap: Rate
    by: Mapping[str, Mapping[str, ExampleFigures]] = field(default_factory=dict)
    cumulative: Mapping[str, ExampleFigures] = field(default_factory=dict)
    model_accuracy: Rate = UNKNOWN


def statistics(
    session: Session, round: Round, by: Sequence[str] | None = None, sources: Sequence[str] | None = None
) -> RoundStatistics:
    """The figures of `round` over examples from `sources` (default: all but programs), broken down `by`.

    Reads one row per person, day, start, arm and source, and one per blindly answered item; never all examples.
    """
    sources = PEOPLE if sources is None else tuple(sources)
    rows = session.execute(_tallies(round.id)).all()
    controls = plan.arms_without_targets(round.arms)
    rows_with_targets = [row for row in rows if row.arm not in controls]
    chosen = [row for row in rows_with_targets if row.source in sources]
    wider = {"source": rows_with_targets, "arm": [row for row in rows if row.source in sources]}
    breakdowns = {name: _grouped(wider.get(name, chosen), name) for name in (BREAKDOWNS if by is None else by)}
    accuracy, gap = _people_beside_models(session, round.id, sources, controls)
    cumulative = _cumulative(chosen) if "day" in breakdowns else {}
    return RoundStatistics(_figures(chosen), accuracy, gap.difference, breakdowns, cumulative, gap.model)


def _tallies(round_id: int) -> Select[int, str, str, str, str, int, int, int, int, int, int, int]:
    rated = (Tally.examples, Tally.fooled, Tally.validated, Tally.resolved, Tally.unknown)
    key = (Tally.person_id, Tally.day, Tally.start, Tally.arm, Tally.source)
    return select(*key, *rated, Tally.retracted, Tally.hidden).where(Tally.round_id == round_id)


def _blind(round_id: int, sources: Sequence[str], but: Collection[str]) -> Select[int, int, int, int]:
    """Blind answers and predictions by item: one range of the partial index over answered items, one probe each."""
    return (
        select(Standing.blind, Standing.blind_right, Standing.targets, Standing.targets_right)
        .join(Example, Example.id == Standing.example_id)
        .where(Standing.round_id == round_id, text("standings.blind > 0"), ~Standing.retracted, ~Standing.hidden)
        .where(Standing.fooled.is_not(None) | (Standing.targets == 0))
        .where(Standing.verdict != str(Verdict.FLAGGED), Example.source.in_(sources), Example.arm.not_in(but))
    )


def _people_beside_models(
    session: Session, round_id: int, sources: Sequence[str], but: Collection[str]
) -> tuple[Rate, HumanModelGap]:
    rows = session.execute(_blind(round_id, sources, but)).all()
    answers, right = [row.blind for row in rows], [row.blind_right for row in rows]
    models, models_right = [row.targets for row in rows], [row.targets_right for row in rows]
    return clustered_rate(right, answers), human_model_gap(right, answers, models_right, models)


def _grouped(rows: Iterable[TallyRow], name: str) -> dict[str, ExampleFigures]:
    value = attrgetter(name)
    groups: dict[str, list[TallyRow]] = defaultdict(list)
    for row in rows:
        groups[value(row)].append(row)
    return {key: _figures(groups[key]) for key in sorted(groups)}


def _cumulative(rows: Sequence[TallyRow]) -> dict[str, ExampleFigures]:
    people: dict[int, ErrorCounts] = defaultdict(ErrorCounts)
    retracted, hidden = 0, 0
    result = {}
    for day, group in groupby(sorted(rows, key=attrgetter("day")), attrgetter("day")):
        for row in group:
            people[row.person_id] += _counts(row)
            retracted += row.retracted
            hidden += row.hidden
        result[day] = summed(people, retracted, hidden)
    return result


def _figures(rows: Iterable[TallyRow]) -> ExampleFigures:
    people: dict[int, ErrorCounts] = defaultdict(ErrorCounts)
    retracted, hidden = 0, 0
    for row in rows:
        people[row.person_id] += _counts(row)
        retracted += row.retracted
        hidden += row.hidden
    return summed(people, retracted, hidden)


def _counts(row: TallyRow) -> ErrorCounts:
    return ErrorCounts(row.examples, row.fooled, row.validated, row.resolved, row.unknown)


def summed(people: Mapping[int, ErrorCounts], retracted: int = 0, hidden: int = 0) -> ExampleFigures:
    """The figures of what each person wrote."""
    total = sum(people.values(), ErrorCounts())
    writers = [counts for counts in people.values() if counts.examples]
    return ExampleFigures(total, retracted, hidden, len(writers), error_rates(total), clustered_error_rates(writers))


Target = tuple[str, str]
"""A model's name and version."""


def by_target(
    session: Session, round: Round, whole: ExampleFigures, sources: Sequence[str] = PEOPLE
) -> dict[Target, ExampleFigures]:
    """The figures of each model that was asked in a round: its targets in their order, then those of its arms.

    `whole` are the figures of the round over examples of the same `sources`; they are those of its target where it has
    but one and no arm names others. Else this reads the round's predictions, summed up in the database.
    """
    targets = [(round_target.model, round_target.version) for round_target in round.targets]
    if len(targets) == 1 and all(isinstance(arm["targets"], str) for arm in round.arms):
        return {targets[0]: whole}
    people: dict[Target, dict[int, ErrorCounts]] = defaultdict(lambda: defaultdict(ErrorCounts))
    for row in session.execute(_sums(round.id, sources)):
        example_counts = projections.tally_counts(fooled=row.errs, verdict=row.verdict, retracted=False, hidden=False)
        counts = {
            name: row.n * example_counts[name] for name in ("examples", "fooled", "validated", "resolved", "unknown")
        }
        people[row.model, row.version][row.author_id] += ErrorCounts(**counts)
    others = sorted(set(people) - set(targets))
    return {target: summed(people[target]) for target in (*targets, *others)}


def label(target: Target, among: Sequence[Target]) -> str:
    """The model's name, with its version where another version of it was asked, too."""
    name, version = target
    return name if [model for model, _ in among].count(name) == 1 else f"{name} {version[:12]}"


def is_lower_bound(session: Session, round: Round) -> bool:
    """Tell whether a round leaves examples unchecked that fooled a target, but not all targets together."""
    several = len(round.targets) > 1 or any(not isinstance(arm["targets"], str) for arm in round.arms)
    if round.fooled_when == "any" or not several:
        return False
    return not projections.wants_votes(rounds.config_of(session, round.version_id), False, len(round.targets))


def _sums(round_id: int, sources: Sequence[str]) -> Select[Any]:
    """Select the number of wrong and right answers of each model and author, by verdict.

    One index range over the round.
    """
    answers = (
        select(Prediction.model, Prediction.version, Prediction.errs.label("errs"))
        .add_columns(Standing.author_id, Standing.verdict)
        .join(Example, Example.id == Prediction.example_id)
        .join(Standing, Standing.example_id == Example.id)
        .where(Example.round_id == round_id, Example.source.in_(sources), ~Standing.retracted, ~Standing.hidden)
        .subquery()
    )
    key = (answers.c.model, answers.c.version, answers.c.author_id, answers.c.verdict, answers.c.errs)
    return select(*key, func.count().label("n")).group_by(*key)


@dataclass(frozen=True)
class Calibration:
    """Counts of (judged wrong, found wrong) and their shares; `judge` is who judges, with the model's name.

    `agreement` = both say the same / all; `precision` = found wrong / judged wrong; `recall` = judged wrong / found
    wrong, which is known only where examples that fooled nobody are checked as well.
    """

    judge: str
    model: str
    both: int
    judged_only: int
    found_only: int
    neither: int
    agreement: Rate
    precision: Rate
    recall: Rate


def calibration(session: Session, round: Round) -> Calibration | None:
    """The judgements of a round beside its verdicts; None where the task's rule has no judge but the validators."""
    config = rounds.config_of(session, round.version_id)
    judge = config.fooled.judged_by
    if judge in (None, "validators"):
        return None
    rows = session.execute(_counted(round.id)).all()
    both, judged, validated, neither = (
        np.array([int(getattr(row, name)) for row in rows]) for name in ("both", "judged", "found", "neither")
    )
    checked = config.validation.also_not_fooled
    whole = both + judged + validated + neither
    return Calibration(
        judge=str(judge),
        model=str(round.judge["model"]) if round.judge else "",
        both=int(both.sum()),
        judged_only=int(judged.sum()),
        found_only=int(validated.sum()),
        neither=int(neither.sum()),
        agreement=clustered_rate(both + neither, whole) if checked else UNKNOWN,
        precision=clustered_rate(both, both + judged),
        recall=clustered_rate(both, both + validated) if checked else UNKNOWN,
    )


def _counted(round_id: int) -> Select[Any]:

    def count(judged: bool, verdict: Verdict) -> Any:
        hit = (Standing.fooled if judged else ~Standing.fooled) & (Standing.verdict == str(verdict))
        return func.sum(case((hit, 1), else_=0))

    return (
        select(
            Standing.author_id,
            count(True, Verdict.CORRECT).label("both"),
            count(True, Verdict.INCORRECT).label("judged"),
            count(False, Verdict.CORRECT).label("found"),
            count(False, Verdict.INCORRECT).label("neither"),
        )
        .where(Standing.round_id == round_id, ~Standing.retracted, ~Standing.hidden, Standing.fooled.is_not(None))
        .group_by(Standing.author_id)
    )
