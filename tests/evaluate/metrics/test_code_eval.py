"""Programs that are run against their tests, and what they cannot do."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dynabench.evaluate import load
from dynabench.evaluate import program_sandbox as sandbox
from dynabench.evaluate.program_sandbox import ENDED_EARLY, ProgramLimits, run_program

QUICK = ProgramLimits(seconds=0.5)
ADD = {
    "predictions": [
        ["def add(a, b): return a * b", "def add(a, b): return a + b"],
        ["add = sum", "add = lambda a, b: 5"],
    ],
    "references": ["assert add(2, 3) == 5", "assert add(2, 3) == 5"],
}


@pytest.fixture
def confined():
    """Runs a program as code_eval does."""
    command = sandbox.confinement_command()
    return lambda program, limits=QUICK: run_program(program, limits, command)


def test_nothing_runs_unless_it_is_allowed(monkeypatch, tmp_path):
    monkeypatch.delenv("HF_ALLOW_CODE_EVAL", raising=False)
    monkeypatch.setattr(sandbox, "run_program", None)
    for allow in (None, False):
        with pytest.raises(ValueError, match="allow_code=True"):
            load("code_eval").compute(**ADD, allow_code=allow)
    monkeypatch.setenv("HF_ALLOW_CODE_EVAL", "1")
    with pytest.raises(ValueError, match="allow_code=True"):
        load("code_eval").compute(**ADD, allow_code=False)


def test_programs_that_pass_are_counted(monkeypatch):
    monkeypatch.setenv("HF_ALLOW_CODE_EVAL", "1")
    result = load("code_eval").compute(**ADD, k=[1, 2, 3], per_example=True)
    assert result["pass@1"] == 0.5
    assert result["pass@2"] == 1
    assert "pass@3" not in result
    assert [[first["passed"] for first in task] for task in result["results"]] == [[False, True], [False, True]]
    assert result["results"][0][0] == {
        "task_id": 0,
        "passed": False,
        "result": "failed: AssertionError",
        "completion_id": 0,
    }
    assert result["per_example"] == {"pass@1": [0.5, 0.5], "pass@2": [1, 1]}


def test_compatible_is_the_pair_that_evaluate_returns():
    rates, results = load("code_eval", compat=True).compute(**ADD, k=[1], allow_code=True)
    assert rates == {"pass@1": 0.5}
    assert list(results) == [0, 1]
    place, answer = results[1][1]
    assert (place, answer["task_id"], answer["completion_id"], answer["passed"], answer["result"]) == (
        1,
        1,
        1,
        True,
        "passed",
    )


def test_batches_merge_to_the_whole_with_tasks_numbered_on():
    metric = load("code_eval")
    parts = [
        metric.state({name: column[part] for name, column in ADD.items()}, allow_code=True)
        for part in (slice(0, 1), slice(1, 2))
    ]
    merged = metric.result(metric.merge(*parts))
    assert merged == metric.compute(**ADD, allow_code=True)
    assert merged["results"][1][0]["task_id"] == 1


def test_a_problem_without_a_program_is_refused():
    with pytest.raises(ValueError, match="row 0 has no program"):
        load("code_eval").compute(predictions=[[]], references=["pass"], allow_code=True)


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        ("import json, re, sqlite3, dataclasses, unittest\nassert re.match('a', 'a')", "passed"),
        (
            "from __future__ import annotations\nimport dataclasses\n@dataclasses.dataclass\nclass A:\n  b: int = 1",
            "passed",
        ),
        ("open('own', 'w').write('x'); assert open('own').read() == 'x'", "passed"),
        ("assert 'é' == '\\u00e9'", "passed"),
        ("print('passed'); raise ValueError('no')", "failed: ValueError: no"),
        ("def", "failed: SyntaxError: invalid syntax (program.py, line 1)"),
        ("import os; os._exit(0)", ENDED_EARLY),
        ("import sys; sys.exit(0)", "failed: SystemExit: 0"),
        ("import ctypes; ctypes.string_at(0)", "failed: ended by signal 11"),
        (
            "import os\nfor at in range(3, 64):\n  try: os.write(at, b'passed')\n  except OSError: pass\nos._exit(0)",
            ENDED_EARLY,
        ),
    ],
)
def test_a_program_passes_only_by_reaching_its_end(confined, program, outcome):
    assert confined(program, ProgramLimits(5)) == outcome


@pytest.mark.parametrize(
    "program", ["while True: pass", "import time; time.sleep(60)", "while True: print('x' * 1000)"]
)
def test_a_program_that_does_not_end_is_stopped(confined, program):
    begin = time.perf_counter()
    assert confined(program) == "timed out"
    assert time.perf_counter() - begin < 4


@pytest.mark.release
def test_a_program_that_ignores_its_alarm_is_stopped_a_little_later(confined, monkeypatch):
    monkeypatch.setattr(sandbox, "GRACE", 0.5)
    assert confined("import signal, time; signal.signal(signal.SIGALRM, signal.SIG_IGN); time.sleep(60)") == "timed out"


@pytest.mark.skipif(sys.platform != "linux", reason="macOS knows not all of these limits")
@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        ("bytearray(3 << 30)", "failed: MemoryError"),
        ("import os; os.fork()", "failed: BlockingIOError"),
        ("import subprocess; subprocess.run(['true'])", "failed: BlockingIOError"),
        ("import threading; threading.Thread(target=print).start()", "failed: RuntimeError: can't start new thread"),
        ("open('big', 'wb').write(bytes(2 << 20))", "failed: OSError: [Errno 27]"),
        ("files = [open('f', 'w') for _ in range(100)]", "failed: OSError: [Errno 24]"),
        ("import os; os.setuid(0); assert os.getuid()", "failed: "),
        ("import resource as r; r.setrlimit(r.RLIMIT_NPROC, (9, 9))", "failed: ValueError"),
    ],
)
def test_memory_processes_and_files_are_limited(confined, program, outcome):
    assert confined(program, ProgramLimits(5)).startswith(outcome)


def test_a_program_sees_no_secret_of_the_environment(confined, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "secret")
    assert confined("import os; assert 'HF_TOKEN' not in os.environ", ProgramLimits(5)) == "passed"


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can become nobody")
def test_roots_programs_run_as_nobody_and_leave_roots_files_alone(confined, tmp_path):
    (tmp_path / "file").write_text("kept")
    assert (
        confined("import os; assert os.getuid() == 65534 == os.geteuid() == os.getgid()", ProgramLimits(5)) == "passed"
    )
    assert confined(f"open({str(tmp_path / 'file')!r}, 'w')", ProgramLimits(5)).startswith("failed: ")
    assert confined("import encodings.idna, xml.dom.minidom", ProgramLimits(5)) == "passed"
    assert (tmp_path / "file").read_text() == "kept"


def _network_can_be_left() -> bool:
    how = "-n" if os.getuid() == 0 else "-rn"
    return sys.platform == "linux" and not subprocess.run(["unshare", how, "true"], check=False).returncode


@pytest.mark.skipif(not _network_can_be_left(), reason="needs a kernel that gives out networks")
def test_programs_reach_no_network_not_even_this_machine(confined):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        answer = confined(f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)", ProgramLimits(5))
    assert answer.startswith("failed: OSError: [Errno 101]")


@pytest.mark.skipif(not sandbox.confinement_command(), reason="needs a bubblewrap that works here")
def test_bubblewrap_shows_only_python(confined):
    assert confined(f"open({str(Path(__file__))!r})", ProgramLimits(5)).startswith("failed: ")
    assert (
        confined("import os; assert len([n for n in os.listdir('/proc') if n.isdigit()]) <= 2", ProgramLimits(5))
        == "passed"
    )


def test_a_machine_where_nothing_can_run_says_so(monkeypatch):
    monkeypatch.setattr(sandbox, "_trusted", [])
    with monkeypatch.context() as broken:
        broken.setattr(sandbox, "run_program", lambda *_: "failed: no")
        with pytest.raises(ValueError, match="harmless program did not pass: failed: no"):
            sandbox.run_programs(["pass"], ProgramLimits())
    assert sandbox.run_programs(["pass"], ProgramLimits()) == ["passed"]


@pytest.mark.skipif(not sandbox.confinement_command(), reason="needs a bubblewrap that works here")
def test_a_trial_that_failed_once_does_not_do_without_bubblewrap_for_good(monkeypatch, tmp_path):
    monkeypatch.setattr(sandbox, "_trusted", [])
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\nexit 1\n")
    refusing.chmod(0o755)
    with monkeypatch.context() as busy:
        busy.setenv("PATH", str(tmp_path))
        assert sandbox.confinement_command() == ()
    monkeypatch.setattr(sandbox.time, "monotonic", lambda later=time.monotonic() + sandbox.WEAK_SECONDS: later)
    assert sandbox.confinement_command() != ()
