"""Costs of a round: spending by kind, cost per example by arm, and a forecast. Read from the ledger of payments.

The cost of an example is what its author earned for it and what the votes on it earned. Base pay, top-ups and payments
that belong to no example are in the round's line alone. Intervals are clustered by author.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.collection import eligibility
from dynabench.collection.tables import Example, Standing
from dynabench.kit.db import now
from dynabench.pay import booking, limits
from dynabench.pay.limits import Commitments
from dynabench.pay.tables import Payment, PaymentKind, PaymentState
from dynabench.pay.work import PAID_SOURCES
from dynabench.rounds.tables import Round, RoundState
from dynabench.stats import clusters
from dynabench.stats.clusters import ClusteredEstimate
from dynabench.stats.verdict import Verdict
from dynabench.validation.queries import CONTROL
from dynabench.validation.tables import Validation

RATE_OVER = timedelta(days=1)
MEASURES = ("examples", "validated", "verified")
"""Examples of paid people, those with a final verdict, and those that fooled and were found correct."""


@dataclass(frozen=True)
class CostLine:
    """The costs of an arm, or of the whole round (`arm` ""): in minor units, in all and per example of each measure.

    `per` has an interval where people differ; `counts` are the examples of each measure.
    """

    arm: str
    total: int
    counts: Mapping[str, int]
    per: Mapping[str, ClusteredEstimate]


@dataclass(frozen=True)
class Forecast:
    """The expected course of a round's spending; parts are None where there is nothing to expect.

    `per_day` is the spending of the last day in minor units, `ends_at` when the budget is spent at that rate,
    `at_goals` the expected cost when a goal is reached, by its name.
    """

    per_day: int
    ends_at: datetime | None
    at_goals: Mapping[str, int]


@dataclass(frozen=True)
class RoundCosts:
    """All figures of a round's costs."""

    currency: str
    by_kind: Mapping[PaymentKind, int]
    by_state: Mapping[PaymentState, int]
    lines: Sequence[CostLine]
    commitments: Commitments
    forecast: Forecast

    @property
    def total(self) -> int:
        """All that was booked and not cancelled, in minor units."""
        return sum(self.by_kind.values())


def read_costs(session: Session, round_: Round) -> RoundCosts | None:
    """Return the costs of a round; None without a scheme. Reads all its payments and examples once."""
    versions = booking.scheme_versions(session, round_.id)
    if not versions:
        return None
    newest = versions[-1].scheme
    by_kind: dict[PaymentKind, int] = defaultdict(int)
    by_state: dict[PaymentState, int] = defaultdict(int)
    by_item: dict[str, int] = defaultdict(int)
    statement = select(Payment.kind, Payment.state, Payment.item, func.sum(Payment.amount).label("sum"))
    grouped = statement.where(Payment.round_id == round_.id).group_by(Payment.kind, Payment.state, Payment.item)
    for row in session.execute(grouped):
        by_state[PaymentState(row.state)] += int(row.sum)
        if row.state != PaymentState.CANCELLED:
            by_kind[PaymentKind(row.kind)] += int(row.sum)
            by_item[row.item] += int(row.sum)
    spending = limits.commitments(session, round_, [version.scheme for version in versions])
    lines = _lines(session, round_, by_item, sum(by_kind.values()))
    return RoundCosts(
        newest.currency,
        dict(by_kind),
        dict(by_state),
        lines,
        spending,
        _forecast(session, round_, lines[0], spending),
    )


def _lines(session: Session, round_: Round, by_item: Mapping[str, int], total: int) -> list[CostLine]:
    costs = _costs_of_examples(session, round_.id, by_item)
    statement = (
        select(Example.id, Example.author_id, Example.arm, Standing.fooled, Standing.verdict)
        .join(Standing, Standing.example_id == Example.id)
        .where(Example.round_id == round_.id, ~Standing.retracted, ~Standing.hidden)
        .where(Example.source.in_(PAID_SOURCES))
    )
    sums: dict[str, dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
    for row in session.execute(statement):
        for arm in {"", row.arm}:
            of_author = sums[arm][row.author_id]
            of_author["cost"] += costs.get(row.id, 0)
            of_author["examples"] += 1
            of_author["validated"] += row.verdict != Verdict.PENDING
            of_author["verified"] += bool(row.fooled) and row.verdict == Verdict.CORRECT
    arms = [str(arm["name"]) for arm in round_.arms]
    return [_line(name, sums[name], total if not name else None) for name in ("", *arms)]


def _line(arm: str, of_authors: Mapping[int, Mapping[str, float]], total: int | None) -> CostLine:
    authors = sorted(of_authors)
    columns = {name: np.array([of_authors[author][name] for author in authors]) for name in ("cost", *MEASURES)}
    cost = int(columns["cost"].sum())
    if total is not None and cost:  # the round's line also bears what belongs to no example, by share
        columns["cost"] = columns["cost"] * (total / cost)
    counts = {name: int(columns[name].sum()) for name in MEASURES}
    per = {name: clusters.ratio(columns["cost"], columns[name]) for name in MEASURES}
    return CostLine(arm, cost if total is None else total, counts, per)


def _costs_of_examples(session: Session, round_id: int, by_item: Mapping[str, int]) -> Mapping[int, int]:
    """The payments for each example, with those for votes on it."""
    costs: dict[int, int] = defaultdict(int)
    votes: dict[int, int] = {}
    for item, amount in by_item.items():
        name, _colon, number = item.partition(":")
        if name == "vote":
            votes[int(number)] = amount
        elif name in ("example", "fooling", "confidence", "targets"):
            costs[int(number)] += amount
    statement = select(Validation.id, Validation.example_id).join(
        Standing, Standing.example_id == Validation.example_id
    )
    for vote, example in session.execute(statement.where(Standing.round_id == round_id, ~CONTROL)):
        costs[example] += votes.get(vote, 0)
    return costs


def _forecast(session: Session, round_: Round, line: CostLine, spending: Commitments) -> Forecast:
    at = now()
    since = select(func.sum(Payment.amount)).where(Payment.round_id == round_.id, Payment.at > at - RATE_OVER)
    per_day = int(session.scalar(since.where(Payment.state != PaymentState.CANCELLED)) or 0)
    ends_at = None
    if spending.rest is not None and round_.state == RoundState.OPEN:
        if spending.rest <= 0:
            ends_at = at
        elif per_day > 0:
            ends_at = at + min(timedelta(days=spending.rest / per_day), timedelta(days=3650))
    at_goals = {}
    names = {"examples": "examples", "fooled": "validated", "verified": "verified"}
    for goal in eligibility.goals(session, round_):
        cost = line.per[names[goal.name]].value if goal.name != "fooled" else None
        if cost is not None and goal.required:
            at_goals[goal.name] = round(cost * goal.required)
    return Forecast(per_day, ends_at, at_goals)
