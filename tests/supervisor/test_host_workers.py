"""A host with several worker processes, the real command: workers that die and hang, load, unload, figures, a token."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import psutil
import pytest

from dynabench.models.catalog import BUILTIN
from dynabench.models.client import Host
from dynabench.models.host.calls import BODY
from dynabench.supervisor import answers
from tests.supervisor.processes import alive, free_port, until

STATEMENT = {"statement": "A good film, on the whole."}


class Running:
    """`dynabench host` with small models, and its processes."""

    def __init__(self, folder, *options, url="", **settings):
        models = folder / "models"
        if not models.exists():
            for name in ("sentiment-ngram", "nli-ngram"):
                shutil.copytree(BUILTIN / name, models / name)
        self.url = url or f"unix:{folder / 'host.sock'}"
        command = [sys.executable, "-m", "dynabench", "host", "--url", self.url, "--models", str(models), *options]
        env = os.environ | {"DYNABENCH_HOME": str(folder / "home")} | settings
        self.log = (folder / "host.log").open("ab")
        self.process = subprocess.Popen(command, env=env, stdout=self.log, stderr=self.log)

    def http(self, **how):
        if not self.url.startswith("unix:"):
            return httpx2.Client(base_url=self.url, timeout=60, **how)
        transport = httpx2.HTTPTransport(uds=self.url.removeprefix("unix:"))
        return httpx2.Client(transport=transport, base_url="http://host", timeout=60, **how)

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

    def up(self, workers=2):
        until(lambda: answers(self.url.removeprefix("http://"), "/v2/health/live"), 60)
        until(lambda: self.index().get("nli-ngram", {}).get("workers") == [*range(workers)], 60)
        return self

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
            self.process.wait()
            self.log.close()


@pytest.fixture
def run(tmp_path):
    made = []

    def start(*options, **how):
        made.append(Running(tmp_path, *options, **how))
        return made[-1]

    yield start
    for one in made:
        one.stop()


async def asked(host, stop, told):
    """One person who asks without pause."""
    while not stop.is_set():
        answer = await host.answer("sentiment-ngram", None, STATEMENT)
        told.append(answer.answer["label"])


def under_load(running, harm, people=6, timeout=20.0):
    """What people were told while `harm(running)` happened; any error is raised."""

    async def story():
        host, stop, told = Host(running.url, timeout), asyncio.Event(), []
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


def test_a_worker_that_is_killed_under_load_is_started_again_and_nobody_sees_an_error(run):
    running = run("--workers", "2").up()

    def kill_one_after_the_other(running):
        for number in (0, 1):
            victim = running.workers()[number].pid
            os.kill(victim, signal.SIGKILL)
            until(lambda victim=victim: not alive(victim))
            running.up()

    told = under_load(running, kill_one_after_the_other)
    assert set(told) == {"positive"}
    with running.http() as http:
        figures = http.get("/metrics").text
    assert re.search(r'dynabench_host_restarted_total\{worker="1"\} 1.0', figures)
    assert re.search(r'dynabench_host_batch_size_count\{lane="ngram",worker="0"\}', figures)


def test_a_worker_that_is_stopped_for_ten_seconds_costs_nobody_an_answer_and_goes_on(run):
    running = run("--workers", "2").up()
    stopped = running.workers()[0]

    def stop_for_ten_seconds(running):
        stopped.suspend()
        time.sleep(10)
        stopped.resume()
        running.up()

    assert set(under_load(running, stop_for_ten_seconds)) == {"positive"}
    assert running.workers()[0].pid == stopped.pid, "being stopped for a moment is no reason to be killed"


def test_a_host_that_ends_leaves_no_worker_and_no_socket(run):
    for end in ("terminate", "kill"):
        running = run("--workers", "2").up()
        children = [child.pid for child in running.workers()]
        folder = running.sockets()
        getattr(running.process, end)()
        running.process.wait(60)
        until(lambda children=children: not any(alive(pid) for pid in children))
        assert end == "kill" or not folder.exists()
        shutil.rmtree(folder, ignore_errors=True)


def test_models_are_loaded_and_unloaded_in_every_worker(run):
    running = run("--workers", "2").up()
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


def test_over_tcp_the_token_is_demanded_and_figures_and_health_are_open(run):
    url = f"http://127.0.0.1:{free_port()}"
    running = run(url=url, DYNABENCH_HOST_TOKEN="s3cret")
    until(lambda: answers(url.removeprefix("http://"), "/v2/health/ready"), 60)
    with running.http() as http:
        assert http.get("/metrics").status_code == 200
        assert http.get("/v2").status_code == 401
        assert http.post("/v2/repository/models/nli-ngram/unload").status_code == 401
        assert http.get("/v2", headers={"Authorization": "Bearer s3cre"}).status_code == 401
        assert http.get("/v2", headers={"Authorization": "Bearer s3cret"}).status_code == 200

    async def told(token):
        host = Host(url, 5.0, token)
        try:
            return (await host.answer("sentiment-ngram", None, STATEMENT)).answer["label"]
        finally:
            await host.close()

    assert asyncio.run(told("s3cret")) == "positive"
    with pytest.raises(Exception, match="demands its token"):
        asyncio.run(told("wrong"))


@pytest.mark.parametrize("url", ["http://0.0.0.0:8600", "http://[::]:8600", "http://models.example.org:8600"])
def test_without_a_token_no_other_machine_is_answered(run, tmp_path, url):
    running = run(url=url)
    assert running.process.wait(120) == 1
    assert "DYNABENCH_HOST_TOKEN" in (tmp_path / "host.log").read_text()


@pytest.mark.parametrize(("option", "value"), [("--memory", "lots"), ("--url", "https://127.0.0.1:8600")])
def test_an_option_that_cannot_be_is_told(run, tmp_path, option, value):
    running = run(option, value)
    assert running.process.wait(120) == 1
    told = (tmp_path / "host.log").read_text()
    assert value in told
    assert "Traceback" not in told
