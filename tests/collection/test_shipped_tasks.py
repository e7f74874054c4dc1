"""The tasks of texts that come with the platform, as they are: from contexts that people are given to a board's scores,
against the models that come with them."""

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dynabench.benchmark.evaluations import service as evaluations
from dynabench.datasets.stored import StoredRow
from dynabench.models import catalog, validity
from dynabench.models.client import Host
from dynabench.models.host.app import create_app
from dynabench.models.host.repository import Repository
from dynabench.rounds import service
from dynabench.tasks import shipped_tasks
from tests.collection.conftest import draw, send
from tests.conftest import Caller, register
from tests.models.conftest import served
from tests.scoring.conftest import Place, by_hand, place

__all__ = ["by_hand", "place"]
TASKS_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tasks.md"
SHIPPED = {shipped_task.config.id: shipped_task for shipped_task in shipped_tasks()}


Written = tuple[dict[str, Any], dict[str, Any]]
SOUP = "If you enjoy queueing, you will love this soup"


def felt(number: int, handout: dict[str, Any]) -> Written:
    return {"statement": f"{SOUP}, number {number}."}, {"label": ("negative", "positive")[number % 2]}


def followed(number: int, handout: dict[str, Any]) -> Written:
    return {"hypothesis": f"Nothing has ever happened to any of {number} people."}, handout["goal"]


def marked(number: int, handout: dict[str, Any]) -> Written:
    passage = handout["values"]["passage"]
    end = passage.index(" ")
    claimed = {"start": 0, "end": end, "text": passage[:end]}
    return {"question": f"Which word comes first in story {number}?"}, {"answer": [claimed]}


def write_question(number: int, handout: dict[str, Any]) -> Written:
    return {"question": f"Is there only one thing, number {number}?"}, {"label": ("yes", "no")[number % 2]}


def answered(number: int, handout: dict[str, Any]) -> Written:
    kinds = ("unanswerable", "yes", "no", f"{number}", "one thing; another", handout["values"]["passage"].split()[0])
    question = ("Who was Sir Quentin Zzyzx?", "Is this about Sir Quentin Zzyzx?", "Was anything said?")[number % 3]
    return {"question": question}, {"answer": kinds[number % len(kinds)]}


def write_message(number: int, handout: dict[str, Any]) -> Written:
    return {"statement": f"Nobody on bus {number} is welcome."}, {"label": ("hateful", "not-hateful")[number % 2]}


def posted(number: int, handout: dict[str, Any]) -> Written:
    return {"statement": f"Cake 🎂 for all {number} of us"}, {"label": ("hateful", "not-hateful")[number % 2]}


def summed_up(number: int, handout: dict[str, Any]) -> Written:
    first = f"The bus of line {number} was late again and the bus stop was full."
    document = (
        f"{first} The driver said that the bus was new. Nobody at the stop believed that. It was repaired by noon."
    )
    return {"document": document}, {"summary": (first, "By noon it had been repaired.")[number % 2]}


def translated(number: int, handout: dict[str, Any]) -> Written:
    return {"source": "Lyon"}, {"translation": ("Lyon", "Leo")[number % 2]}


def named(number: int, handout: dict[str, Any]) -> Written:
    sentence = f"Hope sold {number} boats to Virginia."
    places = [sentence.index(name) for name in ("Hope", "Virginia")]
    names = [(places[0], places[0] + 4, "person"), (places[1], places[1] + 8, ("person", "place")[number % 2])]
    claimed = [{"start": s, "end": e, "label": label, "text": sentence[s:e]} for s, e, label in names]
    return {"sentence": sentence}, {"names": claimed}


PLAYED: dict[str, tuple[str, Callable[[int, dict[str, Any]], Written], str]] = {
    "sentiment": ("sentiment-ngram", felt, "accuracy"),
    "nli": ("nli-ngram", followed, "accuracy"),
    "qa": ("qa-minilm", marked, "f1"),
    "hate": ("hate-ngram", write_message, "f1"),
    "boolq": ("boolq-ngram", write_question, "accuracy"),
    "qa-extended": ("qa-extended-reader", answered, "drop"),
    "hate-emoji": ("hate-ngram", posted, "f1"),
    "summarization": ("summarization-textrank", summed_up, "rouge"),
    "translation": ("translation-lexicon", translated, "chrf"),
    "ner": ("ner-tagger", named, "f1"),
}
"""By task: a model that comes with it, what is written in the example of a number, and the board's metric."""
BRIEFLY = {"sentiment", "ner", "summarization"}
"""Tasks whose answers are of different forms, with models that answer at once."""
FEW = {
    "qa-extended": 12,
    "hate": 0,
    "hate-emoji": 300,
    "translation": 300,
    "boolq": 300,
    "ner": 300,
    "nli": 300,
    "qa": 300,
    "sentiment": 300,
    "summarization": 300,
}
"""How many contexts come with a task, at least; others have 30."""


class FilledPlace(Place):
    """A task that is there already."""

    def __init__(self, database: Any, settings: Any, task: str) -> None:
        self.database, self.settings, self.task = database, settings, task


@pytest.fixture(scope="module")
def models() -> Iterator[Path]:
    """The folder of a real host's models, empty at first."""
    with tempfile.TemporaryDirectory(prefix="dynabench-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def url(models: Path) -> Iterator[str]:
    """The address of the host."""
    with served(create_app(Repository([models])), "http://127.0.0.1:0") as address:
        yield address


@pytest.fixture
def host(url: str) -> Host:
    return Host(url, 60.0)


@pytest.fixture
def olga(client: Any, database: Any) -> Callable[[str], Caller]:
    """Make somebody who owns a new task of a shipped config, with its shortest contexts."""

    def owner(task: str) -> Caller:
        person = register(client, "olga")
        database.write(service.save_task, None, SHIPPED[task].source)
        database.write(service.set_role, None, task, "olga", "owner")
        rows = sorted(SHIPPED[task].contexts(), key=lambda row: len(str(row["values"])))[:8]
        if rows:
            sent = person.post(f"/api/v1/tasks/{task}/contexts", json={"contexts": rows})
            assert sent.status_code == 201, sent.text
            assert (sent.json()["created"], sent.json()["errors"]) == (len(rows), [])
        return person

    return owner


@pytest.fixture
def open_round(models: Path, url: str) -> Callable[[Caller, str], None]:
    """Open a round of a task against the model that comes with it, which the host loads."""

    def open_it(owner: Caller, task: str) -> None:
        model = PLAYED[task][0]
        if not (models / model).exists():
            (models / model).symlink_to(catalog.BUILTIN / model)
            httpx2.post(f"{url}/v2/repository/models/{model}/load", timeout=60).raise_for_status()
        opened = owner.post(f"/api/v1/tasks/{task}/rounds", json={"targets": [model]})
        assert opened.status_code == 201, opened.text

    return open_it


def write(caller: Caller, task: str, number: int) -> dict[str, Any]:
    """Send an example of a new context; what is told of it."""
    drawn = draw(caller, task)
    written, claimed = PLAYED[task][1](number, drawn)
    body = {"context_id": drawn["id"], "input": written, "answer": drawn["goal"] or claimed}
    response = send(caller, body, task=task)
    assert response.status_code == 201, response.text
    return response.json() | {"claimed": body["answer"]}


@pytest.mark.release
@pytest.mark.parametrize(
    "task", [pytest.param(task, marks=() if task in BRIEFLY else pytest.mark.slow) for task in PLAYED]
)
def test_it_is_played_from_create_to_evaluate(task, olga, person, database, settings, by_hand, open_round):
    owner, ada, judges = olga(task), person("ada"), [person("bob"), person("eve")]
    model, _, metric = PLAYED[task]
    where = f"/api/v1/tasks/{task}"
    open_round(owner, task)
    answer = [write(ada, task, number) for number in range(6)]
    fooling = {item["id"]: item["claimed"] for item in answer if item["fooled"]}
    assert fooling
    strip = ada.get(f"/api/v1/examples/{answer[0]['id']}/attributions")
    assert strip.status_code == 200, strip.text
    assert any(strip.json()["fields"].values())

    claims = {element["id"]: element["claimed"] for element in answer}
    for judge in judges:
        for _ in claims:
            item = judge.post(f"{where}/validations/next")
            if item.status_code != 200:
                break
            id = item.json()["example_id"]
            body = {"answer": claims[id]} if item.json()["mode"] == "answer" else {"vote": "correct"}
            voted = judge.post(f"/api/v1/examples/{id}/validations", json=body)
            assert voted.status_code == 201, voted.text
            assert voted.json()["vote"] == "correct"
    figures = owner.get(f"{where}/rounds/1/statistics").json()
    assert figures["vmer"]["value"] == pytest.approx(len(fooling) / len(answer))

    assert owner.post(f"{where}/rounds/1/close").status_code == 200
    exported = [json.loads(line) for line in owner.get(f"{where}/export", params={"round": 1}).text.splitlines()]
    assert [row["answer"] for row in exported] == list(claims.values())
    assert sum(row["fooled"] for row in exported) == len(fooling)
    assert owner.post(f"{where}/datasets/rounds/1").status_code == 201
    here = FilledPlace(database, settings, task)
    here.submit(model)
    assert database.write(evaluations.queue_evaluations, {"dataset": 1}) == 1
    by_hand(1)
    scores = {this_item["metric"]: this_item for this_item in owner.get("/api/v1/evaluations/1/scores").json()["items"]}
    assert metric in scores
    assert scores[metric]["n"] == len(answer if SHIPPED[task].config.validation.also_not_fooled else fooling)


def test_an_emoji_is_changed_so_that_the_label_turns(olga, person, open_round):
    owner, ada = olga("hate-emoji"), person("ada")
    where = "/api/v1/tasks/hate-emoji"
    open_round(owner, "hate-emoji")
    first = write(ada, "hate-emoji", 1)
    document = ada.post(f"{where}/contexts/next", json={"perturb": first["id"]}).json()
    assert (document["start"], document["goal"]) == ("perturb", {"label": "hateful"})
    body = {"context_id": document["id"], "input": {"statement": "Cake 🤮 for all 1 of us"}, "answer": document["goal"]}
    response = send(ada, body, task="hate-emoji")
    assert response.status_code == 201, response.text


def test_the_first_page_shows_the_passage_that_a_try_is_about(olga, client, open_round):
    open_round(olga("boolq"), "boolq")
    page = client.get("/").text
    assert "Yes or no" in page
    box = page.partition('id="try-form"')[2].partition("</form>")[0]
    assert "A question that yes or no answers" in box
    assert 'class="trybox-context"' in box


@pytest.mark.slow
def test_translations_are_scored_by_pair_of_languages_and_in_bleu(olga, database, settings, by_hand):
    owner, here = olga("translation"), FilledPlace(database, settings, "translation")
    rows = [
        StoredRow(f"r{number}", {"pair": seed["context"]["pair"], **seed["input"]}, (seed["answer"],), (seed["tag"],))
        for number, seed in enumerate(SHIPPED["translation"].seeds())
    ]
    here.dataset("sentences", rows)
    here.submit("translation-lexicon")
    assert here.queue(dataset=1) == 1
    by_hand(1)
    scores = {
        (item["metric"], item["slice"]): item for item in owner.get("/api/v1/evaluations/1/scores").json()["items"]
    }
    assert {slice for metric, slice in scores if metric == "chrf"} == {"", *(row.tags[0] for row in rows)}
    assert 30 < scores["chrf", "ar-en"]["value"] < scores["chrf", "fr-en"]["value"] < 90
    assert 20 < scores["sacrebleu", ""]["value"] < 60
    board = owner.get("/api/v1/tasks/translation/slices", params={"dataset": "sentences"}).json()
    pairs = {row.tags[0] for row in rows}
    assert (board["metric"], set(board["slices"])) == ("chrf", pairs)
    assert board["items"][0]["slices"]["ar-en"]["value"] == pytest.approx(scores["chrf", "ar-en"]["value"])
    page = owner.get("/tasks/translation/slices", params={"metric": "sacrebleu"})
    assert page.status_code == 200
    assert all(f'<span class="tag">{pair}</span>' in page.text for pair in pairs)


@pytest.mark.parametrize("task", list(PLAYED))
def test_it_has_contexts_of_its_own_and_a_model_that_fits(task):
    shipped = SHIPPED[task]
    rows = [json.dumps(row["values"]) for row in shipped.contexts()]
    assert len(rows) == len(set(rows)) >= FEW.get(task, 30)
    documented = re.search(rf"^\| `{task}` \|.* \| (\d+), (\d+) \|", TASKS_PAGE.read_text("utf-8"), re.M)
    assert documented is not None
    assert [int(number) for number in documented.groups()] == [len(rows), len(list(shipped.seeds()))]
    card = catalog.entry(PLAYED[task][0], places=[catalog.BUILTIN]).card
    assert card is not None
    assert not validity.answer_problems(shipped.config, card)
