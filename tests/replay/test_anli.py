"""A published collection, played again through the API: ANLI's development rows with their verifiers' votes.

The data's own predictions answer as the target. What the platform makes of it must equal what a few lines compute
from the files: two verifiers, a third where they disagree (Nie et al. 2020, section 2.1).
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from tests.collection import conftest as world
from tests.collection.oip import Rule, RuleHost
from tests.conftest import Caller
from tests.large_data import need_data

FILES = [f"anli_dev/{name}.jsonl.gz" for name in ("verifier_labels", "r1_dev", "r2_dev", "r3_dev")]
pytestmark = [pytest.mark.release, pytest.mark.large_data(*FILES)]

client, admin = world.client, world.admin
host = world.host

ROUNDS = ("r1", "r2", "r3")
TASK = """
id: anli
name: ANLI again
context: {name: premise, type: text, max_length: 2000, multiline: true}
input: {name: hypothesis, type: text, max_length: 1000, multiline: true}
answer: {name: label, type: choice, options: [entailment, neutral, contradiction], goal: chosen}
validate: {votes: 2, adjudicate_up_to: 3}
"""
Row = dict[str, Any]


def lines(name: str) -> Iterator[Row]:
    with gzip.open(need_data(f"anli_dev/{name}.jsonl.gz"), "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def one_space(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def rows(request: pytest.FixtureRequest) -> list[Row]:
    """The 3,198 rows (every thirtieth unless `--replay-all`) with the labels that their verifiers gave."""
    votes = {row["uid"]: row["verifier labels"] for row in lines("verifier_labels")}
    every = [row | {"tag": name, "votes": votes[row["id"]]} for name in ROUNDS for row in lines(f"{name}_dev")]
    assert len(every) == 3198
    return every if request.config.getoption("--replay-all") else every[::30]


@pytest.fixture
def rules(rows: list[Row]) -> Iterator[RuleHost]:
    """A model host whose only target answers what the files say that the target of that time answered."""
    answer = {(one_space(row["premise"]), one_space(row["hypothesis"])): row["model_pred"] for row in rows}
    server = RuleHost(
        Rule("of-the-files", "nli", lambda put: answer[one_space(put["premise"]), one_space(put["hypothesis"])])
    )
    yield server
    server.stop()


@pytest.fixture
def owner(admin: Caller, rows: list[Row]) -> Caller:
    """The admin, with the task's contexts uploaded and a round open against the files' predictions."""
    assert admin.post("/api/v1/tasks", json={"config": TASK}).status_code == 201
    premises = list({row["premise"]: row["tag"] for row in rows}.items())
    for start in range(0, len(premises), 1000):
        contexts = [{"values": {"premise": text}, "tag": tag} for text, tag in premises[start : start + 1000]]
        answer = admin.post("/api/v1/tasks/anli/contexts", json={"contexts": contexts})
        assert answer.json().get("errors") == [], answer.text
    assert admin.post("/api/v1/tasks/anli/rounds", json={"targets": ["of-the-files"]}).status_code == 201
    return admin


def write(author: Caller, context: int, row: Row, label: str) -> Row:
    body = {"context_id": context, "input": {"hypothesis": row["hypothesis"]}, "answer": {"label": label}}
    key = {"Idempotency-Key": f"{row['id']}-{label}"}
    answer = author.post("/api/v1/tasks/anli/examples", json=body, headers=key)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def write_all(author: Caller, rows: list[Row]) -> dict[int, Row]:
    """Write each row as it was written, and once more with the answer that the target gives; the former by id."""
    waiting: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        waiting[one_space(row["premise"])].append(row)
    written = {}
    while waiting:
        document = author.post("/api/v1/tasks/anli/contexts/next").json()
        for row in waiting.pop(one_space(document["values"]["premise"]), []):
            outcome = write(author, document["id"], row, row["label"])
            assert outcome["fooled"]
            written[outcome["id"]] = row
            assert not write(author, document["id"], row, row["model_pred"])["fooled"]
    return written


def vote(voter: Caller, example: int, label: str, claim: str) -> str:
    path = f"/api/v1/examples/{example}/validations"
    answer = voter.post(path, json={"vote": "correct" if label == claim[0] else "incorrect"})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["verdict"])


def by_the_files(row: Row) -> str:
    """The first two where they agree, else the majority of three."""
    right = [label == row["label"][0] for label in row["votes"]]
    decisive = right[:2] if right[0] == right[1] else right[:3]
    return "correct" if 2 * sum(decisive) > len(decisive) else "incorrect"


@pytest.mark.timeout(3600)
def test_a_published_collection_ends_in_the_same_verdicts_and_rates(owner, person, rows):
    written = write_all(person("writer"), rows)
    assert sorted(row["id"] for row in written.values()) == sorted(row["id"] for row in rows)
    voters = [person(f"voter{n}") for n in range(3)]
    verdicts = {}
    for example, row in written.items():
        for voter, label in zip(voters, row["votes"], strict=False):
            verdicts[example] = vote(voter, example, label, row["label"])
    assert verdicts == {example: by_the_files(row) for example, row in written.items()}

    total = owner.get("/api/v1/tasks/anli/rounds/1/statistics").json()
    correct = sum(by_the_files(row) == "correct" for row in rows)
    assert (total["examples"], total["fooled"]) == (2 * len(rows), len(rows))
    assert total["mer"]["value"] == len(rows) / (2 * len(rows))
    assert total["vmer"]["value"] == correct / (2 * len(rows))
    assert total["vmer_resolved"]["value"] == correct / (2 * len(rows))

    tags = {one_space(row["premise"]): row["tag"] for row in rows}
    figures = owner.get("/api/v1/tasks/anli/rounds/1/figures?by=tag").json()
    assert {item["value"]: item["vmer"]["value"] for item in figures["items"]} == {
        tag: sum(by_the_files(row) == "correct" for row in rows if tags[one_space(row["premise"])] == tag)
        / (2 * sum(tags[one_space(row["premise"])] == tag for row in rows))
        for tag in set(tags.values())
    }
