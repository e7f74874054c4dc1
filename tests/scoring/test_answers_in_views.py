"""From answers to views: shipped models answer a dataset, and every view around the board shows it."""

from itertools import groupby, islice

import numpy as np
import pytest

from dynabench.adversaries import checklist
from dynabench.benchmark.evaluations import row_scores
from dynabench.benchmark.evaluations.answers import AnswerColumns
from dynabench.benchmark.evaluations.measures import bind_metric
from dynabench.datasets.stored import StoredRow
from dynabench.tasks import shipped_tasks

TASK = "/api/v1/tasks/sentiment"
MODELS = ("sentiment-minilm", "sentiment-ngram")


def phenomena(rows=5):
    """Rows of the shipped suite, some of each phenomenon."""
    for _, items in groupby(checklist.load_suite("sentiment-phenomena").items(), lambda item: item.phenomenon):
        for item in islice(items, rows):
            yield StoredRow(item.uid, item.inputs, (item.answer,), (item.phenomenon,))


@pytest.mark.release
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_two_shipped_models_meet_on_every_view(client, place, by_hand, settings):
    here, rows = place(), list(phenomena())
    assert len(rows) == 60
    for visibility in ("public", "hidden"):
        here.dataset(visibility, rows, visibility)
    ids = [here.submit(model) for model in MODELS]
    assert sum(here.queue(submission=id) for id in ids) == 4
    for number in range(1, 5):
        by_hand(number)
    right = [
        row_scores.read_row_scores(settings, this_number)[1] for this_number in (1, 3)
    ]  # of each model, the public dataset

    board = client.get(f"{TASK}/leaderboard?m.fairness=0&m.robustness=0").json()["rows"]  # there are no twins
    assert {row["name"] for row in board} == set(MODELS)
    assert all(row["rank"]["low"] <= row["rank"]["high"] <= 2 for row in board)
    answer = {row["name"]: row["datasets"]["public"]["accuracy"]["value"] / 100 for row in board}
    assert [answer[name] for name in MODELS] == pytest.approx([element.mean() for element in right])

    seen_by_row(client, ids, right)
    shared(client, right)
    best = client.get(f"{TASK}/datasets/public/best").json()["items"]
    assert {item["entrant"]["label"]: item["score"]["value"] for item in best} == pytest.approx(answer)
    for name in MODELS:
        assert name in client.get("/tasks/sentiment/datasets/public/best").text
        [entry] = client.get(f"/api/v1/models/{name}/scores").json()["items"]
        assert entry["scores"]["public"]["accuracy"]["value"] == pytest.approx(answer[name])
        assert "Hidden" not in entry["slices"], "its tags have fewer than 30 rows"


def seen_by_row(client, ids, right):
    """The comparison counts and shows the rows on which one alone is right, of the public dataset."""
    pair = {"a": ids[0], "b": ids[1]}
    differ = right[0] != right[1]
    assert differ.any()
    document = client.get(f"{TASK}/compare/examples", params=pair | {"dataset": "public", "limit": 100}).json()
    assert len(document["items"]) == differ.sum()
    assert document["tally"] == {
        "right": int((right[0] * right[1]).sum()),
        "a": int((right[0] > right[1]).sum()),
        "b": int((right[1] > right[0]).sum()),
        "wrong": int(((1 - right[0]) * (1 - right[1])).sum()),
    }
    assert all(element["a"]["right"] != element["b"]["right"] for element in document["items"])
    assert all(item["a"]["answer"] != item["b"]["answer"] for item in document["items"])
    page = client.get("/tasks/sentiment/compare", params=pair).text
    assert next(iter(document["items"][0]["inputs"].values())) in page.replace("&#39;", "'")
    tests = {row["dataset"]: row["test"] for row in client.get(f"{TASK}/compare", params=pair).json()["differences"]
             if row["metric"] == "accuracy"}  # fmt: skip
    assert tests == {"public": "mcnemar", "hidden": "paired_bootstrap"}
    assert client.get(f"{TASK}/compare/examples", params=pair | {"dataset": "hidden"}).status_code == 403


def shared(client, right):
    """Count the rows that fool none, one, both; of a hidden dataset not even that."""
    document = client.get(f"{TASK}/transfer", params={"dataset": "public"}).json()
    fooled = (2 - right[0] - right[1]).astype(int)
    assert document["counts"] == np.bincount(fooled, minlength=3).tolist()
    assert client.get(f"{TASK}/transfer", params={"dataset": "hidden"}).status_code == 403


def test_rows_of_spans_have_the_f1_of_their_words_and_others_are_right_or_wrong():
    configs = {shipped.config.id: shipped.config for shipped in shipped_tasks()}
    fields = {id: config.answer[0] for id, config in configs.items()}
    rule = configs["qa"].fooled
    span = [{"start": 0, "end": 1, "text": text} for text in ("red car", "a red car", "1976")]
    rows = AnswerColumns(
        fields["qa"], predictions=[[span[0]], [span[2]], []], right=[[[span[1]]], [[span[0]], [span[1]]], [[]]]
    )
    assert row_scores.compute_row_scores("f1", rule, rows).tolist() == [[1, 0, 1], [1, 0, 1]]
    some = AnswerColumns(fields["qa"], predictions=[[span[0]]], right=[[[{"start": 0, "end": 1, "text": "blue car"}]]])
    assert row_scores.compute_row_scores("f1", rule, some).tolist() == [[0.5], [1]], "the rule's line is 0.4"
    assert row_scores.compute_row_scores("exact_match", rule, some).tolist() == [[0], [1]]
    assert some.hits() == [False], "exact match stays exact"
    whole = bind_metric("f1", rows.answer, rows.predictions, rows.right)
    columns = dict(whole.columns)
    assert row_scores.compute_row_scores("f1", rule, rows)[0].mean() == pytest.approx(
        whole.module.compute(**columns)[whole.key] * whole.scale
    )
    labels = AnswerColumns(
        fields["sentiment"], predictions=["positive", "negative"], right=[["positive"], ["positive"]]
    )
    assert row_scores.compute_row_scores("f1", configs["sentiment"].fooled, labels).tolist() == [[1, 0]] * 2


def test_a_file_that_is_gone_or_broken_says_nothing(settings):
    assert row_scores.read_row_scores(settings, 7) is None
    row_scores.store_row_scores(settings, 7, np.array([[1, 0], [1, 0]], np.float32))
    assert row_scores.read_row_scores(settings, 7).tolist() == [[1, 0], [1, 0]]
    row_scores.store_row_scores(settings, 7, np.array([[0, 1, 0.5], [0, 1, 1]], np.float32))
    assert row_scores.read_row_scores(settings, 7).tolist() == [[0, 1, 0.5], [0, 1, 1]]
    [file] = (settings.folder / "evaluations" / "7").iterdir()
    for content in (b"", b"nonsense", file.read_bytes()[:-2]):
        file.write_bytes(content)
        assert row_scores.read_row_scores(settings, 7) is None


@pytest.mark.parametrize(("answer", "accepted", "right"), [
    ("red car", ["blue car"], True), ("red car", ["a blue old car"], True), ("red car", ["blue bus", "car"], True),
    ("red car", ["the big old blue car"], False), ("", [""], True), ("car", [""], False), ("", ["car"], False),
])  # fmt: skip
def test_an_answer_is_right_just_where_the_task_would_not_call_the_model_fooled(answer, accepted, right):
    config = next(shipped.config for shipped in shipped_tasks() if shipped.config.id == "qa")
    marked = [[{"start": 0, "end": len(text), "text": text}] if text else [] for text in (answer, *accepted)]
    assert config.fooled.right(marked[0], marked[1:], config.answer[0]) is right
    assert "0.4" in config.fooled.right_in_words
