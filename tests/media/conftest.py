"""A task of pictures with an open round, against a rule that looks at the first point of a picture."""

import base64
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from PIL import Image
from starlette.testclient import TestClient

from dynabench.kit.settings import Settings
from dynabench.models.client import Host
from dynabench.models.protocol import ModelOutput
from dynabench.rounds import service
from dynabench.rounds.tables import Context
from dynabench.site.app import create_app
from tests.collection.conftest import promoted
from tests.collection.oip import Rule, RuleHost
from tests.conftest import Caller, register
from tests.furnished import Furnish, bare
from tests.media import files

TASK = """
id: colours
name: Colours
context: [{name: one, type: image}, {name: other, type: image}]
input:
  - {name: image, type: image, choose_from: [one, other], max_mb: 1, max_pixels: 250000}
  - {name: heard, type: audio, required: false, max_seconds: 5}
  - {name: paper, type: file, required: false}
answer: {name: label, type: choice, options: [red, blue]}
ask: [{name: where, type: image_region, of: image, labels: [sky, sea]}]
validate: {also_not_fooled: true}
"""


class Eye(Rule):
    """Sees red where there is any."""

    def infer(self, inputs: dict[str, str]) -> ModelOutput:
        self.seen.append(inputs)
        sent = base64.b64decode(inputs["image"].partition(",")[2])
        red, _, blue = Image.open(io.BytesIO(sent)).convert("RGB").getpixel((0, 0))
        label = "red" if red >= blue else "blue"
        return ModelOutput({"label": label}, {text: 0.9 if text == label else 0.1 for text in ("red", "blue")})


@contextmanager
def open_eye() -> Iterator[tuple[Eye, RuleHost]]:
    """The rule, and a host that serves it."""
    rule = Eye("eye", "nli", lambda _: "")
    rule.card_changes = {
        "task": "colours",
        "inputs": ("image",),
        "images": ("image",),
        "labels": ("red", "blue"),
        "methods": (),
    }
    running = RuleHost(rule)
    try:
        yield rule, running
    finally:
        running.stop()


@pytest.fixture
def eye() -> Iterator[tuple[Eye, RuleHost]]:
    with open_eye() as opened:
        yield opened


@pytest.fixture
def host(eye: tuple[Eye, RuleHost], settings: Any) -> Host:
    return Host.of(settings.model_copy(update={"host_url": eye[1].url}))


def with_colours(settings: Settings) -> tuple[str, int, str]:
    """The task with two contexts and an open round; returns the name, the number and the token of its owner."""
    with open_eye() as (_, running):
        host = Host.of(settings.model_copy(update={"host_url": running.url}))
        with TestClient(create_app(settings, host=host), follow_redirects=False) as client:
            root = promoted(register(client, "root"))
            client.app.state.db.write(service.save_task, None, TASK)
            open_round(root)
            return root.name, root.id, root.token


@pytest.fixture
def furnish(request: pytest.FixtureRequest) -> Furnish:
    return with_colours if "owner" in request.fixturenames else bare


@pytest.fixture
def owner(client: TestClient, furnished: tuple[str, Any]) -> Caller:
    """The owner of the task of colours."""
    return Caller(client, *furnished[1])


def open_round(root: Caller) -> None:
    """Add two contexts, and open a round against the eye."""
    rows = []
    for shade in (0, 60):
        red = send(root, "context.one", files.picture(colour=(250 - shade, 0, 0)))
        blue = send(root, "context.other", files.picture(colour=(0, 0, 250 - shade)))
        rows.append({"values": {"one": red, "other": blue}})
    response = root.post("/api/v1/tasks/colours/contexts", json={"contexts": rows})
    assert response.json()["created"] == 2, response.text
    opened = root.post("/api/v1/tasks/colours/rounds", json={"targets": ["eye"]})
    assert opened.status_code == 201, opened.text


def send(caller: Caller, field: str, content: bytes, status: int = 201) -> dict[str, Any]:
    """Send a file for a field; the reference, or the problem."""
    answer = caller.post(f"/api/v1/tasks/colours/media?field={field}&name=sent.png", content=content)
    assert answer.status_code == status, answer.text
    return {"media": answer.json()["media"]} if status == 201 else answer.json()


def contexts(client: TestClient) -> list[Context]:
    return client.app.state.db.read(lambda session: list(session.query(Context)))
