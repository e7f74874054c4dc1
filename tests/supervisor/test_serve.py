"""`dynabench serve` where it cannot serve: a clear message, at once, and nothing started."""

import os
import socket
import subprocess
import sys

import pytest


def serve(home, *arguments, **settings):
    env = os.environ | {"DYNABENCH_HOME": str(home)} | settings
    command = [sys.executable, "-m", "dynabench", "serve", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)


def test_a_taken_port_is_named_with_what_to_do(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = serve(tmp_path, "--port", str(port))
    assert done.returncode == 1
    assert f"port {port} of 127.0.0.1" in done.stderr
    assert f"--port {port + 1}" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "dynabench.sqlite").exists()


@pytest.mark.parametrize(
    ("host", "port"), [("203.0.113.7", "8000"), ("no.such.host.invalid", "8000"), ("127.0.0.1", "70000")]
)
def test_an_address_that_is_not_ours_is_named(tmp_path, host, port):
    done = serve(tmp_path, "--host", host, "--port", port)
    assert done.returncode == 1
    assert f"Nothing can listen on port {port} of {host}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_one_on_the_same_folder_is_refused(tmp_path):
    (tmp_path / "run").mkdir()
    with socket.socket(socket.AF_UNIX) as host, socket.socket() as probe:
        host.bind(str(tmp_path / "run" / "host.sock"))
        host.listen()
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        done = serve(tmp_path, "--port", str(port))
    assert done.returncode == 1
    assert f"Another dynabench serve runs on {tmp_path}" in done.stderr
