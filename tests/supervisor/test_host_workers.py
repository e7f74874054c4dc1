"""A host of several processes, the real command: processes that die and hang, load, unload, figures, a token."""

import asyncio
import os
import re
import shutil
import signal
import sys
import time
from itertools import count

import httpx2
import psutil
import pytest
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.kit.errors import Unavailable
from dynabench.kit.settings import Settings, process_addresses
from dynabench.kit.supervisor import Watched, can_listen, end
from dynabench.models.catalog import BUILTIN
from dynabench.models.client import Host
from dynabench.models.host.app import BODY
from dynabench.models.host.serve import host_processes
from dynabench.models.host_connection import PATIENCE, PAUSE, SLOW
from tests.supervisor.processes import alive, free_port, until

STATEMENT = {"statement": "A good film, on the whole."}


TOKEN = "s3cret"


class Running:
    """`dynabench host` with small models and two processes."""

    def __init__(self, folder):
        models = folder / "models"
        for name in ("sentiment-ngram", "nli-ngram"):
            shutil.copytree(BUILTIN / name, models / name)
        port = next(port for port in (free_port() for _ in count()) if can_listen("127.0.0.1", port + 1))
        self.urls = process_addresses(f"http://127.0.0.1:{port}", 2)
        command = [sys.executable, "-m", "dynabench", "host", "--url", self.urls[0], "--models", str(models)]
        env = {"DYNABENCH_HOME": str(folder / "home"), "DYNABENCH_HOST_TOKEN": TOKEN}
        self.watched = Watched("host", [*command, "--workers", "2", "--memory", "3GiB"], env=env)
        self.watched.start()
        self.process = self.watched.process

    def http(self, number, token=TOKEN):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=self.urls[number], timeout=60, headers=headers)

    def workers(self):
        """The processes that compute, in the order of their addresses."""
        result = psutil.Process(self.process.pid).children()
        return sorted((child for child in result if "--url" in child.cmdline()), key=lambda child: child.cmdline())

    def states(self):
        """Return the states that a client sees, by the model's name."""

        async def ask():
            host = Host(",".join(self.urls), 5.0, TOKEN)
            try:
                return {state.name: state for state in await host.states()}
            finally:
                await host.close()

        try:
            return asyncio.run(ask())
        except Unavailable:
            return {}

    def up(self):
        """Wait until both processes serve both models."""
        everywhere = ",".join(self.urls)
        until(lambda: [state.where for state in self.states().values() if state.available] == [everywhere] * 2, 60)
        return self


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A host that is up; the last test ends it."""
    host = Running(tmp_path_factory.mktemp("host"))
    yield host.up()
    end([host.watched])


async def collect_answers(host, stop, answers):
    """One person who asks without pause."""
    while not stop.is_set():
        answer = await host.answer("sentiment-ngram", None, STATEMENT)
        answers.append(answer.answer["label"])


def under_load(running, harm, people=6, timeout=20.0):
    """Return the messages to people while `harm(running)` happened; any error is raised."""

    async def story():
        host, stop, answer = Host(",".join(running.urls), timeout, TOKEN), asyncio.Event(), []
        tasks = [asyncio.create_task(collect_answers(host, stop, answer)) for _ in range(people)]
        try:
            while len(answer) < 50:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(harm, running)
            before = len(answer)
            while len(answer) < before + 50:
                await asyncio.sleep(0.01)
            stop.set()
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await host.close()
        return answer

    return asyncio.run(story())


@pytest.mark.slow
def test_a_process_that_is_killed_under_load_is_started_again_and_nobody_sees_an_error(running):
    def kill_second(running):
        victim = running.workers()[1].pid
        os.kill(victim, signal.SIGKILL)
        until(lambda: not alive(victim))
        running.up()

    assert set(under_load(running, kill_second)) == {"positive"}


@pytest.mark.slow
def test_a_process_that_is_stopped_for_seconds_costs_nobody_an_answer_and_goes_on(running):
    stopped = running.workers()[0]

    def stop_for_seconds(running):
        stopped.suspend()
        time.sleep(SLOW + PATIENCE + PAUSE + 1)  # it is passed over meanwhile, and asked whether it is back
        stopped.resume()
        running.up()

    assert set(under_load(running, stop_for_seconds)) == {"positive"}
    assert running.workers()[0].pid == stopped.pid, "being stopped for a moment is no reason to be killed"


@pytest.mark.slow
def test_each_process_has_its_part_of_memory_and_processors_and_its_own_figures(running):
    under_load(running, lambda _: None)
    for number, worker in enumerate(running.workers()):
        line = worker.cmdline()
        assert line[line.index("--memory") + 1] == f"{3 * 2**29}B"
        assert worker.environ()["OMP_NUM_THREADS"] == str(max(1, len(os.sched_getaffinity(0)) // 2))
        with running.http(number) as http:
            figures = http.get("/metrics").text
        assert float(re.search(r'dynabench_host_batch_size_count\{lane="ngram"\} (.*)', figures)[1]) > 0
        started = float(re.search(r"^process_start_time_seconds (.*)", figures, re.M)[1])
        assert abs(started - worker.create_time()) < 5


@pytest.mark.slow
def test_a_model_that_one_process_unloads_is_asked_of_the_other(running):
    with running.http(0) as http:
        until(lambda: http.get("/v2/health/ready").json() == {"ready": True})  # the other model may come later
        assert http.post("/v2/repository/models/nli-ngram/unload").status_code == 200
        state = running.states()["nli-ngram"]
        assert (state.state, state.where) == ("READY", running.urls[1])
        assert http.get("/v2/models/nli-ngram/ready").status_code == 503
        assert http.post("/v2/repository/models/nobody/load").status_code == 404
        assert http.post("/v2/models/nobody/infer", json={"inputs": []}).status_code == 404
        assert http.post("/v2/models/nli-ngram/infer", content=b" " * (BODY + 1)).status_code == 413
        assert http.post("/v2/repository/models/nli-ngram/load").status_code == 200
    running.up()


@pytest.mark.slow
def test_over_tcp_every_process_demands_the_token_and_figures_and_health_are_open(running):
    for number in range(2):
        with running.http(number, token="") as http:
            assert http.get("/metrics").status_code == 200
            assert http.get("/v2").status_code == 401
            assert http.post("/v2/repository/models/nli-ngram/unload").status_code == 401
            assert http.get("/v2", headers={"Authorization": "Bearer s3cre"}).status_code == 401
            assert http.get("/v2", headers={"Authorization": "Bearer s3cret"}).status_code == 200

    async def label(token):
        host = Host(",".join(running.urls), 5.0, token)
        try:
            return (await host.answer("sentiment-ngram", None, STATEMENT)).answer["label"]
        finally:
            await host.close()

    assert asyncio.run(label("s3cret")) == "positive"
    with pytest.raises(Unavailable, match="demands its token"):
        asyncio.run(label("wrong"))


@pytest.mark.slow
def test_an_address_that_is_taken_is_told(running):
    assert "Nothing can listen on" in refusal("--url", running.urls[0], "--workers", "2", "--without-token")


@pytest.mark.slow
def test_a_host_beats_and_one_that_ends_leaves_no_process(running):
    for _ in range(2):
        until(lambda: _receive(running.watched.beats))
    children = [child.pid for child in running.workers()]
    running.process.terminate()
    running.process.wait(60)
    until(lambda: not any(alive(pid) for pid in children))


def _receive(beats):
    try:
        return os.read(beats, 65536)
    except BlockingIOError:
        return b""


def test_the_platform_starts_the_processes_at_the_addresses_that_its_clients_ask(tmp_path):
    settings = Settings(home=tmp_path, host_workers=3)
    lines = [process.command for process in host_processes(settings.own_host_address, settings.host_processes)]
    addresses = [line[line.index("--url") + 1] for line in lines]
    assert ",".join(addresses) == settings.host_address
    assert [address.removeprefix(f"unix:{tmp_path}/run/") for address in addresses] == [
        "host.sock",
        "host-1.sock",
        "host-2.sock",
    ]
    assert Settings(home=tmp_path, host_workers=3, ray="local").host_address == addresses[0]


@pytest.mark.parametrize(
    ("url", "second"),
    [
        ("http://[::1]:8600", "http://[::1]:8601"),
        ("http://models:8600", "http://models:8601"),
        ("unix:/run/models.sock", "unix:/run/models-1.sock"),
    ],
)
def test_the_second_process_answers_beside_the_first(url, second):
    assert process_addresses(url, 2) == [url, second]


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("url", ["http://0.0.0.0:8600", "http://[::]:8600", "http://models.example.org:8600"])
def test_without_a_token_no_other_machine_is_answered(url, workers):
    assert "DYNABENCH_HOST_TOKEN" in refusal("--url", url, "--workers", workers)


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(("option", "value"), [("--memory", "lots"), ("--url", "https://127.0.0.1:8600")])
def test_an_option_that_cannot_be_is_told(option, value, workers):
    assert value in refusal(option, value, "--workers", workers)


def test_a_port_that_cannot_be_is_told():
    assert "65536" in refusal("--url", "http://127.0.0.1:65536")


def refusal(*options):
    """Return the message of the command before it serves requests."""
    done = CliRunner().invoke(app, ["host", *options])
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit), "no traceback is shown"
    return done.output
