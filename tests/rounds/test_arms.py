from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.kit.errors import Invalid
from dynabench.rounds import plan
from dynabench.rounds.plan import assign_arm
from dynabench.rounds.tables import Round


def test_arms_are_drawn_by_their_shares():
    drawn = [{"name": "a", "share": 3}, {"name": "b", "share": 1, "targets": "none"}]
    cleaned = plan.clean_arms(drawn)
    assert cleaned[0] == {"name": "a", "share": 3, "targets": "round"}
    counts = Counter(plan.draw_arm(cleaned, "key", place)["name"] for place in range(4000))
    assert counts == {"a": 3000, "b": 1000}
    assert plan.draw_arm([], "key", 0) is None
    assert plan.arms_without_targets(cleaned) == {"b"}


@pytest.mark.slow
def test_an_odd_share_is_drawn_one_by_one():
    cleaned = plan.clean_arms([{"name": "a", "share": 997}, {"name": "b", "share": 3}])
    counts = Counter(plan.draw_arm(cleaned, "key", place)["name"] for place in range(20_000))
    assert counts["b"] / 20_000 == pytest.approx(0.003, abs=0.0015)


shares = st.lists(st.integers(1, 7), min_size=1, max_size=6)


@given(shares, st.text(max_size=5), st.integers(0, 3))
def test_whenever_collection_ends_arms_are_as_balanced_as_blocks_allow(shares, key, blocks):
    cleaned = plan.clean_arms([{"name": f"a{n}", "share": share} for n, share in enumerate(shares)])
    drawn = [plan.draw_arm(cleaned, key, place) for place in range(sum(shares) * 4 * blocks)]
    assert drawn == [plan.draw_arm(cleaned, key, place) for place in range(len(drawn))]
    counts = Counter(arm["name"] for arm in drawn)
    assert [counts[f"a{n}"] for n in range(len(shares))] == [share * 4 * blocks for share in shares]


def test_the_models_of_an_arm():
    other = {"model": "m", "version": "2"}
    cleaned = plan.clean_arms(
        [{"name": "other", "targets": [other]}, {"name": "none", "targets": "none"}, {"name": "own"}]
    )
    request = {name: plan.targets_in(cleaned, name, (("m", "1"),)) for name in ("other", "none", "own", "")}
    assert request == {"other": (("m", "2"),), "none": (), "own": (("m", "1"),), "": (("m", "1"),)}


leaves = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3)
keys = st.sampled_from(["name", "share", "targets", "start", "assistant", "x"])


@given(st.recursive(leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner)))
def test_whatever_is_given_is_cleaned_or_refused(raw):
    try:
        cleaned = plan.clean_arms(raw)
    except Invalid:
        return
    assert plan.clean_arms(cleaned) == cleaned


def test_each_person_has_an_order_of_arms_of_their_own():
    """One order for all would let people tell each other which arm comes next, and tie arms to the time of day."""
    source = Round(seed=7, assign="item", arms=plan.clean_arms([{"name": "a"}, {"name": "b"}]))
    orders = [
        tuple(assign_arm(None, source, person, this_number)["name"] for this_number in range(24))
        for person in range(40)
    ]
    assert len(set(orders)) == 40
    assert all(abs(order.count("a") - 12) <= 4 for order in orders)
    firsts = Counter(order[0] for order in orders)
    assert min(firsts.values()) > 8
    assert [assign_arm(None, source, 3, number)["name"] for number in range(24)] == list(orders[3])
    other = Round(seed=8, assign="item", arms=source.arms)
    assert tuple(assign_arm(None, other, 3, inputs)["name"] for inputs in range(24)) != orders[3]
