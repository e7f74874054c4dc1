"""Processes that die, hang and outlive their supervisor: real ones, as small as can be."""

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

from dynabench.supervisor import LONGEST_PAUSE, PAUSE, Watched, answers, can_listen, end, somebody_listens

PYTHON = [sys.executable, "-I", "-S", "-c"]
SLEEPER = "import time\nwhile True: time.sleep(60)"
STUBBORN = f"""
import pathlib, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(sys.argv[1]).touch()
{SLEEPER}
"""
SERVER = """
import http.server, os, pathlib, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if pathlib.Path(sys.argv[2]).exists():
            import time; time.sleep(60)
        self.send_response(200); self.send_header("content-length", "0"); self.end_headers()
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
SUPERVISOR = """
import os, pathlib, sys
from dynabench import supervisor
class Told(supervisor.Watched):
    def start(self):
        super().start()
        with open({log!r}, "a") as log: log.write(f"{{self.name}} {{self.process.pid}}\\n")
python = [sys.executable, "-I", "-S", "-c"]
supervisor.watch({processes}, probe_seconds=0.1)  # its handlers are there when it starts the first process
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


def test_a_process_that_hangs_after_having_been_well_is_killed_and_started_again(supervise, tmp_path):
    port, flag = free_port(), tmp_path / "hang"
    command = f"[*python, {SERVER!r}, '{port}', {str(flag)!r}]"
    well = f"lambda: supervisor.answers('127.0.0.1:{port}', '/', timeout=0.5)"
    running = supervise(f"[Told('server', {command}, {well})]")
    first = running.child("server")
    until(lambda: answers(f"127.0.0.1:{port}", "/"))
    time.sleep(0.5)
    assert running.started("server") == [first]
    flag.touch()
    second = running.child("server", 2)
    assert not alive(first)
    flag.unlink()
    until(lambda: answers(f"127.0.0.1:{port}", "/"))
    assert running.started("server") == [first, second]


def test_a_process_that_is_slow_to_get_well_is_given_its_time(supervise):
    running = supervise(f"[Told('loading', [*python, {SLEEPER!r}], lambda: False)]")
    first = running.child("loading")
    time.sleep(1.5)  # fifteen failed checks
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
