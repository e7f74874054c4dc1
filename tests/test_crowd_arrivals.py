"""The benchmark of a study's arrivals, small: workers with two tabs, doubled forms and new browsers, each paid once."""

import asyncio

import pytest

from benchmarks import crowd

pytestmark = pytest.mark.release
WORKERS = 12
"""Enough for each habit, and for two of them together."""


def test_workers_who_arrive_together_lose_no_work_and_are_paid_once(tmp_path):
    with crowd.recruiting(tmp_path) as (owner, study, entry):
        seen = asyncio.run(crowd.simulate(str(owner.http.base_url), entry, WORKERS, seconds=0.5))
        assert crowd.differences(owner, study, WORKERS, seen) == []
    assert sorted(seen.codes) == sorted(f"w{number}" for number in range(WORKERS))
