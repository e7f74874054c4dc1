"""Contexts with files in a zip: at the console, over the API, at the command line; and hostile zips."""

import io
import json
import stat
import zipfile

import pytest

from dynabench.kit import errors
from dynabench.rounds import context_files, service
from dynabench.rounds.context_files import upload_contexts
from tests.media import files
from tests.media.conftest import TASK, contexts

CSV = "one,other,tag\npictures/a.png,pictures/b.jpg,pair\n"


def packed(*entries) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name, content in entries:
            zip_file.writestr(name, content)
    return held.getvalue()


def honest(table: str = "rows.csv", rows: str = CSV, top: str = "") -> bytes:
    pictures = [("pictures/a.png", files.picture(colour=(7, 7, 7))), ("pictures/b.jpg", files.picture("JPEG"))]
    return packed(*((top + name, content) for name, content in [(table, rows), *pictures]))


def read(client, settings, tmp_path, content, person=None):
    path = tmp_path / "sent.zip"
    path.write_bytes(content)
    return context_files.extract_zip_rows(client.app.state.db, settings, "colours", person, path)


@pytest.mark.parametrize("top", ["", "folder/"])
def test_cells_become_references(owner, client, settings, tmp_path, top):
    content = read(client, settings, tmp_path, honest(top=top))
    [row] = [json.loads(line) for line in content.read_text().splitlines()]
    assert {name: len(row[name]["media"]) for name in ("one", "other")} == {"one": 64, "other": 64}
    assert row["tag"] == "pair"
    assert not (tmp_path / "sent.zip").exists()


def test_objects_may_say_more_of_a_file(owner, client, settings, tmp_path):
    line = json.dumps({"one": {"file": "pictures/a.png", "alt": "grey"}, "other": "pictures/b.jpg"})
    content = read(client, settings, tmp_path, honest("rows.jsonl", line))
    assert json.loads(content.read_text())["one"]["alt"] == "grey"


def test_files_are_named_within_groups_too(owner, client, settings, tmp_path):
    line = json.dumps(
        {"one": [{"photo": {"file": "pictures/a.png"}, "caption": "A"}], "other": {"is": "pictures/b.jpg"}}
    )
    document = json.loads(read(client, settings, tmp_path, honest("rows.jsonl", line)).read_text())
    assert (len(document["one"][0]["photo"]["media"]), document["one"][0]["caption"]) == (64, "A")
    assert len(document["other"]["is"]["media"]) == 64


def test_a_drawing_with_a_script_is_text_and_no_picture(owner, client, settings, tmp_path):
    content = read(client, settings, tmp_path, packed(("rows.csv", "one,other\na.png,a.png\n"), ("a.png", files.SVG)))
    result = upload_contexts(client.app.state.db, "colours", content, lambda _: None)
    assert result.errors == [(1, "context.one: Choose a picture. context.other: Choose a picture.")]


def link() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as zip_file:
        entry = zipfile.ZipInfo("a.png")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        zip_file.writestr(entry, "/etc/passwd")
        zip_file.writestr("rows.csv", "one,other\na.png,a.png\n")
    return held.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK no zip", "no zip file"),
        (packed(("../rows.csv", CSV)), "no path within"),
        (packed(("/rows.csv", CSV)), "no path within"),
        (link(), "link"),
        (packed(("one.csv", CSV), ("two.csv", CSV)), "2 tables"),
        (packed(("a.png", files.picture())), "0 tables"),
        (packed(("rows.csv", "one,other\na.png,a.png\n"), ("a.png", files.bomb())), "a.png: This picture has far"),
        (packed(("rows.csv", "one,other\na.png,a.png\n"), ("a.png", b"\0" * 90_000_000)), "too large when unpacked"),
    ],
    ids=["none", "above", "absolute", "link", "two", "no table", "bomb", "zeros"],
)
def test_hostile_archives_are_refused(owner, client, settings, tmp_path, content, message):
    with pytest.raises(errors.Invalid, match=message):
        read(client, settings, tmp_path, content)
    assert not list(tmp_path.glob("sent.*"))


def test_a_zip_comes_in_over_the_api_and_the_console(owner, browser, client, settings):
    sent = owner.post("/api/v1/tasks/colours/contexts/files?name=a.zip", content=honest())
    assert sent.status_code == 202, sent.text
    root = browser()
    root.log_in("root")
    answer = root.client.post(
        "/tasks/colours/manage/contexts/files",
        files={"file": ("b.zip", honest())},
        headers={"X-CSRF-Token": root.token()},
    )
    assert answer.status_code == 303, answer.text
    assert root.get(answer.headers["location"]).status_code == 200
    assert len(contexts(client)) == 2


SMALL_TASK = TASK.replace("colours", "shades").replace(", {name: other, type: image}", "").replace("one, other", "one")


def test_files_alone_are_a_context_each_where_a_context_is_a_file(owner, browser, client):
    client.app.state.db.write(service.save_task, None, SMALL_TASK)
    root = browser()
    root.log_in("root")
    where, headers = "/tasks/shades/manage/contexts/files", {"X-CSRF-Token": root.token()}
    pictures = [("file", (f"{n}.png", files.picture(colour=(n, n, n)))) for n in (10, 2)]
    sent = root.client.post(where, files=pictures, headers=headers)
    assert sent.status_code == 303, sent.text
    view = root.get(sent.headers["location"]).text
    assert view.count('class="media-thumb"') == 2
    alone = root.client.post(where, files=[pictures[0]], headers=headers)
    assert root.get(alone.headers["location"]).text.count('class="media-thumb"') == 1
    table = ("file", ("rows.csv", "one,tag\n10.png,dark\n"))
    beside = root.client.post(where, files=[pictures[0], table], headers=headers)
    assert "dark" in root.get(beside.headers["location"]).text
    bad = root.client.post(where, files=[*pictures, ("file", ("b.png", files.bomb()))], headers=headers)
    assert bad.status_code == 422
    assert "b.png: This picture has far" in bad.text


def test_several_files_are_refused_where_contexts_have_none(owner, browser, client):
    plain = SMALL_TASK.replace("{name: one, type: image}", "{name: word, type: text}").replace(
        ", choose_from: [one]", ""
    )
    client.app.state.db.write(service.save_task, None, plain)
    root = browser()
    root.log_in("root")
    two = [("file", (f"{n}.csv", "word\na\n")) for n in (1, 2)]
    headers = {"X-CSRF-Token": root.token()}
    answer = root.client.post("/tasks/shades/manage/contexts/files", files=two, headers=headers)
    assert answer.status_code == 422
    assert "Choose one file" in answer.text
