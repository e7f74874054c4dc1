"""A host with several worker processes, the real command: workers that die and hang, load, unload, figures, a token."""

import asyncio
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import httpx2
import psutil
import pytest
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.models.catalog import BUILTIN
from dynabench.models.client import Host
from dynabench.models.host.calls import BODY
from dynabench.models.host.crew import PROBE_PATIENCE, PROBE_SECONDS
from dynabench.supervisor import Watched, answers, end
from tests.supervisor.processes import alive, free_port, until

STATEMENT = {"statement": "A good film, on the whole."}


TOKEN = "s3cret"


class Running:
    """`dynabench host` with small models and two workers, and its processes."""

    def __init__(self, folder):
        models = folder / "models"
        for name in ("sentiment-ngram", "nli-ngram"):
            shutil.copytree(BUILTIN / name, models / name)
        self.url = f"http://127.0.0.1:{free_port()}"
        command = [sys.executable, "-m", "dynabench", "host", "--url", self.url, "--models", str(models)]
        env = {"DYNABENCH_HOME": str(folder / "home"), "DYNABENCH_HOST_TOKEN": TOKEN}
        self.watched = Watched("host", [*command, "--workers", "2"], env=env)
        self.watched.start()
        self.process = self.watched.process

    def http(self, token=TOKEN):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=self.url, timeout=60, headers=headers)

    def workers(self):
        found = psutil.Process(self.process.pid).children()
        return sorted((child for child in found if "--url" in child.cmdline()), key=lambda child: child.cmdline())

    def sockets(self):
        """The folder of the workers' sockets."""
        line = self.workers()[0].cmdline()
        return Path(line[line.index("--url") + 1].removeprefix("unix:")).parent

    def index(self):
        with self.http() as http:
            return {entry["name"]: entry for entry in http.post("/v2/repository/index", json={}).json()}

    def up(self):
        until(lambda: answers(self.url.removeprefix("http://"), "/v2/health/live"), 60)
        until(lambda: self.index().get("nli-ngram", {}).get("workers") == [0, 1], 60)
        return self


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A host that is up; the last test ends it."""
    host = Running(tmp_path_factory.mktemp("host"))
    yield host.up()
    end([host.watched])


async def asked(host, stop, told):
    """One person who asks without pause."""
    while not stop.is_set():
        answer = await host.answer("sentiment-ngram", None, STATEMENT)
        told.append(answer.answer["label"])


def under_load(running, harm, people=6, timeout=20.0):
    """What people were told while `harm(running)` happened; any error is raised."""

    async def story():
        host, stop, told = Host(running.url, timeout, TOKEN), asyncio.Event(), []
        tasks = [asyncio.create_task(asked(host, stop, told)) for _ in range(people)]
        try:
            while len(told) < 50:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(harm, running)
            before = len(told)
            while len(told) < before + 50:
                await asyncio.sleep(0.01)
            stop.set()
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await host.close()
        return told

    return asyncio.run(story())


def test_a_worker_that_is_killed_under_load_is_started_again_and_nobody_sees_an_error(running):
    def kill_one(running):
        victim = running.workers()[1].pid
        os.kill(victim, signal.SIGKILL)
        until(lambda: not alive(victim))
        running.up()

    assert set(under_load(running, kill_one)) == {"positive"}
    with running.http() as http:
        figures = http.get("/metrics").text
    assert re.search(r'dynabench_host_restarted_total\{worker="1"\} 1.0', figures)
    assert re.search(r'dynabench_host_batch_size_count\{lane="ngram",worker="0"\}', figures)


def test_a_worker_that_is_stopped_for_seconds_costs_nobody_an_answer_and_goes_on(running):
    stopped = running.workers()[0]

    def stop_for_seconds(running):
        stopped.suspend()
        time.sleep(PROBE_SECONDS + PROBE_PATIENCE + 1)  # it is suspected meanwhile
        stopped.resume()
        running.up()

    assert set(under_load(running, stop_for_seconds)) == {"positive"}
    assert running.workers()[0].pid == stopped.pid, "being stopped for a moment is no reason to be killed"


def test_models_are_loaded_and_unloaded_in_every_worker(running):
    with running.http() as http:
        until(lambda: http.get("/v2/health/ready").json() == {"ready": True})  # the other model may come later
        assert http.post("/v2/repository/models/nli-ngram/unload").status_code == 200
        assert running.index()["nli-ngram"]["workers"] == []
        assert running.index()["nli-ngram"]["state"] == "UNAVAILABLE"
        assert http.get("/v2/models/nli-ngram/ready").status_code == 503
        assert http.post("/v2/repository/models/nobody/load").status_code == 404
        assert http.post("/v2/models/nobody/infer", json={"inputs": []}).status_code == 404
        assert http.post("/v2/models/nli-ngram/infer", content=b" " * (BODY + 1)).status_code == 413
        assert http.post("/v2/repository/models/nli-ngram/load").status_code == 200
    running.up()


def test_over_tcp_the_token_is_demanded_and_figures_and_health_are_open(running):
    with running.http(token="") as http:
        assert http.get("/metrics").status_code == 200
        assert http.get("/v2").status_code == 401
        assert http.post("/v2/repository/models/nli-ngram/unload").status_code == 401
        assert http.get("/v2", headers={"Authorization": "Bearer s3cre"}).status_code == 401
        assert http.get("/v2", headers={"Authorization": "Bearer s3cret"}).status_code == 200

    async def label(token):
        host = Host(running.url, 5.0, token)
        try:
            return (await host.answer("sentiment-ngram", None, STATEMENT)).answer["label"]
        finally:
            await host.close()

    assert asyncio.run(label("s3cret")) == "positive"
    with pytest.raises(Exception, match="demands its token"):
        asyncio.run(label("wrong"))


def test_a_host_beats_and_one_that_ends_leaves_no_worker_and_no_socket(running):
    for _ in range(2):
        until(lambda: _heard(running.watched.beats))
    children = [child.pid for child in running.workers()]
    folder = running.sockets()
    running.process.terminate()
    running.process.wait(60)
    until(lambda: not any(alive(pid) for pid in children))
    assert not folder.exists()


def _heard(beats):
    try:
        return os.read(beats, 65536)
    except BlockingIOError:
        return b""


@pytest.mark.parametrize("url", ["http://0.0.0.0:8600", "http://[::]:8600", "http://models.example.org:8600"])
def test_without_a_token_no_other_machine_is_answered(url):
    assert "DYNABENCH_HOST_TOKEN" in refusal("--url", url)


@pytest.mark.parametrize(("option", "value"), [("--memory", "lots"), ("--url", "https://127.0.0.1:8600")])
def test_an_option_that_cannot_be_is_told(option, value):
    assert value in refusal(option, value)


def refusal(*options):
    """What the command says before it serves anybody."""
    done = CliRunner().invoke(app, ["host", *options])
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit), "no traceback is shown"
    return done.output
