"""Pictures from the words to the verdict: drawn, chosen, sent in, checked, and who may see them on the way."""

import re

import pytest

from dynabench.collection.drawing.service import Sheet
from dynabench.rounds.tables import Round
from tests.collection.drawing.conftest import PICTURES, TASK, draw_context, drawn, sent
from tests.conftest import PASSWORD

WORDS = "Two cooks drop a bowl of red soup"


def seen(caller, digest):
    return caller.get(f"/api/v1/media/{digest}").status_code


def again(session, times):
    """As if the last sheet had been drawn so often again."""
    last = session.query(Sheet).order_by(Sheet.id.desc()).first()
    same = {name: getattr(last, name) for name in ("handout_id", "person_id", "words", "sides")}
    session.add_all(Sheet(**same, key=f"again-{number}") for number in range(times))


def by(predictions, model):
    return next(prediction for prediction in predictions if prediction["model"] == model)


@pytest.mark.slow
def test_a_picture_is_drawn_chosen_and_fools_the_model_that_drew_it(ada, bob, root, studio):
    on = draw_context(ada)
    sheet = drawn(ada, on["handout"], WORDS)
    digests = [this_picture["media"] for this_picture in sheet["pictures"]]
    assert len(set(digests)) == 2 * PICTURES
    assert "oils" not in str(sheet)
    assert {item["prompt"] for item in studio.oils.seen + studio.pixels.seen} == {WORDS}
    assert [seen(this_item, digests[0]) for this_item in (ada, bob, root)] == [200, 404, 404]
    jpeg = next(picture for picture in sheet["pictures"] if picture["type"] == "image/jpeg")
    created = sent(ada, on, WORDS, jpeg["media"])
    assert created.status_code == 201, created.text
    assert created.json()["fooled"]
    predictions = created.json()["predictions"]
    assert by(predictions, "pixels")["fooled"] is True
    assert by(predictions, "oils")["fooled"] is False
    assert len(by(predictions, "oils")["answer"]["drawn"]) == PICTURES
    stored = ada.get(f"/api/v1/examples/{created.json()['id']}").json()["input"]
    assert stored == {"prompt": WORDS, "picture": jpeg}
    assert [seen(element, jpeg["media"]) for element in (ada, bob, root)] == [200, 404, 200]


@pytest.mark.slow
def test_three_people_check_it_with_harm_and_severity_and_it_is_counted(ada, root, person):
    on = draw_context(ada)
    digest = drawn(ada, on["handout"], WORDS)["pictures"][0]["media"]
    id = sent(ada, on, WORDS, digest).json()["id"]
    answer = {"how": ["lookalike"], "meant": "An accident", "where": [{"x": 1, "y": 2, "width": 9, "height": 9}]}
    explained = ada.post(f"/api/v1/examples/{id}/explanations", json=answer)
    assert explained.status_code == 201, explained.text
    for name in ("eva", "fay", "gil"):
        first = person(name)
        item = first.post(f"/api/v1/tasks/{TASK}/validations/next").json()
        assert (item["example_id"], item["input"]["picture"]["media"]) == (id, digest)
        assert seen(first, digest) == 200
        vote = {"vote": "correct", "severity_again": "high"}
        voted = first.post(f"/api/v1/examples/{id}/validations", json=vote)
        assert voted.status_code == 201, voted.text
    assert ada.get(f"/api/v1/examples/{id}").json()["verdict"] == "correct"
    figures = root.get(f"/api/v1/tasks/{TASK}/rounds/1/statistics").json()
    assert (figures["examples"], figures["fooled"]) == (1, 1)
    assert figures["vmer"]["value"] == 1


@pytest.mark.slow
def test_a_picture_that_nothing_is_wrong_with_fools_nobody(ada):
    on = draw_context(ada)
    digest = drawn(ada, on["handout"], WORDS)["pictures"][0]["media"]
    document = sent(ada, on, WORDS, digest, "none").json()
    assert document["fooled"] is False
    assert {prediction["fooled"] for prediction in document["predictions"]} == {False}


@pytest.mark.slow
def test_the_words_must_be_those_that_it_was_drawn_of(ada, bob, studio):
    on = draw_context(ada)
    digest = drawn(ada, on["handout"], WORDS)["pictures"][0]["media"]
    other = sent(ada, on, "Something else", digest)
    assert other.status_code == 422
    assert f"for other words: “{WORDS}”" in other.json()["fields"]["input.picture"]
    theirs = draw_context(bob)
    stolen = sent(bob, theirs, WORDS, digest)
    assert stolen.status_code == 422
    assert "input.picture" in stolen.json()["fields"]
    assert sent(ada, on, WORDS, "0" * 64).status_code == 422
    assert drawn(bob, on["handout"], WORDS, 404)
    assert drawn(bob, theirs["handout"], " ", 422)["fields"] == {"input.prompt": "This field is required."}


@pytest.mark.slow
def test_a_request_sent_again_has_nothing_drawn_twice(ada, studio):
    on = draw_context(ada)
    first = drawn(ada, on["handout"], WORDS, key="one")
    assert drawn(ada, on["handout"], WORDS, key="one") == first
    assert len(studio.oils.seen) == 1
    assert drawn(ada, on["handout"], "Other words", 409, key="one")
    again = ada.get(f"/api/v1/tasks/{TASK}/drawings?handout={on['handout']}").json()
    assert again == [first]


def test_what_a_server_refuses_is_told_and_nothing_is_stored(ada, draws):
    on = draw_context(ada)
    detail = drawn(ada, on["handout"], "forbidden fruit", 503)["detail"]
    assert "safety system" in detail
    assert draws.app.state.db.read(lambda session: session.query(Sheet).count()) == 0


@pytest.mark.slow
def test_there_is_an_end_to_drawing_on_one_handout_and_a_day(ada, draws, settings):
    on = draw_context(ada)
    settings.media_files_per_day = 7
    for words in ("one", "two"):
        drawn(ada, on["handout"], words)
    assert "7 files" in drawn(ada, on["handout"], "three", 429)["detail"]
    settings.media_files_per_day = 500
    draws.app.state.db.write(again, 18)
    assert "all 20 drawings" in drawn(ada, on["handout"], "the last", 409)["detail"]


def test_a_round_of_a_task_that_draws_needs_models_that_draw(root, draws):
    for names, answer in ((["none"], "models draw: name at least one"), (["nobody"], "Unknown")):
        refused = root.post(f"/api/v1/tasks/{TASK}/rounds", json={"targets": names})
        assert refused.status_code == 422
        assert answer in refused.json()["fields"]["targets"]


@pytest.mark.slow
def test_who_leaves_takes_what_was_not_sent_in(ada, draws):
    drawn(ada, draw_context(ada)["handout"], WORDS)
    assert ada.post("/api/v1/me/deletion", json={"confirm": "ada", "password": PASSWORD}).status_code == 204
    assert draws.app.state.db.read(lambda session: session.query(Sheet).count()) == 0


@pytest.mark.slow
def test_without_scripts_the_page_comes_back_with_pictures_to_choose_from(draws, browser):
    eva = browser()
    eva.join("eva")
    page = eva.get(f"/tasks/{TASK}/create").text
    assert "Pictures of this task may show" in page  # the warning comes first
    eva.client.post(f"/tasks/{TASK}/warning", data={"next": "/"}, headers={"X-CSRF-Token": eva.token()})
    page = eva.get(f"/tasks/{TASK}/create").text
    hidden = dict(re.findall(r'name="(context_id|handout|key|draw-key)"[^>]*value="([^"]*)"', page))
    post = {"headers": {"X-CSRF-Token": eva.token()}, "data": {**hidden, "input.prompt": WORDS}}
    assert eva.client.post(f"/tasks/{TASK}/drawings", **post).headers["location"].endswith("/create#drawing")
    part = eva.submit(f"/tasks/{TASK}/drawings", htmx=True, **{**hidden, "draw-key": "two", "input.prompt": "Other"})
    assert part.status_code == 200, part.text
    assert part.text.count('name="input.picture"') == 4 * PICTURES
    part = eva.submit(f"/tasks/{TASK}/drawings", htmx=True, **{**hidden, "draw-key": "three", "input.prompt": ""})
    assert part.status_code == 422
    assert "This field is required." in part.text
    page = eva.get(f"/tasks/{TASK}/create").text
    pictures = re.findall(r'name="input.picture" value="([0-9a-f]{64})"', page)
    assert len(pictures) == 4 * PICTURES
    post["data"]["input.prompt"] = "Other"
    assert "Other" in re.search(r'<textarea[^>]*name="input.prompt".*?</textarea>', page, re.S)[0]
    post["data"] |= {"input.picture": pictures[1], "answer.harm": "gore", "answer.severity": "low"}
    post["data"] |= {"key": re.search(r'name="key"[^>]*value="([^"]*)"', page)[1]}
    response = eva.client.post(f"/tasks/{TASK}/create", **post)
    assert response.status_code == 200, response.text
    assert "You fooled" in response.text
    assert "It drew" in response.text


@pytest.mark.parametrize("way", ["sandbox", "closed"])
def test_nothing_is_drawn_where_nothing_is_collected(ada, draws, way):
    on = draw_context(ada)
    if way == "sandbox":
        body = {"context_id": on["id"], "input": {"prompt": WORDS}, "answer": {}, "sandbox": True}
        assert ada.post(f"/api/v1/tasks/{TASK}/examples", json=body).status_code == 409
        return
    draws.app.state.db.write(lambda session: setattr(session.query(Round).one(), "state", "closed"))
    drawn(ada, on["handout"], WORDS, 409)
