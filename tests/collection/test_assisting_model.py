"""Suggestions of a language model that the real model host serves."""

import pytest

from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import ContextRow
from tests.collection.chat.conftest import NORTH, host, root, talks, voices  # noqa: F401
from tests.collection.conftest import draw
from tests.collection.test_assisting import SOURCE, suggest
from tests.conftest import register

MODEL = """
assistant:
  providers: [model, edits]
  model: {name: NAME, system: Be brief., prompt: "Of “{premise}” people say {goal}: {number} texts, like {draft}"}
"""


def helped(talks, root, name):  # noqa: F811
    """A handout of a round without targets whose only arm offers help by a model."""

    def prepare(session):
        service.save_task(session, None, SOURCE + MODEL.replace("NAME", name))
        contexts.add_contexts(
            session, "nli", service.newest_config(session, "nli"), [ContextRow(1, {"premise": "It rains."})]
        )

    talks.app.state.db.write(prepare)
    arms = [{"name": "helped", "assistant": True, "targets": "none"}]
    opened = root.post("/api/v1/tasks/nli/rounds", json={"targets": ["none"], "arms": arms})
    assert opened.status_code == 201, opened.text
    ada = register(talks, "ada")
    return ada, draw(ada)


@pytest.mark.slow
def test_a_model_writes_what_the_config_asks_it_for(talks, root, voices):  # noqa: F811
    ada, inputs = helped(talks, root, "north")
    document = suggest(ada, inputs, hypothesis="It isn't {goal}.").json()
    assert document["problems"] == []
    first = document["items"][0]
    assert (first["provider"], first["model"], first["text"]) == ("model", "north", " ".join(NORTH))
    assert first["version"]
    assert first["latency_ms"] > 0
    system, prompt = voices.north.seen[-1]["messages"]
    assert system["content"] == "Be brief."
    goal = next(iter(inputs["goal"].values()))
    assert prompt["content"].startswith("Of “It rains.” people say")
    assert goal in prompt["content"].casefold()
    assert prompt["content"].endswith("3 texts, like It isn't {goal}."), "what people write is no prompt"


def test_a_model_that_is_not_there_leaves_the_others(talks, root):  # noqa: F811
    ada, values = helped(talks, root, "nobody")
    document = suggest(ada, values, hypothesis="It isn't cold.").json()
    assert [item["provider"] for item in document["items"]] == ["edits"] * len(document["items"])
    assert document["items"]
    assert "not available" in document["problems"][0]
    assert "Be brief" not in ada.get("/api/v1/tasks/nli").text
