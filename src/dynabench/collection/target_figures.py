"""The error rates of each target of a round: how often its own answers were wrong, whatever the others said.

An example fooled a target where that target's answer is wrong (`Prediction.errs`), by the rule or the judgement that
decides over the example; with it, what the example adds to the counts is `projections.tally_counts`, the one rule that
the round's figures follow, too. In a round against several models "fooled" is the ensemble's outcome, and no member's.

Where the ensemble counts as not fooled, its examples are put before validators only in tasks that check those as well:
a member's vMER is then a lower bound (`is_lower_bound`), and its vMER (resolved) leaves such examples out.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from dynabench.collection import projections
from dynabench.collection.statistics import PEOPLE, Figures, summed
from dynabench.collection.tables import Example, Prediction, Standing
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.stats.rates import ErrorCounts

Target = tuple[str, str]
"""A model's name and version."""


def by_target(session: Session, of: Round, whole: Figures, sources: Sequence[str] = PEOPLE) -> dict[Target, Figures]:
    """The figures of each model that was asked in a round: its targets in their order, then those of its arms.

    `whole` are the figures of the round over examples of the same `sources`; they are those of its target where it has
    but one and no arm names others. Else this reads the round's predictions, summed up in the database.
    """
    targets = [(each.model, each.version) for each in of.targets]
    if len(targets) == 1 and all(isinstance(arm["targets"], str) for arm in of.arms):
        return {targets[0]: whole}
    people: dict[Target, dict[int, ErrorCounts]] = defaultdict(lambda: defaultdict(ErrorCounts))
    for row in session.execute(_sums(of.id, sources)):
        one = projections.tally_counts(fooled=row.errs, verdict=row.verdict, retracted=False, hidden=False)
        counts = {name: row.n * one[name] for name in ("examples", "fooled", "validated", "resolved", "unknown")}
        people[row.model, row.version][row.author_id] += ErrorCounts(**counts)
    others = sorted(set(people) - set(targets))
    return {target: summed(people[target]) for target in (*targets, *others)}


def label(target: Target, among: Sequence[Target]) -> str:
    """The model's name, with its version where another version of it was asked, too."""
    name, version = target
    return name if [each for each, _ in among].count(name) == 1 else f"{name} {version[:12]}"


def is_lower_bound(session: Session, of: Round) -> bool:
    """Tell whether a round leaves examples unchecked that fooled a target, but not all targets together."""
    several = len(of.targets) > 1 or any(not isinstance(arm["targets"], str) for arm in of.arms)
    if of.fooled_when == "any" or not several:
        return False
    return not projections.wants_votes(rounds.config_of(session, of.version_id), False, len(of.targets))


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
