"""Child processes that answer, print, crash, hang, take memory and outlive their parent: real ones, all of them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dynabench.kit.child_process import ChildProcess, MessageTooLarge
from dynabench.kit.process_memory import MIB

CHILD = """
import os, sys, time
from dynabench.kit.child_process import ParentChannel

parent = ParentChannel()
while (request := parent.receive()) is not None:
    match request["do"]:
        case "echo":
            parent.send({"said": request["text"], "memory": request.get("memory")})
        case "print":
            print(request["text"], flush=True)
            os.write(2, b"\\xff raw\\a\\n")
            parent.send({"printed": True})
        case "sleep":
            time.sleep(60)
        case "grow":
            kept = bytearray(os.urandom(1 << 20)) * 400
            time.sleep(60)
        case "abort":
            print("terminate called after throwing an instance of 'std::bad_alloc'", file=sys.stderr, flush=True)
            os.abort()
        case "exit":
            sys.exit(request["status"])
        case "kill":
            os.kill(os.getpid(), request["signal"])
        case "beget":
            if os.fork() == 0:
                time.sleep(60)
            parent.send({"begot": True})
"""
PARENT = """
import sys, time
from dynabench.kit.child_process import ChildProcess

child = ChildProcess("a_child", memory=2**40)
child.send({"do": "sleep"})
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "a_child.py").write_text(CHILD)
    return {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}


@pytest.fixture
def child(env):
    with ChildProcess("a_child", memory=300 * MIB, env=env) as process:
        yield process


def ask(child, seconds=30.0, tick=lambda: None, most=2**20, **request):
    child.send(request)
    return child.receive(time.monotonic() + seconds, tick, most)


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(holds, seconds=30.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("Grüße \N{SNOWMAN}", id="letters"),
        pytest.param("half a pair: \ud83d", id="surrogate"),
        pytest.param("x" * 200_000, id="long"),
    ],
)
def test_messages_arrive_as_they_were_sent(child, text):
    assert ask(child, do="echo", text=text, memory={1: [0.5, None, True]})["said"] == text


def test_what_a_child_prints_is_its_log_and_no_answer(child):
    assert ask(child, do="print", text="Hello") == {"printed": True}
    child.send({"do": "exit", "status": 0})
    assert child.death().code == "crashed"
    assert child.log == ["Hello", "\N{REPLACEMENT CHARACTER} raw"]


def test_an_answer_that_is_too_large_is_not_read(child):
    with pytest.raises(MessageTooLarge, match="of 100 at most"):
        ask(child, do="echo", text="x" * 100, most=100)


def test_a_child_that_hangs_is_waited_for_no_longer_than_its_time_and_can_be_cancelled(child):
    with pytest.raises(TimeoutError):
        ask(child, seconds=0.1, do="sleep")

    def cancel():
        raise KeyError

    with pytest.raises(KeyError):
        child.receive(time.monotonic() + 30, cancel)
    child.end()
    assert not lives(child.pid)
    with pytest.raises(BrokenPipeError):
        child.send({"do": "echo"})


@pytest.mark.parametrize(
    ("request_", "code", "words"),
    [
        ({"do": "grow"}, "out_of_memory", "of memory; the limit is 300 MiB"),
        ({"do": "abort"}, "out_of_memory", "more memory than its limit"),
        ({"do": "kill", "signal": signal.SIGKILL}, "out_of_memory", "The system killed"),
        ({"do": "kill", "signal": signal.SIGSEGV}, "crashed", "Segmentation fault"),
        ({"do": "exit", "status": 3}, "crashed", "status 3"),
    ],
)
def test_a_death_says_why(child, request_, code, words):
    with pytest.raises(EOFError):
        ask(child, **request_)
    death = child.death()
    assert death.code == code
    assert words in death.reason
    assert child.peak > 0 or code == "crashed"


def test_what_a_child_has_begotten_ends_with_it(child):
    ask(child, do="beget")
    [grandchild] = map(int, Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split())
    child.end()
    until(lambda: not lives(grandchild))


def test_a_child_ends_when_its_parent_is_killed(env):
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **env}) as parent:
        pid = int(parent.stdout.readline())
        assert lives(pid)
        parent.kill()
    until(lambda: not lives(pid))
