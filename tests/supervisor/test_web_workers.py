"""Several web processes behind one port: one that is killed is missed by nobody."""

import os
import signal

import httpx2
import psutil
import pytest

from benchmarks.running import platform
from tests.supervisor.processes import alive, until


def webs(home):
    found = {}
    for process in psutil.process_iter(["cmdline", "environ"]):
        line = process.info["cmdline"] or []
        ours = (process.info["environ"] or {}).get("DYNABENCH_HOME") == str(home)
        if ours and "web" in line and "--health" in line:
            found[line[-1]] = process.pid
    return found


def test_a_web_process_that_is_killed_is_started_again_and_the_others_serve(tmp_path):
    nobody = f"unix:{tmp_path / 'nobody.sock'}"
    with platform(tmp_path, "--web-workers", "2", ready=False, host_url=nobody) as address:
        until(lambda: len(webs(tmp_path)) == 2)
        first = dict(webs(tmp_path))
        for path, victim in sorted(first.items())[:1]:
            os.kill(victim, signal.SIGKILL)
            until(lambda victim=victim: not alive(victim))
            for _ in range(20):  # new connections each: a kept one may have been the victim's
                assert httpx2.get(f"{address}/healthz", timeout=60, trust_env=False).status_code == 200
            until(lambda path=path, victim=victim: webs(tmp_path).get(path, victim) != victim)
        account = {"username": "ada", "email": "ada@example.org", "password": "a long enough passphrase"}
        assert httpx2.post(f"{address}/api/v1/accounts", json=account, timeout=60).status_code == 201
        login = {"username": "ada", "password": account["password"]}
        for _ in range(6):
            assert httpx2.post(f"{address}/api/v1/tokens", json=login, timeout=60).status_code == 201
    until(lambda: not webs(tmp_path))
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{address}/healthz", trust_env=False)
