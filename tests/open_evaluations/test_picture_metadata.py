"""Tables beside pictures as the package `datasets` reads them: in zip files, folders and repositories."""

import json
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset
from sklearn.datasets import load_digits
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.kit import errors
from dynabench.open_evaluations.uploaded_rows import read_upload
from dynabench.tasks.shipped import digit_image
from tests.open_evaluations.conftest import Desk
from tests.open_evaluations.repositories import add_commit, add_dataset, dataset_entry
from tests.open_evaluations.small_data import json_lines, png, zipped

TARGETS = load_digits().target
PNG = png(digit_image(0))


def table(*rows: tuple[str, Any]) -> bytes:
    return "\n".join(["file_name,label", *(f"{name},{label}" for name, label in rows)]).encode()


def digits(count: int, folder: str = "") -> dict[str, bytes]:
    """Pictures of digits with a table, in which the picture stands below its folder."""
    files = {f"{folder}pictures/{n}.png": png(digit_image(1300 + n)) for n in range(count)}
    rows = ((f"pictures/{n}.png", TARGETS[1300 + n]) for n in range(count))
    return {**files, f"{folder}metadata.csv": table(*rows)}


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def read_zip(tmp_path: Path, files: dict[str, bytes], split: str = "") -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a zip file and the reasons for those that are refused."""
    path = tmp_path / "pictures.zip"
    path.write_bytes(zipped(files))
    rows = list(read_upload(path, path.name, split))
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    return [dict(row.values) for row in rows if row.values is not None], [row.error for row in rows if row.error]


def test_rows_are_those_that_the_package_datasets_reads(tmp_path: Path):
    lines = [{"file_name": f"{n}.png", "caption": f"digit {n}", "mask_file_name": f"masks/{n}.png"} for n in range(3)]
    files = {f"{n}.png": png(digit_image(n)) for n in range(3)} | {f"masks/{n}.png": PNG for n in range(3)}
    files = {f"test/{name}": content for name, content in files.items()} | {"test/metadata.jsonl": json_lines(lines)}
    rows, refused = read_zip(tmp_path, files)
    expected = load_dataset("imagefolder", data_dir=str(write(tmp_path / "folder", files)), split="test",
                            cache_dir=str(tmp_path / "cache"))  # fmt: skip
    assert not refused
    assert {name for row in rows for name in row} == set(expected.column_names) == {"image", "mask", "caption"}
    for row, other in zip(rows, expected, strict=True):
        assert row["caption"] == other["caption"]
        for column in ("image", "mask"):
            assert row[column].read() == files[f"test/{row[column].entry.filename.removeprefix('test/')}"]
        assert row["image"].entry.filename == f"test/{row['caption'].removeprefix('digit ')}.png"


def test_what_does_not_fit_is_named_and_counted(tmp_path: Path):
    names = ["a.png", "gone.png", "../a.png", "/etc/passwd", "b/../a.png", "", "..", "b/c.png", "b\\c.png"]
    files = {"d/a.png": PNG, "d/b/c.png": PNG, "d/extra.png": PNG, "a.png": PNG}
    rows, refused = read_zip(tmp_path, {**files, "d/metadata.csv": table(*((name, 1) for name in names))})
    assert [row["image"].entry.filename for row in rows] == ["d/a.png", "d/b/c.png"]
    assert refused == [
        "There is no picture 'gone.png'.",
        "'../a.png' leads out of the folder.",
        "'/etc/passwd' leads out of the folder.",
        "The picture 'b/../a.png' was described before.",
        "The column file_name names no picture.",
        "'..' leads out of the folder.",
        "'b\\\\c.png' leads out of the folder.",
        "No row describes the picture a.png.",
        "No row describes the picture d/extra.png.",
    ]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a.png": PNG, "metadata.csv": b"name,label\na.png,1"}, "metadata.csv has no column file_name"),
        ({"a.png": PNG, "metadata.csv": table(("a.png", 1)), "metadata.jsonl": b"{}"}, "describe the same folder"),
        ({"a/a.png": PNG, "b/metadata.csv": table(("a.png", 1))}, "describes no pictures"),
        ({"../a.png": PNG, "metadata.csv": table(("a.png", 1))}, "points outside"),
    ],
)
def test_folders_that_cannot_be_read_are_refused(tmp_path: Path, files: dict[str, bytes], words: str):
    with pytest.raises(errors.Invalid) as problem:
        read_zip(tmp_path, files)
    assert words in "; ".join(problem.value.fields.values())


def test_a_table_above_several_splits_serves_each(tmp_path: Path):
    names = ["train/a.png", "train/b.png", "test/c.png"]
    files = dict.fromkeys(names, PNG) | {"metadata.csv": table(*((name, 1) for name in names))}
    for split, expected in (("test", ["test/c.png"]), ("train", names[:2])):
        rows, refused = read_zip(tmp_path, files, split)
        assert ([row["image"].entry.filename for row in rows], refused) == (expected, [])


@pytest.mark.release
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_upload_repository_and_folder_have_the_same_scores(desk: Desk, tmp_path: Path):
    files = {**digits(30), "pictures/broken.png": b"no picture", "pictures/extra.png": PNG}
    files["metadata.csv"] += b"\npictures/broken.png,1\npictures/none.png,2"
    source = add_dataset(desk, "digits", {**files, "train/metadata.csv": table(("x.png", 1)), "train/x.png": PNG})
    digests = []
    for dataset in (desk.upload("digits.zip", zipped(files)), source):
        plan = desk.plan(dataset, models=["digits-resnet"])
        assert (plan.task.name, plan.choices.columns) == ("image-classification", {"image": "image", "label": "label"})
        assert not plan.problems
        ended = desk.run(desk.start(dataset, ["digits-resnet"])).evaluation
        assert (ended.state, ended.rows, ended.refused) == ("done", 30, 3), ended.reason
        assert "none.png" in " ".join(ended.report)
        digests.append(ended.digest)
    words = ["--dataset", str(write(tmp_path / "digits", files)), "--model", "digits-resnet", "--json", "-"]
    result = CliRunner().invoke(app, ["evaluate", "run", *words])
    assert result.exit_code == 0, result.output
    assert {json.loads(result.stdout)["sha256"], *digests} == {digests[0]}
    add_commit(desk, dataset_entry(desk, source), {"metadata.csv": b"name,label\n1.png,1"})
    with pytest.raises(errors.Invalid) as problem:
        desk.plan(source)
    assert "no column file_name" in problem.value.fields["dataset"]
