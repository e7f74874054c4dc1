"""Training sets read line by line: what is wrong with them is said where it stands."""

import gzip
import json

import pytest

from dynabench.benchmark.registry import training_sets
from dynabench.datasets import stored
from dynabench.datasets.stored import StoredRow
from dynabench.kit.settings import Settings
from dynabench.tasks import TaskConfig
from dynabench.tasks.shipped import shipped_selections

CONFIG = shipped_selections()[0].config
OWN = TaskConfig.parse(shipped_selections()[0].source.replace("own_rows: false", "own_rows: true"))
MANY = TaskConfig.parse(shipped_selections()[0].source.replace("rows: 120", "rows: 3"))
TOPICS = ("roads", "waste")


@pytest.fixture
def settings_and_task(tmp_path):
    settings = Settings(home=tmp_path, secret="s" * 32)
    rows = (StoredRow(f"p-{n}", {"message": f"words {n}"}, ({"topic": TOPICS[n % 2]},)) for n in range(6))
    return settings, stored.write_rows(settings, rows).digest


def read(settings_and_task, tmp_path, name, content, config=CONFIG):
    settings, digest = settings_and_task
    path = tmp_path / "sent"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    chosen, created = training_sets.read_training_set(settings, config, path, name, digest)
    return [row.uid for row in chosen], created.lines()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ids.txt", "p-0\r\n\n  p-1 \np-4"),
        ("ids.csv", "uid,message\np-0,anything\np-1,\np-4,x\n"),
        ("ids.tsv", "message\tuid\nx\tp-0\ny\tp-1\nz\tp-4\n"),
        ("ids.jsonl", '{"uid": "p-0", "topic": "roads"}\n{"uid": "p-1"}\n{"uid": "p-4"}\n'),
        ("ids.json", '[{"uid": "p-0"}, {"uid": "p-1"}, {"uid": "p-4"}]'),
        ("ids.txt.gz", gzip.compress(b"\xef\xbb\xbfp-0\np-1\np-4\n", mtime=0)),
    ],
)
def test_rows_are_named_by_their_uid_in_any_kind_of_file(settings_and_task, tmp_path, name, content):
    assert read(settings_and_task, tmp_path, name, content) == (["p-0", "p-1", "p-4"], [])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "", "The file is empty"),
        ("a.csv", "uid\n", "The file is empty"),
        ("a.txt", "p-0\np-9\np-1", "line 2: The pool has no row 'p-9'."),
        ("a.txt", "p-0\np-1\np-0", "line 3: Row 'p-0' already occurs in line 1."),
        ("a.txt", "p-0\np-2", "All rows are labelled roads; a learner needs at least two labels."),
        ("a.jsonl", '{"uid": "p-0", "topic": "waste"}', "line 1: Row 'p-0' has the label roads in the pool"),
        ("a.jsonl", '{"message": "A hole.", "topic": "roads"}', "line 1: The row has no `uid`"),
        ("a.jsonl", '{"uid": null}\n[1]\nnot json', "line 2: The line is not a JSON object."),
        ("a.jsonl", '{"uid": {"a": [1]}}', "The pool has no row"),
        ("a.jsonl", "[" * 5000, "The line is not valid JSON."),
        ("a.txt", "x" * 100_000, "The pool has no row 'xxx"),
        ("a.txt", b"\xff\xfep\x00", "UTF-16"),
        ("a.txt", b"p-\x80\x00", "The pool has no row"),
        ("a.txt.gz", b"\x1f\x8b not gzip", "gzip file is damaged"),
        ("a.parquet", b"PAR1 nothing", "cannot be read"),
        ("a.exe", "p-0", "Upload a file that ends in"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(settings_and_task, tmp_path, name, content, message):
    assert message in "\n".join(read(settings_and_task, tmp_path, name, content)[1])


def test_a_set_may_not_be_too_large_and_that_is_said_once(settings_and_task, tmp_path):
    _, answer = read(settings_and_task, tmp_path, "a.txt", "p-0\np-1\np-2\np-3\np-9\n", MANY)
    assert answer == ["The file has 5 rows; the limit is 3."]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"message": "A hole."}, "line 2: The row has no label: give its topic."),
        ({"message": "A hole.", "topic": "moon"}, "line 2: topic: Choose one of the options."),
        ({"message": "", "topic": "roads"}, "line 2: message: "),
        ({"message": "x" * 501, "topic": "roads"}, "line 2: message: "),
        ({"message": "Bins.", "topic": "roads"}, "line 2: This text already occurs in line 1."),
    ],
)
def test_rows_of_ones_own_are_the_tasks_fields_and_answer(settings_and_task, tmp_path, row, message):
    first = json.dumps({"message": "Bins.", "topic": "waste"})
    assert message in "\n".join(read(settings_and_task, tmp_path, "a.jsonl", f"{first}\n{json.dumps(row)}\n", OWN)[1])
    good = "message,topic,uid\nA hole.,roads,\nBins.,waste,\n,,p-3\n"
    assert read(settings_and_task, tmp_path, "a.csv", good, OWN) == (["", "", "p-3"], [])


def test_baselines_are_the_pool_and_rows_drawn_with_the_learners_seed(settings_and_task):
    settings, digest = settings_and_task
    every = training_sets.baseline_set(settings, MANY, digest, "all")
    assert [row.uid for row in every] == [f"p-{n}" for n in range(6)]
    some = training_sets.baseline_set(settings, MANY, digest, "random")
    assert len({row.uid for row in some}) == 3
    assert some == training_sets.baseline_set(settings, MANY, digest, "random")
