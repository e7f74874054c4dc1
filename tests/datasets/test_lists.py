"""Lists of datasets page by page: the API's and the pages', by addresses that can be shared."""

import re
from html import unescape
from random import Random

import pytest
from sqlalchemy import select

from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit.db import Database, now
from dynabench.rounds import service as rounds
from dynabench.tasks import shipped_tasks

COUNT = 70


def with_datasets(settings):
    database = Database(settings.url)
    database.write(fill)
    database.close()


def fill(session):
    """Datasets of two tasks, every fifth hidden and every seventh retired, not made in the order of their names."""
    for task in ("nli", "sentiment"):
        rounds.save_task(
            session,
            None,
            next(shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == task),
        )
        numbers = list(range(COUNT))
        Random(1).shuffle(numbers)
        for number in numbers:
            dataset = Dataset(task_id=task, name=f"set-{number:02}", title=f"Set {number}", visibility="public")
            dataset.visibility = "hidden" if number % 5 == 0 else "public"
            dataset.retired_at = now() if number % 7 == 0 else None
            session.add(dataset)
            session.flush()
            version = DatasetVersion(dataset_id=dataset.id, number=1, state="ready", digest=f"{dataset.id:064}", rows=1)
            session.add(version)
            session.flush()
            dataset.version_id = version.id


@pytest.fixture
def furnish():
    return with_datasets


@pytest.fixture
def listed():
    """Return what each person may see, in the lists' order."""
    numbers = [number for number in range(COUNT) if number % 5]
    return [
        (task, f"set-{number:02}")
        for task in ("nli", "sentiment")
        for number in sorted(numbers, key=lambda number: (number % 7 == 0, number))
    ]


def pages(client, address, **params):
    """The items of all pages, and how many there were."""
    result, count, after = [], 0, ""
    while after is not None:
        answer = client.get(address, params=params | {"after": after})
        assert answer.status_code == 200, answer.text
        result += [(item["task"], item["name"]) for item in answer.json()["items"]]
        after, count = answer.json()["next"], count + 1
    return result, count


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 7, 50, 100])
def test_pages_of_the_api_follow_each_other_without_gap_or_repetition(client, listed, limit):
    result, count = pages(client, "/api/v1/datasets", limit=limit)
    assert (result, count) == (listed, -(-len(listed) // limit))
    of_task, _ = pages(client, "/api/v1/tasks/nli/datasets", limit=limit)
    assert of_task == [element for element in listed if element[0] == "nli"]
    searched, _ = pages(client, "/api/v1/datasets", limit=limit, q="set 1", task="nli")
    assert searched == [item for item in listed if item[0] == "nli" and re.match("set-(1.|01)", item[1])]


def test_what_is_added_or_hidden_meanwhile_moves_nothing(client, listed, database):
    first = client.get("/api/v1/datasets", params={"limit": 10}).json()

    def change(session):
        session.add(Dataset(task_id="nli", name="aaa", title="A", visibility="public"))
        last = first["items"][-1]["name"]
        session.scalars(
            select(Dataset).where(Dataset.task_id == "nli", Dataset.name == last)
        ).one().visibility = "hidden"

    database.write(change)
    second = client.get("/api/v1/datasets", params={"limit": 10, "after": first["next"]}).json()
    assert [(item["task"], item["name"]) for item in second["items"]] == listed[10:20]


@pytest.mark.parametrize("after", ["7", "nli", "nli.2.set-01", "nli.0.", "nli.0.set-01.x", "nli.0.<b>", "NLI.0.a"])
def test_a_cursor_that_no_page_gave_is_refused(client, listed, after):
    for address in ("/api/v1/datasets", "/api/v1/tasks/nli/datasets"):
        answer = client.get(address, params={"after": after})
        assert (answer.status_code, list(answer.json()["fields"])) == (422, ["after"])
    for address in ("/datasets", "/tasks/nli/datasets"):
        assert client.get(address, params={"after": after}).status_code == 422


@pytest.mark.parametrize(
    ("address", "task"), [("/datasets", ""), ("/datasets?task=nli&q=set", "nli"), ("/tasks/nli/datasets", "nli")]
)
def test_the_links_of_a_page_lead_to_the_end_and_back(client, listed, address, task):
    result, next = [], address
    while next:
        page = client.get(next).text
        result += re.findall(r'<th scope="row"><a href="/tasks/([\w-]+)/datasets/([\w-]+)"', page)
        assert ("Go to the start" in page) == (next != address)
        link = re.search(r'rel="next" href="([^"]+)"', page)
        next = unescape(link[1]) if link else ""
    assert result == [item for item in listed if item[0] == task or not task]


def test_the_page_counts_what_all_pages_have(client, listed):
    page = client.get("/datasets").text
    counts = re.findall(r'<li><a href="/datasets[^>]*>[^<]+ <span class="muted">(\d+)</span>', page)
    assert counts == [str(len(listed)), str(len(listed) // 2), str(len(listed) // 2)]
    assert "No dataset has this name" in client.get("/datasets", params={"task": "nothing"}).text


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize(("language", "phrase"), [("en", "1 row"), ("es", "1 fila"), ("ar", "صف واحد")])
def test_a_single_row_is_counted_in_the_singular(client, language, phrase):
    page = client.get("/datasets", headers={"Accept-Language": language}).text
    assert f'data-phrase="{phrase}"' in page
