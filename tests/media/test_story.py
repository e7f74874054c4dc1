"""Pictures from their sending to their example's end, and who may see them on the way."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import delete

from dynabench.media import service
from dynabench.media.store import MediaStore
from dynabench.media.tables import Media, MediaUpload
from tests.media import files
from tests.media.conftest import send


def get(caller, digest):
    return caller.get(f"/api/v1/media/{digest}").status_code


@pytest.fixture
def ada(owner, person):
    return person("ada")


@pytest.fixture
def bob(owner, person):
    return person("bob")


def play(caller, picture=None, label="blue", **more):
    """Try a picture, by default the context's red one."""
    document = caller.post("/api/v1/tasks/colours/contexts/next").json()
    body = {
        "context_id": document["id"],
        "input": {"image": picture or document["values"]["one"], **more},
        "answer": {"label": label},
    }
    return document, caller.post("/api/v1/tasks/colours/examples", json=body)


def test_a_picture_is_chosen_and_the_model_sees_its_pixels(owner, ada, eye, client):
    values, created = play(ada)
    assert created.status_code == 201, created.text
    assert created.json()["fooled"]
    assert eye[0].seen[-1]["image"].startswith("data:image/png;base64,")
    assert set(eye[0].seen[-1]) == {"image", "heard", "paper"}
    view = values["values"]["one"]
    assert (view["type"], view["width"], view["height"]) == ("image/png", 12, 8)
    answer = client.get(f"/api/v1/media/{view['media']}")
    assert answer.status_code == 200  # whoever may come may be given the context
    assert answer.headers["content-type"] == "image/png"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "immutable" in answer.headers["cache-control"]


def test_only_who_may_see_an_example_sees_its_picture(owner, ada, bob, client):
    mine = send(ada, "input.image", files.picture(colour=(9, 9, 200)))["media"]
    assert get(ada, mine) == 200
    assert [get(element, mine) for element in (bob, owner)] == [404, 404]
    _, created = play(ada, {"media": mine}, "red")
    id = created.json()["id"]
    assert [get(caller, mine) for caller in (ada, owner, bob)] == [200, 200, 404]
    item = bob.post("/api/v1/tasks/colours/validations/next").json()
    assert item["example_id"] == id
    assert get(bob, mine) == 200
    assert client.get(f"/api/v1/media/{mine}").status_code == 401
    owner.post(f"/api/v1/examples/{id}/hide")
    assert [get(caller, mine) for caller in (ada, bob, owner)] == [404, 404, 200]
    owner.post(f"/api/v1/examples/{id}/restore")
    ada.post(f"/api/v1/examples/{id}/retract")
    assert [get(this_item, mine) for this_item in (ada, bob, owner)] == [404, 404, 404]


def test_a_person_who_sends_the_same_picture_as_somebody_else_sees_it(owner, ada, bob):
    picture = files.picture(colour=(9, 9, 200))
    mine = send(ada, "input.image", picture)["media"]
    id = play(ada, {"media": mine}, "red")[1].json()["id"]
    assert get(bob, mine) == 404
    send(bob, "input.image", picture)
    assert get(bob, mine) == 200
    ada.post(f"/api/v1/examples/{id}/retract")
    assert [get(caller, mine) for caller in (ada, bob)] == [404, 200]


def test_a_picture_that_was_judged_is_shown_beside_what_became_of_the_vote(owner, ada, bob, browser):
    mine = send(ada, "input.image", files.picture(colour=(9, 9, 200)))["media"]
    id = play(ada, {"media": mine}, "red")[1].json()["id"]
    judge = browser()
    judge.log_in("bob")
    page = "/tasks/colours/validate"
    judged = judge.submit(f"{page}/{id}", page=page, htmx=True, vote="correct")
    assert judged.status_code == 200, judged.text
    last = re.search('<p class="last-text[^>]*>(.*?)</p>', judged.text, re.S)[1]
    assert f'src="/api/v1/media/{mine}"' in last
    assert re.sub("<[^>]*>", "", last).strip() == "", "no word such as image in its place"


def test_nobody_uses_what_others_sent(owner, ada, bob):
    theirs = send(bob, "input.image", files.picture(colour=(1, 2, 3)))
    _, refused = play(ada, theirs)
    assert refused.status_code == 422
    assert "Upload it again" in refused.json()["fields"]["input.image"]
    _, refused = play(ada, {"media": "0" * 64})
    assert refused.status_code == 422


def test_what_is_claimed_of_a_picture_counts_for_nothing(owner, ada, eye):
    mine = send(ada, "input.image", files.picture(colour=(0, 0, 200)))
    _, created = play(ada, {**mine, "width": 9999, "type": "text/html", "alt": "a blue field"}, "red")
    image = ada.get(f"/api/v1/examples/{created.json()['id']}").json()["input"]["image"]
    assert image == {**mine, "width": 12, "height": 8, "type": "image/png", "alt": "a blue field"}


@pytest.mark.parametrize(
    ("field", "content", "message"),
    [
        ("input.image", files.SVG, "not a readable PNG"),
        ("input.image", files.bomb(), "pixels"),
        ("input.image", files.picture(size=(600, 600)), "250,000"),
        ("input.heard", files.sound(9), "the limit is 5 s"),
        ("input.paper", files.picture(), "accepted are"),
        ("input.nothing", files.picture(), "no upload field of this name"),
        ("nowhere.image", files.picture(), "no upload field of this name"),
    ],
)
def test_hostile_files_are_refused_with_a_message(owner, ada, field, content, message):
    assert message in send(ada, field, content, 422)["detail"]


def test_contexts_are_for_owners(owner, ada):
    send(ada, "context.one", files.picture(), 403)


def test_a_file_is_sent_as_an_attachment_and_a_sound_in_ranges(owner, ada):
    paper = send(ada, "input.paper", b"<script>alert(1)</script>")["media"]
    answer = ada.get(f"/api/v1/media/{paper}")
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["content-disposition"] == 'attachment; filename="sent.txt"'
    media = send(ada, "input.heard", files.sound(1))["media"]
    part = ada.get(f"/api/v1/media/{media}", headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, b"RIFF")


def test_a_day_has_its_limit(owner, ada, settings):
    settings.media_files_per_day = 2
    for shade in (10, 20):
        send(ada, "input.image", files.picture(colour=(shade, 0, 0)))
    assert "2 files" in send(ada, "input.image", files.picture(), 429)["detail"]


def test_what_nothing_shows_is_thrown_away(owner, ada, settings, client):
    used = send(ada, "input.image", files.picture(colour=(0, 0, 99)))
    unused = send(ada, "input.image", files.picture(colour=(0, 0, 98)))["media"]
    play(ada, used, "red")
    db, store = client.app.state.db, MediaStore.of(settings)
    stray = store.put(b"nobody wrote me down")
    service.delete_unused_media(db, settings)
    assert store.path(unused).is_file()
    service.delete_unused_media(db, settings, timedelta(seconds=-60))
    assert [store.path(item).is_file() for item in (used["media"], unused, stray)] == [True, False, False]
    assert get(ada, unused) == 404


def test_regions_are_marked_on_the_picture_of_the_example(owner, ada):
    _, created = play(ada)
    id = created.json()["id"]
    response = ada.post(
        f"/api/v1/examples/{id}/explanations",
        json={"where": [{"x": 1, "y": 2, "width": 3, "height": 4, "label": "sky"}]},
    )
    assert response.status_code == 201, response.text
    outside = ada.post(
        f"/api/v1/examples/{id}/explanations",
        json={"where": [{"x": 10, "y": 2, "width": 3, "height": 4, "label": "sky"}]},
    )
    assert "outside" in outside.json()["fields"]["ask.where"]


def test_a_form_without_scripts_sends_the_file_itself(owner, browser):
    eva = browser()
    eva.join("eva")
    page = eva.get("/tasks/colours/create").text
    assert 'enctype="multipart/form-data"' in page
    hidden = dict(re.findall(r'name="(context_id|handout|key)"[^>]*value="([^"]*)"', page))
    form = {**hidden, "answer.label": "red"}
    token = {"X-CSRF-Token": eva.token()}

    def post(name: str, content: bytes):
        return eva.client.post(
            "/tasks/colours/create", data=form, headers=token, files={"input.image.file": (name, content)}
        )

    response = post("x.png", files.SVG)
    assert response.status_code == 422
    assert "This is not a readable PNG" in response.text
    own = files.picture(colour=(0, 0, 77))
    response = post("x.svg", own)
    assert response.status_code == 200, response.text
    assert "You fooled" in response.text


def test_the_tables_empty_with_the_task(owner, client):
    db = client.app.state.db
    assert db.read(lambda session: session.query(Media).count()) == 4
    db.write(lambda session: session.execute(delete(MediaUpload)))
