"""A whole platform in a folder of its own, started by the real command: for benchmarks, crash tests and pictures."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, seconds: float = 240, text: str = "") -> float:
    """Seconds until `url` answers 200 with `text` in it; raises TimeoutError."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200 and text in answer.read().decode():
                    return time.monotonic() - begun
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            pass
        time.sleep(0.1)
    raise TimeoutError(url)


def settle(busy: float = 0.15, span: float = 3.0, seconds: float = 240) -> None:
    """Wait until what this process started keeps less than `busy` of a core over `span` seconds; raises TimeoutError.

    A platform that has just started evaluates its models on its rounds, which a figure of it must not pay for.
    """
    begun = time.monotonic()
    before = _used()
    while time.monotonic() - begun < seconds:
        time.sleep(span)
        after = _used()
        if sum(spent - before.get(pid, spent) for pid, spent in after.items()) < busy * span:
            return
        before = after
    raise TimeoutError("the platform does not come to rest")


def _used() -> dict[int, float]:
    """Seconds of processor time of each process that this one started, by pid."""
    result = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has ended meanwhile
            times = process.cpu_times()
            result[process.pid] = times.user + times.system
    return result


@contextmanager
def platform(home: Path, *arguments: str, ready: bool = True, **settings: str) -> Iterator[str]:
    """Run `dynabench serve` in `home`; yields its address once it is up (and, if asked, once the models are)."""
    port = free_port()
    env = os.environ | {
        "DYNABENCH_HOME": str(home),
        "DYNABENCH_RATE_LIMIT": "false",
        "DYNABENCH_PASSWORD_COST": "1",
        **{f"DYNABENCH_{name.upper()}": value for name, value in settings.items()},
    }
    command = [sys.executable, "-m", "dynabench", "serve", "--port", str(port), *arguments]
    with (home / "serve.log").open("ab") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        address = f"http://127.0.0.1:{port}"
        try:
            wait_for(f"{address}/healthz")
            if ready:
                wait_for(f"{address}/readyz", text='"host":"ok"')
            yield address
        finally:
            process.terminate()
            try:
                process.wait(60)
            finally:
                process.kill()


def operate(home: Path, *arguments: str) -> str:
    """Run a `dynabench` command on the platform in `home`; its output."""
    command = [sys.executable, "-m", "dynabench", *arguments]
    done = subprocess.run(command, env=os.environ | {"DYNABENCH_HOME": str(home)}, check=True, capture_output=True)
    return done.stdout.decode()
