"""Heartbeats: a busy process is left alone, a silent one is replaced."""

import asyncio
import os
import signal
import sys
import threading
import time

import pytest
from structlog.testing import capture_logs

from dynabench.kit import heartbeat, jobs
from dynabench.kit.settings import Settings
from dynabench.kit.supervisor import FIRST_BEAT, SILENCE, Watched, end
from dynabench.operations.migrations import upgrade
from tests.supervisor.processes import PYTHON, SLEEPER, alive, until

BEATING = """
import pathlib, sys, time
from dynabench.kit import heartbeat
heartbeat.EVERY = 0.05
heartbeat.start()
time.sleep(0.5)
pathlib.Path(sys.argv[1]).touch()
while True: time.sleep(60)
"""
BEATS_ONCE = """
import os, time
os.write(int(os.environ["DYNABENCH_HEARTBEAT"]), b".")
while True: time.sleep(60)
"""


@pytest.fixture
def watched():
    """A watched process that beats once and has been heard."""
    process = Watched("worker", [*PYTHON, BEATS_ONCE])
    process.start()
    until(lambda: process.check() or process.beaten)
    yield process
    end([process], seconds=0.1)


def hangs(watched, seconds, seen=True):
    """Return true if the process counts as hung after so much more silence, during which the supervisor looked at it or
    was stopped itself."""
    watched.beat_at -= seconds
    watched.looked_at -= 0 if seen else seconds
    with capture_logs() as entries:
        watched.check()
    return "process hangs" in [entry["event"] for entry in entries]


def test_a_process_that_is_silent_for_a_moment_is_left_alone_and_one_that_stays_so_is_killed(watched):
    process = watched.process
    assert not hangs(watched, SILENCE - 20)
    assert hangs(watched, 40)
    assert process.wait(60) == -signal.SIGKILL


def test_a_supervisor_that_was_stopped_itself_blames_nobody(watched):
    assert not hangs(watched, 10 * SILENCE, seen=False)
    assert hangs(watched, 2 * SILENCE), "it looks on afterwards"


def test_a_process_has_minutes_for_its_first_beat_however_slow_it_is_to_get_well():
    """One that was stopped in its first second never beats."""
    mute = Watched("mute", [*PYTHON, SLEEPER], lambda: False)
    mute.start()
    try:
        assert not hangs(mute, FIRST_BEAT - 20)
        assert hangs(mute, 40)
    finally:
        end([mute])


@pytest.mark.slow
def test_a_process_that_is_stopped_is_replaced(supervise, tmp_path):
    received = tmp_path / "heard"
    command = f"[sys.executable, '-c', {BEATING!r}, {str(received)!r}]"
    running = supervise(f"[LoggedProcess('worker', {command}, silence=3.0)]")
    first = running.child("worker")
    until(received.exists)
    os.kill(first, signal.SIGSTOP)
    assert alive(running.child("worker", 2))
    assert not alive(first)


@pytest.fixture
def beats(monkeypatch):
    """Bytes that this process has beaten since they were last counted, every 0.02 s."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    monkeypatch.setenv(heartbeat.VARIABLE, str(writing))
    monkeypatch.setattr(heartbeat, "EVERY", 0.02)
    threads = set(threading.enumerate())
    yield lambda: len(_receive(reading))
    os.close(reading)
    for thread in set(threading.enumerate()) - threads:
        if thread.name == "heartbeat":
            heartbeat.progress()
            thread.join(10)  # it finds the pipe closed
    os.close(writing)


def until_silent(beats):
    """Return once nothing has beaten for a quarter of a second."""
    beats()
    until(lambda: time.sleep(0.25) or not beats(), 20)


def test_a_process_that_is_busy_beats(beats):
    heartbeat.start()
    deadline, count = time.monotonic() + 60, 0
    while count < 4 and time.monotonic() < deadline:
        sum(range(1_000_000))
        count += beats()
    assert count >= 4


@pytest.mark.slow
def test_a_loop_without_progress_falls_silent(beats, monkeypatch):
    """A deadlocked event loop is hung, though its process lives and its threads run."""
    monkeypatch.setattr(heartbeat, "STALLED", 0.3)

    async def loop():
        following = asyncio.create_task(heartbeat.follow_loop())
        for _ in range(3):
            while not beats():
                await asyncio.sleep(0.05)
        until_silent(beats)  # the loop is blocked
        while not beats():
            await asyncio.sleep(0.05)
        following.cancel()

    heartbeat.start()
    assert heartbeat.VARIABLE not in os.environ, "what this process starts does not beat for it"
    asyncio.run(loop())


def test_a_process_that_never_gets_to_its_loop_falls_silent(beats, monkeypatch):
    """Waiting for a database before it serves anybody, for example."""
    monkeypatch.setattr(heartbeat, "STARTING", 0.5)
    heartbeat.start()
    until(beats)
    until_silent(beats)
    heartbeat.progress()
    until(beats)


def _receive(pipe):
    try:
        return os.read(pipe, 65536)
    except BlockingIOError:
        return b""


@pytest.mark.release
def test_a_worker_beats(tmp_path):
    """Of web processes and hosts, see `test_web_workers` and `test_host_workers`."""
    upgrade(Settings(home=tmp_path))
    watched = Watched("worker", [sys.executable, "-m", "dynabench", "worker"], env={"DYNABENCH_HOME": str(tmp_path)})
    watched.start()
    try:
        until(lambda: _receive(watched.beats))
        assert until(lambda: _receive(watched.beats)), "it goes on"
        assert watched.process.poll() is None
    finally:
        end([watched])


def test_a_worker_that_hangs_while_it_keeps_things_in_order_falls_silent(beats, monkeypatch):
    monkeypatch.setattr(jobs, "LONGEST_ROUND", 0.5)
    hanging = threading.Event()
    heartbeat.start()
    for _ in range(3):  # one that makes progress
        jobs._keep([lambda database, settings: until(beats)], None, None)
    worker = threading.Thread(target=jobs._keep, args=([lambda database, settings: hanging.wait(60)], None, None))
    worker.start()
    try:
        until(beats)
        until_silent(beats)
    finally:
        hanging.set()
        worker.join()
