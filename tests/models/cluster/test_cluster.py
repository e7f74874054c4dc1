"""A real Ray on this machine: the host's protocol over Ray Serve, evaluation over Ray Core."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import httpx2
import pytest

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models import catalog
from dynabench.models.catalog import BUILTIN
from dynabench.models.client import Host
from tests.models.conftest import served

Scale = pytest.importorskip("dynabench_ray.scale", reason="Ray is a plug-in").Scale
ray = pytest.importorskip("ray", reason="Ray is a plug-in")

pytestmark = [
    pytest.mark.release,
    pytest.mark.xdist_group("ray_here"),  # a machine has one Ray
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecatedSince20"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Ray leaves its processes' pipes to the collector
]
PAIR = {"premise": "A man is sleeping on a bench.", "hypothesis": "Nobody is asleep."}
REVIEW = {"statement": "A tender film that never bores."}


@pytest.fixture(scope="module")
def cluster(ray_here):
    """The module `ray`, connected; it runs on for the suite of all backends, which comes next."""
    return ray_here.start()


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name in ("nli-minilm", "sentiment-ngram"):
        (folder / name).symlink_to(BUILTIN / name)
    broken = folder / "broken"
    broken.mkdir()
    (broken / "model.yaml").write_text((BUILTIN / "nli-ngram" / "model.yaml").read_text())
    return folder


@pytest.fixture(scope="module")
def host(cluster, places, tmp_path_factory):
    """Address of the host's own front over replicas: two of each application."""
    from dynabench_ray.engine import ClusterEngine
    from dynabench_ray.repository import Applications

    from dynabench.models.host.app import create_app

    app = create_app(Applications([places], Scale(2, 2, processors=0.1)), ClusterEngine)
    with served(app, f"unix:{tmp_path_factory.mktemp('run') / 'host.sock'}") as address:
        wait(lambda: ready(address))
        yield address


def wait(true, seconds=120):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.2)


def ready(address):
    return asyncio.run(run_story(address, lambda host: host.ready()))


async def run_story(address, story):
    host = Host(address, 30.0)
    try:
        return await story(host)
    finally:
        await host.close()


def ask(address, name, inputs):
    return asyncio.run(run_story(address, lambda host: host.answer(name, None, inputs)))


@pytest.mark.parametrize(("name", "inputs"), [("nli-minilm", PAIR), ("sentiment-ngram", REVIEW)])
def test_replicas_answer_and_explain_as_this_process_does(host, name, inputs):
    model = catalog.open_model(BUILTIN / name)
    expected = model.predict([inputs])[0]
    reply = ask(host, name, inputs)
    assert reply.version == model.card.version
    assert reply.answer == expected.answer
    assert reply.probabilities == pytest.approx(expected.probabilities, abs=2e-2)
    outcome = asyncio.run(run_story(host, lambda item: item.attribute(name, None, inputs, None, None)))
    own = model.attribute(inputs, reply.answer["label"], model.card.methods[0])
    assert outcome.label == reply.answer["label"]
    for field, words in own.fields.items():
        assert [w.weight for w in outcome.fields[field]] == pytest.approx([w.weight for w in words], abs=1e-3)


def test_bad_questions_are_told_apart_from_bad_replicas(host):
    with pytest.raises(Unavailable, match="hypothesis"):
        ask(host, "nli-minilm", {"premise": "Only one."})
    assert ask(host, "nli-minilm", PAIR).answer


def test_a_broken_folder_is_listed_with_its_reason(host):
    states = asyncio.run(run_story(host, lambda item: item.states()))
    assert {state.name: state.state for state in states} == {
        "nli-minilm": "READY", "sentiment-ngram": "READY", "nli-ngram": "UNAVAILABLE",
    }  # fmt: skip
    assert "weights cannot be loaded" in next(state.reason for state in states if state.name == "nli-ngram")


def test_many_calls_share_batches_and_none_gets_another_ones_answer(host):
    pairs = [
        {"premise": PAIR["premise"], "hypothesis": f"{'A man' if i % 2 else 'Nobody'} is asleep, says number {i}."}
        for i in range(60)
    ]

    async def story(number):
        return await asyncio.gather(*(number.answer("nli-minilm", None, pair) for pair in pairs))

    outcome = asyncio.run(run_story(host, story))
    expected = catalog.open_model(BUILTIN / "nli-minilm").predict(pairs)
    assert len({first.answer["label"] for first in expected}) > 1
    assert [single.answer for single in outcome] == [candidate.answer for candidate in expected]


def replicas():
    """Processes that this one's Ray started to answer for the small models; others may run on the same machine."""
    import psutil

    result = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has ended meanwhile
            if "dynabench-ngram" in " ".join(process.cmdline()):
                result.append(process)
    return result


def test_a_replica_that_dies_costs_nobody_an_answer(host, cluster):
    wait(lambda: len(replicas()) == 2)  # those that were replaced when models were added end by and by
    replicas()[0].kill()
    for _ in range(20):
        assert ask(host, "sentiment-ngram", REVIEW).answer["label"] == "positive"


def test_models_come_and_go_while_it_runs(host, places):
    http = httpx2.Client(
        transport=httpx2.HTTPTransport(uds=host.removeprefix("unix:")), base_url="http://host", timeout=60
    )
    (places / "hate-ngram").symlink_to(BUILTIN / "hate-ngram")
    assert http.post("/v2/repository/models/hate-ngram/load").status_code == 200
    assert ask(host, "hate-ngram", {"statement": "What a lovely day."}).answer
    assert ask(host, "sentiment-ngram", REVIEW).answer
    assert http.post("/v2/repository/models/hate-ngram/unload").status_code == 200
    with pytest.raises(Unavailable, match="unloaded"):
        ask(host, "hate-ngram", {"statement": "What a lovely day."})
    assert http.post("/v2/repository/models/nobody/load").status_code == 404


def test_a_broken_newcomer_replaces_no_replica(host, places):
    before = {process.pid for process in replicas()}
    torn = places / "torn"
    torn.mkdir()
    for file in (BUILTIN / "hate-ngram").iterdir():
        (torn / file.name).write_bytes(file.read_bytes().replace(b"name: hate-ngram", b"name: torn"))
    (torn / "ngram.safetensors").write_bytes(b"no weights")

    def listed():
        states = {state.name: state for state in asyncio.run(run_story(host, lambda item: item.states()))}
        return "torn" in states and states["torn"].state == "UNAVAILABLE" and states["torn"].reason

    wait(listed)
    assert {process.pid for process in replicas()} >= before
    shutil.rmtree(torn)


def test_what_the_cluster_lost_is_deployed_again(host):
    """As after a restart of the cluster."""
    before = ray.serve.status().applications["dynabench-ngram"].last_deployed_time_s
    ray.serve.delete("dynabench-ngram", _blocking=False)  # else it waits to see it gone, which the host may prevent

    def deployed_again():
        response = ray.serve.status().applications.get("dynabench-ngram")
        return response is not None and response.last_deployed_time_s > before and response.status == "RUNNING"

    wait(deployed_again)

    def answered():
        with suppress(Unavailable):
            return ask(host, "sentiment-ngram", REVIEW)

    wait(answered)


def test_a_function_of_serve_that_hangs_keeps_nobody_waiting_for_ever(tmp_path, monkeypatch):
    from dynabench_ray import repository

    monkeypatch.setattr(repository, "SERVE_SECONDS", 0.3, raising=False)
    stuck = threading.Event()

    async def story():
        applications = repository.Applications([tmp_path])
        try:
            async with asyncio.timeout(20):
                with pytest.raises(Unavailable):
                    await applications._in_turn(stuck.wait, 60)
                assert await applications._in_turn(len, "four") == 4
                await applications.close()
        finally:
            stuck.set()

    asyncio.run(story())


def test_evaluation_is_shared_out_and_comes_back_in_order(cluster):
    from dynabench_ray.evaluation import DistributedModel

    texts = [{"statement": f"{'A joy' if i % 3 else 'A bore'} of a film, {i} times over."} for i in range(300)]
    model = DistributedModel(BUILTIN / "sentiment-ngram", cluster, workers=2, processors=0.2)
    try:
        assert model.predict(texts) == catalog.open_model(BUILTIN / "sentiment-ngram").predict(texts)
        cluster.kill(model._actors[0], no_restart=False)
        assert [reply.answer for reply in model.predict(texts)] == [
            prediction.answer for prediction in catalog.open_model(BUILTIN / "sentiment-ngram").predict(texts)
        ]
        assert model.attribute(texts[0], "positive", "exact").method == "exact"
    finally:
        model.close()


def test_models_that_find_no_room_say_so_and_come_once_there_is_some(host, alone, tmp_path, monkeypatch):
    """A cluster without room must neither hold up the host's start nor leave the model loading without a reason."""
    from dynabench_ray import repository
    from dynabench_ray.engine import ClusterEngine

    from dynabench.models.host.app import create_app

    monkeypatch.setattr(repository, "PATIENCE", 3.0)
    with httpx2.Client(transport=httpx2.HTTPTransport(uds=host.removeprefix("unix:")), timeout=60) as http:
        for name in ("sentiment-ngram", "nli-ngram"):  # of the tests before
            http.post(f"http://host/v2/repository/models/{name}/unload")

    @ray.remote(num_cpus=ray.cluster_resources()["CPU"] - 0.5)
    class Occupant:
        def ready(self):
            return True

    wait(lambda: ray.available_resources().get("CPU", 0) > ray.cluster_resources()["CPU"] - 0.5)
    occupant = Occupant.remote()
    assert ray.get(occupant.ready.remote(), timeout=60)
    app = create_app(repository.Applications([alone], Scale(1, 1, processors=1.0)), ClusterEngine)
    with served(app, f"unix:{tmp_path / 'host.sock'}") as address:
        wait(lambda: ready(address), 60)
        (state,) = asyncio.run(run_story(address, lambda host: host.states()))
        assert (state.state, state.reason[:13]) == ("LOADING", "waits for Ray")
        ray.kill(occupant)
        wait(lambda: asyncio.run(run_story(address, lambda host: host.states()))[0].state == "READY")
        assert ask(address, "nli-ngram", PAIR).answer


@pytest.fixture
def alone(tmp_path):
    """A folder that holds one small model."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "nli-ngram").symlink_to(BUILTIN / "nli-ngram")
    return folder


def test_the_application_for_clusters_speaks_the_protocol_over_http(cluster, ray_here, alone):
    from dynabench_ray.application import build
    from ray import serve

    args = {"replicas": "1", "processors": "0.1", "models": str(alone)}
    serve.run(build(args), name="front", route_prefix="/")
    address = f"http://127.0.0.1:{ray_here.port}"
    wait(lambda: ready(address))
    assert ask(address, "nli-ngram", PAIR).answer == catalog.open_model(alone / "nli-ngram").predict([PAIR])[0].answer
    assert [state.name for state in asyncio.run(run_story(address, lambda item: item.states()))] == ["nli-ngram"]
    assert httpx2.get(f"{address}/v2").json()["name"] == "dynabench"
    serve.delete("front")


def test_one_setting_puts_the_host_on_ray(tmp_path, alone):
    address = f"unix:{tmp_path / 'host.sock'}"
    environment = os.environ | {
        "DYNABENCH_RAY": "local", "DYNABENCH_RAY_PROCESSORS": "0.2", "DYNABENCH_HOME": str(tmp_path)
    }  # fmt: skip
    command = [sys.executable, "-m", "dynabench", "host", "--url", address, "--models", str(alone)]
    process = subprocess.Popen(command, env=environment)
    try:
        wait(lambda: ready(address))
        assert ask(address, "nli-ngram", PAIR).answer
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) in (0, 15, -15)  # Ray ends the process itself


@pytest.mark.parametrize("replicas", ["", "0", "3-1", "many", "1-", "5000"])
def test_replicas_that_make_no_sense_are_refused(replicas):
    with pytest.raises(Invalid, match="such as 1-8"):
        Scale.read(replicas)


def test_a_range_of_replicas_is_left_to_the_cluster():
    assert Scale.read("1-8").options()["autoscaling_config"]["max_replicas"] == 8
    assert Scale.read(" 3 ").options()["num_replicas"] == 3


def test_a_cluster_that_does_not_answer_is_told_at_once(tmp_path):
    environment = os.environ | {"DYNABENCH_RAY": "127.0.0.1:1", "DYNABENCH_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "dynabench", "host", "--url", f"unix:{tmp_path / 'host.sock'}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 1
    assert "Nothing answers at the Ray cluster's address '127.0.0.1:1'" in done.stderr
