"""Archives of tasks with pictures: out, into another deployment, and out again."""

import hashlib
import json

import pytest
from sqlalchemy import func, select

from dynabench.datasets.archives import layout
from dynabench.kit.errors import Invalid
from dynabench.media.store import MediaStore
from dynabench.media.tables import MediaUse
from dynabench.rounds.tables import Task
from tests.archives.packing import alike, bring, files, packed, put_together
from tests.datasets import conftest as around
from tests.media import files as made
from tests.media.conftest import send
from tests.media.test_story import play

elsewhere, other_settings = around.elsewhere, around.other_settings


@pytest.fixture
def archive(owner, person, client, settings):
    """Of the task, with an example that shows a picture of its author's own."""
    ada = person("ada")
    play(ada, send(ada, "input.image", made.picture(colour=(3, 3, 200))), "red")
    owner.post("/api/v1/tasks/colours/rounds/1/close")
    return packed(client.app.state.db, settings, "colours")


def test_a_task_with_pictures_comes_back_unchanged(archive, elsewhere, other_settings, tmp_path):
    stored = {name: part for name, part in files(archive).items() if name.startswith("media/")}
    assert len(stored) == 5  # four of the contexts, one of the example
    assert all(hashlib.sha256(part).hexdigest() in name for name, part in stored.items())
    done = bring(elsewhere, other_settings, archive, "hues", tmp_path)
    assert (done.refused, done.notes) == ([], {})
    again = packed(elsewhere, other_settings, "hues")
    assert alike(again, "colours") == alike(archive, "colours")
    store = MediaStore.of(other_settings)
    assert all(store.read(name.rpartition("/")[2]) == part for name, part in stored.items())
    uses = elsewhere.read(lambda session: session.scalar(select(func.count()).select_from(MediaUse)))
    assert uses == 5  # four of contexts, one of the example


@pytest.mark.slow
def test_a_picture_that_loses_by_being_written_anew_is_kept_under_another_name(
    archive, elsewhere, other_settings, tmp_path
):
    parts = files(archive)
    [old] = [name for name in parts if name.startswith("media/") and name.rpartition("/")[2] in _own(parts)]
    photo = made.picture("JPEG", size=(40, 30), exif=b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0")
    del parts[old]
    new = hashlib.sha256(photo).hexdigest()
    rows = parts[layout.EXAMPLES].replace(old.rpartition("/")[2].encode(), new.encode())
    parts |= {f"media/{new}": photo, layout.EXAMPLES: rows}
    done = bring(elsewhere, other_settings, put_together(parts), "hues", tmp_path)
    assert (done.refused, done.notes) == ([], {})
    [stored] = _own(files(packed(elsewhere, other_settings, "hues")))
    assert stored != new
    assert b"Exif" not in MediaStore.of(other_settings).read(stored)


def _own(parts):
    return {json.loads(line)["input"]["image"]["media"] for line in parts[layout.EXAMPLES].splitlines()}


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (made.SVG, ""),
        (made.bomb(), "pixels"),
        (b"\x89PNG\r\n\x1a\n" + bytes(90), "not a readable PNG, JPEG or WebP"),
        (b"", "empty"),
        (bytes(21 * 2**20), "too large"),
    ],
    ids=["svg", "bomb", "no picture", "empty", "too large"],
)
def test_files_that_no_upload_could_be_are_refused(content, message, archive, elsewhere, other_settings, tmp_path):
    name = f"media/{hashlib.sha256(content).hexdigest()}"
    hostile = put_together(files(archive) | {name: content})
    if not message:  # text, which a file may be, and which is shown nowhere
        assert bring(elsewhere, other_settings, hostile, "hues", tmp_path).refused == []
        return
    with pytest.raises(Invalid, match=message):
        bring(elsewhere, other_settings, hostile, "hues", tmp_path)
    assert elsewhere.read(lambda session: session.scalar(select(func.count()).select_from(Task))) == 0


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_file_is_called_by_what_it_holds_and_named_by_the_manifest(archive, elsewhere, other_settings, tmp_path):
    parts = files(archive)
    name = next(part for part in parts if part.startswith("media/"))
    for hostile, answer in (
        (put_together(parts | {name: made.picture(colour=(1, 1, 1))}), "called by its SHA-256"),
        (put_together(parts | {"media/../../passwd": b"x"}), "no such file"),
    ):
        with pytest.raises(Invalid, match=answer):
            bring(elsewhere, other_settings, hostile, "hues", tmp_path)
