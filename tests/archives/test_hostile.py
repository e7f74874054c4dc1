"""Archives made to do harm, or that broke on the way: refused with the file and the line, nothing stored."""

import io
import json
import zipfile

import pytest
from sqlalchemy import func, select

from dynabench.datasets.archives import layout
from dynabench.kit.errors import Invalid
from dynabench.rounds.tables import Task
from tests.archives.packing import bring, files, packed, put_together
from tests.datasets.world import written

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
LINE = {"values": {"premise": "x"}, "tag": ""}


@pytest.fixture
def parts(world, settings):
    """The files of an honest archive."""
    written(world, world.person(), "It rains.")
    return files(packed(world.db, settings, "checks"))


@pytest.fixture
def refused(world, settings, tmp_path):
    """Why an archive is refused; nothing is stored."""

    def why(archive, id="copy"):
        with pytest.raises(Invalid) as caught:
            bring(world.db, settings, archive, id, tmp_path)
        assert world.db.read(lambda session: session.scalar(select(func.count()).select_from(Task))) == 1
        return caught.value.detail

    return why


def zipped(*entries, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return file.getvalue()


def changed(parts, name, change):
    """The lists with one line changed."""
    lines = [json.loads(line) for line in parts[name].splitlines()]
    change(lines)
    return parts | {name: b"".join(json.dumps(line).encode() + b"\n" for line in lines)}


def test_what_is_no_archive(parts, refused):
    whole = put_together(parts)
    assert "not a task archive" in refused(b"")
    assert "not a task archive" in refused(b"not a zip file at all")
    assert "not a task archive" in refused(whole[: len(whole) // 2])
    assert "no manifest.json" in refused(zipped(("task.yaml", "id: x")))
    assert "manifest" in refused(zipped((layout.MANIFEST, "[]")))
    assert "too large" in refused(zipped((layout.MANIFEST, b" " * (layout.MOST_MANIFEST + 1))))


def test_the_manifest_must_tell_the_truth(parts, refused):
    assert "do not match" in refused(put_together(parts | {"extra.txt": b""}, files=_manifest_files(parts)))
    assert "changed" in refused(put_together(parts | {layout.CONTEXTS: b""}, files=_manifest_files(parts)))
    assert "longer" in refused(
        put_together(parts | {layout.CONTEXTS: parts[layout.CONTEXTS] * 2}, files=_manifest_files(parts))
    )
    assert "format" in refused(put_together(parts, format="something-else"))
    assert "version" in refused(put_together(parts, version=2))
    missing = {name: text for name, text in parts.items() if name != layout.SEEDS}
    assert "missing" in refused(put_together(missing))


def _manifest_files(parts):
    with zipfile.ZipFile(io.BytesIO(put_together(parts))) as archive:
        return json.loads(archive.read(layout.MANIFEST))["files"]


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "versions/../../x.yaml", "versions/1.yaml", "C:\\x"]
)
def test_no_name_leads_anywhere(parts, refused, name):
    assert "no such file" in refused(put_together(parts | {name: b"x"}))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_and_other_methods_are_refused(parts, refused):
    entries = [*parts.items(), (layout.CONTEXTS, b""), (layout.MANIFEST, json.dumps({}))]
    assert "Two files have the same name" in refused(zipped(*entries))
    assert "unsupported compression" in refused(zipped((layout.MANIFEST, b"{}"), method=zipfile.ZIP_LZMA))


def test_a_bomb_is_not_unpacked(parts, refused):
    bomb = parts | {layout.CONTEXTS: b" " * (layout.MOST_LINE + 2)}
    assert "longer than" in refused(put_together(bomb))
    most = layout.MOST_FILES
    names = [(f"versions/{number:05d}.yaml", b"") for number in range(most + 2)]
    assert f"more than {most} files" in refused(zipped(*names))
    huge = [item | {"bytes": layout.MOST_BYTES} for item in _manifest_files(parts)]
    assert "too large together" in refused(put_together(parts, files=huge))


@pytest.mark.parametrize(
    ("name", "line", "why"),
    [
        (layout.CONTEXTS, b"[1, 2]", "not a JSON object"),
        (layout.CONTEXTS, b"{", "not a JSON object"),
        (layout.CONTEXTS, b'{"values": {"premise": "a\\u0000b"}}', "cannot be stored"),
        (layout.CONTEXTS, b'{"values": {"other": "x"}}', "other"),
        (layout.CONTEXTS, b'{"values": {"premise": "x"}, "owner": 1}', "owner"),
        (layout.CONTEXTS, b"\xff\xfe", "not a JSON object"),
        (layout.SEEDS, b'{"context": {}, "input": 3}', "input"),
        (layout.ROUNDS, b'{"number": 0}', "number"),
        (layout.VERSIONS, b'{"number": 1, "created_at": "2026-01-01T00:00:00Z"}', "upwards"),
        (layout.EXAMPLES, b'{"uid": "../x"}', "line 2"),
    ],
)
def test_a_line_that_is_wrong_is_named(parts, refused, name, line, why):
    answer = refused(put_together(parts | {name: parts[name] + line + b"\n"}))
    assert why in answer
    assert name in answer


def test_rows_belong_to_rounds_and_versions_that_are_there(parts, refused):
    def other_round(lines):
        lines[0]["round"] = 99

    def other_version(lines):
        lines[0]["version"] = 5

    assert "round" in refused(put_together(changed(parts, layout.EXAMPLES, other_round)))
    assert "version" in refused(put_together(changed(parts, layout.ROUNDS, other_version)))


def test_configs_are_checked_as_if_they_were_typed(parts, refused):
    for text in (b"id: [", b"id: x\n", b"a: &a [*a]", b"\xff"):
        assert "versions/0001.yaml" in refused(put_together(parts | {"versions/0001.yaml": text}))
    assert "not the newest" in refused(put_together(parts | {layout.TASK: parts[layout.TASK] + b"# more\n"}))


def test_a_draft_with_arms_that_no_form_takes_is_refused(parts, refused):
    def draft(lines):
        lines[0] |= {"state": "draft", "arms": [{"name": "A b", "share": 1}]}

    assert "rounds.jsonl, line 1" in refused(put_together(changed(parts, layout.ROUNDS, draft)))


def test_the_new_name_is_a_name_and_free(parts, refused):
    assert "id" in refused(put_together(parts), id="Not a name")
    assert "A task checks already exists" in refused(put_together(parts), id="checks")
    assert "A task cannot be called" in refused(put_together(parts), id="new")


def test_reading_holds_one_line_at_a_time(parts, tmp_path):
    path = tmp_path / "large.zip"
    path.write_bytes(put_together(parts | {layout.CONTEXTS: json.dumps(LINE).encode() + b"\n"}))
    with layout.open_archive(path) as archive:
        rows = archive.rows(layout.CONTEXTS)
        assert next(rows) == (1, LINE)
