import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.stats.rates import ErrorCounts, clustered_error_rates, clustered_rate, error_rates, wilson

outcomes = st.lists(
    st.tuples(st.booleans(), st.sampled_from(["pending", "correct", "incorrect", "flagged", "disputed"])), max_size=40
)


def _count(examples):
    fooled = [verdict for was_fooled, verdict in examples if was_fooled]
    resolved = [verdict for verdict in fooled if verdict != "pending"]
    return ErrorCounts(len(examples), len(fooled), resolved.count("correct"), len(resolved))


def test_a_round_by_hand():
    """100 examples, 40 fooled, of which 20 correct, 5 of another verdict, 15 waiting."""
    rates = error_rates(ErrorCounts(examples=100, fooled=40, validated=20, resolved=25))
    assert rates.mer == wilson(40, 100)
    assert rates.vmer == wilson(20, 100)
    assert rates.vmer_resolved == wilson(20, 85)


def test_a_round_without_examples_has_no_rates():
    assert error_rates(ErrorCounts()).mer.value is None
    assert clustered_error_rates([]).vmer_resolved.value is None


def test_where_everything_waits_for_votes_the_resolved_rate_is_unknown():
    rates = error_rates(ErrorCounts(examples=3, fooled=3))
    assert (rates.vmer.value, rates.vmer_resolved.value) == (0.0, None)


@given(outcomes)
def test_the_rates_are_those_of_their_definitions(examples):
    rates = error_rates(_count(examples))
    errors = sum(fooled and verdict == "correct" for fooled, verdict in examples)
    reference = sum(not fooled or verdict != "pending" for fooled, verdict in examples)
    assert rates.mer.value == (sum(fooled for fooled, _ in examples) / len(examples) if examples else None)
    assert rates.vmer.value == (errors / len(examples) if examples else None)
    assert rates.vmer_resolved.value == (errors / reference if reference else None)


@given(st.lists(outcomes, min_size=1, max_size=6))
def test_rates_by_annotator_have_the_same_values_as_rates_of_the_sum(people):
    counts = [_count(examples) for examples in people]
    together, apart = error_rates(sum(counts, ErrorCounts())), clustered_error_rates(counts)
    for name in ("mer", "vmer", "vmer_resolved"):
        assert getattr(apart, name).value == pytest.approx(getattr(together, name).value)
        assert getattr(apart, name).n == getattr(together, name).n


@given(st.lists(outcomes, min_size=2, max_size=6), st.floats(0.5, 0.99))
def test_each_rate_has_an_interval_of_the_level(people, level):
    counts = [_count(examples) for examples in people]
    sums = sum(counts, ErrorCounts())
    answered, settled = sums.examples, sums.examples - sums.fooled + sums.resolved
    together, apart = error_rates(sums, level), clustered_error_rates(counts, level)
    examples = [count.examples for count in counts]
    for name, k, n in (
        ("mer", "fooled", answered),
        ("vmer", "validated", answered),
        ("vmer_resolved", "validated", settled),
    ):
        rows = [getattr(count, k) for count in counts]
        by_person = (
            [count.examples - count.fooled + count.resolved for count in counts]
            if name == "vmer_resolved"
            else examples
        )
        assert getattr(together, name) == wilson(getattr(sums, k), n, level)
        assert getattr(apart, name) == clustered_rate(rows, by_person, level)
    assert clustered_error_rates(counts) == clustered_error_rates(counts, 0.95)


@given(st.lists(st.lists(st.integers(0, 5), min_size=5, max_size=5), min_size=2, max_size=4))
def test_sums_of_counts_are_those_of_each_count(rows):
    parts = [ErrorCounts(a + b + c + d + e, b + c + d, d, c + d, e) for a, b, c, d, e in rows]
    total = sum(parts, ErrorCounts())
    for name in ("examples", "fooled", "validated", "resolved", "unknown"):
        assert getattr(total, name) == sum(getattr(part, name) for part in parts)


@pytest.mark.parametrize("counts", [(1, 2, 0, 0), (5, 3, 2, 1), (5, 3, 1, 4), (5, 3, -1, 0)])
def test_counts_that_cannot_be_are_refused(counts):
    with pytest.raises(ValueError, match="validated <= resolved"):
        ErrorCounts(*counts)
