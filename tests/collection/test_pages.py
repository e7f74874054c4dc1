"""The annotator's pages: whole pages for plain forms, parts for htmx; what people write is shown as text."""

import re

import pytest

from dynabench.collection import boards, overview
from dynabench.people.accounts.tables import Person
from dynabench.rounds.queries import open_round
from dynabench.site.home.pages import home_figures
from dynabench.tasks import shipped_tasks
from dynabench.web.environment import environment
from tests.collection.conftest import draw, send, written

HOSTILE = "<script>alert(1)</script> **bold** {{ 7 * 7 }}"


@pytest.fixture
def eve(owner, browser):
    """Somebody at a browser, logged in."""
    mine = browser()
    mine.join("eve")
    return mine


def hidden(page, name):
    return re.search(rf'name="{re.escape(name)}"[^>]*value="([^"]*)"', page)[1]


def test_the_first_page_shows_tasks_and_a_box(owner, browser):
    page = browser().get("/")
    assert page.status_code == 200
    for text in ("Natural language inference", "Sentiment", 'action="/try"'):
        assert text in page.text


@pytest.mark.slow
def test_who_has_written_nothing_yet_is_led_to_a_task(owner, browser, eve):
    welcome = "Welcome, eve."
    assert welcome not in browser().get("/").text
    page = eve.get("/").text
    assert welcome in page
    assert 'href="/tasks/sentiment/create">Start with Sentiment' in page
    fields = {"context_id": hidden(eve.get("/tasks/sentiment/create").text, "context_id"), "answer.label": "negative"}
    assert eve.submit("/tasks/sentiment/create", **fields, **{"input.statement": "A good one."}).status_code == 200
    assert welcome not in eve.get("/").text


def test_a_task_without_examples_says_so_and_offers_to_write(owner, browser):
    line = re.search(r'<li class="task-line">.*?</li>', browser().get("/tasks?q=inference").text, re.DOTALL)[0]
    assert "No examples yet" in line
    assert "/create" in line
    assert "/validate" not in line


def test_joining_from_a_task_leads_back_to_it(owner, browser):
    page = browser().get("/tasks/nli").text
    assert 'href="/register?next=/tasks/nli"' in page
    assert 'href="/login?next=/tasks/nli"' in page


@pytest.mark.slow
def test_the_box_answers_visitors_and_stores_nothing(owner, browser):
    visitor = browser()
    page = visitor.get("/").text
    fields = {"task": "sentiment", "context_id": hidden(page, "context_id")}
    fields |= {"input.statement": f"A good one. {HOSTILE}", "answer.label": "negative"}
    for htmx in (True, False):
        answer = visitor.submit("/try", page="/", htmx=htmx, **fields)
        assert answer.status_code == 200
        assert "You fooled it." in answer.text
        assert "<script>alert" not in answer.text
        assert ("<!doctype" in answer.text.lower()) is not htmx
    refused = visitor.submit("/try", page="/", htmx=True, **(fields | {"input.statement": ""}))
    assert refused.status_code == 422
    assert refused.headers["hx-retarget"] == "#trybox"


def test_the_context_stays_until_another_is_asked_for(eve):
    first = hidden(eve.get("/tasks/nli/create").text, "context_id")
    assert {hidden(eve.get("/tasks/nli/create").text, "context_id") for _ in range(3)} == {first}
    other = eve.submit("/tasks/nli/context", page="/tasks/nli/create", htmx=True, but=first)
    assert hidden(other.text, "context_id") != first
    plain = eve.submit("/tasks/nli/context", page="/tasks/nli/create", but=first)
    assert (plain.status_code, plain.headers["location"]) == (303, "/tasks/nli/create")


@pytest.mark.parametrize("htmx", [True, False])
def test_a_try_is_told_explained_and_taken_back(eve, htmx, client):
    page = eve.get("/tasks/nli/create").text
    fields = {name: hidden(page, name) for name in ("context_id", "key", "answer.label")}
    submission = eve.submit("/tasks/nli/create", htmx=htmx, **fields, **{"input.hypothesis": HOSTILE})
    assert submission.status_code == 200
    assert "Attempt 1" in submission.text
    assert "<script>alert" not in submission.text
    again = eve.submit("/tasks/nli/create", htmx=htmx, **fields, **{"input.hypothesis": HOSTILE})
    assert "Attempt 1" in again.text, "the same key is the same example"
    example = re.search(r"/examples/(\d+)/explanation", submission.text)[1]
    answer = eve.submit(f"/examples/{example}/explanation", htmx=htmx, **{"ask.why_correct": HOSTILE})
    assert answer.status_code == (200 if htmx else 303)
    assert "<script>alert" not in answer.text
    gone = eve.submit(f"/examples/{example}/retraction", htmx=htmx)
    assert gone.status_code == (200 if htmx else 303)


@pytest.mark.parametrize("htmx", [True, False])
def test_refused_fields_keep_what_was_written(eve, htmx):
    page = eve.get("/tasks/nli/create").text
    fields = {name: hidden(page, name) for name in ("context_id", "key", "answer.label")}
    long = "word " * 200
    refused = eve.submit("/tasks/nli/create", htmx=htmx, **fields, **{"input.hypothesis": long})
    assert refused.status_code == 422
    assert long.strip() in refused.text
    assert hidden(refused.text, "key") == fields["key"]
    if htmx:
        assert refused.headers["hx-retarget"] == "#create-form"


def test_a_silent_model_leaves_the_draft_on_the_page(eve, rules):
    page = eve.get("/tasks/nli/create").text
    fields = {name: hidden(page, name) for name in ("context_id", "key", "answer.label")}
    rules.rules["nli-a"].status = 500
    plain = eve.submit("/tasks/nli/create", **fields, **{"input.hypothesis": "They sleep."})
    assert plain.status_code == 200
    assert "They sleep." in plain.text
    assert "nli-a gave no answer" in plain.text
    assert hidden(plain.text, "key") == fields["key"]
    assert int(plain.headers["retry-after"]) >= 1
    part = eve.submit("/tasks/nli/create", htmx=True, **fields, **{"input.hypothesis": "They sleep."})
    assert part.status_code == 200
    assert "nli-a gave no answer" in part.text
    assert int(part.headers["retry-after"]) >= 1
    assert "<!doctype" not in part.text.lower()


def test_visitors_create_in_the_sandbox(owner, browser, database):
    visitor = browser()
    page = visitor.get("/tasks/nli/create").text
    assert "Sandbox" in page
    fields = {name: hidden(page, name) for name in ("context_id", "key", "answer.label", "sandbox")}
    for htmx in (True, False):
        submission = visitor.submit(
            "/tasks/nli/create", page="/", htmx=htmx, **fields, **{"input.hypothesis": "They sleep."}
        )
        assert submission.status_code == 200
        assert "ms" in submission.text


def test_every_page_stands_with_and_without_examples(owner, ada, browser):
    visitor = browser()
    addresses = ["/", "/tasks/nli", "/tasks/nli/rounds/1", "/tasks/nli/people", "/tasks/nli/create", "/tasks/sentiment"]
    assert {visitor.get(address).status_code for address in addresses} == {200}
    drawn = draw(ada)
    for n in range(3):
        assert send(ada, written(drawn, f"{HOSTILE} {n}")).status_code == 201
    for address in addresses:
        page = visitor.get(address)
        assert page.status_code == 200
        assert "<script>alert" not in page.text
    assert "ada" in visitor.get("/tasks/nli/people").text


def test_a_closed_round_says_so(owner, eve):
    eve.get("/tasks/nli/create")
    owner.post("/api/v1/tasks/nli/rounds/1/close")
    assert "No round is open" in eve.get("/tasks/nli/create").text
    assert 'href="/tasks">Choose another task' in eve.get("/tasks/nli/validate").text, "not back to where one came from"
    assert 'href="/tasks"' not in re.split("<main", eve.get("/tasks/sentiment/validate").text)[1].split("</main>")[0]
    assert eve.get("/tasks/nli").status_code == 200
    assert eve.get("/tasks/nli/people").status_code == 200


def test_what_does_not_exist_is_not_found(owner, eve):
    for address in ("/tasks/nope", "/tasks/nope/create", "/tasks/nope/people", "/tasks/nli/rounds/9"):
        assert eve.get(address).status_code == 404, address
    assert eve.submit("/tasks/nope/create", context_id="1").status_code == 404


def test_what_all_rounds_brought_does_not_shrink_when_one_closes(owner, ada, database):
    drawn = draw(ada)
    for n in range(3):
        assert send(ada, written(drawn, f"This is not example {n}.")).status_code == 201
    before = database.read(home_figures).totals
    assert (before.examples, before.playing, before.open_rounds) == (3, 1, 2)
    assert owner.post("/api/v1/tasks/nli/rounds/1/close").status_code == 200
    after = database.read(home_figures).totals
    assert after.open_rounds == 1
    names = ("examples", "with_outcome", "fooled", "verified", "votes", "people")
    assert all(getattr(after, name) == getattr(before, name) for name in names)


@pytest.mark.parametrize("task", ["image-classification", "vqa"])
def test_a_specimen_shows_pictures_not_their_kind(task):
    config = next(shipped_task.config for shipped_task in shipped_tasks() if shipped_task.config.id == task)
    picture = {"media": "a" * 64, "type": "image/png", "width": 28, "height": 28}
    context, values = ({element.name: picture for element in some} for some in (config.context, config.input))
    for item in config.input:
        if item.type == "text":
            values[item.name] = "What is this?"
    parts = {
        "context": overview._excerpts(config, context, {}),
        "input": [overview.Excerpt(this_item, values[this_item.name], context) for this_item in config.input],
    }
    view = {"task": task, "task_name": config.name, "round": 1, "answer": "7", "said": [], "votes": 2} | parts
    html = environment().get_template("rounds/_example_card.html").render(specimen=view)
    assert html.count("<img") == 1, "the picture that it is about, not those that it was chosen from"
    assert not re.search(r">\s*image\s*<", html)


def test_the_rank_beside_the_form_is_the_board_s(owner, ada, person):
    bela = person("bela")
    for writer, texts in ((ada, ("They sleep.", "They wake.")), (bela, ("They run.",))):
        for text in texts:
            assert send(writer, written(draw(writer), text)).status_code == 201

    def place(session, id_):
        return boards.place_of(session, session.get_one(Person, id_), session.scalar(open_round("nli")))

    for writer in (ada, bela):
        rows = writer.get("/api/v1/tasks/nli/rounds/1/board").json()["items"]
        own = next(row for row in rows if row["mine"])
        rank = writer.client.app.state.db.read(place, writer.id)
        assert (rank.rank, rank.people) == (own["rank"], len(rows))
