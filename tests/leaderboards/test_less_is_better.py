"""A task whose primary metric is an error: every part of a board must know that less is better."""

import re

import pytest

from dynabench.datasets.tables import Dataset
from dynabench.db import Database
from dynabench.rounds import service
from dynabench.rounds.tables import Round, TaskVersion
from dynabench.tasks import builtin
from tests import boards
from tests.leaderboards.asking import PAGE, board, ranks
from tests.leaderboards.conftest import SKILLS

METRICS = ("calibration_error", "throughput")


def seed(session):
    """The task sentiment, ranked by calibration error; model-0 has the highest error, model-3 the lowest."""
    source = next(each.source for each in builtin() if each.config.id == "sentiment")
    changed = re.sub(r"^metrics:.*$", "metrics: {primary: calibration_error, costs: [throughput]}", source, flags=re.M)
    assert changed != source
    service.save_task(session, None, changed)
    return boards.furnish(session, "sentiment", SKILLS, metrics=METRICS)


def furnished(settings):
    database = Database(settings.url)
    ids = database.write(seed)
    database.close()
    return ids


@pytest.fixture
def furnish():
    return furnished


def test_the_board_ranks_the_least_error_first(client, ids):
    found = board(client, "?m.throughput=0")
    assert ranks(found) == {"model-3": (1, 1), "model-1": (2, 3), "model-2": (2, 3), "model-0": (4, 4)}
    assert found["rows"][0]["name"] == "model-3"


def test_the_ladder_tells_of_a_hidden_dataset_what_is_clearly_less(client, ids, ada, become, hide):
    """In the order of submission errors fall, but for a copy: each clear improvement is told."""
    for id in ids:
        become(id, person_id=ada.id)
    hide("first")
    rows = {row["name"]: row for row in board(client)["rows"]}
    told = {name: row["datasets"]["first"]["calibration_error"]["value"] for name, row in rows.items()}
    assert told["model-0"] > told["model-1"] == told["model-2"] > told["model-3"]
    assert [rows[f"model-{n}"]["held"] for n in range(4)] == [False, False, True, False]


def test_a_comparison_names_the_model_with_less_error(client, ids):
    found = client.get("/api/v1/tasks/sentiment/compare", params={"a": ids[0], "b": ids[3]}).json()
    primary = [each for each in found["differences"] if each["metric"] == "calibration_error"]
    assert {each["better"] for each in primary} == {"b"}
    assert min(each["difference"] for each in primary) > 0
    assert found["conclusion"].startswith("model-3 is better than model-0")


def test_the_matrix_and_the_slices_begin_with_the_least_error(client, ids):
    items = client.get("/api/v1/tasks/sentiment/matrix").json()["items"]
    assert (items[0]["entrant"]["label"], items[-1]["entrant"]["label"]) == ("model-3", "model-0")


def test_people_stand_beside_the_model_with_the_least_error(client, ids, database):
    def release(session):
        dataset = session.query(Dataset).filter_by(name="first").one()
        version = session.query(TaskVersion.id).filter_by(task_id="sentiment").scalar()
        of = Round(task_id="sentiment", number=1, version_id=version, state="released", fooled_when="any", seed=1)
        session.add(of)
        session.flush()
        dataset.round_id, dataset.kind = of.id, "round"

    database.write(release)
    [item] = client.get("/api/v1/tasks/sentiment/humans").json()["items"]
    assert item["best"]["label"] == "model-3"
    assert item["behind"]["value"] is None, "an error is not compared with the share of people's right answers"
    assert client.get(PAGE).status_code == 200
