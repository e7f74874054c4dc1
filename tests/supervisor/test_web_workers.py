"""Several web processes behind one port: one that is killed is missed by nobody, and each beats."""

import os
import signal
import threading

import httpx2
import pytest

from dynabench.cli.serve import _webs
from dynabench.kit.settings import Settings
from dynabench.kit.supervisor import end
from tests.supervisor.processes import alive, free_port, until

pytestmark = pytest.mark.release


@pytest.fixture
def webs(tmp_path, monkeypatch):
    """Two web processes, watched as `dynabench serve --web-workers 2` watches them, and their address."""
    settings = Settings(home=tmp_path, port=free_port(), host_url=f"unix:{tmp_path / 'nobody.sock'}", password_cost=1)
    for name in ("home", "host_url", "password_cost"):
        monkeypatch.setenv(f"DYNABENCH_{name.upper()}", str(getattr(settings, name)))
    processes = _webs(settings, 2)
    stop = threading.Event()

    def watch():
        while not stop.wait(0.05):
            for process in processes:
                process.check()

    for process in processes:
        process.start()
        assert process.comes_up()
    watching = threading.Thread(target=watch)
    watching.start()
    yield processes, f"http://127.0.0.1:{settings.port}"
    stop.set()
    watching.join()
    end(processes)
    os.close(processes[0].fds[0])


def test_a_web_process_that_is_killed_is_started_again_and_the_others_serve(webs):
    processes, address = webs
    until(lambda: all(process.beaten for process in processes))
    victim = processes[0].process.pid
    os.kill(victim, signal.SIGKILL)
    until(lambda: not alive(victim))
    for _ in range(20):  # new connections each: a kept one may have been the victim's
        assert httpx2.get(f"{address}/healthz", timeout=60, trust_env=False).status_code == 200
    until(lambda: processes[0].process and processes[0].process.pid != victim)
    account = {"username": "ada", "email": "ada@example.org", "password": "a long enough passphrase"}
    assert httpx2.post(f"{address}/api/v1/accounts", json=account, timeout=60).status_code == 201
    login = {"username": "ada", "password": account["password"]}
    until(processes[0].well)
    for _ in range(6):
        assert httpx2.post(f"{address}/api/v1/tokens", json=login, timeout=60).status_code == 201
    until(lambda: processes[0].beaten)
