"""Model folders as zip files: what is packed, what is read back, what is refused and why."""

import shutil
import stat
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.kit.errors import Invalid
from dynabench.models import archives, spec
from dynabench.models.catalog import BUILTIN
from tests.models.handlers import doing, refused, write

CODE = doing("pass")


@pytest.fixture
def folder(tmp_path):
    """A handler with weights, and things that are none of it."""
    folder = write(tmp_path / "model", CODE)
    (folder / "weights.safetensors").write_bytes(save({"w": np.arange(100.0)}))
    (folder / "inner").mkdir()
    (folder / "inner" / "words.txt").write_text("a\nb\n")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "handler.cpython-311.pyc").write_bytes(b"old")
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("main")
    return folder


def test_what_was_packed_is_what_is_read_and_keeps_its_version(folder, target, tmp_path):
    archives.unpack(archives.pack(folder, tmp_path / "a.zip"), target)
    as_posixs = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert as_posixs == {"model.yaml", "handler.py", "weights.safetensors", "inner/words.txt"}
    assert (target / "weights.safetensors").read_bytes() == (folder / "weights.safetensors").read_bytes()
    assert spec.version(target) == spec.version(folder)


def test_the_same_files_make_the_same_bytes(folder, tmp_path):
    first = archives.pack(folder, tmp_path / "a.zip").read_bytes()
    again = shutil.copytree(folder, tmp_path / "elsewhere" / "other-name")
    for path in sorted(again.rglob("*"), reverse=True):
        path.chmod(0o700)
        path.touch()
    assert archives.pack(again, tmp_path / "b.zip").read_bytes() == first


def test_files_are_readable_by_the_sandbox_whatever_the_archive_says(archive, target):
    archives.unpack(archive({"a/b.txt": "x"}, external_attr=(stat.S_IFREG | 0o4700) << 16), target)
    assert stat.S_IMODE((target / "a/b.txt").stat().st_mode) == 0o644
    assert stat.S_IMODE((target / "a").stat().st_mode) == stat.S_IMODE(target.stat().st_mode) == 0o755


@pytest.mark.parametrize("name", ["nli-ngram", "nli-minilm", "qa-minilm"])
def test_folders_of_other_kinds_are_read_as_their_kind(name, target, tmp_path):
    archives.unpack(archives.pack(BUILTIN / name, tmp_path / "a.zip"), target)
    assert spec.card(target).version == spec.card(BUILTIN / name).version


def test_code_beside_a_model_of_another_kind_is_refused(target, tmp_path):
    shutil.copytree(BUILTIN / "nli-ngram", tmp_path / "model")
    (tmp_path / "model" / "setup.py").write_text("")
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as zip_file:
        for file in (tmp_path / "model").iterdir():
            zip_file.write(file, file.name)
    assert "not setup.py" in refused(path, target)


NASTY = ["../x", "a/../../x", "/etc/x", "//x", "C:/x", "C:x", "..\\x", "a\\..\\x", ".", "..", "a/./x", "a//x", ""]


@pytest.mark.parametrize("name", NASTY)
def test_paths_that_lead_elsewhere_are_refused(archive, target, name):
    assert "no path within" in refused(archive({name: "x"}), target)


@pytest.mark.parametrize("name", [".hidden.py", "a/.git/HEAD", "__pycache__/handler.pyc", "__MACOSX/x", "x.", "x "])
def test_names_that_a_version_or_a_system_would_lose_are_refused(archive, target, name):
    assert "leave it out" in refused(archive({name: "x"}), target)


@pytest.mark.parametrize("name", ["a\nb", "a\0b", "a\u202eb", "x" * 201, "é" * 101])
def test_names_that_deceive_are_refused(archive, target, name):
    answer = refused(archive({name: "x"}), target)
    assert "cannot be shown" in answer or "longer" in answer


@pytest.mark.parametrize(
    "names",
    [
        ["a.txt", "a.txt"],
        ["a.txt", "A.TXT"],
        ["caf\u00e9", "cafe\u0301"],
        ["stra\u00dfe", "STRASSE"],
        ["a", "a/b"],
        ["a/b", "a"],
        ["a/b", "A/c"],
        ["a/", "a"],
        ["model.yaml", "x"],
        ["Handler.py", "x"],
    ],
)
def test_names_that_are_the_same_somewhere_are_refused(archive, target, names):
    assert "would be the same file" in refused(archive([(name, "x") for name in names]), target)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK])
def test_links_and_devices_are_refused(archive, target, kind):
    assert "is a link or a device" in refused(archive({"x": "/etc/passwd"}, external_attr=(kind | 0o777) << 16), target)


def test_encrypted_files_are_refused(archive, target):
    path = archive({"x": "y"})
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.rfind(mark) + place] |= 1
    path.write_bytes(content)
    assert "is encrypted" in refused(path, target)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_rare_compressions_are_refused(archive, target, method):
    assert "use deflate" in refused(archive(method=method), target)


@pytest.mark.release
def test_a_bomb_is_stopped_while_it_is_inflated(archive, target):
    assert "200 times as large" in refused(archive({"zeros": bytes(64 << 20)}), target)


def test_a_bomb_that_lies_about_its_size_is_stopped(archive, target):
    path = archive({"zeros": bytes(64 << 20)})
    content = bytearray(path.read_bytes())
    struct.pack_into("<L", content, content.rfind(b"PK\1\2") + 24, 10)
    path.write_bytes(content)
    answer = refused(path, target)
    assert "cannot be read" in answer or "200 times" in answer


def test_entries_that_share_their_bytes_are_counted_each(archive, target):
    """As in Fifield's bomb, whose files overlap."""
    path = archive({"a": bytes(12 << 20), "b": b""})
    content = bytearray(path.read_bytes())
    last = content.rfind(b"PK\1\2")
    first = content.rfind(b"PK\1\2", 0, last)
    content[last + 10 : last + 28] = content[first + 10 : first + 28]
    content[last + 42 : last + 46] = content[first + 42 : first + 46]
    path.write_bytes(content)
    assert "archive" in refused(path, target)


def test_too_many_files_are_refused_before_they_are_listed(archive, target):
    assert "more than 2000 files" in refused(archive({f"{n}": "" for n in range(2001)}), target)


def test_a_list_of_files_that_would_fill_memory_is_refused(archive, target):
    path = archive()
    content = bytearray(path.read_bytes())
    struct.pack_into("<L", content, content.rfind(b"PK\5\6") + 12, 1 << 30)
    path.write_bytes(content)
    assert "larger than a plain zip file" in refused(path, target)


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\5\6", bytes(100_000), b"PK\3\4" + bytes(50)])
def test_what_is_no_zip_file_is_told(target, tmp_path, content):
    (tmp_path / "x.zip").write_bytes(content)
    assert "cannot be read" in refused(tmp_path / "x.zip", target)


def test_broken_archives_are_refused_and_never_half_there(archive, target):
    whole = archive({"weights.safetensors": save({"w": np.arange(200.0)})}).read_bytes()
    for cut in range(0, len(whole), 97):
        (target.parent.parent / "cut.zip").write_bytes(whole[:cut])
        refused(target.parent.parent / "cut.zip", target)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_damage_is_told_or_harmless(archive, tmp_path, data):
    content = bytearray(archive({"notes/a.txt": "some words " * 20}).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path, room = tmp_path / "damaged.zip", tmp_path / "room"
    path.write_bytes(content)
    try:
        archives.unpack(path, room / "new")
    except Invalid:
        assert not list(room.iterdir())
    shutil.rmtree(room)


PARTS = st.sampled_from(["a", "b", "A", "..", ".", "", ".x", "x.txt", "é", "e\u0301", "C:", "\\", " ", "a\0", "con"])
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)


@pytest.mark.release
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(PATHS, st.text(max_size=12)), max_size=4))
def test_every_path_is_refused_or_within_the_folder(archive, tmp_path, names):
    room = tmp_path / "room"
    before = {path for path in tmp_path.rglob("*") if room not in path.parents}
    try:
        path = archive([(name, "content") for name in names])
    except (UnicodeEncodeError, ValueError):
        return
    try:
        archives.unpack(path, room / "deep" / "new")
    except Invalid:
        assert not room.exists() or not list((room / "deep").iterdir())
    else:
        written = {file for file in (room / "deep" / "new").rglob("*") if file.is_file()}
        assert len(written) == 2 + sum(not name.endswith("/") for name in names)
    paths = {path for path in tmp_path.rglob("*") if room not in path.parents and path != room}
    assert paths - before <= {tmp_path / "handed-in.zip", *(tmp_path / "source").rglob("*"), tmp_path / "source"}
    shutil.rmtree(room, ignore_errors=True)


def test_an_archive_needs_its_model_yaml_at_the_top(archive, target):
    assert "There is none" in refused(archive(needed=False), target)
    answer = refused(archive({"my-model/model.yaml": "x", "my-model/handler.py": "x"}, needed=False), target)
    assert "pack what is in that folder" in answer


def test_a_handler_needs_its_code(archive, target):
    needed = {"model.yaml": (write(target.parent.parent / "other", CODE) / "model.yaml").read_bytes()}
    assert "a file handler.py with a class Model" in refused(archive(needed, needed=False), target)


def test_a_folder_that_is_there_is_not_overwritten(archive, target):
    target.mkdir()
    (target / "mine").write_text("x")
    assert "cannot be made" in refused(archive(), target)
    assert (target / "mine").read_text() == "x"


def test_links_are_not_packed(folder, tmp_path):
    (folder / "passwords").symlink_to("/etc/passwd")
    with pytest.raises(Invalid, match="passwords: A link"):
        archives.pack(folder, tmp_path / "a.zip")
    assert not list(tmp_path.glob("*.zip*"))


def test_an_archive_is_not_made_within_its_folder(folder):
    with pytest.raises(Invalid, match="name a place outside"):
        archives.pack(folder, folder / "a.zip")


def test_the_command_packs_and_tells_the_version(folder):
    result = CliRunner().invoke(app, ["model", "pack", str(folder)])
    assert result.exit_code == 0
    assert result.stdout.split()[-1] == spec.version(folder)
    archives.unpack(Path(result.stdout.split("  ")[0]), folder.parent / "again")


def test_the_command_tells_what_is_wrong(folder):
    (folder / "weights.pt").write_bytes(b"x")
    result = CliRunner().invoke(app, ["model", "pack", str(folder)])
    assert result.exit_code == 1
    assert "weights.pt" in result.stderr
    assert "safetensors" in result.stderr
