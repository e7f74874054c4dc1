"""Question answering through the API: a marked answer, a model that marks another, both ends explained, blind votes."""

import re
from collections.abc import Iterator

import pytest
import yaml

from dynabench.models.protocol import ModelCard, ModelOutput
from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import ContextRow
from dynabench.tasks import TaskConfig, shipped_tasks
from tests.collection.conftest import nli, send, sentiment
from tests.collection.oip import Rule, RuleHost

PASSAGE = "The bell of the old school rang at nine. Its rope was pulled by Mira’s aunt, who lived next door."
PARTS = ("start", "end")


class Marker(Rule):
    """A target that marks the passage's first `size` characters and explains itself by lengths of words."""

    def __init__(self, name: str, size: int) -> None:
        super().__init__(name, "qa", lambda _: PARTS[0])
        self.size = size

    def infer(self, inputs: dict[str, str]) -> ModelOutput:
        text = inputs["passage"][: self.size]
        return ModelOutput({"answer": [{"start": 0, "end": self.size, "text": text}]}, {text: 0.75, "“nine”": 0.125})

    def card(self) -> ModelCard:
        fields = ("question", "passage")
        return ModelCard(
            self.name, self.version, "qa", "rule", fields, "answer", methods=("length", "halves"), returns="spans"
        )


@pytest.fixture
def rules() -> Iterator[RuleHost]:
    host = RuleHost(
        Rule("nli-a", "nli", nli), Rule("sentiment-a", "sentiment", sentiment), Marker("qa-a", len("The bell"))
    )
    yield host
    host.stop()


@pytest.fixture
def qa(owner, database):
    """The task with one passage and an open round; validators answer blind."""
    source = next(task.source for task in shipped_tasks() if task.config.id == "qa")
    blind = source.replace("mode: judge", "mode: answer").replace("id: qa\n", "id: reading\n", 1)

    def prepare(session):
        service.save_task(session, None, blind)
        contexts.add_contexts(
            session, "reading", TaskConfig.parse(blind), [ContextRow(1, {"passage": PASSAGE}, "school")]
        )

    database.write(prepare)
    opened = owner.post("/api/v1/tasks/reading/rounds", json={"targets": ["qa-a"]})
    assert opened.status_code == 201, opened.text
    return owner


def marked(text):
    start = PASSAGE.index(text)
    return {"answer": [{"start": start, "end": start + len(text), "text": text}]}


def write(caller, text):
    document = caller.post("/api/v1/tasks/reading/contexts/next").json()
    body = {"context_id": document["id"], "input": {"question": "Who pulled the rope?"}, "answer": marked(text)}
    return send(caller, body, task="reading")


def test_a_marked_answer_is_compared_with_what_the_model_marks(ada, qa):
    answer = write(ada, "Mira’s aunt")
    assert answer.status_code == 201, answer.text
    (reply,) = answer.json()["predictions"]
    assert reply["answer"] == marked("The bell")
    assert reply["probabilities"] == {"The bell": 0.75, "“nine”": 0.125}
    assert answer.json()["fooled"]
    assert not write(ada, "bell").json()["fooled"]
    stored = ada.get(f"/api/v1/examples/{answer.json()['id']}").json()
    assert stored["answer"] == marked("Mira’s aunt")


def test_two_answers_in_one_passage_can_both_be_marked(ada, browser, owner, database):
    source = next(task.source for task in shipped_tasks() if task.config.id == "qa")
    config = yaml.safe_load(source) | {"id": "twice"}
    config["answer"] = [config["answer"], config["answer"] | {"name": "evidence", "label": "What shows it"}]
    config["fooled"] = config["fooled"] | {"fields": ["answer"]}
    source = yaml.safe_dump(config, sort_keys=False)

    def prepare(session):
        service.save_task(session, None, source)
        contexts.add_contexts(
            session, "twice", TaskConfig.parse(source), [ContextRow(1, {"passage": PASSAGE}, "school")]
        )

    database.write(prepare)
    assert owner.post("/api/v1/tasks/twice/rounds", json={"targets": ["qa-a"]}).status_code == 201
    writer = browser()
    writer.join("writer")
    address = "/tasks/twice/create"
    page = writer.client.get(address).text
    words = {name: re.findall(rf'name="answer.{name}" value="(\d+:\d+)"', page) for name in ("answer", "evidence")}
    assert words["answer"] == words["evidence"] != []
    assert len(ids := re.findall(r'\bid="([^"]+)"', page)) == len(set(ids))
    values = {
        name: re.search(rf'name="{name}"[^>]* value="([^"]*)"', page)[1] for name in ("context_id", "handout", "key")
    }
    marks = {"answer.answer": words["answer"][-4:-1], "answer.evidence": words["evidence"][:2]}
    answer = writer.submit(address, address, htmx=True, **values, **marks, **{"input.question": "Where did she live?"})
    assert answer.status_code == 200, answer.text
    for text in ("What shows it", "The bell", "lived next door"):
        assert text in answer.text


def test_both_ends_of_an_answer_are_explained_once_each(ada, qa, rules):
    path = f"/api/v1/examples/{write(ada, 'Mira’s aunt').json()['id']}/attributions"
    first = ada.get(path).json()
    assert first["label"] == "start"
    assert set(first["fields"]) == {"question", "passage"}
    assert ada.get(f"{path}?label=end").json()["label"] == "end"
    assert ada.get(f"{path}?label=start").json() == first
    assert ada.get(f"{path}?label=end").json()["label"] == "end"
    assert rules.rules["qa-a"].explained == 2
    refused = ada.get(f"{path}?label=middle")
    assert refused.status_code == 422
    assert "start, end" in refused.text


def test_drafts_are_explained_by_either_end(ada, qa):
    document = ada.post("/api/v1/tasks/reading/contexts/next").json()
    body = {"task": "reading", "context_id": document["id"], "input": {"question": "Who pulled the rope?"}}
    assert ada.post("/api/v1/attributions", json=body).json()["label"] == "start"
    assert ada.post("/api/v1/attributions", json=body | {"label": "end"}).json()["label"] == "end"
    assert ada.post("/api/v1/attributions", json=body | {"label": "entailment"}).status_code == 422


@pytest.mark.parametrize(("text", "vote"), [("aunt", "correct"), ("rang at nine", "incorrect")])
def test_a_validator_who_marks_the_answer_blind_votes_by_agreement(ada, bob, qa, text, vote):
    example = write(ada, "Mira’s aunt").json()["id"]
    item = bob.post("/api/v1/tasks/reading/validations/next")
    assert item.status_code == 200, item.text
    assert (item.json()["example_id"], item.json()["mode"]) == (example, "answer")
    response = bob.post(f"/api/v1/examples/{example}/validations", json={"answer": marked(text)})
    assert response.status_code == 201, response.text
    assert response.json()["vote"] == vote
