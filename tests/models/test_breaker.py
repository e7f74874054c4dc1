"""A breaker by a clock that stands still: when it opens, when it lets one call through, when it closes."""

import pytest

from dynabench.models import health as module
from dynabench.models.health import Breaker
from dynabench.models.sandbox import process
from dynabench.models.sandbox.process import PAUSES, Keeper


class Clock:
    """Time that moves when a test says so."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(process, "time", clock)
    return clock


def test_a_breaker_opens_after_failures_in_a_row_and_lets_one_call_through_each_pause(clock):
    breaker = Breaker(3, 2.0)
    for _ in range(2):
        breaker.failed()
        assert breaker.wait() == 0
    breaker.failed()
    assert breaker.wait() == 2.0
    clock.now += 1.999
    assert 0 < breaker.wait() < 0.002
    clock.now += 0.001
    assert [breaker.wait(), breaker.wait()] == [0, 2.0], "one call, and no second one beside it"
    clock.now += 2.0
    assert breaker.wait() == 0, "a call that never reported back does not keep it shut"
    breaker.succeeded()
    assert [breaker.wait() for _ in range(5)] == [0] * 5


def test_a_success_between_failures_keeps_a_breaker_closed(clock):
    breaker = Breaker(2, 2.0)
    for _ in range(5):
        breaker.failed()
        breaker.succeeded()
        assert breaker.wait() == 0


def test_a_handler_that_keeps_ending_is_started_again_after_pauses_that_grow_to_a_minute(clock):
    handler = Keeper("small", None, None, None)
    waits = []
    for _ in range(len(PAUSES) + 2):
        handler._count("it ended")
        waits.append(handler._next - clock.now)
    assert waits == [*PAUSES[1:], 60, 60, 60]
