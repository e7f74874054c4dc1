import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.errors import Invalid
from dynabench.rounds import arms


def test_arms_are_drawn_by_their_shares():
    drawn = [{"name": "a", "share": 3}, {"name": "b", "share": 1, "targets": "none"}]
    cleaned = arms.clean(drawn)
    assert cleaned[0] == {"name": "a", "share": 3, "targets": "round"}
    rng = random.Random(1)
    counts = Counter(arms.draw(cleaned, rng)["name"] for _ in range(4000))
    assert counts["a"] / 4000 == pytest.approx(0.75, abs=0.03)
    assert arms.draw([], rng) is None
    assert arms.without_targets(cleaned) == {"b"}


leaves = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3)
keys = st.sampled_from(["name", "share", "targets", "start", "x"])


@given(st.recursive(leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner)))
def test_whatever_is_given_is_cleaned_or_refused(raw):
    try:
        cleaned = arms.clean(raw)
    except Invalid:
        return
    assert arms.clean(cleaned) == cleaned
