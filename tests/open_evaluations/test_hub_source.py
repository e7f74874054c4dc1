"""Datasets of the platform's own hub: pinned to a commit, read by their cards, and by those alone who may read them."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from dynabench.hubs import service
from dynabench.hubs.git_store import GitStore
from dynabench.insight.data_reports import subjects
from dynabench.insight.data_reports.report import ReportOptions, measure_data
from dynabench.kit import errors
from dynabench.open_evaluations import predictions
from tests.open_evaluations.conftest import BAD, GOOD, Desk
from tests.open_evaluations.repositories import add_commit, add_dataset, dataset_entry

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


def reviews(rows: int, good: str = "pos", bad: str = "neg") -> bytes:
    lines = ["review,sentiment"]
    lines += [f'"{BAD if n % 3 == 0 else GOOD}, scene {n}",{bad if n % 3 == 0 else good}' for n in range(rows)]
    return "\n".join(lines).encode()


CARD = b"""---
configs:
- config_name: films
  default: true
  data_files:
  - {split: train, path: films/train.csv}
  - {split: test, path: "films/test*.csv"}
- config_name: books
  data_files: books.csv
train-eval-index:
- config: films
  task: text-classification
  task_id: binary_classification
  splits: {eval_split: test}
  col_mapping: {review: text, sentiment: target}
dataset_info:
- config_name: books
  features:
  - {name: review, dtype: string}
  - name: sentiment
    dtype: {class_label: {names: {'0': neg, '1': pos}}}
---
# Films
"""
FILES = {
    "README.md": CARD,
    "films/train.csv": reviews(9),
    "films/test-1.csv": reviews(30),
    "films/test-2.csv": reviews(30),
    "books.csv": reviews(6, "1", "0"),
}


def test_a_card_says_config_split_columns_and_classes(desk: Desk):
    source = add_dataset(desk, "films", FILES)
    plan = desk.plan(source, models=["sentiment-ngram"])
    assert not plan.problems
    assert (plan.choices.config, plan.choices.split, plan.rows) == ("films", "test", 60)
    assert plan.choices.columns == {"text": "review", "label": "sentiment"}
    assert plan.source.splits == ["train", "test"]
    assert plan.source.public
    books = desk.plan(source, models=["sentiment-ngram"], config="books")
    assert (books.choices.split, books.labels, books.rows) == ("train", ["neg", "pos"], 6)
    for wrong in ({"config": "songs"}, {"split": "dev"}):
        assert next(iter(wrong)) in desk.plan(source, models=["sentiment-ngram"], **wrong).problems
    for missing in (f"{source}x", "hub:nobody", f"{source}@v9", "hub:../..", "hub:"):
        with pytest.raises(errors.Invalid) as problem:
            desk.plan(missing)
        assert list(problem.value.fields) == ["dataset"]


@pytest.mark.slow
def test_an_evaluation_reads_the_commit_that_was_chosen(desk: Desk):
    source = add_dataset(desk, "films", FILES)
    entry = dataset_entry(desk, source)
    plan = desk.plan(source, models=["sentiment-ngram"])
    first = plan.choices.revision
    assert first == entry.row.head
    changed = add_commit(desk, entry, {"films/test-2.csv": reviews(3)})
    assert desk.plan(source, models=["sentiment-ngram"]).rows == 33
    assert desk.plan(f"{source}@{first}").choices == desk.plan(source, revision=first).choices
    assert desk.plan(f"{source}@main").choices.revision == changed
    id = desk.start(source, ["sentiment-ngram"], revision=first)
    ended = desk.run(id).evaluation
    assert (ended.state, ended.rows, ended.edition) == ("done", 60, first), ended.reason
    assert ended.choices["revision"] == first


@pytest.mark.slow
def test_only_readers_of_a_repository_choose_run_and_see_its_rows(desk: Desk, owner_of):
    source = add_dataset(desk, "films", FILES)
    other = Desk(desk.database, desk.settings, owner_of("mallory"))
    waiting, done = (other.start(source, ["sentiment-ngram"], title=title) for title in ("later", "now"))
    assert other.run(done).evaluation.state == "done"

    def rows() -> int:
        table = other.database.read(lambda s: predictions.prediction_table(s, other.settings, other.someone(s), done))
        return len(list(predictions.read_lines(other.settings, table)))

    assert rows() == 60
    entry = dataset_entry(desk, source)
    desk.database.write(lambda s: service.set_private(s, desk.someone(s), entry, True))
    with pytest.raises(errors.Invalid):
        other.plan(source)
    ended = other.run(waiting).evaluation
    assert (ended.state, ended.rows) == ("failed", 60)
    assert "may read" in ended.reason
    with pytest.raises(errors.Forbidden):
        rows()
    desk.database.write(lambda s: service.set_private(s, desk.someone(s), entry, False))
    assert rows() == 60


@pytest.mark.slow
def test_parquet_pictures_and_what_is_no_dataset(desk: Desk):
    table = pa.table({"text": [GOOD, BAD], "label": ["positive", "negative"]})
    held = io.BytesIO()
    pq.write_table(table, held)
    plan = desk.plan(add_dataset(desk, "packed", {"data/test-00000-of-00001.parquet": held.getvalue()}))
    assert (plan.rows, plan.choices.split, plan.task.name) == (2, "test", "text-classification")
    pictures = {f"test/{label}/{n}.png": _picture(n) for label in ("cat", "dog") for n in range(3)}
    plan = desk.plan(add_dataset(desk, "animals", pictures))
    assert (plan.rows, plan.task.name, plan.labels) == (6, "image-classification", ["cat", "dog"])
    for name, files in (("none", {"a.txt": b"x"}), ("script", {"script.py": b"x"}), ("broken", {"a.parquet": b"x"})):
        with pytest.raises(errors.Invalid) as problem:
            desk.plan(add_dataset(desk, name, files))
        assert list(problem.value.fields) == ["dataset"]
    broken = add_dataset(desk, "yaml", {"README.md": b"---\nconfigs: [\n---\n", "test.csv": reviews(3)})
    assert desk.plan(broken).rows == 3


def _picture(shade: int) -> bytes:
    held = io.BytesIO()
    Image.new("RGB", (8, 8), (shade * 40, 0, 0)).save(held, "PNG")
    return held.getvalue()


@pytest.mark.slow
def test_a_hub_dataset_is_measured_with_all_its_splits(desk: Desk):
    def find(named: str, public: bool = False) -> subjects.Subject:
        return desk.database.read(
            lambda s: subjects.find_subject(s, desk.settings, None if public else desk.someone(s), named)
        )

    source = add_dataset(desk, "films", {"train.csv": reviews(60), "test.csv": reviews(30)})
    subject = find(source)
    add_commit(desk, dataset_entry(desk, source), {"test.csv": reviews(1)})
    report = measure_data(subjects.open_subject(desk.settings, subject), ReportOptions())
    assert report.facts.rows == 90  # at the commit of the request
    [table] = [table for table in report.results["splits"].tables if table.name == "splits"]
    assert {(row[0], row[1]): row[3] for row in table.rows}["test", "train"] == 30
    assert find(source)["digest"] != subject["digest"]
    for wrong, words in ((f"{source}@none", "no branch"), (f"{source}-x", "no dataset"), ("hub:", "Name the data")):
        with pytest.raises(errors.Invalid) as problem:
            find(wrong)
        assert words in problem.value.fields["data"]
    own = find(add_dataset(desk, "private", {"train.csv": reviews(9)}, private=True))
    with pytest.raises(errors.Invalid):
        find(f"hub:{own['name']}", public=True)
    with pytest.raises(errors.NotFound):
        desk.database.read(lambda s: subjects.check_subject(s, None, own))
    GitStore.of(desk.settings, own["folder"]).remove()
    with pytest.raises(errors.Problem):
        list(subjects.open_subject(desk.settings, own).rows(lambda done, total: None))
