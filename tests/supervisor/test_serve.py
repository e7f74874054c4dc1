"""`dynabench serve` where it cannot serve: a clear message, at once, and nothing started."""

import contextlib
import os
import signal
import socket
import sqlite3

import httpx2
import psutil
import pytest
from typer.testing import CliRunner

from benchmarks.running import free_port, platform, wait_for
from dynabench.cli import app
from dynabench.kit.settings import get_settings
from tests.small_demo import prepare_home
from tests.supervisor.processes import until


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Return the message of the command that refuses to serve."""
    monkeypatch.setattr(os, "environ", os.environ.copy() | {"DYNABENCH_HOME": str(tmp_path)})

    def refusal(*arguments):
        get_settings.cache_clear()
        done = CliRunner().invoke(app, ["serve", *arguments])
        assert done.exit_code == 1
        assert isinstance(done.exception, SystemExit), "no traceback is shown"
        return done.stderr

    yield refusal
    get_settings.cache_clear()


@pytest.mark.slow
def test_a_taken_port_is_named_with_what_to_do(serve, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        message = serve("--port", str(port))
    assert f"port {port} of 127.0.0.1" in message
    assert f"--port {port + 1}" in message
    assert not (tmp_path / "dynabench.sqlite").exists()


@pytest.mark.parametrize(
    ("host", "port"), [("203.0.113.7", "8000"), ("no.such.host.invalid", "8000"), ("127.0.0.1", "70000")]
)
def test_an_address_that_is_not_ours_is_named(serve, host, port):
    assert f"Nothing can listen on port {port} of {host}" in serve("--host", host, "--port", port)


@pytest.mark.slow
def test_a_second_one_on_the_same_folder_is_refused(serve, tmp_path):
    (tmp_path / "run").mkdir()
    with socket.socket(socket.AF_UNIX) as host:
        host.bind(str(tmp_path / "run" / "host.sock"))
        host.listen()
        assert f"Another dynabench serve runs on {tmp_path}" in serve("--port", str(free_port()))


@pytest.mark.release
def test_a_demo_that_cannot_be_set_up_now_is_set_up_later_and_processes_are_watched_meanwhile(tmp_path):
    """A process that is stopped while it writes holds the database for as long as it is stopped.

    All but the suites is there from the start.
    """
    prepare_home(tmp_path)
    log = tmp_path / "serve.log"
    with contextlib.closing(sqlite3.connect(tmp_path / "dynabench.sqlite", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        nobody = f"unix:{tmp_path / 'nobody.sock'}"
        with platform(tmp_path, "--demo", ready=False, host_url=nobody) as address:
            until(lambda: "the demo is not set up yet" in log.read_text())
            [first] = webs(tmp_path)
            os.kill(first, signal.SIGKILL)
            until(lambda: webs(tmp_path) not in ([], [first]))
            writer.execute("ROLLBACK")
            until(lambda: "Dynabench is at" in log.read_text(), 200)
            wait_for(f"{address}/healthz")  # the web process may still start
            datasets = httpx2.get(f"{address}/api/v1/tasks/nli/datasets", timeout=60, trust_env=False).json()["items"]
            assert "nli-phenomena" in [dataset["name"] for dataset in datasets]


def webs(home):
    """The web processes of a platform."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "environ"])
        if (process.info["cmdline"] or [])[-1:] == ["web"]
        and (process.info["environ"] or {}).get("DYNABENCH_HOME") == str(home)
    ]
