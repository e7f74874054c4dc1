"""Earnings of a person's work: a pure function of the work, the versions of the scheme, and a moment.

Payment follows the verdict. Work is paid by the version of the scheme that was in force when it was done. Caps count in
the order in which the work was done. Nothing is read from the ledger of payments: what is booked already is compared
with this elsewhere (`pay.booking`).
"""

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from dynabench.kit.language import _
from dynabench.pay.money import Money, round_minor
from dynabench.pay.scheme import Scheme
from dynabench.pay.tables import PaymentKind
from dynabench.stats.verdict import Verdict

TOP_UP_AFTER = timedelta(days=1)
"""Time since a person's last work after which a top-up is due, in a round that is still open."""


@dataclass(frozen=True)
class WrittenExample:
    """An example as pay sees it, with its standing now.

    `confidence` is the mean probability of the wrong answers of the fooled targets, None where it is unknown;
    `targets_fooled` counts these targets. `blind_right` of `blind` blind answers and
    `targets_right` of `targets` predictions agree with the claim.
    """

    id: int
    at: datetime
    fooled: bool = False
    verdict: str = Verdict.PENDING
    withdrawn: bool = False
    blind: int = 0
    blind_right: int = 0
    targets: int = 0
    targets_right: int = 0
    confidence: float | None = None
    targets_fooled: int = 0


@dataclass(frozen=True)
class PaidVote:
    """A vote as pay sees it; one that does not count was taken back or excluded. A `blind` one gave an answer."""

    id: int
    at: datetime
    blind: bool = False
    counts: bool = True


@dataclass(frozen=True)
class PersonWork:
    """All work of a person in a round, with the seconds that it took; `over` is true where the round is closed."""

    person_id: int
    round_id: int
    examples: Sequence[WrittenExample] = ()
    votes: Sequence[PaidVote] = ()
    seconds: float = 0.0
    over: bool = False


@dataclass(frozen=True)
class SchemeVersion:
    """A version of a scheme and the moment from which it counts."""

    since: datetime
    scheme: Scheme


@dataclass(frozen=True)
class Entitlement:
    """An amount that a person has earned; `item` names the work, and is the same each time that this is computed."""

    person_id: int
    item: str
    kind: PaymentKind
    amount: Money
    reason: str


def hard_for_people(example: WrittenExample, answers: int) -> bool:
    """Return whether people fail at an example as often as models do, by at least so many blind answers."""
    if example.blind < max(answers, 1) or not example.targets:
        return False
    people_wrong = example.blind - example.blind_right
    models_wrong = example.targets - example.targets_right
    return people_wrong * example.targets >= models_wrong * example.blind and people_wrong > 0


def compute_entitlements(work: PersonWork, versions: Sequence[SchemeVersion], at: datetime) -> list[Entitlement]:
    """Return all that a person has earned by `at`, in the order of the work; amounts above 0 only.

    Work from before the first version is paid by that one. Without a version nothing is earned.
    """
    if not versions:
        return []
    ordered = sorted(versions, key=lambda version: version.since)
    cap = _Cap(ordered[-1].scheme)
    earned = [part for part in map(cap.cut, _ordered(work, ordered)) if part is not None]
    top_up = _top_up(work, ordered[-1].scheme, sum(part.amount.minor for part in earned), at)
    if top_up is not None and (part := cap.cut(top_up)):
        earned.append(part)
    return earned


class _Cap:
    """The most that a person earns, which cuts what goes beyond it."""

    def __init__(self, scheme: Scheme) -> None:
        self.rest = None if scheme.caps.amount is None else scheme.minor(scheme.caps.amount)

    def cut(self, entitlement: Entitlement) -> Entitlement | None:
        amount = entitlement.amount.minor
        if self.rest is not None:
            amount = min(amount, self.rest)
            self.rest -= amount
        if amount <= 0:
            return None
        money = Money(amount, entitlement.amount.currency)
        return Entitlement(entitlement.person_id, entitlement.item, entitlement.kind, money, entitlement.reason)


def _ordered(work: PersonWork, versions: Sequence[SchemeVersion]) -> Iterator[Entitlement]:
    """Yield what each piece of work earns, before the cap on the sum, in the order in which it was done."""
    newest = versions[-1].scheme
    pieces: list[tuple[datetime, int, WrittenExample | PaidVote]] = [
        *((example.at, example.id, example) for example in work.examples),
        *((vote.at, vote.id, vote) for vote in work.votes),
    ]
    pieces.sort(key=lambda piece: (piece[0], isinstance(piece[2], PaidVote), piece[1]))
    since = [version.since for version in versions]
    examples = votes = 0
    base_done = newest.base is None
    for moment, _id, piece in pieces:
        scheme = versions[max(bisect.bisect_right(since, moment) - 1, 0)].scheme
        if isinstance(piece, WrittenExample):
            if _is_paid(piece, scheme):
                examples += 1
                if newest.caps.examples is None or examples <= newest.caps.examples:
                    yield from _example(work.person_id, piece, scheme)
        elif piece.counts:
            votes += 1
            if newest.caps.votes is None or votes <= newest.caps.votes:
                yield from _vote(work.person_id, piece, scheme)
        if not base_done and newest.base and examples >= newest.base.examples and votes >= newest.base.votes:
            base_done = True
            item = f"base:{work.round_id}:{work.person_id}"
            money = newest.money(newest.base.amount)
            yield Entitlement(work.person_id, item, PaymentKind.BASE, money, _("For taking part"))


def _is_paid(example: WrittenExample, scheme: Scheme) -> bool:
    if example.withdrawn or example.verdict == Verdict.FLAGGED:
        return False
    return scheme.paid_examples == "unless_flagged" or example.verdict != Verdict.INCORRECT


def _example(person_id: int, example: WrittenExample, scheme: Scheme) -> Iterator[Entitlement]:
    def earn(name: str, kind: PaymentKind, minor: int, reason: str) -> Entitlement:
        return Entitlement(person_id, f"{name}:{example.id}", kind, Money(minor, scheme.currency), reason)

    number = example.id
    if scheme.per_example:
        yield earn("example", PaymentKind.EXAMPLE, scheme.minor(scheme.per_example), _("Example %(n)s", n=number))
    if not (example.fooled and example.verdict == Verdict.CORRECT):
        return
    if scheme.per_fooling:
        reason = _("Example %(n)s fooled a model and was verified", n=number)
        yield earn("fooling", PaymentKind.FOOLING, scheme.minor(scheme.per_fooling), reason)
    if hard_for_people(example, scheme.blind_answers):
        return
    bonus = scheme.bonus
    if bonus.confidence and example.confidence is not None and example.confidence >= bonus.confidence.at_least:
        reason = _("Example %(n)s fooled a model that was sure of its answer", n=number)
        yield earn("confidence", PaymentKind.BONUS, scheme.minor(bonus.confidence.amount), reason)
    if bonus.targets and example.targets_fooled > 1:
        reason = _("Example %(n)s fooled %(count)s models", n=number, count=example.targets_fooled)
        minor = scheme.minor(bonus.targets.amount) * (example.targets_fooled - 1)
        yield earn("targets", PaymentKind.BONUS, minor, reason)


def _vote(person_id: int, vote: PaidVote, scheme: Scheme) -> Iterator[Entitlement]:
    blind = vote.blind and scheme.per_blind_answer is not None
    minor = scheme.minor(scheme.per_blind_answer if blind else scheme.per_vote)
    kind = PaymentKind.BLIND if blind else PaymentKind.VOTE
    reason = _("Blind answer %(n)s", n=vote.id) if blind else _("Vote %(n)s", n=vote.id)
    yield Entitlement(person_id, f"vote:{vote.id}", kind, Money(minor, scheme.currency), reason)


def _top_up(work: PersonWork, scheme: Scheme, earned: int, at: datetime) -> Entitlement | None:
    """Return what lacks to the least hourly pay, once the person's work is over."""
    if scheme.guard is None or scheme.guard.action != "top_up" or not work.seconds:
        return None
    moments = [example.at for example in work.examples] + [vote.at for vote in work.votes]
    last = max(moments, default=at)
    if not work.over and at - last < TOP_UP_AFTER:
        return None
    least = round_minor(Decimal(scheme.minor(scheme.guard.wage)) * Decimal(str(round(work.seconds, 3))) / 3600)
    if least <= earned:
        return None
    item = f"top_up:{work.round_id}:{work.person_id}"
    money = Money(least - earned, scheme.currency)
    return Entitlement(work.person_id, item, PaymentKind.TOP_UP, money, _("Up to the least hourly pay"))
