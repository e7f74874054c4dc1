"""Entitlements against an oracle written from the documentation, and schemes that are refused."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.kit.errors import Invalid
from dynabench.pay.entitlements import (
    PaidVote,
    PersonWork,
    SchemeVersion,
    WrittenExample,
    compute_entitlements,
    hard_for_people,
)
from dynabench.pay.scheme import Scheme, parse_scheme, read_scheme, write_scheme

START = datetime(2026, 3, 1, tzinfo=UTC)
VERDICTS = ["pending", "correct", "incorrect", "flagged", "disputed"]


AMOUNT = st.integers(0, 500).map(lambda cents: f"{Decimal(cents) / 100:.2f}")
COUNT = st.none() | st.integers(1, 4)
AMOUNT_ALONE = st.fixed_dictionaries({"amount": AMOUNT})
SCHEMES = st.fixed_dictionaries(
    {
        "currency": st.just("USD"),
        **dict.fromkeys(("per_example", "per_fooling", "per_vote", "per_blind_answer"), st.none() | AMOUNT),
        "paid_examples": st.sampled_from(["unless_flagged", "unless_incorrect"]),
        "bonus": st.fixed_dictionaries(
            {
                "confidence": st.none() | st.fixed_dictionaries({"amount": AMOUNT, "at_least": st.just(0.8)}),
                "targets": st.none() | AMOUNT_ALONE,
            }
        ),
        "caps": st.fixed_dictionaries({"amount": st.none() | AMOUNT, "examples": COUNT, "votes": COUNT}),
        "base": st.none() | st.fixed_dictionaries({"amount": AMOUNT, "examples": st.integers(1, 3)}),
        "guard": st.none()
        | st.fixed_dictionaries({"wage": st.just("15.00"), "action": st.sampled_from(["warn", "top_up"])}),
    }
).map(parse_scheme)


@st.composite
def works(draw: st.DrawFn) -> PersonWork:
    examples, votes = [], []
    for number in range(draw(st.integers(0, 6))):
        targets, blind = draw(st.integers(0, 3)), draw(st.integers(0, 4))
        right = draw(st.integers(0, targets))
        examples.append(
            WrittenExample(
                id=number, at=START + timedelta(minutes=draw(st.integers(0, 100))), fooled=draw(st.booleans()),
                verdict=draw(st.sampled_from(VERDICTS)), withdrawn=draw(st.booleans()), blind=blind,
                blind_right=draw(st.integers(0, blind)), targets=targets, targets_right=right,
                confidence=draw(st.none() | st.sampled_from([0.5, 0.8, 0.95])), targets_fooled=targets - right,
            )
        )  # fmt: skip
    for number in range(draw(st.integers(0, 6))):
        at = START + timedelta(minutes=draw(st.integers(0, 100)))
        votes.append(PaidVote(number, at, draw(st.booleans()), draw(st.booleans())))
    return PersonWork(7, 1, examples, votes, float(draw(st.integers(0, 7200))), draw(st.booleans()))


def cents(text: str | None) -> Fraction:
    return Fraction(text or 0) * 100


def expected_total(work: PersonWork, old: Scheme, new: Scheme, change: datetime, at: datetime) -> int:
    """The documented rules, once more, over exact fractions."""
    paid: list[Fraction] = []
    examples = votes = 0
    base = new.base
    line = sorted([(e.at, 0, e.id, e) for e in work.examples] + [(v.at, 1, v.id, v) for v in work.votes])
    for moment, is_vote, _id, piece in line:
        scheme = new if moment >= change else old
        if is_vote:
            if piece.counts:
                votes += 1
                if not new.caps.votes or votes <= new.caps.votes:
                    blind = piece.blind and scheme.per_blind_answer is not None
                    paid.append(cents(scheme.per_blind_answer if blind else scheme.per_vote))
        else:
            bad = {"flagged"} | ({"incorrect"} if scheme.paid_examples == "unless_incorrect" else set())
            if not piece.withdrawn and piece.verdict not in bad:
                examples += 1
                if not new.caps.examples or examples <= new.caps.examples:
                    paid.append(cents(scheme.per_example))
                    if piece.fooled and piece.verdict == "correct":
                        paid.append(cents(scheme.per_fooling))
                        people = Fraction(piece.blind - piece.blind_right, piece.blind) if piece.blind else None
                        models = Fraction(piece.targets - piece.targets_right, piece.targets) if piece.targets else None
                        hard = piece.blind >= 2 and people and models is not None and people >= models
                        if not hard:
                            sure = scheme.bonus.confidence
                            if sure and piece.confidence is not None and piece.confidence >= sure.at_least:
                                paid.append(cents(sure.amount))
                            if scheme.bonus.targets:
                                paid.append(cents(scheme.bonus.targets.amount) * max(piece.targets_fooled - 1, 0))
        if base and examples >= base.examples and votes >= base.votes:
            paid.append(cents(base.amount))
            base = None
    cap = cents(new.caps.amount) if new.caps.amount is not None else None
    total = sum(paid, Fraction(0))
    total = min(total, cap) if cap is not None else total
    if new.guard and new.guard.action == "top_up" and work.seconds:
        last = max((row[0] for row in line), default=at)
        if work.over or at - last >= timedelta(days=1):
            total = max(total, Fraction(round(1500 * Fraction(str(work.seconds)) / 3600)))
            total = min(total, cap) if cap is not None else total
    return int(total)


@given(works(), SCHEMES, SCHEMES, st.integers(0, 100), st.sampled_from([1, 3000]))
def test_earnings_equal_the_documented_rules(work, old, new, change, minutes):
    moment, at = START + timedelta(minutes=change), START + timedelta(minutes=100 + minutes)
    versions = [SchemeVersion(START - timedelta(days=1), old), SchemeVersion(moment, new)]
    earned = compute_entitlements(work, versions, at)
    assert sum(part.amount.minor for part in earned) == expected_total(work, old, new, moment, at)
    assert len({part.item for part in earned}) == len(earned)
    assert all(part.amount.minor > 0 for part in earned)
    shuffled = PersonWork(7, 1, work.examples[::-1], work.votes[::-1], work.seconds, work.over)
    assert compute_entitlements(shuffled, versions[::-1], at) == earned


def test_an_example_that_people_fail_as_often_as_models_earns_no_bonus():
    scheme = parse_scheme({"currency": "USD", "per_fooling": "1", "bonus": {"confidence": {"amount": "2"}}})
    versions = [SchemeVersion(START, scheme)]
    hard = WrittenExample(1, START, True, "correct", blind=3, blind_right=0, targets=1, confidence=0.99)
    assert hard_for_people(hard, 2)
    work = PersonWork(1, 1, [hard])
    assert [part.item for part in compute_entitlements(work, versions, START)] == ["fooling:1"]
    fair = WrittenExample(1, START, True, "correct", blind=3, blind_right=2, targets=1, confidence=0.99)
    earned = compute_entitlements(PersonWork(1, 1, [fair]), versions, START)
    assert {part.item: part.amount.minor for part in earned} == {"fooling:1": 100, "confidence:1": 200}


@given(SCHEMES)
def test_a_scheme_survives_being_written_and_read(scheme):
    document = scheme.document()
    assert parse_scheme(document).document() == document
    assert read_scheme(write_scheme(document)).document() == document


def test_decimals_of_yaml_are_read_as_written():
    scheme = read_scheme(
        "currency: KWD\nper_example: 0.100\nper_vote: 1\nbonus: {confidence: {amount: 0.05, at_least: 0.75}}"
    )
    assert (scheme.minor(scheme.per_example), scheme.minor(scheme.per_vote)) == (100, 1000)
    assert scheme.document()["bonus"] == {"confidence": {"amount": "0.050", "at_least": 0.75}}


@pytest.mark.parametrize(
    "source",
    [
        "[1]", "currency: XYZ", "currency: USD\nper_example: 0.001", "currency: JPY\nper_vote: 1.5", "{",
        "currency: USD\nper_example: -1", "currency: USD\nper_example: .nan", "currency: USD\nper_example: 1e3",
        "currency: USD\nper_example: true", "currency: USD\nbase: {amount: 1}", "currency: USD\nunknown: 1",
        "currency: USD\nbudget: 0", "currency: USD\ncaps: {examples: 0}", "a: &a [*a]", "x" * 30_000,
        "currency: USD\nguard: {wage: 15, action: fire}", "!!python/object/apply:os.system [id]",
    ],
)  # fmt: skip
def test_schemes_that_make_no_sense_are_refused(source):
    with pytest.raises(Invalid):
        read_scheme(source)
