"""Attacks by handlers, for real, and their outcomes."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dynabench.kit.errors import Unavailable
from dynabench.kit.process_memory import process_family
from dynabench.models.sandbox import process
from tests.models.handlers import PAIR, doing, need_bubblewrap, write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sandboxes are there on Linux only")


def test_processes_without_end_stop_at_the_limit(attempt):
    body = """
    import os, time
    children = 0
    try:
        while children < 500:
            if os.fork() == 0:
                time.sleep(60)
            children += 1
    except BlockingIOError:
        pass
    return {"label": "neutral", "seen": children}
    """
    assert 5 < attempt(body, leaves=True) < 12


@pytest.mark.release
def test_a_fork_bomb_ends_with_the_call_and_leaves_nothing(attempt):
    before = our_processes()
    answer = attempt("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", predict_seconds=0.5)
    assert "it took longer than 0.5 s" in answer
    assert our_processes() <= before + 3


def test_threads_without_end_stop_at_the_limit(attempt):
    body = """
    import threading, time
    started = 0
    try:
        while started < 500:
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
            started += 1
    except RuntimeError:
        pass
    return {"label": "neutral", "seen": started}
    """
    assert 5 < attempt(body, leaves=True) < 12


def test_memory_of_one_process_is_limited(attempt):
    assert "MemoryError" in attempt("kept = []\nwhile True: kept.append(bytearray(1 << 20))")


@pytest.mark.release
def test_memory_of_all_processes_together_is_limited(attempt):
    body = """
    import os, time
    for _ in range(4):
        if os.fork() == 0:
            kept = bytearray(os.urandom(1 << 20)) * 150
            time.sleep(60)
    time.sleep(60)
    """
    answer = attempt(body, predict_seconds=20)
    assert "it ran out of memory" in answer
    assert "options.memory_mb" in answer


@pytest.mark.parametrize(
    "taking",
    [
        "os.memfd_create('x')",
        "ctypes.CDLL(None, use_errno=True).shmget(0, 1 << 30, 0o1600) == -1 and denied()",
        "os.mkdir('/dev/shm/x')",
    ],
)
def test_memory_that_counts_for_nobody_is_refused(attempt, taking):
    body = f"import os, ctypes\ndef denied(): raise PermissionError\n{taking}"
    assert "Error" in attempt(body)


def test_the_disk_ends_where_the_limit_is(attempt):
    body = """
    written = 0
    try:
        for number in range(1000):
            with open(f"/tmp/{number}", "wb", buffering=0) as file:
                written += file.write(bytes(1 << 20))
    except OSError as error:
        return {"label": "neutral", "seen": [written >> 20, error.strerror]}
    """
    assert attempt(body, leaves=True) == [4, "No space left on device"]


def test_a_file_beyond_the_limit_is_refused(attempt):
    answer = attempt("with open('/tmp/large', 'wb') as file: file.truncate(1 << 40)", leaves=True)
    assert "File too large" in answer


def test_empty_files_without_end_are_stopped(attempt, monkeypatch):
    monkeypatch.setattr(process, "FILES", 500)
    answer = attempt("for number in range(10**9): open(f'/tmp/{number}', 'w').close()", predict_seconds=20)
    assert "of 500 at most" in answer


def test_open_files_are_limited(attempt):
    assert "Too many open files" in attempt("kept = [open('/model/handler.py') for _ in range(1000)]")


@pytest.mark.parametrize("path", ["/model/x", "/x", "/usr/x", "/etc/x", "/dev/x", "/var/x", "/root/x", "/proc/x"])
def test_nothing_outside_tmp_is_written(attempt, path):
    assert "Error" in attempt(f"open({path!r}, 'w')")


def test_the_model_s_own_files_are_not_changed(attempt):
    assert "Read-only file system" in attempt("import os\nos.unlink('/model/model.yaml')")


@pytest.mark.parametrize("path", ["/etc/shadow", "/etc/passwd", "/root/.bash_history", "/home", "/var"])
def test_files_of_the_machine_and_of_others_are_not_there(attempt, path):
    assert "Error" in attempt(f"import os\n(os.listdir if os.path.isdir({path!r}) else open)({path!r})")


def test_a_file_beside_the_model_is_not_there(attempt, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("for nobody")
    assert "FileNotFoundError" in attempt(f"open({str(secret)!r})")


def test_no_address_is_reached(attempt):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        answer = attempt(f"import socket\nsocket.create_connection(('127.0.0.1', {port}), timeout=1)")
        assert "Connection refused" in answer or "unreachable" in answer
        assert "unreachable" in attempt("import socket\nsocket.create_connection(('93.184.215.14', 80), timeout=1)")
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_sockets_of_the_machine_are_not_reached(attempt):
    name = f"\0dynabench-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        answer = attempt(f"import socket\nsocket.socket(socket.AF_UNIX).connect({name!r})")
    assert "ConnectionRefusedError" in answer


@pytest.mark.release
def test_a_call_that_takes_too_long_ends(attempt):
    assert "it took longer than 0.5 s" in attempt("import time\ntime.sleep(60)", predict_seconds=0.5)


@pytest.mark.release
def test_prints_without_end_keep_the_last_lines_and_no_more(small_handler):
    model = small_handler(
        doing("for number in range(20_000_000): print('spam', number, 'x' * 100)"), predict_seconds=0.5
    )
    with pytest.raises(Unavailable, match=r"it took longer than 0\.5 s"):
        model.predict([PAIR])
    assert len(model.log()) == 200
    assert all(len(line) <= 500 for line in model.log())


def test_a_line_without_end_is_cut(small_handler):
    model = small_handler(doing("import sys\nfor _ in range(2): sys.stdout.write('x' * 1_000_000)"), predict_seconds=20)
    model.predict([PAIR])
    model.close()
    assert [len(line) for line in model.log()] == [500]


def test_its_parents_and_the_platform_are_out_of_reach(attempt):
    body = f"""
    import os, signal
    seen = []
    for pid in (1, os.getppid(), {os.getpid()}):
        try:
            os.kill(pid, signal.SIGKILL)
            seen.append("sent")
        except OSError as error:
            seen.append(type(error).__name__)
    return {{"label": "neutral", "seen": seen}}
    """
    seen = attempt(body)
    assert seen[2] == "ProcessLookupError"
    assert seen[:2] in (["PermissionError"] * 2, ["sent"] * 2)  # its own first process takes no signal from inside


def test_the_first_process_is_its_own_or_closed_to_it(attempt):
    body = "import os\nif os.getpid() == 1: raise PermissionError\nopen('/proc/1/mem', 'wb')"
    assert "PermissionError" in attempt(body)


def test_it_sees_no_other_process_and_nothing_of_our_environment(attempt, monkeypatch):
    monkeypatch.setenv("DYNABENCH_SECRET", "the key to everything")
    body = """
    import glob, os
    texts = [dict(os.environ)]
    for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
        try: texts.append(open(path).read())
        except OSError: pass
    processes = [name for name in os.listdir("/proc") if name.isdigit()]
    return {"label": "neutral", "seen": [len(processes), str(texts)]}
    """
    processes, texts = attempt(body)
    assert processes == (2 if os.getuid() == 0 else 1)
    assert "the key to everything" not in texts
    assert "DYNABENCH" not in texts


@pytest.mark.parametrize(
    "call",
    [
        "ptrace(16, 1, 0, 0)",
        "unshare(0x10000000)",
        "mount(b'none', b'/tmp', b'tmpfs', 0, 0)",
        "sched_setaffinity(0, 8, ctypes.byref(ctypes.c_long(-1)))",
        "prctl(1, 0, 0, 0, 0)",
        "syscall(425, 1, 0)",
        "process_vm_readv(1, 0, 0, 0, 0, 0)",
        "setrlimit(6, (ctypes.c_long * 2)(-1, -1))",
        "chroot(b'/tmp')",
    ],
)
def test_calls_of_the_system_that_lead_out_are_refused(attempt, call):
    body = f"""
    import ctypes, errno
    library = ctypes.CDLL(None, use_errno=True)
    failed = library.{call}
    return {{"label": "neutral", "seen": [failed, errno.errorcode.get(ctypes.get_errno())]}}
    """
    assert attempt(body) == [-1, "EPERM"]


def test_processors_are_those_allowed(attempt):
    assert attempt("import os\nreturn {'label': 'neutral', 'seen': len(os.sched_getaffinity(0))}") == 1


def test_nothing_can_be_run_as_root(attempt):
    body = """
    import ctypes, os, subprocess
    assert ctypes.CDLL(None).setuid(0) == -1
    found = subprocess.run(["id", "-u"], capture_output=True, text=True)
    return {"label": "neutral", "seen": [os.getuid(), int(found.stdout)]}
    """
    mine, run = attempt(body)
    assert mine == run != 0


@pytest.mark.release
def test_processes_end_with_the_platform(tmp_path):
    """Even when it is killed and can clean up nothing."""
    need_bubblewrap()
    folder = write(tmp_path / "model", doing("pass"))
    code = f"""
import collections, pathlib, time
from dynabench.models.sandbox.available import Bubblewrap
from dynabench.models.sandbox.box import HandlerOptions
from dynabench.models.sandbox.process import Process
process = Process(Bubblewrap(), pathlib.Path({str(folder)!r}), HandlerOptions(), collections.deque())
process.first(60)
print(process._child.pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as other:
        inner = Path(f"/proc/{int(other.stdout.readline())}")
        assert inner.exists()
        other.kill()
    until = time.monotonic() + 10
    while inner.exists() and inner.joinpath("stat").read_text().split()[2] != "Z" and time.monotonic() < until:
        time.sleep(0.02)
    assert not inner.exists() or inner.joinpath("stat").read_text().split()[2] == "Z"


def our_processes() -> int:
    """Count the processes that descend from this one."""
    return len(process_family(os.getpid()))


def test_only_sockets_of_the_three_usual_families_can_be_made(attempt):
    """Others reach rarely used parts of the kernel. Nothing is connected to."""
    body = """
    import errno, socket
    made, refused = [], []
    for family in range(46):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            try:
                socket.socket(family, kind).close()
                made.append(family)
            except OSError as error:
                refused.append((family, error.errno))
    unsupported = {family for family, number in refused if number != errno.EAFNOSUPPORT}
    return {"label": "neutral", "seen": [sorted(set(made)), sorted(unsupported)]}
    """
    created, otherwise = attempt(body)
    usual = [socket.AF_UNIX, socket.AF_INET, socket.AF_INET6]
    assert set(created) <= set(usual)
    assert socket.AF_UNIX in created
    assert set(otherwise) <= set(usual), "the filter itself refuses the others"


def test_pairs_of_sockets_can_be_made(attempt):
    body = """
    import socket
    first, second = socket.socketpair()
    first.send(b"x")
    return {"label": "neutral", "seen": len(second.recv(1))}
    """
    assert attempt(body) == 1
