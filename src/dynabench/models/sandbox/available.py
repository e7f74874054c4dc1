"""The sandboxes of this machine: bubblewrap with a filter of system calls, Docker, or a plain process."""

import errno
import os
import platform
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dynabench.evaluate.program_sandbox import NOBODY, bubblewrap_command, readable_paths
from dynabench.kit.errors import Unavailable
from dynabench.models.sandbox import box
from dynabench.models.sandbox.box import MIB, Box, HandlerOptions
from dynabench.models.sandbox.process import Ended, Process

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF: ld abs, jeq, jge, jset, ret
NUMBER, MACHINE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data, little endian
ALLOW, ERROR = 0x7FFF0000, 0x00050000
NEW_NAMESPACE = 0x7E020000  # the flags CLONE_NEW* of clone(2), but CLONE_NEWTIME, which only clone3 takes
OTHER_ABI = 0x40000000  # x32 numbers begin here

MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1), "arm64": (0xC00000B7, 1)}
"""By name the AUDIT_ARCH of a machine and which of a call's numbers is its own."""
CLONE, CLONE3, PRCTL = (56, 220), (435, 435), (157, 167)
SOCKETS = ((41, 198), (53, 199))  # socket(2), socketpair(2)
FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6; others reach parts of the kernel that no handler needs
END_WITH_PARENT = 1  # PR_SET_PDEATHSIG, by which the handler ends when we do
DENIED = """
mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, open_tree 428 428, move_mount 429 429,
fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442, unshare 272 97,
setns 308 268, ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272,
pidfd_getfd 438 438, process_madvise 440 440, memfd_create 319 279, memfd_secret 447 447, shmget 29 194,
msgget 68 186, semget 64 190, mq_open 240 180, bpf 321 280, perf_event_open 298 241, userfaultfd 323 282,
fanotify_init 300 262, io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, keyctl 250 219,
add_key 248 217, request_key 249 218, sched_setaffinity 203 122, sched_setscheduler 144 119, sched_setattr 314 274,
sched_setparam 142 118, open_by_handle_at 304 265, name_to_handle_at 303 264, swapon 167 224, reboot 169 142,
acct 163 89, quotactl 179 60, kexec_load 246 104, kexec_file_load 320 294, init_module 175 105,
finit_module 313 273
"""
"""Name, number on x86-64 and number elsewhere."""


def has_filter() -> bool:
    """Return whether there is a filter for this machine."""
    return platform.machine() in MACHINES


def program() -> bytes:
    """The filter, an array of `struct sock_filter`: calls of `DENIED` fail with EPERM, the others are made.

    Sockets of families other than `FAMILIES` are said not to be supported.

    Threads are made by clone(2): clone3(2), whose flags no filter sees, is said not to exist, upon which the C library
    takes the older call.
    """
    audit, column = MACHINES[platform.machine()]
    refuse, allow = _step(RETURN, ERROR | errno.EPERM), _step(RETURN, ALLOW)
    steps = [
        *(_step(LOAD, MACHINE), _step(EQUAL, audit, 1, 0), refuse),
        *(_step(LOAD, NUMBER), _step(AT_LEAST, OTHER_ABI, 0, 1), refuse),
        *(_step(EQUAL, CLONE3[column], 0, 1), _step(RETURN, ERROR | errno.ENOSYS)),
    ]
    for call in DENIED.split(","):
        steps += [_step(EQUAL, int(call.split()[1 + column]), 0, 1), refuse]
    steps += [
        _step(EQUAL, PRCTL[column], 0, 3),
        _step(LOAD, FIRST_ARGUMENT),
        _step(EQUAL, END_WITH_PARENT, 0, 4),
        refuse,
    ]
    for number, check in ((PRCTL[column], (EQUAL, END_WITH_PARENT)), (CLONE[column], (ANY_BIT, NEW_NAMESPACE))):
        steps += [_step(EQUAL, number, 0, 4), _step(LOAD, FIRST_ARGUMENT), _step(*check, 0, 1), refuse, allow]
    for numbers in SOCKETS:
        steps += [_step(EQUAL, numbers[column], 0, len(FAMILIES) + 3), _step(LOAD, FIRST_ARGUMENT)]
        steps += [_step(EQUAL, family, len(FAMILIES) - place, 0) for place, family in enumerate(FAMILIES)]
        steps += [_step(RETURN, ERROR | errno.EAFNOSUPPORT), allow]
    return b"".join([*steps, allow])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


PROCESSORS = "/sys/devices/system/cpu"
"""What libraries that compute read to know the processor."""


@dataclass(frozen=True)
class Bubblewrap:
    """A `Box` of bubblewrap 0.7 or newer; called from a thread that lives as long as the process does.

    Bubblewrap dies with the thread that started it, and the processors of that thread are those of the handler.
    The code inside reads the folders `packages` below `box.PACKAGES`.
    """

    packages: tuple[Path, ...] = ()

    def start(self, name: str, folder: Path, options: HandlerOptions, stream: int, log: int) -> subprocess.Popen[bytes]:
        """See `Box.start`."""
        available = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, random.sample(available, min(options.processors, len(available))))
        with tempfile.TemporaryFile() as filtering:
            filtering.write(program())
            filtering.seek(0)
            number = filtering.fileno()
            return subprocess.Popen(
                [*self._command(folder, options), "--seccomp", str(number), "--", *box.python(options)],
                stdin=stream,
                stdout=stream,
                stderr=log,
                env=box.environment(options),
                pass_fds=(number,),
                start_new_session=True,
            )

    def end(self, name: str, process: subprocess.Popen[bytes]) -> None:
        """See `Box.end`: the namespace of processes ends with bubblewrap, and all that is in it."""
        with suppress(ProcessLookupError, PermissionError):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)

    def _command(self, folder: Path, options: HandlerOptions) -> list[str]:
        size = str(options.disk_mb * MIB)
        start = bubblewrap_command("--perms", "1777", "--size", size, "--tmpfs", "/tmp")  # noqa: S108 - inside
        if start is None:
            raise FileNotFoundError("bwrap is not installed")
        # Where all runs as one user, a first process of bubblewrap's own could be taken over, which no limit binds.
        alone = () if box.started_by_root() else ("--as-pid-1",)
        hidden = ["--ro-bind", "/dev/null", f"{box.HOME}/{box.UNVERSIONED}"]
        return [
            *start,
            *alone,
            *("--ro-bind-try", PROCESSORS, PROCESSORS, "--ro-bind", str(folder.resolve()), box.HOME),
            *(hidden if (folder / box.UNVERSIONED).is_file() else ()),
            *(("--perms", "0755", "--dir", box.PACKAGES) if self.packages else ()),  # else for root alone
            *(part for path, place in box.package_mounts(self.packages) for part in ("--ro-bind", path, place)),
            *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"),
        ]


IMAGE = "dynabench-empty"
ANSWERS = 10.0
"""Seconds within which a daemon that is there answers."""


@dataclass(frozen=True)
class Docker:
    """A `Box` that asks the Docker daemon; `packages` as those of `Bubblewrap`."""

    packages: tuple[Path, ...] = ()

    def start(self, name: str, folder: Path, options: HandlerOptions, stream: int, log: int) -> subprocess.Popen[bytes]:
        """See `Box.start`."""
        try:
            _make_image()
        except subprocess.CalledProcessError as error:
            raise OSError(error.stderr.decode(errors="replace").strip()) from error
        return subprocess.Popen(
            [*self._command(name, folder, options), IMAGE, *box.python(options)],
            stdin=stream,
            stdout=stream,
            stderr=log,
            start_new_session=True,
        )

    def end(self, name: str, process: subprocess.Popen[bytes]) -> None:
        """See `Box.end`: the daemon kills the container; its client ends by itself, or is ended."""
        with suppress(OSError, subprocess.SubprocessError):
            _docker("kill", name)
        process.kill()

    def _command(self, name: str, folder: Path, options: HandlerOptions) -> list[str]:
        mounts = {place: place for place in readable_paths() if Path(place).exists()}
        mounts[str(folder.resolve())] = box.HOME
        mounts |= dict(box.package_mounts(self.packages))
        if (folder / box.UNVERSIONED).is_file():
            mounts["/dev/null"] = f"{box.HOME}/{box.UNVERSIONED}"
        memory = f"{options.memory_mb}m"
        return [
            *("docker", "run", "--rm", "--interactive", "--name", name, "--network", "none", "--read-only"),
            *("--user", f"{NOBODY}:{NOBODY}", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
            *("--memory", memory, "--memory-swap", memory, "--pids-limit", str(options.processes)),
            *("--cpus", str(options.processors), "--shm-size", "1m", "--log-driver", "none"),
            *("--tmpfs", f"/tmp:size={options.disk_mb * MIB},mode=1777", "--workdir", "/"),  # noqa: S108 - inside
            *(part for item in box.environment(options).items() for part in ("--env", "=".join(item))),
            *(part for source, place in mounts.items() for part in ("--volume", f"{source}:{place}:ro")),
        ]


def _make_image() -> None:
    try:
        _docker("image", "inspect", IMAGE)
    except subprocess.CalledProcessError:
        _docker("import", "-", IMAGE, content=bytes(10240))  # a tar file with nothing in it


def _docker(*arguments: str, content: bytes = b"") -> None:
    command = ("docker", *arguments)
    subprocess.run(command, input=content, capture_output=True, check=True, timeout=ANSWERS)


REMEDY = (
    "On the machine of the model host install bubblewrap 0.8 or newer (apt install bubblewrap) or run Docker there."
)
HARMLESS = "class Model:\n    def __init__(self, folder): pass\n"
WAIT = 60.0
_WORKING: set[tuple[str, type[Bubblewrap | Docker]]] = set()
_TRYING = threading.Lock()


def sandbox(*packages: Path) -> Box:
    """Bubblewrap, else Docker; raises `Unavailable` where handlers cannot be confined, with what to do.

    `packages` are folders of Python packages that the code inside can import from `box.PACKAGES`.
    """
    lacking = []
    for program, sandbox_class in (("bwrap", Bubblewrap), ("docker", Docker)):
        path = shutil.which(program)
        fault = _lacks(path, sandbox_class) if path else f"{program} is not installed"
        if not fault:
            return sandbox_class(packages)
        lacking.append(fault)
    raise Unavailable(f"Handlers run only in a sandbox, and there is none here: {'; '.join(lacking)}. {REMEDY}")


def _lacks(path: str, box: type[Bubblewrap | Docker]) -> str:
    """Return the fault of the sandbox that this program makes; empty when it works.

    Success alone is remembered: a full disk or a busy machine make a sandbox fail that works a minute later.
    """
    with _TRYING:
        if (path, box) in _WORKING:
            return ""
        fault = _fault(path, box)
        if not fault:
            _WORKING.add((path, box))
        return fault


def _fault(path: str, box: type[Bubblewrap | Docker]) -> str:
    """Run a harmless handler in the sandbox and return what goes wrong; empty where nothing does."""
    if box is Bubblewrap and not has_filter():
        return f"{path} is not used, for no filter of system calls is known for this processor"
    log: deque[str] = deque(maxlen=3)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "handler.py").write_text(HARMLESS)
        (folder / "handler.py").chmod(0o644)
        process = Process(box(), folder, HandlerOptions(), log)
        try:
            answer = process.first(WAIT)
        except Ended as ended:
            return f"{path}: {ended}{''.join(f' / {line}' for line in log)}"
        process.close()
    return "" if answer == b'{"ok": "loaded"}' else f"{path}: {answer[:200]!r}"
