"""A real small language model: a round of chat against it, twice and told different things, and itself as adversary."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from benchmarks import language_model
from benchmarks.talker import folder
from dynabench.adversaries.attacks import LocalTarget
from dynabench.adversaries.protocol import AttackContext, Budget, MeteredTarget, create_adversary
from dynabench.kit.settings import get_settings
from dynabench.models.catalog import BUILTIN, open_model
from tests.collection.against import hosted, opened
from tests.conftest import register
from tests.models.conftest import served

from .conftest import begun, send_message
from .test_conversations import choose, sides

pytestmark = [pytest.mark.release, pytest.mark.skipif(bool(language_model.missing()), reason=language_model.missing())]


CALM = AttackContext(
    "c", {}, {"statement": "The soup was delicious and the waiter was charming."}, {"label": "positive"}
)
TONES = {"pirate": "You are a pirate. Speak like one.", "plain": "Answer in one short sentence."}


@pytest.fixture(scope="module")
def language_model_url(request: pytest.FixtureRequest) -> Iterator[str]:
    from tests.models.served import chat_server

    server = chat_server.Chat(chat_server.unpacked(Path(request.config.cache.mkdir("language-model"))))
    with served(server.app, "http://127.0.0.1:0") as address:
        yield f"{address}/v1"


@pytest.fixture
def voices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language_model_url: str) -> Iterator[SimpleNamespace]:
    """The model under two names: `url`, where the host that serves them is, and `models`, the folder."""
    for name, system in TONES.items():
        folder(tmp_path / "models", name, language_model_url, "smollm2", system=system, max_tokens=12)
    with hosted(tmp_path, monkeypatch) as url:
        yield SimpleNamespace(url=url, models=tmp_path / "models")


@pytest.fixture
def talks(client: TestClient, voices: SimpleNamespace) -> TestClient:
    """The application with an open round of chat preference between two ways to ask one model."""
    client.app.state.db.write(opened, "chat-preference", voices.models, *TONES)
    return client


def test_two_ways_to_ask_one_language_model_are_compared_over_two_turns(talks):
    ada = register(talks, "ada")
    mine = begun(ada)
    first = send_message(ada, mine["id"], "Tell me about the sea.")
    assert first.status_code == 201, first.text
    single, other = (reply["text"] for reply in first.json()["replies"])
    assert single
    assert other
    assert single != other  # the same weights, differently told
    assert choose(ada, mine["id"], 1, "A", A=4, B=2).status_code == 200
    second = send_message(ada, mine["id"], "And about ships?")
    assert second.status_code == 201, second.text
    assert choose(ada, mine["id"], 2, "B", A=3, B=3).status_code == 200
    body = {"context_id": mine["context"], "input": {"conversation": mine["id"]}, "answer": {"better": "A"}}
    sent = ada.post("/api/v1/tasks/chat-preference/examples", json=body)
    assert sent.status_code == 201, sent.text
    assert {prediction["model"] for prediction in sent.json()["predictions"]} == set(TONES)
    assert set(sides(talks, mine["id"])) == set(TONES)


def test_a_language_model_writes_examples_that_are_read_counted_and_paid_for(tmp_path, monkeypatch, language_model_url):
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path))
    monkeypatch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
    get_settings.cache_clear()
    target = LocalTarget(open_model(BUILTIN / "sentiment-ngram"))
    reply = {"fields": ["statement"], "temperature": 0, "max_tokens": 40, "price_in": 1, "price_out": 1, "seconds": 300}
    model = create_adversary(
        "language-model", url=language_model_url, model="smollm2", strategy="iterate", tries=3, **reply
    )
    metered = MeteredTarget(target, Budget())
    result = list(model.propose(CALM, metered, Budget()))
    model.close()
    get_settings.cache_clear()
    assert model.tally["requests"] == 3
    assert model.tally.total() == 6 - len(result)
    assert metered.queries == len(result)
    assert 0 < metered.cost < 0.003
    assert sum(element.cost for element in result) <= metered.cost
    for item in result:
        assert item.output.answer["label"] in target.labels
        assert item.fooled == (item.output.answer["label"] != "positive")
        assert item.inputs["statement"].strip()
