"""Boards, matrices and plots with datasets of a few rows, and the texts of a board on its scores."""

import csv
import io
import re

import pytest
from sqlalchemy import select, update

from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.rounds import service
from dynabench.tasks import shipped_tasks
from tests.leaderboards.asking import PAGE, board, ranks

API = "/api/v1/tasks/sentiment"


@pytest.fixture
def shrink(ids, database):
    """Let a dataset have three rows."""

    def write(session, name):
        version = select(Dataset.version_id).where(Dataset.name == name).scalar_subquery()
        session.execute(update(DatasetVersion).where(DatasetVersion.id == version).values(rows=3))

    return lambda name: database.write(write, name)


def notes(client):
    """Return the note below each dataset's slider, by its name."""
    page = client.get(PAGE).text
    sliders = re.findall(r'name="d\.(\w+)"[^>]*>(?:<span class="help">([^<]*)</span>)?', page)
    return dict(sliders)


def test_three_rows_count_neither_in_a_matrix_nor_in_a_plot(client, shrink):
    shrink("second")
    for line in client.get(f"{API}/matrix").json()["items"]:
        scores = {cell["dataset"]: cell["score"]["value"] for cell in line["cells"]}
        assert scores["first"] != scores["second"]
        assert line["overall"]["value"] == pytest.approx(scores["first"])
    both = client.get(f"{API}/pareto", params={"x": "throughput"}).json()["items"]
    first = client.get(f"{API}/pareto", params={"x": "throughput", "dataset": "first"}).json()["items"]
    assert {element["entrant"]["label"]: element["y"]["value"] for element in both} == pytest.approx(
        {item["entrant"]["label"]: item["y"]["value"] for item in first}
    )


def test_a_slider_says_that_a_few_rows_weigh_nothing_unless_all_datasets_are_so_small(client, ids, shrink):
    assert notes(client) == {"first": "", "second": ""}
    shrink("second")
    assert notes(client) == {"first": "", "second": "fewer than 30 rows: weight 0 by default"}
    shrink("first")
    text = "fewer than 30 rows, as in all datasets here"
    assert notes(client) == {"first": text, "second": text}
    assert board(client)["weights"]["datasets"] == {"first": 1, "second": 1}


ACCURACY = "?" + "&".join(f"m.{name}=0" for name in ("f1", "fairness", "robustness", "throughput", "memory"))


def finding(client):
    """The title of a board that weighs nothing but accuracy."""
    return re.search("data-finding>([^<]*)<", client.get(PAGE + ACCURACY).text)[1]


def test_the_title_of_a_board_names_a_leader_only_where_the_data_tell_it_from_the_next(client, ids, become):
    assert finding(client) == "model-0 leads"
    become(ids[0], state="withdrawn")
    assert ranks(board(client, ACCURACY))["model-1"] == (1, 2)
    assert finding(client) == "model-1 and model-2 share the lead"
    for id in ids[2:]:
        become(id, state="withdrawn")
    assert finding(client) == "model-1 is the only ranked model"


def test_a_board_says_in_which_metrics_a_score_depends_on_other_models(client, ids, database):
    page = client.get(PAGE).text
    assert "A Dynascore from 0 to 100 does not depend on other models." in page
    source = next(shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment")
    changed = source.replace("costs: [throughput, memory]", "costs: [throughput, price]")
    assert changed != source
    database.write(service.save_task, None, changed)
    page = client.get(PAGE).text
    assert "does not depend on other models." not in page
    assert "does not depend on other models, except for Price" in page


def test_json_and_csv_say_which_datasets_weigh_nothing_and_a_weight_in_the_address_wins(client, ids, shrink):
    def datasets(**weights):
        answer = client.get(f"{API}/leaderboard", params=weights).json()
        names = ("few_rows", "weight", "default_weight")
        return {dataset["name"]: tuple(dataset[name] for name in names) for dataset in answer["datasets"]}

    def lines(**weights):
        text = client.get(f"{API}/leaderboard/file", params={"format": "csv", **weights}).content.decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(text)))

    assert datasets() == {"first": (False, 5, 5), "second": (False, 5, 5)}
    assert "datasets_without_weight" not in lines()[0]
    shrink("second")
    assert datasets() == {"first": (False, 5, 5), "second": (True, 0, 0)}
    assert {line["datasets_without_weight"] for line in lines()} == {"second: 3 of 30 rows"}
    assert datasets(**{"d.second": 2})["second"] == (True, 2, 0)
    assert "datasets_without_weight" not in lines(**{"d.second": 2})[0]
    shrink("first")
    assert datasets() == {"first": (True, 1, 1), "second": (True, 1, 1)}
