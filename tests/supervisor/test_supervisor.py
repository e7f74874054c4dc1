"""Processes that die, hang and outlive their supervisor: real ones, as small as can be."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest
from structlog.testing import capture_logs

from dynabench import heartbeat
from dynabench.migrations import upgrade
from dynabench.models.host.crew import Crew
from dynabench.settings import Settings
from dynabench.supervisor import LONGEST_PAUSE, PAUSE, Watched, answers, can_listen, end, somebody_listens

PYTHON = [sys.executable, "-I", "-S", "-c"]
SLEEPER = "import time\nwhile True: time.sleep(60)"
STUBBORN = f"""
import pathlib, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(sys.argv[1]).touch()
{SLEEPER}
"""
SUPERVISOR = """
import os, pathlib, sys
from dynabench import supervisor
class Told(supervisor.Watched):
    def start(self):
        super().start()
        with open({log!r}, "a") as log: log.write(f"{{self.name}} {{self.process.pid}}\\n")
python = [sys.executable, "-I", "-S", "-c"]
supervisor.watch({processes})  # its handlers are there when it starts the first process
"""


def until(check, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := check():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class Supervisor:
    """A supervisor process whose children's process ids can be read."""

    def __init__(self, folder: Path, processes: str) -> None:
        self.log = folder / "started.log"
        self.log.touch()
        code = SUPERVISOR.format(log=str(self.log), processes=textwrap.dedent(processes))
        self.process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)

    def started(self, name: str) -> list[int]:
        """Process ids of all children of this name so far, oldest first."""
        lines = [line.split() for line in self.log.read_text().splitlines()]
        return [int(pid) for child, pid in lines if child == name]

    def child(self, name: str, turn: int = 1) -> int:
        """The process id of the `turn`th child of this name, once it is there."""
        return until(lambda: len(self.started(name)) >= turn and self.started(name)[turn - 1])

    def all(self) -> list[int]:
        return [int(line.split()[1]) for line in self.log.read_text().splitlines()]


@pytest.fixture
def supervise(tmp_path):
    made = []

    def run(processes):
        made.append(Supervisor(tmp_path, processes))
        return made[-1]

    yield run
    for one in made:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait()
        until(lambda one=one: not any(alive(pid) for pid in one.all()))


def pauses(watched):
    """How long a process that has ended pauses, as it is told when that is seen; the clock agrees."""
    before = time.monotonic()
    with capture_logs() as told:
        watched.check()
    assert watched.process is None
    [pause] = [each["restart_in"] for each in told]
    assert before + pause <= watched.restart_at <= time.monotonic() + pause
    return pause


def test_a_process_that_ends_is_started_again_after_a_pause_that_grows():
    watched = Watched("brief", [*PYTHON, "pass"])
    watched.start()
    for times in (1, 2, 4, 8):
        watched.process.wait(60)
        assert pauses(watched) == PAUSE * times
        watched.check()
        assert watched.process is None, "it waits for its pause"
        watched.restart_at = 0.0
        watched.check()
        assert watched.process is not None
    watched.process.wait(60)
    watched.pause = LONGEST_PAUSE
    watched.check()
    assert watched.pause == LONGEST_PAUSE
    watched.process, watched.started = subprocess.Popen([*PYTHON, "pass"]), time.monotonic() - 60
    watched.process.wait(60)
    assert pauses(watched) == PAUSE, "after a long life it starts small"


def test_the_supervisor_starts_what_ends_and_leaves_the_others(supervise):
    running = supervise(f"[Told('brief', [*python, 'pass']), Told('sleeper', [*python, {SLEEPER!r}])]")
    assert running.child("brief", 3) != running.child("brief", 2)
    assert len(running.started("sleeper")) == 1
    os.kill(running.child("sleeper"), signal.SIGKILL)
    assert alive(running.child("sleeper", 2))


BEATING = """
import sys, time
from dynabench import heartbeat
heartbeat.start()
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end: sum(range(100_000))  # busy: it answers nobody
while True: time.sleep(60)
"""


def test_a_process_that_is_busy_and_answers_nobody_is_left_alone(supervise):
    running = supervise(f"[Told('busy', [sys.executable, '-c', {BEATING!r}, '4'], lambda: False, silence=2.0)]")
    first = running.child("busy")
    time.sleep(5)
    assert running.started("busy") == [first]
    assert alive(first)


def test_a_process_that_is_stopped_for_a_moment_goes_on_and_one_that_stays_so_is_replaced(supervise):
    running = supervise(f"[Told('worker', [sys.executable, '-c', {BEATING!r}, '0'], silence=4.0)]")
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
    running = supervise(f"[Told('worker', [sys.executable, '-c', {BEATING!r}, '0'], silence=3.0)]")
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
    running = supervise(f"[Told('mute', [*python, {SLEEPER!r}], first_beat=1.5)]")
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
    running = supervise(f"[Told('worker', [sys.executable, '-c', {WORKER!r}], silence=3.0)]")
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


def test_a_process_that_cannot_be_started_now_is_started_later_and_the_others_run_on(supervise, tmp_path):
    program = tmp_path / "program"
    running = supervise(f"[Told('late', [{str(program)!r}]), Told('sleeper', [*python, {SLEEPER!r}])]")
    sleeper = running.child("sleeper")
    os.kill(sleeper, signal.SIGKILL)
    assert alive(running.child("sleeper", 2))
    program.write_text(f"#!{sys.executable}\n{SLEEPER}\n")
    program.chmod(0o755)
    assert alive(running.child("late"))
    assert running.process.poll() is None


def test_pauses_before_a_process_that_cannot_be_started_grow(tmp_path):
    watched = Watched("late", [str(tmp_path / "nothing")])
    assert [pauses(watched) for _ in range(3) if not setattr(watched, "restart_at", 0.0)] == [
        PAUSE * times for times in (1, 2, 4)
    ]
    watched.close()


def test_the_workers_of_a_host_are_watched_on_while_they_cannot_be_started(tmp_path):
    program = tmp_path / "program"

    async def story():
        crew = Crew(1)
        watched = crew.workers[0].watched
        watched.command = [str(program)]
        watching = asyncio.create_task(crew.watch())
        try:
            await asyncio.sleep(1)
            assert not watching.done()
            program.write_text(f"#!{sys.executable}\n{SLEEPER}\n")
            program.chmod(0o755)
            async with asyncio.timeout(30):
                while watched.process is None:
                    await asyncio.sleep(0.05)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await crew.close()

    asyncio.run(story())


def test_a_process_that_is_slow_to_get_well_is_given_its_time(supervise):
    running = supervise(f"[Told('loading', [*python, {SLEEPER!r}], lambda: False, silence=0.5)]")
    first = running.child("loading")
    time.sleep(1.5)
    assert running.started("loading") == [first]
    assert alive(first)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_the_supervisor_ends_all_children(supervise, how):
    running = supervise(f"[Told(name, [*python, {SLEEPER!r}]) for name in 'abc']")
    children = [running.child(name) for name in "abc"]
    running.process.send_signal(how)
    assert running.process.wait(60) == 0
    assert not any(alive(pid) for pid in children)
    assert len(running.all()) == 3


def test_children_that_will_not_stop_are_killed(tmp_path):
    deaf = tmp_path / "deaf"
    stubborn = Watched("stubborn", [*PYTHON, STUBBORN, str(deaf)])
    stubborn.start()
    until(deaf.exists)
    end([stubborn], seconds=0.3)
    assert stubborn.process.returncode == -signal.SIGKILL


def test_a_supervisor_that_is_killed_leaves_no_orphan(supervise, tmp_path):
    deaf = str(tmp_path / "deaf")
    running = supervise(f"[Told('plain', [*python, {SLEEPER!r}]), Told('stubborn', [*python, {STUBBORN!r}, {deaf!r}])]")
    children = [running.child("plain"), running.child("stubborn")]
    until(Path(deaf).exists)
    running.process.kill()
    running.process.wait()
    until(lambda: not any(alive(pid) for pid in children))


@pytest.mark.parametrize("reply", [b"garbage\r\n\r\n", b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n", b""])
def test_a_reply_that_is_none_is_not_well(reply):
    import threading

    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(reply)

        thread = threading.Thread(target=serve)
        thread.start()
        assert answers(f"127.0.0.1:{server.getsockname()[1]}", "/", 1) is False
        thread.join()


def test_taken_ports_and_sockets_are_seen(tmp_path):
    path = tmp_path / "host.sock"
    assert not somebody_listens(path)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not can_listen("127.0.0.1", port, 0.1)
    assert can_listen("127.0.0.1", port)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        assert somebody_listens(path, 0.1)
    assert not somebody_listens(path), "nobody listens on the file that is left"
    with pytest.raises(OSError, match="assign"):
        can_listen("203.0.113.7", 80)
