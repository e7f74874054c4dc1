"""Bodies and answers of the JSON API of pay. Amounts are decimals as texts, such as `"12.50"`."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from dynabench.kit.schemas import Page, RowModel, StrictModel
from dynabench.pay.costs import MEASURES, RoundCosts
from dynabench.pay.money import decimal_text
from dynabench.pay.reading import OwnRoundPay, PaidPerson
from dynabench.pay.tables import Payment, PaymentKind, PaymentState


class PaySchemeIn(StrictModel):
    """A payment scheme for a round."""

    scheme: dict[str, Any] = Field(description="The document of the scheme; see the reference of pay.")


class PaySchemeOut(BaseModel):
    """The newest version of a round's payment scheme; null members where the round pays nothing."""

    version: int | None
    scheme: dict[str, Any] | None
    created_at: datetime | None


class PaymentOut(RowModel):
    """A line of the ledger of payments."""

    id: int
    person_id: int
    kind: PaymentKind
    amount: str
    currency: str
    state: PaymentState
    reason: str
    item: str = Field(description="The work that it is for, such as `example:12`; empty for others.")
    decision: str = Field(description="The owner's reason of a hold or a cancellation.")
    payout_id: int | None
    at: datetime

    @classmethod
    def of(cls, payment: Payment) -> "PaymentOut":
        """Make it of a line."""
        names = ("id", "person_id", "kind", "currency", "state", "item", "payout_id", "at")
        values = {name: getattr(payment, name) for name in names}
        amount = decimal_text(payment.amount, payment.currency)
        return cls(amount=amount, reason=str(payment.reason), decision=str(payment.decision), **values)


class PaymentPage(Page[PaymentOut]):
    """A page of the ledger by id; `next` is the cursor of the page after it."""


class PersonPayOut(BaseModel):
    """A person of a round with their earnings."""

    person_id: int
    name: str
    currency: str
    by_kind: dict[PaymentKind, str]
    by_state: dict[PaymentState, str]
    total: str
    paid: str
    active_seconds: float
    hourly: str | None = Field(description="Earnings per hour of work; null where less than a minute was measured.")
    below_guard: bool

    @classmethod
    def of(cls, person: PaidPerson, currency: str) -> "PersonPayOut":
        """Make it of a person's earnings."""
        earned = person.earnings
        return cls(
            person_id=person.person_id,
            name=person.name,
            currency=currency,
            by_kind={kind: decimal_text(amount, currency) for kind, amount in earned.by_kind.items()},
            by_state={state: decimal_text(amount, currency) for state, amount in earned.by_state.items()},
            total=decimal_text(earned.total.minor, currency),
            paid=decimal_text(earned.paid.minor, currency),
            active_seconds=round(earned.active_seconds, 1),
            hourly=earned.hourly.plain if earned.hourly else None,
            below_guard=person.is_low,
        )


class PersonPayList(Page[PersonPayOut]):
    """People of a round, the highest earnings first."""


class CostEstimateOut(BaseModel):
    """A cost per example, in units of the currency, with its 95 % interval clustered by author; null if unknown."""

    value: float | None
    low: float | None
    high: float | None


class CostLineOut(BaseModel):
    """Costs of an arm, or of the whole round where `arm` is empty."""

    arm: str
    total: str
    counts: dict[str, int]
    per_example: dict[str, CostEstimateOut] = Field(description="By `examples`, `validated`, `verified`.")


class RoundPayOut(BaseModel):
    """The costs of a round, its budget and a forecast; `currency` is empty where it pays nothing."""

    currency: str
    total: str
    by_kind: dict[PaymentKind, str] = {}
    by_state: dict[PaymentState, str] = {}
    budget: str | None = None
    committed: str = Field("0", description="The most that accepted work may come to.")
    begun: str = Field("0", description="Set aside for what people are working on now.")
    budget_spent: bool = False
    per_day: str = "0"
    ends_at: datetime | None = None
    at_goals: dict[str, str] = {}
    lines: list[CostLineOut] = []

    @classmethod
    def of(cls, costs: RoundCosts | None) -> "RoundPayOut":
        """Make it of a round's costs."""
        if costs is None:
            return cls(currency="", total="0")
        currency, spending = costs.currency, costs.commitments

        def text(minor: int) -> str:
            return decimal_text(minor, currency)

        unit = 10 ** len(text(0).partition(".")[2])
        return cls(
            currency=currency,
            total=text(costs.total),
            by_kind={kind: text(amount) for kind, amount in costs.by_kind.items()},
            by_state={state: text(amount) for state, amount in costs.by_state.items()},
            budget=None if spending.budget is None else text(spending.budget),
            committed=text(max(spending.accepted, spending.booked)),
            begun=text(spending.begun),
            budget_spent=spending.is_spent,
            per_day=text(costs.forecast.per_day),
            ends_at=costs.forecast.ends_at,
            at_goals={name: text(amount) for name, amount in costs.forecast.at_goals.items()},
            lines=[
                CostLineOut(
                    arm=line.arm,
                    total=text(line.total),
                    counts=dict(line.counts),
                    per_example={name: _estimate(line.per[name], unit) for name in MEASURES},
                )
                for line in costs.lines
            ],
        )


def _estimate(estimate: Any, unit: int) -> CostEstimateOut:
    values = {name: getattr(estimate, name) for name in ("value", "low", "high")}
    return CostEstimateOut(**{name: None if value is None else value / unit for name, value in values.items()})


class PayDecisionIn(StrictModel):
    """An owner's act on payments. `people` are ids, null for everybody; `payments` are ids, for `cancel` alone."""

    act: Literal["approve", "hold", "release", "cancel", "paid", "retry"]
    people: list[int] | None = Field(None, max_length=10_000)
    payments: list[int] = Field([], max_length=10_000)
    reason: str = Field("", max_length=500, description="For `hold` and `cancel`; the person reads it.")
    reference: str = Field("", max_length=200, description="For `paid`: of the transfer.")


class PayDecisionOut(BaseModel):
    """The result of an act: how many payments (for `paid`: payouts) changed, their sum, and how many wait."""

    count: int
    amount: str
    waiting: int = Field(0, description="Payments that wait for a second approval.")


class OwnPayOut(BaseModel):
    """Your pay in one round; `earned` also has what is not booked yet."""

    task: str
    round: int
    currency: str
    earned: str
    paid: str
    active_seconds: float
    hourly: str | None
    by_kind: dict[PaymentKind, str]
    scheme: dict[str, Any]

    @classmethod
    def of(cls, pay: OwnRoundPay) -> "OwnPayOut":
        """Make it of a person's pay."""
        currency = pay.earned.currency
        return cls(
            task=pay.task_id,
            round=pay.round_number,
            currency=currency,
            earned=pay.earned.plain,
            paid=pay.paid.plain,
            active_seconds=round(pay.seconds, 1),
            hourly=pay.hourly.plain if pay.hourly else None,
            by_kind={kind: decimal_text(amount, currency) for kind, amount in pay.by_kind.items()},
            scheme={name: value for name, value in pay.scheme.document().items() if name not in HIDDEN_TERMS},
        )


HIDDEN_TERMS = ("budget", "approval_limit")
"""Members of a scheme that only owners read."""


class OwnPayList(Page[OwnPayOut]):
    """Your pay by round, the newest round first."""
