"""A task of labels and one of spans with targets of every kind of model that is here, all asked for one example.

The other built-in tasks of labels differ in their texts alone; `test_shipped_tasks.py` plays all of them.
"""

import asyncio
import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import select

from dynabench.collection.tables import Prediction
from dynabench.kit.errors import Problem
from dynabench.kit.settings import get_settings
from dynabench.models import catalog, encoder, exporting, kinds, starting
from dynabench.models.client import Host
from dynabench.models.host.app import create_app
from dynabench.models.host.repository import Repository
from dynabench.models.protocol import ModelCard
from dynabench.tasks import TaskConfig, shipped_tasks
from dynabench.tasks.fields import Choice
from tests.collection.conftest import seed, send
from tests.conftest import Caller
from tests.models.conftest import served
from tests.models.waiting import until_ready

pytestmark = [
    pytest.mark.slow,
    pytest.mark.models,
    pytest.mark.timeout(180),
    pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True),  # what a model said is written alike on both
]
SERVED = {"nli": "nli-minilm", "qa": "qa-minilm"}
CONFIGS = {
    shipped_task.config.id: shipped_task.config for shipped_task in shipped_tasks() if shipped_task.config.id in SERVED
}
STARTED = {"ensemble": ("nli",), "linear": ("nli",), "handler": ("nli", "qa")}
"""In this order, so that no ensemble is of a handler, which nothing may be able to confine here."""
EXPORTED = {"nli": catalog.BUILTIN / "nli-minilm", "qa": Path("qa-transformers")}
"""A shipped classifier and a small reader made here: writing a large graph takes ten seconds and more."""
CHATTING = ("nli",)
"""A chat model writes labels and texts, it marks none."""
PREDICTIONS = select(Prediction)


@dataclass(frozen=True)
class Everything:
    """A real host with models of each kind."""

    url: str
    cards: list[ModelCard]

    def cards_for(self, task: str) -> dict[str, ModelCard]:
        return {card.name: card for card in self.cards if card.task == task}


@pytest.fixture(scope="module")
def chat(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a chat API around a small language model; empty where the weights are not installed."""
    if kinds.kind("openai").lacks() or find_spec("transformers") is None:
        yield ""
        return
    from tests.models.served import chat_server

    if chat_server.missing():
        yield ""
        return
    server = chat_server.Chat(chat_server.unpacked(Path(request.config.cache.mkdir("language-model"))))
    with served(server.app, "http://127.0.0.1:0") as address:
        yield f"{address}/v1"


@pytest.fixture(scope="module")
def everything(chat: str) -> Iterator[Everything]:
    """Shipped models, those that `dynabench model new` begins, saved and exported networks, a chat model, and endpoints
    that lead back to the same host."""
    with tempfile.TemporaryDirectory(prefix="dynabench-") as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DYNABENCH_HOME", home)
        patch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
        get_settings.cache_clear()
        place = Path(home) / "models"
        place.mkdir()
        Path(home).chmod(0o755)
        for kind, tasks in STARTED.items():
            for task in tasks:
                begin(f"{task}-{kind}", task, kind, place)
        for task, config in CONFIGS.items():
            save(task, config, Path(home) / "saved", place)
        for task, source in EXPORTED.items():
            export(f"{task}-onnx", place / source, place)
        for task in CHATTING if chat else ():
            begin(f"{task}-openai", task, "openai", place, url=chat, model="smollm2")
        with served(create_app(Repository([place, catalog.BUILTIN])), "http://127.0.0.1:0") as url:
            until_ready(url)
            load_endpoints(url, place)
            yield Everything(url, asyncio.run(cards(url)))
    get_settings.cache_clear()


def begin(name: str, task: str, kind: str, place: Path, **said: str) -> None:
    """Begin a model where its kind is to be had."""
    if not kinds.kind(kind).lacks():
        starting.start(name, CONFIGS[task], kind, place, **said)


def save(task: str, config: TaskConfig, saved: Path, place: Path) -> None:
    """The encoder's first layers below a head for the task, saved as the transformers library does, and described."""
    if kinds.kind("transformers").lacks():
        return
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForQuestionAnswering, BertForSequenceClassification

    torch.manual_seed(5)
    field, known_values = config.answer[0], {"num_hidden_layers": 2}
    if isinstance(field, Choice):
        known_values |= {
            "id2label": dict(enumerate(field.values)),
            "label2id": {name: at for at, name in enumerate(field.values)},
        }
    form = BertForSequenceClassification if isinstance(field, Choice) else BertForQuestionAnswering
    network = form.from_pretrained(encoder.find(), config=BertConfig.from_pretrained(encoder.find(), **known_values))
    network.save_pretrained(saved / task)
    AutoTokenizer.from_pretrained(encoder.find()).save_pretrained(saved / task)
    begin(f"{task}-transformers", task, "transformers", place, source=str(saved / task))


def export(name: str, source: Path, place: Path) -> None:
    """A model as a graph, as `dynabench model export` writes it."""
    if source.is_dir() and not kinds.kind("onnx").lacks():
        with exporting.draft(place / name) as folder:
            exporting.write(source, folder, name)


def load_endpoints(url: str, place: Path) -> None:
    """Models that lie elsewhere, as far as the platform knows."""
    for task, model in SERVED.items():
        begin(f"{task}-oip", task, "oip", place, url=url, model=model)
        if (place / f"{task}-oip").is_dir():
            httpx2.post(f"{url}/v2/repository/models/{task}-oip/load", timeout=30).raise_for_status()


async def cards(url: str) -> list[ModelCard]:
    host = Host(url, 30.0)
    try:
        states = await host.states()
    finally:
        await host.close()
    return [state.card for state in states if state.card and state.state == "READY"]


@pytest.fixture
def host(everything: Everything) -> Host:
    return Host(everything.url, 60.0)


def example(handout: dict[str, Any], task: str) -> dict[str, Any]:
    """Something that the task's config accepts."""
    [written] = [field.name for field in CONFIGS[task].input]
    body = {"context_id": handout["id"], "input": {written: "Nobody I know would call this a good day."}}
    passage = handout.get("values", {}).get("passage", "")
    if task == "qa":
        first = passage.split()[0]
        return body | {"answer": {"answer": [{"start": 0, "end": len(first), "text": first}]}}
    return body | {"answer": handout["goal"] or {"label": CONFIGS[task].answer[0].values[0]}}


@pytest.mark.release
@pytest.mark.parametrize("task", list(CONFIGS))
def test_a_round_has_targets_of_every_kind_and_records_what_each_version_said(everything, chat, admin: Caller, task):
    admin.client.app.state.db.write(seed)
    targets = everything.cards_for(task)
    expected = {kind for kind, tasks in STARTED.items() if task in tasks and not kinds.kind(kind).lacks()}
    expected |= {"oip"} if not kinds.kind("oip").lacks() else set()
    expected |= {"extractor"} if task == "qa" else {"adapter", "ngram"}
    expected |= {"transformers"} if not kinds.kind("transformers").lacks() else set()
    expected |= {"onnx"} if task in EXPORTED and not kinds.kind("onnx").lacks() else set()
    expected |= {"openai"} if task in CHATTING and chat else set()
    with contextlib.suppress(ImportError):
        expected -= missing_sandbox()
    assert {card.kind for card in targets.values()} == expected
    opened = admin.post(f"/api/v1/tasks/{task}/rounds", json={"targets": sorted(targets)})
    assert opened.status_code == 201, opened.text
    document = admin.post(f"/api/v1/tasks/{task}/contexts/next").json()
    response = send(admin, example(document, task), task=task)
    assert response.status_code == 201, response.text
    view = {prediction["model"]: prediction for prediction in response.json()["predictions"]}
    assert set(view) == set(targets)
    stored = admin.client.app.state.db.write(
        lambda session: [(p.model, p.version) for p in session.scalars(PREDICTIONS)]
    )
    assert sorted(stored) == sorted((card.name, card.version) for card in targets.values())
    for name, value in view.items():
        assert set(value["answer"]) == {targets[name].answer}
        assert CONFIGS[task].fooled_by(value["answer"], value["answer"]) is False
    if "oip" in expected:  # the endpoint leads to a model of the same round
        assert view[f"{task}-oip"]["answer"] == view[SERVED[task]]["answer"]


def missing_sandbox() -> set[str]:
    """Handlers, where nothing here can confine them."""
    from dynabench.models.sandbox.available import sandbox

    try:
        sandbox()
    except Problem:
        return {"handler"}
    return set()
