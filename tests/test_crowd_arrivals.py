"""The benchmark of a study's arrivals, small: workers with two tabs, doubled forms and new browsers, each paid once."""

import pytest

from benchmarks import crowd

pytestmark = pytest.mark.slow


def test_workers_who_arrive_together_lose_no_work_and_are_paid_once():
    seen, problems = crowd.measure(workers=24, seconds=1.0)
    assert problems == []
    assert sorted(seen.codes) == sorted(f"w{number}" for number in range(24))
