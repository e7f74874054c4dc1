import gzip
import json
from collections import Counter
from itertools import product
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.stats.verdict import Verdict, Vote, max_outstanding_votes, verdict
from tests.large_data import need_data

LABELS = ("correct", "incorrect", "flagged")
labels = st.sampled_from(LABELS)
votes_lists = st.lists(st.builds(Vote, labels, st.booleans()), max_size=9)


@st.composite
def quotas(draw):
    need = draw(st.integers(1, 6))
    return need, draw(st.integers(need, 9))


def told_step_by_step(votes, need, cap):
    """The rule as a person would apply it, one vote after the other; written without looking at the function."""
    state, cast, owner = "pending", [], None
    for label, by_owner in votes:
        if by_owner:
            owner = label
        if state == "pending":
            cast.append(label)
            if len(cast) == need and len(set(cast)) == 1:
                state = cast[0]
            elif len(cast) >= need:
                leaders = [name for name in LABELS if cast.count(name) >= cap // 2 + 1]
                state = leaders[0] if leaders else "disputed" if len(cast) == cap else "pending"
    return owner or state


@pytest.mark.parametrize(("need", "cap"), [(need, cap) for need in range(1, 6) for cap in range(need, 6)])
def test_every_list_of_up_to_six_votes_decides_as_the_rule_says(need, cap):
    for length in range(7):
        for cast in product(LABELS, repeat=length):
            expected = told_step_by_step([(label, False) for label in cast], need, cap)
            assert verdict([Vote(label) for label in cast], need, cap) == expected, cast


@pytest.mark.parametrize(("need", "cap"), [(1, 1), (2, 2), (2, 3), (2, 5), (3, 4)])
def test_every_short_list_with_owners_votes_decides_as_the_rule_says(need, cap):
    for length in range(5):
        for cast in product(product(LABELS, (False, True)), repeat=length):
            assert verdict([Vote(*vote) for vote in cast], need, cap) == told_step_by_step(cast, need, cap), cast


@pytest.mark.parametrize(
    ("cast", "expected"),
    [
        ("", "pending"),
        ("c", "pending"),
        ("cc", "correct"),
        ("ff", "flagged"),
        ("ci", "pending"),
        ("cic", "pending"),
        ("cicc", "correct"),
        ("cici", "pending"),
        ("cicii", "incorrect"),
        ("cifci", "disputed"),
        ("ciffc", "disputed"),
    ],
)
def test_two_votes_adjudicated_up_to_five(cast, expected):
    named = {label[0]: label for label in LABELS}
    assert verdict([Vote(named[letter]) for letter in cast], need=2, cap=5) == expected


def test_a_late_agreeing_vote_does_not_reopen_an_early_agreement():
    assert verdict([Vote("correct")] * 3, need=2, cap=7) is Verdict.CORRECT


@settings(deadline=None)
@given(votes_lists, quotas())
def test_an_agreeing_vote_never_undoes_a_decision(votes, quota):
    decided = verdict(votes, *quota)
    if decided in LABELS:
        assert verdict([*votes, Vote(decided)], *quota) is decided


@settings(deadline=None)
@given(votes_lists, quotas(), labels)
def test_an_owners_latest_vote_stands(votes, quota, label):
    assert verdict([*votes, Vote(label, by_owner=True)], *quota) == label
    assert verdict([*votes, Vote(label, by_owner=True), Vote("flagged")], *quota) == label
    assert max_outstanding_votes([*votes, Vote(label, by_owner=True)], *quota) == 0


@settings(deadline=None)
@given(st.lists(st.builds(Vote, labels), max_size=12), quotas())
def test_votes_after_a_decision_change_nothing(votes, quota):
    for length in range(len(votes)):
        if verdict(votes[:length], *quota).final:
            assert verdict(votes, *quota) is verdict(votes[:length], *quota)
            return


@settings(deadline=None)
@given(st.lists(st.builds(Vote, labels), max_size=9), quotas())
def test_there_is_a_place_exactly_while_the_verdict_is_pending(votes, quota):
    assert (max_outstanding_votes(votes, *quota) > 0) == (verdict(votes, *quota) is Verdict.PENDING)


@settings(deadline=None)
@given(st.data(), quotas())
def test_no_interleaving_of_hand_outs_and_votes_counts_more_votes_than_asked_for(data, quota):
    votes, outstanding = [], 0
    while not (verdict(votes, *quota).final and not outstanding):
        free = max_outstanding_votes(votes, *quota) - outstanding
        assert free >= 0, "a place that was handed out is never taken back"
        if free and (not outstanding or data.draw(st.booleans(), label="hand out")):
            outstanding += 1
        else:
            assert verdict(votes, *quota) is Verdict.PENDING, "a vote that was asked for arrives after the decision"
            votes.append(Vote(data.draw(labels)))
            outstanding -= 1
    assert len(votes) <= quota[1]
    assert verdict(votes[:-1], *quota) is Verdict.PENDING


@pytest.mark.parametrize(("need", "cap"), [(1, 3), (2, 3), (2, 5), (3, 4), (3, 5)])
def test_as_many_votes_are_asked_for_as_can_all_arrive_before_a_decision(need, cap):
    """All but the last of them never decide; after a disagreement, one vote more than they could decide."""

    def may_be_asked_for(votes, number):
        before = product(LABELS, repeat=number - 1)
        return all(
            told_step_by_step([*votes, *[(label, False) for label in more]], need, cap) == "pending" for more in before
        )

    for length in range(cap):
        for cast in product(LABELS, repeat=length):
            votes = [(label, False) for label in cast]
            number = max_outstanding_votes([Vote(label) for label in cast], need, cap)
            assert number == 0 or may_be_asked_for(votes, number), cast
            assert length < need or not may_be_asked_for(votes, number + 1), cast


@settings(deadline=None)
@given(st.lists(st.builds(Vote, labels), max_size=9), quotas())
def test_after_a_disagreement_one_place_more_could_count_a_vote_too_many(votes, quota):
    free = max_outstanding_votes(votes, *quota)
    if free and len(votes) >= quota[0]:
        leading = Counter(vote.label for vote in votes).most_common(1)[0][0]
        assert verdict([*votes, *[Vote(leading)] * free], *quota).final


@pytest.mark.parametrize(("need", "cap"), [(0, 1), (3, 2), (-1, 5)])
def test_impossible_quotas_are_refused(need, cap):
    with pytest.raises(ValueError, match="need"):
        verdict([], need, cap)
    with pytest.raises(ValueError, match="need"):
        max_outstanding_votes([], need, cap)


@pytest.mark.parametrize("label", ["skip", "pending", "disputed", "", "Correct"])
def test_only_the_three_labels_are_votes(label):
    with pytest.raises(ValueError, match="correct, incorrect or flagged"):
        Vote(label)


@pytest.mark.release
@pytest.mark.large_data("anli_dev/verifier_labels.jsonl.gz")
@pytest.mark.parametrize(("cap", "decided", "disputed"), [(3, 29_772, 9), (5, 20_830, 0)])
def test_the_replay_of_real_vote_lists_equals_a_direct_count(cap, decided, disputed):
    with gzip.open(need_data("anli_dev/verifier_labels.jsonl.gz"), "rt", encoding="utf-8") as lines:
        lists = [json.loads(line)["verifier labels"] for line in lines]
    assert len(lists) == 29_803
    named = dict(zip("enc", LABELS, strict=True))
    seen = Counter()
    for raw in lists:
        result = verdict([Vote(named[letter]) for letter in raw], need=2, cap=cap)
        winners = [letter for letter in "enc" if raw[:2] == [letter] * 2 or raw.count(letter) > cap // 2]
        assert result == (named[winners[0]] if winners else "disputed" if len(raw) >= cap else "pending"), raw
        seen[str(result)] += 1
    assert sum(seen[label] for label in LABELS) == decided
    assert seen["disputed"] == disputed


def weighted_step_by_step(votes, need, cap):
    """The weighted rule as a person would apply it, written without looking at the function."""
    for vote in reversed(votes):
        if vote.by_owner:
            return vote.label
    for count in range(need, min(len(votes), cap) + 1):
        likely = dict.fromkeys(LABELS, 1.0)
        for vote in votes[:count]:
            likely[vote.label] *= exp(vote.weight or 0)
        label = max(sorted(LABELS), key=lambda name: likely[name])
        share = likely[label] / sum(likely.values())
        if share >= 0.9 or (count == cap and share > 0.5):
            return label
    return "disputed" if len(votes) >= cap else "pending"


weighted_votes = st.lists(st.builds(Vote, labels, st.booleans(), st.floats(0, 4)), min_size=1, max_size=9)


@given(weighted_votes, quotas())
def test_weighted_votes_decide_as_the_rule_says_and_decisions_stay(cast, quota):
    decided = "pending"
    for count in range(len(cast) + 1):
        now = verdict(cast[:count], *quota)
        assert count == 0 or now == weighted_step_by_step(cast[:count], *quota)
        assert (
            decided == "pending" or cast[count - 1].by_owner or now == decided or any(v.by_owner for v in cast[:count])
        )
        decided = now
        if now.final:
            assert max_outstanding_votes(cast[:count], *quota) == 0


@given(st.lists(labels, min_size=1, max_size=9), quotas())
def test_votes_without_weight_decide_nothing(cast, quota):
    """Validators at chance: whatever they vote, no label is more probable than another."""
    need, cap = quota
    decided = verdict([Vote(label, weight=0.0) for label in cast], need, cap)
    assert decided == ("disputed" if len(cast) >= cap else "pending")
