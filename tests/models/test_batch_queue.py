import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.kit.errors import Unavailable
from dynabench.models.host import compute_threads
from dynabench.models.host.batch_queue import HALF_LIFE, BatchQueue, Busy, Pace, size_class
from dynabench.models.host.compute_threads import HostCounters


def figure(figures, name):
    return figures.registry.get_sample_value(name, {"lane": "test"})


class Gate:
    """A computation that waits until it is let go, and remembers its batches."""

    def __init__(self):
        self.open = threading.Event()
        self.batches = []

    def __call__(self, payloads):
        self.batches.append(list(payloads))
        assert self.open.wait(20)
        return [payload * 2 for payload in payloads]


async def started(gate, count=1):
    while len(gate.batches) < count:
        await asyncio.sleep(0.001)


async def idle(lane):
    while lane._working or lane._calls:
        await asyncio.sleep(0.001)


def test_calls_that_wait_together_are_computed_together_and_answered_in_place():
    async def story():
        gate, figures = Gate(), HostCounters()
        lane = BatchQueue("test", gate, figures)
        first = asyncio.create_task(lane.submit(1, 10))
        await started(gate)
        others = [asyncio.create_task(lane.submit(value, 10)) for value in range(2, 42)]
        await asyncio.sleep(0)
        gate.open.set()
        assert await first == 2
        assert await asyncio.gather(*others) == [value * 2 for value in range(2, 42)]
        assert [len(batch) for batch in gate.batches] == [1, 32, 8]
        assert figure(figures, "dynabench_host_batch_size_count") == 3
        await lane.close()

    asyncio.run(story())


def test_long_inputs_share_no_batch_with_short_ones_and_the_oldest_goes_first():
    async def story():
        gate = Gate()
        lane = BatchQueue("test", gate, HostCounters())
        calls = [asyncio.create_task(lane.submit(0, 10))]
        await started(gate)
        for value, size in [(1, 200), (2, 12), (3, 210), (4, 30)]:
            calls.append(asyncio.create_task(lane.submit(value, size)))
        await asyncio.sleep(0)
        gate.open.set()
        await asyncio.gather(*calls)
        assert gate.batches == [[0], [1, 3], [2, 4]]
        await lane.close()

    asyncio.run(story())


def test_a_batch_holds_no_more_than_its_room_and_one_call_always_fits():
    async def story():
        gate = Gate()
        lane = BatchQueue("test", gate, HostCounters(), room=500)
        calls = [asyncio.create_task(lane.submit(0, 10))]
        await started(gate)
        calls += [asyncio.create_task(lane.submit(value, 200)) for value in range(1, 6)]
        calls.append(asyncio.create_task(lane.submit(6, 900)))
        await asyncio.sleep(0)
        gate.open.set()
        assert await asyncio.gather(*calls) == [0, 2, 4, 6, 8, 10, 12]
        assert gate.batches == [[0], [1, 2], [3, 4], [5], [6]]
        await lane.close()

    asyncio.run(story())


def test_a_full_queue_refuses_at_once_and_recovers():
    async def story():
        gate, figures = Gate(), HostCounters()
        lane = BatchQueue("test", gate, figures, waiting=2)
        calls = [asyncio.create_task(lane.submit(0, 1))]
        await started(gate)
        calls += [asyncio.create_task(lane.submit(value, 1)) for value in (1, 2)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await lane.submit(3, 1)
        assert figure(figures, "dynabench_host_refused_total") == 1
        gate.open.set()
        assert await asyncio.gather(*calls) == [0, 2, 4]
        assert await lane.submit(3, 1) == 6
        await lane.close()

    asyncio.run(story())


def test_an_abandoned_call_loses_its_place():
    async def story():
        gate, figures = Gate(), HostCounters()
        lane = BatchQueue("test", gate, figures, waiting=1)
        first = asyncio.create_task(lane.submit(0, 1))
        await started(gate)
        gone = asyncio.create_task(lane.submit(1, 1))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        next_one = asyncio.create_task(lane.submit(2, 1))
        await asyncio.sleep(0)
        gate.open.set()
        assert await asyncio.gather(first, next_one) == [0, 4]
        assert gate.batches == [[0], [2]]
        assert figure(figures, "dynabench_host_abandoned_total") == 1
        await lane.close()

    asyncio.run(story())


def test_one_input_that_a_model_chokes_on_does_not_take_its_batch_along():
    def choke(payloads):
        if 3 in payloads:
            raise ValueError("three")
        return payloads

    async def story():
        lane = BatchQueue("test", choke, HostCounters())
        results = await asyncio.gather(*(lane.submit(value, 1) for value in range(6)), return_exceptions=True)
        assert results[:3] + results[4:] == [0, 1, 2, 4, 5]
        assert isinstance(results[3], ValueError)
        await lane.close()

    asyncio.run(story())


def test_padding_never_more_than_doubles_the_work():
    assert size_class(1) == size_class(32) != size_class(33) == size_class(64) != size_class(65)


def test_several_batches_are_computed_at_once_and_share_what_waits():
    async def story():
        gate = Gate()
        lane = BatchQueue("test", gate, HostCounters(), at_once=3)
        calls = [asyncio.create_task(lane.submit(value, 1)) for value in range(9)]
        await started(gate, 3)
        late = asyncio.create_task(lane.submit(9, 1))
        await asyncio.sleep(0)
        assert sorted(len(batch) for batch in gate.batches) == [3, 3, 3]
        gate.open.set()
        assert await asyncio.gather(*calls, late) == [value * 2 for value in range(10)]
        await lane.close()

    asyncio.run(story())


def test_a_call_that_cannot_be_answered_in_time_is_told_its_place_and_the_wait():
    async def story():
        gate, figures = Gate(), HostCounters()
        lane = BatchQueue("test", gate, figures, batch=1)
        gate.open.set()
        for _ in range(2):  # the first batch of a lane is left out
            lane._pace.observe(1, 2.0, full=True)
        gate.open.clear()
        calls = [asyncio.create_task(lane.submit(value, 1)) for value in range(4)]
        await started(gate)
        with pytest.raises(Busy) as refused:
            await lane.submit(4, 1, within=5)
        assert (refused.value.extra["position"], refused.value.extra["seconds"]) == (4, 8)
        assert refused.value.extra["retry_after"] == 8
        assert "position 4" in refused.value.detail
        patient = asyncio.create_task(lane.submit(4, 1, within=60))
        await asyncio.sleep(0)
        gate.open.set()
        assert await asyncio.gather(*calls, patient) == [0, 2, 4, 6, 8]
        assert figure(figures, "dynabench_host_refused_total") == 1
        await lane.close()

    asyncio.run(story())


def test_a_call_whose_time_is_over_leaves_its_place_with_its_position():
    async def story():
        gate = Gate()
        lane = BatchQueue("test", gate, HostCounters(), batch=1)
        computed = asyncio.create_task(lane.submit(0, 1, within=0.3))
        await started(gate)
        waiting = asyncio.create_task(lane.submit(1, 1))
        await asyncio.sleep(0)
        with pytest.raises(Busy) as refused:
            await lane.submit(2, 1, within=0.05)
        assert refused.value.extra["position"] == 2
        with pytest.raises(Unavailable, match=r"not answered within 0\.3 s") as slow:
            await computed
        assert not isinstance(slow.value, Busy)
        gate.open.set()
        assert await waiting == 2
        assert gate.batches == [[0], [1]]
        await lane.close()

    asyncio.run(story())


def test_a_first_batch_slower_than_the_callers_patience_locks_nobody_out():
    """A cold start takes longer than callers wait; the calls after it are quick and must be admitted."""

    async def story():
        gate = Gate()
        lane = BatchQueue("test", gate, HostCounters())
        with pytest.raises(Unavailable):
            await lane.submit(0, 1, within=0.05)
        gate.open.set()
        await idle(lane)
        assert await lane.submit(1, 1, within=5) == 2
        await lane.close()

    asyncio.run(story())


def test_an_idle_lane_admits_a_call_however_slow_the_last_batches_were():
    async def story():
        gate = Gate()
        gate.open.set()
        lane = BatchQueue("test", gate, HostCounters())
        for _ in range(10):
            lane._pace.observe(1, 60.0, full=False)
        assert await lane.submit(1, 1, within=5) == 2
        gate.open.clear()
        computed = asyncio.create_task(lane.submit(2, 1))
        await started(gate, 2)
        with pytest.raises(Busy):
            await lane.submit(3, 1, within=5)
        gate.open.set()
        assert await computed == 4
        await lane.close()

    asyncio.run(story())


@given(st.floats(5, 600), st.floats(0.001, 0.1), st.integers(1, 32), st.integers(0, 31))
def test_a_machine_that_slept_is_waited_for_no_longer_once_batches_are_quick_or_time_has_passed(
    slept, usual, calls, ahead
):
    now = [0.0]
    pace = Pace(32, 1, clock=lambda: now[0])
    for _ in range(5):
        pace.observe(calls, usual, full=True)
    pace.observe(calls, slept, full=True)
    assert pace.wait(ahead) > usual
    now[0] += slept + 20 * HALF_LIFE
    assert pace.wait(ahead) <= 32 * slept * 1e-6
    pace.observe(32, usual, full=True)
    assert pace.wait(31) <= 32 * 1.1 * usual + 1e-3 * slept


def test_the_first_batch_says_nothing_about_the_next():
    pace = Pace(32, 1)
    pace.observe(1, 30.0, full=True)
    assert pace.wait(0) == 0
    pace.observe(1, 0.02, full=True)
    assert pace.wait(0) == pytest.approx(0.02, rel=0.05)


@given(st.lists(st.tuples(st.integers(1, 32), st.floats(0.001, 10)), min_size=2), st.integers(1, 8))
def test_the_expected_wait_grows_with_the_queue_and_stays_within_what_was_observed(seen, at_once):
    pace = Pace(32, at_once, clock=lambda: 0.0)
    for calls, seconds in seen:
        pace.observe(calls, seconds, full=True)
    waits = [pace.wait(ahead) for ahead in range(300)]
    assert waits == sorted(waits)
    assert min(s for _, s in seen[1:]) * 0.999 <= waits[0] <= max(s for _, s in seen[1:]) * 1.001


class Panic(BaseException):
    """The error that a library in Rust raises: no `Exception`."""


def answered_after(failures):
    """A computation that does one of `failures` for each number, and doubles everything else."""

    def compute(payloads):
        for payload in payloads:
            if payload in failures:
                return failures[payload](payloads)
        return [payload * 2 for payload in payloads]

    return compute


def raising(error):
    def fail(payloads):
        raise error

    return fail


@pytest.mark.parametrize(
    "failure",
    [
        raising(Panic("a bug in Rust")),
        raising(SystemExit(1)),
        raising(KeyboardInterrupt()),
        raising(asyncio.CancelledError()),
        raising(StopIteration()),
        raising(GeneratorExit()),
        lambda payloads: [],
        lambda payloads: [0] * (len(payloads) + 1),
        lambda payloads: None,
    ],
)
def test_whatever_a_model_raises_or_returns_every_call_is_answered_and_the_lane_goes_on(failure):
    async def story():
        lane = BatchQueue("test", answered_after({3: failure}), HostCounters())
        async with asyncio.timeout(20):
            for _ in range(3):
                results = await asyncio.gather(*(lane.submit(value, 1) for value in range(6)), return_exceptions=True)
                assert results[:3] + results[4:] == [0, 2, 4, 8, 10]
                assert isinstance(results[3], Exception)
                assert not isinstance(results[3], StopIteration)
            assert await lane.submit(4, 1, within=5) == 8
            await lane.close()

    asyncio.run(story())


def test_a_batch_that_never_ends_is_given_up_and_others_are_computed():
    async def story():
        stuck, figures = threading.Event(), HostCounters()
        lane = BatchQueue("test", answered_after({1: lambda payloads: stuck.wait(60)}), figures, batch=1, patience=0.3)
        try:
            async with asyncio.timeout(20):
                first, second = await asyncio.gather(lane.submit(1, 1), lane.submit(2, 1), return_exceptions=True)
                assert isinstance(first, Unavailable)
                assert second == 4
                assert compute_threads.has_stuck_threads(), "the process says so, and its supervisor starts it anew"
                assert await lane.submit(3, 1, within=5) == 6
                await lane.close()
            assert figure(figures, "dynabench_host_given_up_total") == 1
        finally:
            stuck.set()
        while compute_threads.has_stuck_threads():
            await asyncio.sleep(0.01)

    asyncio.run(story())


def test_a_lane_closes_although_a_batch_never_ends():
    async def story():
        stuck = threading.Event()
        lane = BatchQueue("test", answered_after({1: lambda payloads: stuck.wait(60)}), HostCounters(), closing=0.2)
        call = asyncio.create_task(lane.submit(1, 1))
        while not lane._working:
            await asyncio.sleep(0.001)
        try:
            async with asyncio.timeout(20):
                await lane.close()
                with pytest.raises(Unavailable):
                    await call
        finally:
            stuck.set()

    asyncio.run(story())
