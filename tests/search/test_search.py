"""Search over everything: what is found, what stays hidden, and the page without scripts."""

import re
from types import SimpleNamespace

import pytest
from sqlalchemy import select, update

from dynabench.collection import search as example_search
from dynabench.collection.tables import Example, Standing
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.site.search import service as search
from dynabench.tasks import shipped_tasks
from dynabench.web.filters import highlight
from tests.collection.conftest import draw, send
from tests.leaderboards.views import conftest as world

host, rules, client, admin, owner = world.host, world.rules, world.client, world.admin, world.owner
furnish, change = world.furnish, world.change


def groups(caller, query):
    for _try in range(20):  # the first search of a process does not wait for the library and the documentation
        answer = caller.get("/api/v1/search", params={"q": query})
        assert answer.status_code == 200, answer.text
        if answer.json()["complete"]:
            break
    return {group["kind"]: [hit["title"] for hit in group["hits"]] for group in answer.json()["groups"]}


@pytest.fixture
def written(owner, person, database):
    """One verified example of sentiment that fooled, in an open round."""
    ada = person("ada")
    body = {"input": {"statement": "A quokka sold me shoes."}, "answer": {"label": "positive"}}
    assert send(ada, body | {"context_id": draw(ada, "sentiment")["id"]}, task="sentiment").status_code == 201

    def verify(session):
        example_id = session.scalars(select(Example.id)).one()
        session.execute(update(Standing).values(verdict="correct", fooled=True))
        example_search.change(session, example_id, verdict="correct", fooled=True)
        return example_id

    return database.write(verify)


@pytest.fixture
def released(written, database):
    """Its round is released."""
    release = update(Round).where(Round.task_id == "sentiment").values(state=RoundState.RELEASED)
    database.write(lambda session: session.execute(release))
    return written


@pytest.mark.parametrize(
    ("query", "kind", "title"),
    [
        ("SENTI", "tasks", "Sentiment"),
        ("token scope", "docs", None),
        ("accuracy", "metrics", "accuracy"),
        ("plug-ins", "docs", "Plug-ins"),
    ],
)
def test_each_kind_is_found_by_its_words(client, owner, query, kind, title):
    hits = groups(client, query)[kind]
    assert hits
    assert title is None or title in hits


def test_models_stand_beside_the_names_of_their_tasks():
    model = SimpleNamespace(name="nli-a", task="nli")
    group = search.search_models([model], "nli", 5, {"nli": "Natural language inference"})
    assert [(hit.title, hit.place) for hit in group.hits] == [("nli-a", "Natural language inference")]


def test_every_word_must_occur(client, owner):
    assert "tasks" in groups(client, "sentiment")
    assert "tasks" not in groups(client, "sentiment quokka")
    assert groups(client, "   ") == {}


def test_an_example_is_found_once_its_round_is_released(client, written, database):
    assert "examples" not in groups(client, "quokka")
    release = update(Round).where(Round.task_id == "sentiment").values(state=RoundState.RELEASED)
    database.write(lambda session: session.execute(release))
    assert groups(client, "Quokka shoes")["examples"] == ["A quokka sold me shoes."]


@pytest.mark.parametrize("state", ["withheld", "hidden", "retracted"])
def test_an_example_that_others_may_not_see_is_not_found(client, owner, released, database, state):
    assert "examples" in groups(client, "quokka")
    database.write(lambda session: session.execute(update(Standing).values(**{state: True})))
    for caller in (client, owner):
        assert "examples" not in groups(caller, "quokka")


def test_nothing_of_a_task_that_warns_of_its_content_is_found(client, released, database):
    source = next(task.source for task in shipped_tasks() if task.config.id == "sentiment")
    database.write(lambda session: rounds.save_task(session, None, f"{source}\ncontent_warning: Cruel words.\n"))
    assert "examples" not in groups(client, "quokka")


def test_the_page_shows_groups_with_the_words_marked_and_links_to_one_kind(client, released):
    page = client.get("/search", params={"q": "quokka"}).text
    assert "A <mark>quokka</mark> sold me shoes." in page
    assert re.search(r'href="/search\?q=quokka&(?:amp;)?kind=examples"', page)
    assert "Nothing found for" in client.get("/search", params={"q": "quokkaless"}).text
    part = client.get("/search", params={"q": "quokka"}, headers={"HX-Request": "true"}).text
    assert part.lstrip().startswith('<div id="results"')


def test_pieces_of_a_text_are_marked_whatever_their_case():
    assert highlight("Re-rank", ["rank"]) == [("Re-", False), ("rank", True)]
    assert highlight("C++ (x)", ["c++", "("]) == [("C++", True), (" ", False), ("(", True), ("x)", False)]
    assert highlight("plain", []) == [("plain", False)]


@pytest.mark.parametrize(
    ("path", "title", "address"),
    [
        ("/tasks/sentimet/create", "Sentiment", "/tasks/sentiment"),
        ("/sentiments", "Sentiment", "/tasks/sentiment"),
        ("/docs/how-to/submitting", "Submit a model", "/docs/how-to/submit"),
    ],
)
def test_a_page_that_does_not_exist_offers_the_nearest_and_a_search(client, owner, path, title, address):
    answer = client.get(path)
    assert answer.status_code == 404
    assert f'<a href="{address}">{title}</a>' in answer.text
    assert 'action="/search"' in answer.text


def test_nothing_is_offered_that_is_not_near(client, owner):
    assert "Did you mean" not in client.get("/xqwv").text
