"""Data in every form gives the same rows."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dynabench.evaluate import evaluator
from dynabench.evaluate.evaluator import choose_split
from dynabench.evaluate.evaluator.data import load_data, slice_rows
from tests.evaluate import real
from tests.evaluate.evaluator.test_classifying import Listed
from tests.large_data import need_data

ROWS = [{"text": f"it's, row {at}\n", "label": at % 2} for at in range(6)]
COLUMNS = {"text": [row["text"] for row in ROWS], "label": [row["label"] for row in ROWS]}


def same(value: Any) -> bool:
    return list(value.column("text", "")) == COLUMNS["text"] and value.labels("label", "") == COLUMNS["label"]


def test_rows_columns_frames_and_data_sets_are_the_same() -> None:
    import pandas

    assert same(load_data(ROWS))
    assert same(load_data(iter(ROWS)))
    assert same(load_data(COLUMNS))
    assert same(load_data({"text": COLUMNS["text"], "label": np.array(COLUMNS["label"])}))
    assert same(load_data(pandas.DataFrame(ROWS)))
    assert same(load_data(Listed(ROWS, {})))
    assert same(load_data({"train": Listed(ROWS[:1], {}), "validation": Listed(ROWS, {})}))
    assert same(load_data({"train": ROWS[:1], "test": ROWS}))
    assert same(load_data({"a": pandas.DataFrame(ROWS[:2]), "b": pandas.DataFrame(ROWS)}, split="b"))


def test_files_are_read_by_their_kind(tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame(ROWS)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "a.parquet")
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "a.jsonl").write_text(lines)
    (tmp_path / "lines.json").write_text(lines)
    (tmp_path / "rows.json").write_text(json.dumps(ROWS, indent=1))
    (tmp_path / "columns.json").write_text(json.dumps(COLUMNS))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    for path in sorted(tmp_path.iterdir()):
        assert same(load_data(path)), path.name
        assert same(load_data(str(path))), path.name
        assert len(load_data(path, split=f"{path.name.split('.')[0]}[:2]")) == 2


def test_empty_cells_at_the_ends_of_a_tsv_file_and_lists_in_a_single_row_stay(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("\ttext\tlabel\n0\ta, b\tx\n1\tc\t\n")
    assert load_data(tmp_path / "a.tsv").columns == {"": ["0", "1"], "text": ["a, b", "c"], "label": ["x", ""]}
    (tmp_path / "a.jsonl").write_text('{"tokens": ["a", "b"], "tags": ["O", "O"]}\n')
    assert load_data(tmp_path / "a.jsonl").columns == {"tokens": [["a", "b"]], "tags": [["O", "O"]]}


def test_a_folder_is_a_data_set_with_splits(tmp_path: Path) -> None:
    for name, rows in (("train", ROWS[:1]), ("dev", ROWS)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert same(load_data(tmp_path))
    assert len(load_data(tmp_path, split="train")) == 1
    assert list(load_data(tmp_path, split="dev[-2:]").column("label", "")) == [0, 1]
    with pytest.raises(ValueError, match="no split 'test'; it has dev, train"):
        load_data(tmp_path, split="test")


@pytest.mark.large_data("sst3", "sst3/test.jsonl.gz")
def test_real_files_are_read() -> None:
    rows = real.rows("sst3/test.jsonl.gz")
    data = load_data(need_data("sst3"))
    assert len(data) == len(rows) == 2210
    assert set(data.labels("label", "")) == {"negative", "neutral", "positive"}


def test_text_numbers_of_csv_labels_become_numbers_and_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label,code\n2012,0,007\n2013,1,008\n")
    data = load_data(path)
    assert data.texts("text", "") == ["2012", "2013"]
    assert data.labels("label", "") == [0, 1]
    assert data.labels("code", "") == ["007", "008"]


@pytest.mark.parametrize(
    ("available", "chosen"),
    [
        (["train", "validation", "test"], "test"),
        (["train", "validation"], "validation"),
        (["training", "dev"], "dev"),
        (["train", "valid", "val"], "val"),
        (["train", "evaluation", "testing"], "testing"),
        (["unsupervised"], "unsupervised"),
    ],
)
def test_the_split_is_chosen_by_preference(available: list[str], chosen: str) -> None:
    assert choose_split(available) == chosen


def test_slices_are_those_of_lists_and_of_shares() -> None:
    assert slice_rows(":3", 10) == range(3)
    assert slice_rows("-2:", 10) == range(8, 10)
    assert slice_rows("10%:50%", 10) == range(1, 5)
    with pytest.raises(ValueError, match="is no slice"):
        slice_rows("3", 10)


@pytest.mark.parametrize(
    ("data", "more", "message"),
    [
        (None, {}, "give data"),
        ([], {}, "no rows"),
        ({"text": [], "label": []}, {}, "no rows"),
        ([{"text": "a"}, {"words": "b"}], {}, "row 1 differs from row 0"),
        ([{"text": "a"}, "b"], {}, "row 1 is 'b'"),
        ({"text": ["a", "b"], "label": [0]}, {}, "text 2, label 1"),
        ({"text": "ab", "label": [0, 1]}, {}, "a list for each column"),
        (ROWS, {"split": "test"}, "loaded already"),
        ({"one": Listed(ROWS, {}), "two": Listed(ROWS, {})}, {}, "say which: split"),
        ({"test": Listed(ROWS, {})}, {"split": "dev"}, "no split 'dev'; there are test"),
        (5, {}, "cannot be a int"),
        ("no/such/data", {}, "there is no file or folder no/such/data"),
    ],
)
def test_data_that_cannot_be_read_is_told(data: Any, more: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_data(data, **more)


def test_a_missing_column_and_a_missing_text_are_told() -> None:
    task = evaluator("text-classification")
    with pytest.raises(ValueError, match="label_column='label' is no column of the data, which has text, target"):
        task.compute(lambda rows: rows, [{"text": "a", "target": 1}])
    with pytest.raises(ValueError, match="text: row 1 is None, not a text"):
        task.compute(lambda rows: rows, [{"text": "a", "label": 1}, {"text": None, "label": 1}])


def test_a_data_set_is_read_by_name_with_its_preferred_split(monkeypatch: pytest.MonkeyPatch) -> None:
    request: list[Any] = []

    def load_dataset(path: str, name: str | None, split: str) -> Listed:
        request.append((path, name, split))
        return Listed(ROWS, {"label": SimpleNamespace(names=["no", "yes"])})

    here = SimpleNamespace(get_dataset_split_names=lambda *_: ["train", "validation"], load_dataset=load_dataset)
    monkeypatch.setitem(__import__("sys").modules, "datasets", here)
    data = load_data("glue", "sst2")
    assert same(data)
    assert data.classes == {"label": ("no", "yes")}
    load_data("glue", "sst2", "train[:5]")
    assert request == [("glue", "sst2", "validation"), ("glue", "sst2", "train[:5]")]


def test_frames_of_polars_are_read_as_those_of_pandas():
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    columns = {"text": ["a", "b", None], "label": [1, 0, 1], "score": [0.5, 0.25, 1.0]}
    data = load_data(polars.DataFrame(columns))
    assert {name: list(column) for name, column in data.columns.items()} == columns
    of_pandas = load_data(pandas.DataFrame({"label": [1, 0, 1]}))
    assert list(of_pandas.columns["label"]) == list(data.columns["label"])
    splits = load_data({"test": polars.DataFrame(columns)}, split="test")
    assert len(splits) == 3


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The names that a hub was asked for, which has none; `here/` is a folder."""
    datasets = pytest.importorskip("datasets")
    names: list[str] = []

    def splits(name: str, *_: Any) -> list[str]:
        names.append(name)
        raise FileNotFoundError(name)

    monkeypatch.setattr(datasets, "get_dataset_split_names", splits)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    return names


PATHS = ["nosuch.csv", "./rows", "a/b/c", "~/rows.jsonl", "/nosuch", "rows.jsonl.gz"]
MISTYPED = [
    "films.cvs",
    "data/rows.jsnl",
    "rows.JSN",
    "rows.xlsx",
    "data/rows.txt",
    "rows.gz",
    "rows.parq",
    "here/a.dat",
]


@pytest.mark.parametrize("name", [*PATHS, *MISTYPED])
def test_a_mistyped_file_is_refused_at_once_and_no_hub_is_asked(name: str, requests: list[str]) -> None:
    with pytest.raises(ValueError, match="there is no file or folder"):
        load_data(name)
    assert requests == []


@pytest.mark.parametrize(
    "name", ["imdb", "org/data", "org/data-1.5", "timm/vit_224.mae", "timm/vit_224.openai", "here/data-1.5"]
)
def test_names_of_a_hub_may_have_dots(name: str, requests: list[str]) -> None:
    with pytest.raises(ValueError, match="could not be read"):
        load_data(name)
    assert requests == [name]
