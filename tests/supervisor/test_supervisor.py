"""Processes that die, cannot be started or outlive their supervisor: real ones, as small as can be."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from dynabench.kit.supervisor import LONGEST_PAUSE, PAUSE, Watched, answers, can_listen, end, somebody_listens
from tests.supervisor.processes import PYTHON, SLEEPER, STUBBORN, alive, until


def pauses(watched):
    """Return the pause of a process that has ended, as logged; the clock agrees."""
    before = time.monotonic()
    with capture_logs() as answer:
        watched.check()
    assert watched.process is None
    [pause] = [item["restart_in"] for item in answer]
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
    running = supervise(
        f"[LoggedProcess('brief', [*python, 'pass']), LoggedProcess('sleeper', [*python, {SLEEPER!r}])]"
    )
    assert running.child("brief", 3) != running.child("brief", 2)
    assert len(running.started("sleeper")) == 1
    os.kill(running.child("sleeper"), signal.SIGKILL)
    assert alive(running.child("sleeper", 2))


def test_a_process_that_cannot_be_started_now_is_started_later_and_the_others_run_on(supervise, tmp_path):
    program = tmp_path / "program"
    running = supervise(
        f"[LoggedProcess('late', [{str(program)!r}]), LoggedProcess('sleeper', [*python, {SLEEPER!r}])]"
    )
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


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_the_supervisor_ends_all_children(supervise, how):
    running = supervise(f"[LoggedProcess(name, [*python, {SLEEPER!r}]) for name in 'abc']")
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
    running = supervise(
        f"[LoggedProcess('plain', [*python, {SLEEPER!r}]),"
        f" LoggedProcess('stubborn', [*python, {STUBBORN!r}, {deaf!r}])]"
    )
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
