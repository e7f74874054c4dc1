"""Heartbeats: a busy process is left alone, a silent one is replaced."""

import asyncio
import contextlib
import os
import signal
import sys
import time

import pytest

from dynabench import heartbeat
from dynabench.migrations import upgrade
from dynabench.settings import Settings
from dynabench.supervisor import Watched, end
from tests.supervisor.processes import SLEEPER, alive, free_port, until

BEATING = """
import sys, time
from dynabench import heartbeat
heartbeat.start()
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end: sum(range(100_000))  # busy: it answers nobody
while True: time.sleep(60)
"""


def test_a_process_that_is_busy_and_answers_nobody_is_left_alone(supervise):
    running = supervise(
        f"[LoggedProcess('busy', [sys.executable, '-c', {BEATING!r}, '4'], lambda: False, silence=2.0)]"
    )
    first = running.child("busy")
    time.sleep(5)
    assert running.started("busy") == [first]
    assert alive(first)


def test_a_process_that_is_stopped_for_a_moment_goes_on_and_one_that_stays_so_is_replaced(supervise):
    running = supervise(f"[LoggedProcess('worker', [sys.executable, '-c', {BEATING!r}, '0'], silence=4.0)]")
    first = running.child("worker")
    time.sleep(2)  # it beats
    os.kill(first, signal.SIGSTOP)
    time.sleep(1.5)
    os.kill(first, signal.SIGCONT)
    time.sleep(3)
    assert running.started("worker") == [first]
    os.kill(first, signal.SIGSTOP)
    second = running.child("worker", 2)
    assert not alive(first)
    assert alive(second)


def test_a_supervisor_that_was_stopped_itself_blames_nobody(supervise):
    running = supervise(f"[LoggedProcess('worker', [sys.executable, '-c', {BEATING!r}, '0'], silence=3.0)]")
    first = running.child("worker")
    time.sleep(2)
    for pid in (running.process.pid, first):
        os.kill(pid, signal.SIGSTOP)
    time.sleep(6)
    os.kill(running.process.pid, signal.SIGCONT)
    time.sleep(1)
    os.kill(first, signal.SIGCONT)
    time.sleep(3)
    assert running.started("worker") == [first]


def test_a_loop_without_progress_falls_silent(monkeypatch):
    """A deadlocked event loop is hung, though its process lives and its threads run."""
    reading, writing = os.pipe()
    monkeypatch.setenv(heartbeat.VARIABLE, str(writing))
    monkeypatch.setattr(heartbeat, "EVERY", 0.05)
    monkeypatch.setattr(heartbeat, "STALLED", 0.5)
    os.set_blocking(reading, False)

    def beats():
        try:
            return len(os.read(reading, 65536))
        except BlockingIOError:
            return 0

    async def loop():
        following = asyncio.create_task(heartbeat.follow_loop())
        await asyncio.sleep(1)
        assert beats() > 3
        time.sleep(1.5)
        beats()
        time.sleep(0.5)
        assert beats() == 0
        await asyncio.sleep(0.5)
        assert beats() > 1
        following.cancel()

    heartbeat.start()
    assert heartbeat.VARIABLE not in os.environ, "what this process starts does not beat for it"
    asyncio.run(loop())
    os.close(reading)
    time.sleep(0.2)  # the thread finds the pipe closed, and ends
    os.close(writing)


def test_a_process_that_never_gets_to_its_loop_falls_silent(monkeypatch):
    """Waiting for a database before it serves anybody, for example."""
    reading, writing = os.pipe()
    monkeypatch.setenv(heartbeat.VARIABLE, str(writing))
    monkeypatch.setattr(heartbeat, "EVERY", 0.05)
    monkeypatch.setattr(heartbeat, "STARTING", 1.0)
    heartbeat.start()
    time.sleep(0.5)
    assert len(os.read(reading, 65536)) > 1
    time.sleep(1.5)
    os.set_blocking(reading, False)
    with contextlib.suppress(BlockingIOError):
        os.read(reading, 65536)
    time.sleep(0.5)
    with pytest.raises(BlockingIOError):
        os.read(reading, 65536)
    heartbeat.progress()
    until(lambda: _heard(reading), 5)
    os.close(reading)
    time.sleep(0.2)  # the thread finds the pipe closed, and ends
    os.close(writing)


def _heard(pipe):
    try:
        return os.read(pipe, 65536)
    except BlockingIOError:
        return b""


def test_a_process_that_does_not_beat_in_its_first_minutes_is_replaced(supervise):
    """One that was stopped in its first second, for example."""
    running = supervise(f"[LoggedProcess('mute', [*python, {SLEEPER!r}], first_beat=1.5)]")
    first, second = running.child("mute"), running.child("mute", 2)
    assert not alive(first)
    assert alive(second)


@pytest.mark.parametrize("command", ["web", "worker", "host"])
def test_each_real_process_beats(tmp_path, command):
    if command == "worker":
        upgrade(Settings(home=tmp_path))
    (tmp_path / "models").mkdir()
    options = ["--models", str(tmp_path / "models")] if command == "host" else []
    env = {"DYNABENCH_HOME": str(tmp_path), "DYNABENCH_PORT": str(free_port())}
    watched = Watched(command, [sys.executable, "-m", "dynabench", command, *options], env=env)
    watched.start()
    try:
        until(lambda: _heard(watched.beats))
        time.sleep(1)
        assert until(lambda: _heard(watched.beats)), "it goes on"
        assert watched.process.poll() is None
    finally:
        end([watched])


WORKER = """
import sys, threading
from dynabench import heartbeat, jobs
from dynabench.settings import get_settings
jobs.LONGEST_ROUND, jobs.KEEP = 2.0, 1.0
jobs.KEEPERS = ("keeper:tidy",)
heartbeat.start()
jobs.work(get_settings(), threading.Event())
"""


KEEPER = """
import pathlib, time
def tidy(database, settings):
    if (settings.folder / "hang").exists():
        (settings.folder / "hang").unlink()
        time.sleep(600)
    (settings.folder / "kept").touch()
"""


def test_a_worker_that_hangs_while_it_keeps_things_in_order_is_replaced(supervise, tmp_path, monkeypatch):
    upgrade(Settings(home=tmp_path))
    (tmp_path / "keeper.py").write_text(KEEPER)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path))
    running = supervise(f"[LoggedProcess('worker', [sys.executable, '-c', {WORKER!r}], silence=3.0)]")
    first = running.child("worker")
    kept = tmp_path / "kept"
    until(kept.exists)
    time.sleep(6)
    assert running.started("worker") == [first], "one that makes progress is left alone"
    (tmp_path / "hang").touch()
    until(lambda: not (tmp_path / "hang").exists())
    kept.unlink(missing_ok=True)
    assert alive(running.child("worker", 2))
    until(kept.exists)
    assert not alive(first)
