import asyncio
import json
import os
import re
from pathlib import Path

import httpx2
import pytest

from dynabench.kit.errors import Unavailable
from dynabench.models.catalog import BUILTIN
from dynabench.models.client import Host
from dynabench.models.host import folder_watch
from dynabench.models.host.app import BODY, create_app
from dynabench.models.host.repository import Repository

from .conftest import served
from .handlers import PAIR, doing, need_bubblewrap, write
from .texts import HARD
from .waiting import until_ready as until_host_is_ready

NLI = {"premise": "A man is sleeping.", "hypothesis": "Nobody sleeps."}


def plain(address: str) -> httpx2.Client:
    transport = httpx2.HTTPTransport(uds=address.removeprefix("unix:"))
    return httpx2.Client(transport=transport, base_url="http://host", timeout=30)


async def until_ready(host: Host) -> None:
    for _ in range(600):
        if await host.ready():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the host did not become ready")


@pytest.fixture
def ngrams(copied, tmp_path) -> Path:
    copied("nli-ngram")
    copied("sentiment-ngram")
    return tmp_path / "models"


@pytest.fixture
def address(serve_models, ngrams):
    with serve_models(ngrams) as address:
        yield address


@pytest.fixture(scope="module")
def ready_host(tmp_path_factory):
    """The address of a host with the same models for all tests that leave it as it is."""
    models = tmp_path_factory.mktemp("models")
    for name in ("nli-ngram", "sentiment-ngram"):
        (models / name).symlink_to(BUILTIN / name)
    app = create_app(Repository([models]))
    with served(app, f"unix:{tmp_path_factory.mktemp('run') / 'host.sock'}") as address:
        until_host_is_ready(address)
        yield address


def ask(address, story, timeout=5.0):
    async def run():
        host = Host(address, timeout)
        await until_ready(host)
        try:
            return await story(host)
        finally:
            await host.close()

    return asyncio.run(run())


async def patient(ask):
    """The answer, asked for again where a slow machine is busy."""
    while True:
        try:
            return await ask()
        except Unavailable as busy:
            if "position" not in busy.extra:
                raise


def tensors(**fields):
    return {
        "id": "7",
        "inputs": [
            {"name": name, "datatype": "BYTES", "shape": [len(texts)], "data": texts} for name, texts in fields.items()
        ],
    }


def test_it_speaks_the_open_inference_protocol(ready_host):
    with plain(ready_host) as http:
        assert http.get("/v2").json()["extensions"] == ["model_repository", "attribution", "readme", "converse"]
        assert http.get("/v2/health/live").json() == {"live": True}
        assert http.get("/v2/health/ready").json() == {"ready": True}
        described = http.get("/v2/models/nli-ngram").json()
        version = described["versions"][0]
        assert [tensor["name"] for tensor in described["inputs"]] == ["premise", "hypothesis"]
        assert {tensor["datatype"] for tensor in described["inputs"]} == {"BYTES"}
        assert http.get(f"/v2/models/nli-ngram/versions/{version}/ready").json() == {"name": "nli-ngram", "ready": True}
        body = tensors(premise=["A dog runs.", "A dog runs."], hypothesis=["An animal moves.", "A cat sleeps."])
        answer = http.post(f"/v2/models/nli-ngram/versions/{version}/infer", json=body).json()
        assert (answer["model_name"], answer["model_version"], answer["id"]) == ("nli-ngram", version, "7")
        label, probabilities = answer["outputs"]
        assert label["shape"] == [2]
        assert probabilities["shape"] == [2, 3]
        assert len(probabilities["data"]) == 6


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'{"inputs": []}',
        b'{"inputs": [3]}',
        json.dumps({"inputs": [{"name": "premise", "datatype": "FP32", "shape": [1], "data": [1]}]}).encode(),
        json.dumps({"inputs": [{"name": "premise", "datatype": "BYTES", "shape": [2], "data": ["x"]}]}).encode(),
        json.dumps({"inputs": [{"name": "premise", "datatype": "BYTES", "shape": [1], "data": ["x"]}]}).encode(),
        json.dumps(tensors(premise=["a", "b"], hypothesis=["a"])).encode(),
        json.dumps(tensors(premise=["a"] * 300, hypothesis=["a"] * 300)).encode(),
    ],
)
def test_a_malformed_request_is_told_what_is_wrong(ready_host, body):
    with plain(ready_host) as http:
        answer = http.post("/v2/models/nli-ngram/infer", content=body)
        assert answer.status_code == 400
        assert answer.json()["error"]


def test_unknown_models_versions_and_oversized_requests_are_refused(ready_host):
    with plain(ready_host) as http:
        assert http.post("/v2/models/nobody/infer", json={}).status_code == 404
        assert http.post("/v2/models/nli-ngram/versions/0/infer", json={}).status_code == 404
        assert http.post("/v2/models/nli-ngram/infer", content=b" " * (BODY + 1)).status_code == 413


@pytest.mark.release
def test_every_hard_text_is_answered_and_explained(ready_host):
    async def story(host):
        for text in HARD:
            answer = await host.answer("sentiment-ngram", None, {"statement": text})
            assert sum(answer.probabilities.values()) == pytest.approx(1, abs=1e-5)
            result = await host.attribute("sentiment-ngram", answer.version, {"statement": text}, None, None)
            assert result.label == answer.answer["label"]
            assert all(text[w.start : w.end] == w.text for w in result.fields["statement"])

    ask(ready_host, story)


def test_an_answer_names_the_version_and_another_version_is_not_passed_off(ready_host):
    async def story(host):
        (card,) = [card for card in await host.index() if card.name == "nli-ngram"]
        assert card.labels == ("entailment", "neutral", "contradiction")
        answer = await host.answer("nli-ngram", card.version, NLI)
        assert answer.version == card.version
        with pytest.raises(Unavailable, match="does not serve version"):
            await host.answer("nli-ngram", "0123456789abcdef", NLI)
        with pytest.raises(Unavailable, match="does not serve nobody"):
            await host.answer("nobody", None, NLI)

    ask(ready_host, story)


def test_many_people_share_batches_and_get_their_own_answers(address):
    async def story(host):
        texts = [f"A {word} film number {i}." for i in range(60) for word in ("great", "terrible")]
        alone = [await host.answer("sentiment-ngram", None, {"statement": text}) for text in texts[:4]]
        answers = await asyncio.gather(*(host.answer("sentiment-ngram", None, {"statement": t}) for t in texts))
        assert [a.probabilities for a in answers[:4]] == [a.probabilities for a in alone]
        assert {answer.answer["label"] for answer in answers[::2]} == {"positive"}
        assert {answer.answer["label"] for answer in answers[1::2]} == {"negative"}

    ask(address, story)
    with plain(address) as http:
        figures = http.get("/metrics").text
    calls = float(re.search(r'batch_size_sum\{lane="ngram"\} (\S+)', figures)[1])
    batches = float(re.search(r'batch_size_count\{lane="ngram"\} (\S+)', figures)[1])
    assert calls == 124 + 2  # each model's first call is the host's own
    assert batches < calls


def test_a_broken_model_takes_down_no_other_and_says_why(serve_models, ngrams, copied):
    (copied("nli-ngram", "broken") / "ngram.safetensors").write_bytes(b"no weights")
    (copied("nli-ngram", "unreadable") / "model.yaml").write_text("name: [")
    with serve_models(ngrams) as address:

        async def story(host):
            states = {state.name: state for state in await host.states()}
            assert states["broken"].state == states["unreadable"].state == "UNAVAILABLE"
            assert "cannot be loaded" in states["broken"].reason
            assert states["unreadable"].reason
            assert (await host.answer("nli-ngram", None, NLI)).answer
            with pytest.raises(Unavailable, match="cannot be loaded"):
                await host.answer("broken", None, NLI)
            assert {card.name for card in await host.index()} == {"nli-ngram", "sentiment-ngram"}

        ask(address, story)


@pytest.mark.release
def test_a_model_that_could_not_be_loaded_is_loaded_once_the_cause_has_passed(tmp_path, monkeypatch, serve_models):
    """A host that starts while its sandbox cannot work (a full disk, a busy machine) must not need a restart."""
    need_bubblewrap()
    monkeypatch.setattr(folder_watch, "RETRY_SECONDS", 0.2)
    write(tmp_path / "models" / "late", doing("pass"))
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", str(tmp_path))
    with serve_models(tmp_path / "models") as address:

        async def story(host):
            (state,) = await host.states()
            assert (state.state, "sandbox" in state.reason) == ("UNAVAILABLE", True)
            with pytest.raises(Unavailable, match="sandbox"):
                await host.answer("builders-own", None, PAIR)
            monkeypatch.setenv("PATH", path)
            async with asyncio.timeout(60):
                while (await host.states())[0].state != "READY":
                    await asyncio.sleep(0.1)
            assert (await host.answer("builders-own", None, PAIR)).answer

        ask(address, story)


@pytest.mark.release
def test_models_are_loaded_and_unloaded_while_it_runs(address, copied):
    ask(address, lambda host: asyncio.sleep(0))
    with plain(address) as http:
        assert http.get("/v2/models/newcomer").status_code == 404
        copied("nli-ngram", "newcomer")
        assert http.post("/v2/repository/models/newcomer/load").status_code == 200
        assert http.get("/v2/models/newcomer/ready").status_code == 200
        assert http.post("/v2/repository/models/newcomer/unload").status_code == 200
        assert http.get("/v2/models/newcomer/ready").status_code == 503
        refused = http.post("/v2/models/newcomer/infer", json=tensors(premise=["a"], hypothesis=["b"]))
        assert refused.status_code == 503
        assert refused.headers["Retry-After"] == "2"
        states = {entry["name"]: entry["state"] for entry in http.post("/v2/repository/index", json={}).json()}
        assert states["newcomer"] == "UNAVAILABLE"
        ready = http.post("/v2/repository/index", json={"ready": True}).json()
        assert "newcomer" not in {entry["name"] for entry in ready}
        assert http.post("/v2/repository/models/nobody/load").status_code == 404
        assert http.post("/v2/repository/models/newcomer/load").status_code == 200
        assert http.get("/v2/models/newcomer/ready").status_code == 200


@pytest.mark.release
@pytest.mark.models
def test_whoever_hangs_up_keeps_no_place_and_predictions_pass_explanations(serve_models, copied, tmp_path):
    copied("sentiment-minilm")
    inputs = {"statement": "A film with many words, and more of them than anybody would want to read twice. " * 2}
    with serve_models(tmp_path / "models") as address:

        async def story(host):
            await host.attribute("sentiment-minilm", None, inputs, "neutral", "layer_integrated_gradients")

            def wish(number):
                other = {"statement": f"{inputs['statement']} {number}"}
                return host.attribute("sentiment-minilm", None, other, "neutral", "layer_integrated_gradients")

            waiting = [asyncio.create_task(wish(number)) for number in range(12)]
            await asyncio.sleep(0.3)
            assert (await host.answer("sentiment-minilm", None, {"statement": "Good."})).latency_ms < 3000
            assert not all(task.done() for task in waiting)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            await patient(lambda: wish(12))

        ask(address, story, timeout=20)
        with plain(address) as http:
            figures = http.get("/metrics").text
    abandoned = re.search(r'abandoned_total\{lane="encoder/layer_integrated_gradients"\} (\S+)', figures)
    assert float(abandoned[1]) >= 1  # on a slow machine most were refused at once


def test_it_hands_out_the_card_of_a_model(address, ngrams):
    async def story(host):
        [state] = [item for item in await host.states() if item.name == "nli-ngram"]
        assert state.where == address
        result = await host.readme("nli-ngram", state.version)
        assert result == (ngrams / "nli-ngram" / "README.md").read_text(encoding="utf-8")
        assert await host.readme("nli-ngram", "0" * 16) == ""
        (ngrams / "nli-ngram" / "README.md").write_bytes(b"\xff" + b"x" * 100_000)
        cut = await host.readme("nli-ngram", state.version)
        assert cut.startswith("\ufffdx")
        assert len(cut) == 64 * 1024
        (ngrams / "nli-ngram" / "README.md").unlink()
        assert await host.readme("nli-ngram", state.version) == ""

    ask(address, story)


def test_health_counts_answers_and_failures_of_each_version(ready_host):
    async def story(host):
        assert host.health() == {}
        reply = [await host.answer("nli-ngram", None, NLI) for _ in range(3)]
        with pytest.raises(Unavailable):
            await host.answer("nli-ngram", "0" * 16, NLI)
        failed, well = (host.health()["nli-ngram", version] for version in ("0" * 16, reply[0].version))
        assert (failed.answers, failed.failures, failed.p50_ms) == (0, 1, None)
        assert "does not serve" in failed.last_failure
        assert (well.answers, well.failures, well.last_failure) == (3, 0, "")
        times = sorted(item.latency_ms for item in reply)
        assert (well.p50_ms, well.p95_ms) == (times[1], times[2])

    ask(ready_host, story)
