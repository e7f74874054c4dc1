"""A task whose primary metric is an error: every part of a board must know that less is better."""

import re

import numpy as np
import pytest
from sqlalchemy import select

from dynabench.benchmark.evaluations.measures import REPLICATES, pack_replicates
from dynabench.benchmark.evaluations.tables import Evaluation, Score
from dynabench.benchmark.leaderboards import board_views
from dynabench.datasets.tables import Dataset
from dynabench.kit.db import Database
from dynabench.kit.language import speaking
from dynabench.rounds import service
from dynabench.rounds.tables import Round, TaskVersion
from dynabench.tasks import shipped_tasks
from tests import boards
from tests.leaderboards.asking import PAGE, board, ranks
from tests.leaderboards.conftest import SKILLS

METRICS = ("calibration_error", "throughput")


def seed(session):
    """The task sentiment, ranked by calibration error; model-0 has the highest error, model-3 the lowest."""
    source = next(shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment")
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
    result = board(client, "?m.throughput=0")
    assert ranks(result) == {"model-3": (1, 1), "model-1": (2, 3), "model-2": (2, 3), "model-0": (4, 4)}
    assert result["rows"][0]["name"] == "model-3"


def test_the_ladder_tells_of_a_hidden_dataset_what_is_clearly_less(client, ids, ada, become, hide):
    """In the order of submission errors fall, but for a copy: each clear improvement is told."""
    for id in ids:
        become(id, person_id=ada.id)
    hide("first")
    rows = {row["name"]: row for row in board(client)["rows"]}
    answer = {name: row["datasets"]["first"]["calibration_error"]["value"] for name, row in rows.items()}
    assert answer["model-0"] > answer["model-1"] == answer["model-2"] > answer["model-3"]
    assert [rows[f"model-{n}"]["held"] for n in range(4)] == [False, False, True, False]


def test_a_comparison_names_the_model_with_less_error(client, ids):
    document = client.get("/api/v1/tasks/sentiment/compare", params={"a": ids[0], "b": ids[3]}).json()
    primary = [difference for difference in document["differences"] if difference["metric"] == "calibration_error"]
    assert {element["better"] for element in primary} == {"b"}
    assert min(item["difference"] for item in primary) > 0
    assert document["conclusion"].startswith("model-3 is better than model-0")


def labels(items):
    return [item["entrant"]["label"] for item in items]


def score(session, submission, dataset):
    """Return the score of a model on a whole dataset."""
    source = select(Score).join(Evaluation).where(Evaluation.submission_id == submission, Score.slice == "")
    source = source.where(Score.metric == "calibration_error")
    return session.scalars(
        source.join(Dataset, Dataset.version_id == Evaluation.version_id).where(Dataset.name == dataset)
    )


@pytest.fixture
def sliced(ids, database):
    """Two slices of each dataset, `even` on which models err as on the whole and `odd` on which they err half as much;
    model-1 is the best on `odd`."""

    def write(session):
        for number, id in enumerate(ids):
            for name in ("first", "second"):
                whole = score(session, id, name).one()
                for tag, value in (("even", whole.value), ("odd", 0.01 if number == 1 else whole.value / 2)):
                    session.add(
                        Score(
                            evaluation_id=whole.evaluation_id, metric="calibration_error", slice=tag, value=value,
                            low=value, high=value, n=200,
                        )
                    )  # fmt: skip

    database.write(write)


def test_the_matrix_begins_with_the_least_error(client, ids):
    items = client.get("/api/v1/tasks/sentiment/matrix").json()["items"]
    assert (labels(items)[0], labels(items)[-1]) == ("model-3", "model-0")


def test_the_matrix_tells_of_a_hidden_dataset_what_is_clearly_less(client, ids, ada, become, hide):
    for id in ids:
        become(id, person_id=ada.id)
    hide("first")
    items = client.get("/api/v1/tasks/sentiment/matrix").json()["items"]
    answer = {
        line["entrant"]["label"]: cell["score"]["value"]
        for line in items
        for cell in line["cells"]
        if cell["dataset"] == "first"
    }
    assert answer["model-0"] > answer["model-1"] == answer["model-2"] > answer["model-3"]


def test_the_slices_begin_with_the_least_error_and_mark_the_least_of_each(client, sliced):
    document = client.get("/api/v1/tasks/sentiment/slices", params={"dataset": "first"}).json()
    assert (document["metric"], labels(document["items"])[0]) == ("calibration_error", "model-3")
    assert labels(document["items"])[-1] == "model-0"
    page = client.get("/tasks/sentiment/slices?dataset=first").text
    least = document["items"][0]["slices"]["even"]["value"] * 100
    marked = re.findall("<strong>([^<]+)</strong>", page[page.index("<tbody>") :])
    assert sorted(marked) == sorted([f"{least:.1f}%", "1.0%"])


def test_a_dataset_s_best_model_has_the_least_error_and_its_hardest_slice_the_most(client, sliced):
    document = client.get("/api/v1/tasks/sentiment/datasets/first/best").json()
    assert (labels(document["items"])[0], labels(document["items"])[-1]) == ("model-3", "model-0")
    assert [item["tag"] for item in document["slices"]] == ["even", "odd"]


def test_a_model_s_page_begins_with_the_slices_on_which_it_errs_most(client, sliced):
    [item] = client.get("/api/v1/models/model-3/scores").json()["items"]
    assert list(item["slices"]["first"]) == ["even", "odd"]


def test_shared_errors_begin_with_the_model_that_errs_least(client, ids, database, settings):
    database.write(boards.answered, settings, ids, SKILLS)
    document = client.get("/api/v1/tasks/sentiment/transfer", params={"dataset": "first"}).json()
    assert (document["models"][0]["label"], document["models"][-1]["label"]) == ("model-3", "model-0")


def test_reported_and_measured_errors_stand_in_one_order_the_least_first(client, ids, ada, database):
    database.write(service.set_role, None, "sentiment", ada.name, "owner")
    answer = (("a paper's low", 5), ("a paper's high", 99))
    rows = [{"model_name": name, "metrics": {"Calibration error": value}} for name, value in answer]
    document = [{"task": "Sentiment", "datasets": [{"dataset": "First", "sota": {"metrics": [], "rows": rows}}]}]
    response = ada.post(
        "/api/v1/tasks/sentiment/reported", json={"source": "https://example.org/t.json", "document": document}
    )
    assert response.status_code == 201, response.text
    page = client.get("/tasks/sentiment/reported?beside=first/calibration_error").text
    body = page[page.index("<tbody>") :]
    places = [body.index(name) for name in ("s low", "model-3", "model-0", "s high")]
    assert places == sorted(places)


def released(session, names=("first",)):
    """Let datasets be those of released rounds."""
    version = session.query(TaskVersion.id).filter_by(task_id="sentiment").scalar()
    for number, name in enumerate(names, start=1):
        dataset = session.query(Dataset).filter_by(name=name).one()
        source = Round(
            task_id="sentiment", number=number, version_id=version, state="released", fooled_when="any", seed=1
        )
        session.add(source)
        session.flush()
        dataset.round_id, dataset.kind = source.id, "round"


def test_a_model_does_better_over_rounds_as_its_error_falls(client, ids, database):
    def write(session):
        released(session, ("first", "second"))
        for number, (first, second) in enumerate([(0.9, 0.5), (0.8, 0.4), (0.2, 0.7), (0.3, 0.3)]):
            for name, value in (("first", first), ("second", second)):
                result = score(session, ids[number], name).one()
                result.value, result.low, result.high = value, value - 0.02, value + 0.02
                result.replicates = pack_replicates(
                    value + 0.01 * np.random.default_rng(number).normal(size=REPLICATES)
                )

    database.write(write)
    assert "over the rounds, better: 2 of 4 models, worse: 1" in client.get("/tasks/sentiment/matrix").text
    assert "Current models on this round" in client.get("/tasks/sentiment/rounds/1/data").text
    with speaking("en"):
        table = database.read(board_views.models_on_round, None, "sentiment", 1)
    assert [row[0] for row in table.rows] == ["model-2", "model-3", "model-1", "model-0"]


def test_people_stand_beside_the_model_with_the_least_error(client, ids, database):
    database.write(released)
    [item] = client.get("/api/v1/tasks/sentiment/humans").json()["items"]
    assert item["best"]["label"] == "model-3"
    assert item["behind"]["value"] is None, "an error is not compared with the share of people's right answers"
    assert client.get(PAGE).status_code == 200
