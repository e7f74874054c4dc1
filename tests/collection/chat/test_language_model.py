"""A conversation with one small language model behind two prompts, which is two models to the platform."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.talker import folder
from tests.models.conftest import served

from .conftest import begun, hosted, opened, said

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
STYLES = {"terse": "Answer with one single word.", "pirate": "You are a pirate. Talk like a pirate."}


@pytest.fixture
def voices(request, tmp_path, monkeypatch):
    """`terse` and `pirate`, and `url`, where the host that serves them is."""
    chat_server = pytest.importorskip("tests.models.served.chat_server")
    if reason := chat_server.missing():
        pytest.skip(reason)
    weights = chat_server.unpacked(Path(request.config.cache.mkdir("language-model")))
    with served(chat_server.Chat(weights).app, "http://127.0.0.1:0") as address:
        for name, style in STYLES.items():
            folder(tmp_path / "models", name, f"{address}/v1", chat_server.NAME, system=style, max_tokens=12)
        with hosted(tmp_path, monkeypatch) as url:
            yield SimpleNamespace(url=url, models=tmp_path / "models")


@pytest.fixture
def talks(client, voices):
    client.app.state.db.write(opened, "chat-preference", voices.models, *STYLES)
    return client


def test_one_model_behind_two_prompts_replies_as_two(talks, ada):
    mine = begun(ada)
    turn = said(ada, mine["id"], "Tell me about the sea.").json()
    assert [reply["state"] for reply in turn["replies"]] == ["done", "done"]
    one, other = (reply["text"] for reply in turn["replies"])
    assert one
    assert other
    assert one != other
    body = {"choice": "A", "ratings": {"A": 4, "B": 2}}
    chosen = ada.post(f"/api/v1/conversations/{mine['id']}/turns/1/choice", json=body).json()
    assert chosen["due"] == "said"
    again = said(ada, mine["id"], "And about its ships?").json()
    assert all(reply["text"] for reply in again["replies"])
    tie = {"choice": "tie", "ratings": {"A": 3, "B": 3}}
    ada.post(f"/api/v1/conversations/{mine['id']}/turns/2/choice", json=tie)
    sent = {"context_id": mine["context"], "input": {"conversation": mine["id"]}, "answer": {"better": "A"}}
    made = ada.post("/api/v1/tasks/chat-preference/examples", json=sent)
    assert made.status_code == 201, made.text
    assert {each["model"] for each in made.json()["predictions"]} == set(STYLES)
