"""Pictures and sounds within groups: sent, filled in, seen by who may, given to models."""

import re

import pytest

from dynabench.media.store import MediaStore
from dynabench.rounds import service
from dynabench.rounds.tables import Context
from dynabench.tasks import TaskConfig
from tests.media import files
from tests.media.test_story import get

ALBUM = """
id: album
name: Album
context:
  - {name: place, type: group, fields: [{name: view, type: image}, {name: name, type: text}]}
  - {name: elsewhere, type: image, required: false}
input:
  - name: shots
    type: group
    repeat: 3
    fields:
      - {name: photo, type: image, max_pixels: 250000}
      - {name: heard, type: audio, required: false}
      - {name: caption, type: text}
      - {name: where, type: image_region, of: photo, required: false}
      - {name: like, type: image_region, of: elsewhere, shape: point, required: false}
answer: {name: label, type: choice, options: [red, blue]}
"""
PICKED = [f"shots.{row}.photo" for row in (0, 1, 2, "__row__")]


@pytest.fixture
def album(owner, client):
    """The task's owner."""
    client.app.state.db.write(service.save_task, None, ALBUM)
    return owner


def send(caller, place, content, status=201):
    answer = caller.post(f"/api/v1/tasks/album/media?field={place}", content=content)
    assert answer.status_code == status, answer.text
    return {"media": answer.json()["media"]} if status == 201 else answer.json()


@pytest.fixture
def round_of(client, owner):
    """Add a context with a picture, open a round without models; the picture."""

    def begin(caller):
        view = send(caller, "context.place.view", files.picture(colour=(9, 99, 9)))
        rows = {"contexts": [{"values": {"place": {"view": view, "name": "Up"}}}]}
        response = caller.post("/api/v1/tasks/album/contexts", json=rows)
        assert response.json()["created"] == 1, response.text
        opened = caller.post("/api/v1/tasks/album/rounds", json={"targets": ["none"]})
        assert opened.status_code == 201, opened.text
        return view["media"]

    return begin


def test_files_of_rows_are_filled_in_bound_and_refused_by_their_place(album, round_of, client, person):
    view = round_of(album)
    ada, bob = person("ada"), person("bob")
    document = ada.post("/api/v1/tasks/album/contexts/next").json()
    assert document["values"]["place"]["view"]["width"] == 12
    assert get(bob, view) == 200
    photo = send(ada, "input.shots.0.photo", files.picture(colour=(7, 7, 200)))
    response = send(ada, "input.shots.1.heard", files.sound(1))
    theirs = send(bob, "input.shots.0.photo", files.picture(colour=(8, 8, 200)))
    detail = send(ada, "input.shots.0.photo", files.picture(size=(600, 600)), 422)["detail"]
    assert "250,000" in detail
    for place in ("input.shots.0.caption", "input.shots.0", "input.shots.0.photo.0"):
        send(ada, place, files.picture(), 422)

    def play(*shots):
        body = {"context_id": document["id"], "input": {"shots": list(shots)}, "answer": {"label": "red"}}
        return ada.post("/api/v1/tasks/album/examples", json=body)

    refused = play({"photo": photo, "caption": "one"}, {"photo": theirs, "caption": "two"})
    assert set(refused.json()["fields"]) == {"input.shots.1.photo"}
    created = play(
        {"photo": {**photo, "width": 9}, "caption": "one"}, {"photo": photo, "heard": response, "caption": "two"}
    )
    assert created.status_code == 201, created.text
    stored = ada.get(f"/api/v1/examples/{created.json()['id']}").json()["input"]["shots"]
    assert [row["photo"]["width"] for row in stored] == [12, 12]
    assert stored[1]["heard"]["seconds"] == 1.0
    assert [get(item, photo["media"]) for item in (ada, album, bob)] == [200, 200, 404]


def test_models_get_the_files_within_a_group_as_addresses(album, round_of, client, settings):
    round_of(album)
    config = TaskConfig.parse(ALBUM)
    assert config.media
    stored = client.app.state.db.read(
        lambda session: session.query(Context).filter_by(task_id="album").all()[-1].values
    )
    inputs = MediaStore.of(settings).unfolded(config.model_inputs(stored, {}))
    assert inputs["place"]["view"].startswith("data:image/png;base64,")
    assert inputs["place"]["name"] == "Up"


@pytest.mark.slow
def test_a_form_without_scripts_sends_the_files_of_its_rows(album, round_of, browser):
    round_of(album)
    eva = browser()
    eva.join("eva")
    page = eva.get("/tasks/album/create").text
    assert 'enctype="multipart/form-data"' in page
    assert set(re.findall(r'<region-picker[^>]* of="([^"]+)"', page)) == {*PICKED, "elsewhere"}
    hidden = dict(re.findall(r'name="(context_id|handout|key)"[^>]*value="([^"]*)"', page))
    form = {**hidden, "answer.label": "red", "input.shots.0.caption": "one", "input.shots.2.caption": "three"}
    sent = {
        "input.shots.0.photo.file": ("a.png", files.picture(colour=(5, 5, 5))),
        "input.shots.2.photo.file": ("b.png", files.SVG),
    }
    post = {"data": form, "headers": {"X-CSRF-Token": eva.token()}}
    response = eva.client.post("/tasks/album/create", files=sent, **post)
    assert response.status_code == 422
    assert "This is not a readable PNG" in response.text
    sent["input.shots.2.photo.file"] = ("b.png", files.picture(colour=(6, 6, 6)))
    places = {"input.shots.2.where.0": (2, 3, 30, 4), "input.shots.0.where.0": (1, 0, 5, 6)}
    for place, numbers in places.items():
        form |= {f"{place}.{part}": str(n) for part, n in zip(("x", "y", "width", "height"), numbers, strict=True)}
    response = eva.client.post("/tasks/album/create", files=sent, **post)
    assert response.status_code == 422
    assert "outside the picture" in response.text
    form["input.shots.2.where.0.width"] = "3"
    response = eva.client.post("/tasks/album/create", files=sent, **post)
    assert response.status_code == 200, response.text
    assert "Recorded" in response.text
    [created] = album.get("/api/v1/tasks/album/examples").json()["items"]
    first, second = created["input"]["shots"]
    assert (first["where"][0]["width"], second["where"]) == (5, [{"x": 2, "y": 3, "width": 3, "height": 4}])
