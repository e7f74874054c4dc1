"""Rows with their files, out and in again."""

import io
import json
import zipfile

import pytest

from dynabench.datasets import formats
from dynabench.datasets.imports import batches
from dynabench.datasets.imports import files as packed
from dynabench.kit import errors
from dynabench.media.store import MediaStore
from dynabench.media.tables import Media, MediaUse
from dynabench.rounds import service
from tests.media import files
from tests.media.conftest import TASK, send
from tests.media.test_story import play


def test_an_export_holds_its_files_and_comes_back(owner, person, client, settings, tmp_path):
    ada = person("ada")
    mine = send(ada, "input.image", files.picture(colour=(3, 3, 200)))
    hidden = send(ada, "input.image", files.picture(colour=(4, 4, 200)))
    play(ada, mine, "red")
    gone = play(ada, hidden, "red")[1].json()["id"]
    owner.post(f"/api/v1/examples/{gone}/hide")
    answer = owner.get("/api/v1/tasks/colours/export?format=zip")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as opened:
        names = opened.namelist()
        [row] = [json.loads(line) for line in opened.read(formats.ROWS).splitlines()]
        assert opened.read(f"media/{mine['media']}.png") == MediaStore.of(settings).read(mine["media"])
    assert row["input"]["image"]["media"] == mine["media"]
    assert len(names) == 4  # the rows, one's own picture, and two of the context
    assert not any(hidden["media"] in name for name in names)
    path = tmp_path / "rows.zip"
    path.write_bytes(answer.content)
    db = client.app.state.db
    db.write(service.save_task, None, TASK.replace("id: colours", "id: others"))
    assert packed.is_export_zip(path)
    rows = packed.extract_rows(db, settings, "others", None, path, tmp_path / "rows.jsonl")
    text = rows.read_text().replace(row["uid"], "f" * 32)
    rows.write_text(text)
    plan = batches.plan_file(rows, rows.name, "examples")
    state, refused = batches.import_file(db, settings, "others", rows, plan, lambda _: None)
    assert refused == []
    assert state.created == 1
    uses = db.read(lambda session: session.query(MediaUse).filter_by(task_id="others").count())
    assert uses == 3
    assert db.read(lambda session: session.query(Media).count()) == 6


def test_an_export_of_hostile_files_is_refused_by_name(owner, client, settings, tmp_path):
    path = tmp_path / "rows.zip"
    with zipfile.ZipFile(path, "w") as zip_file:
        zip_file.writestr(formats.ROWS, "{}\n")
        zip_file.writestr(f"media/{'a' * 64}.png", files.bomb())
    db = client.app.state.db
    with pytest.raises(errors.Invalid, match=r"aaaa.*pixels"):
        packed.extract_rows(db, settings, "colours", None, path, tmp_path / "rows.jsonl")
