"""The indexes of tasks and leaderboards: figures, choices, what strangers see, and the number of statements."""

import csv
import io
import re

import pytest
from sqlalchemy import event, update

from dynabench.benchmark.registry.tables import Submission
from dynabench.collection.tables import Standing
from dynabench.rounds import service
from dynabench.site.home import task_index
from dynabench.tasks import shipped_tasks
from tests import boards
from tests.collection.conftest import draw, send
from tests.leaderboards.views import conftest as world

host, rules, client, admin, owner = world.host, world.rules, world.client, world.admin, world.owner
furnish, change = world.furnish, world.change


def page(client, path="/leaderboards"):
    client.app.state.home_figures = None  # the figures are kept for seconds
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def table(client, query=""):
    client.app.state.home_figures = None
    return list(csv.DictReader(io.StringIO(client.get(f"/leaderboards.csv{query}").content.decode("utf-8-sig"))))


@pytest.fixture
def answered(owner, person, database):
    """One example of sentiment with ten blind answers, nine of them right."""
    ada = person("ada")
    context = draw(ada, "sentiment")["id"]
    body = {"context_id": context, "input": {"statement": "So good."}, "answer": {"label": "positive"}}
    assert send(ada, body, task="sentiment").status_code == 201
    values = {"blind": 10, "blind_right": 9, "verdict": "correct", "fooled": True, "open": True}
    assert database.write(lambda session: session.execute(update(Standing).values(**values)).rowcount) == 1


@pytest.mark.slow
def test_a_board_shows_its_best_model_beside_people_on_one_axis(client, answered):
    (line,) = [line for line in table(client) if line["task"] == "sentiment"]
    assert (line["best_model"], line["open_round"], line["to_check"]) == ("model-0", "1", "1")
    assert float(line["score_low"]) < float(line["score"]) < float(line["score_high"])
    assert (float(line["people"]), line["people_answers"]) == (0.9, "10")
    text = page(client)
    assert re.search(r'class="plot-people" x1="90\.0%"', text), "people's line stands at their accuracy"
    dot = float(re.search(r'class="plot-dot" cx="([\d.]+)%"', text)[1])
    assert dot == pytest.approx(float(line["score"]), abs=0.01)


def test_only_visitors_are_asked_to_join(client, browser):
    ada = browser()
    for path in ("/tasks", "/leaderboards", "/competitions", "/terms"):
        assert 'href="/register' in client.get(path).text, path
    ada.join("ada")
    for path in ("/tasks", "/leaderboards", "/competitions", "/terms"):
        text = ada.get(path).text
        assert "Logged in as ada" in text, path
        assert 'href="/register' not in text, path


def test_a_task_without_examples_shows_no_figures(client, answered):
    lines = page(client, "/tasks").split('<li class="task-line">')[1:]
    [sentiment] = [line for line in lines if 'href="/tasks/sentiment"' in line]
    [nli] = [line for line in lines if 'href="/tasks/nli"' in line]
    assert "<dd>1" in sentiment
    assert "vMER" in sentiment
    assert "No examples yet" in nli
    assert "vMER" not in nli


@pytest.mark.slow
def test_strangers_see_no_private_model_as_the_best(client, owner, change):
    assert "model-0" in page(client)
    change("model-0", visibility="private")
    assert "model-0" not in page(client)


def test_a_withdrawn_model_leaves_the_index_at_once(client, owner, database):
    assert table(client, "?q=sentiment")[0]["models"] == "3"
    gone = update(Submission).where(Submission.name == "model-0").values(state="withdrawn")
    database.write(lambda session: session.execute(gone))
    assert table(client, "?q=sentiment")[0]["models"] == "2"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "tasks"),
    [
        ("?q=SENTI", {"sentiment"}),
        ("?q=nothing-like-it", set()),
        ("?state=open", {"sentiment", "nli"}),
        ("?state=checks", {"sentiment"}),
        ("?modality=picture", {"vqa", "image-classification", "photographs"}),
        ("?sort=checks&modality=text&state=open", {"sentiment", "nli"}),
    ],
)
def test_filters_choose_lines_of_pages_and_files_alike(client, answered, query, tasks):
    assert {line["task"] for line in table(client, query)} == tasks
    for path in ("/tasks", "/leaderboards"):
        text = page(client, path + query)
        assert set(re.findall(r'<(?:h2|th scope="row" class="board-task")><a href="/tasks/([\w-]+)', text)) == tasks
        assert tasks or "Show all" in text


def test_the_search_box_replaces_the_lines_alone(client, owner):
    part = client.get("/tasks?q=sentiment", headers={"HX-Request": "true"}).text
    assert part.lstrip().startswith('<div id="tasks"')
    assert "<html" not in part


@pytest.mark.slow
def test_the_number_of_statements_does_not_depend_on_the_number_of_tasks(client, owner, database):
    def statements():
        seen = []
        listen = lambda *arguments: seen.append(arguments[2])  # noqa: E731
        event.listen(database.engine, "before_cursor_execute", listen)
        lines = database.read(task_index.task_lines)
        event.remove(database.engine, "before_cursor_execute", listen)
        return len(seen), len(lines)

    statements()
    few, tasks = statements()
    source = next(task.source for task in shipped_tasks() if task.config.id == "sentiment")

    def add(session):
        for number in range(10):
            service.save_task(session, None, source.replace("id: sentiment", f"id: sentiment-{number}", 1))
            boards.furnish(session, f"sentiment-{number}", rows=40)

    database.write(add)
    statements()
    assert statements() == (few, tasks + 10)
