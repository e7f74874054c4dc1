"""The leaderboard of a task: ranks, weights, filters, files, and what a hostile address gets."""

import io

import pyarrow.parquet as pq
import pytest
from sqlalchemy import event, select

from dynabench.benchmark.evaluations.measures import pack_replicates
from dynabench.benchmark.evaluations.tables import Evaluation, Record, Score
from dynabench.benchmark.reading import _cache, read_board
from dynabench.kit.db import now
from dynabench.stats.bootstrap import cost_replicates
from tests.leaderboards.asking import BOARD, PAGE, board, ranks
from tests.sheets import rows_of


def test_two_models_alike_share_their_ranks_and_a_better_one_stands_above(client, ids):
    only = "?m.f1=0&m.fairness=0&m.robustness=0&m.throughput=0&m.memory=0"
    result = board(client, only)
    assert ranks(result) == {"model-0": (1, 1), "model-1": (2, 3), "model-2": (2, 3), "model-3": (4, 4)}
    groups = {row["name"]: row["rank"]["group"] for row in result["rows"]}
    assert groups == {"model-0": 1, "model-1": 2, "model-2": 2, "model-3": 3}
    best = result["rows"][0]
    mean = sum(dataset["accuracy"]["value"] for dataset in best["datasets"].values()) / 2
    assert best["score"]["value"] == pytest.approx(best["metrics"]["accuracy"]["value"])
    assert best["score"]["value"] == pytest.approx(mean)
    assert best["score"]["low"] < best["score"]["value"] < best["score"]["high"]


def test_a_board_whose_scores_are_in_memory_takes_fewer_statements_than_it_has_models(ids, database):
    database.read(read_board, None, "sentiment")
    statements = []
    event.listen(database.engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
    database.read(read_board, None, "sentiment")
    tables = [statement.partition("FROM ")[2].split(maxsplit=1)[0] for statement in statements]
    assert tables.count("submissions") == 1, statements


def test_weights_of_metrics_and_datasets_change_the_order(client, ids):
    slow_first = "?m.accuracy=0&m.f1=0&m.fairness=0&m.robustness=0&m.memory=0&form=guarded"
    assert [row["name"] for row in board(client, slow_first)["rows"]] == [f"model-{n}" for n in range(4)]
    first = board(client, "?d.second=0")
    assert first["weights"]["datasets"] == {"first": 5, "second": 0}
    row = first["rows"][0]
    assert row["metrics"]["accuracy"]["value"] == pytest.approx(row["datasets"]["first"]["accuracy"]["value"])


def test_defaults_are_four_for_the_primary_metric_and_one_for_the_others(client, ids):
    weights = board(client)["weights"]
    assert weights["metrics"] == {"accuracy": 4, "f1": 1, "fairness": 1, "robustness": 1, "throughput": 1, "memory": 1}
    assert weights["form"] == "guarded"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("m.accuracy=nan", "m.accuracy"), ("m.accuracy=-1", "m.accuracy"), ("m.accuracy=1e9", "m.accuracy"),
        ("m.accuracy=6", "m.accuracy"), ("m.accuracy=", "m.accuracy"), ("m.accuracy=4.5", "m.accuracy"),
        ("m.nothing=1", "m.nothing"), ("d.nothing=1", "d.nothing"), ("d.first=%D9%A3", "d.first"),
        ("form=best", "form"), ("size=huge", "size"), ("since=yesterday", "since"), ("sort=secret", "sort"),
        ("columns=secret", "columns"), ("d.first=0&d.second=0", "d.first"),
    ],
)  # fmt: skip
def test_bad_parameters_are_refused_by_name(client, ids, query, field):
    answer = client.get(f"{BOARD}?{query}")
    assert answer.status_code == 422
    assert field in answer.json()["fields"]
    assert client.get(f"{PAGE}?{query}").status_code == 422


def test_a_new_score_is_on_the_board_at_once(client, ids, database):
    before = board(client)["rows"][0]["metrics"]["accuracy"]["value"]

    def rescore(session):
        score = (
            session.query(Score)
            .join(Evaluation)
            .where(Evaluation.submission_id == ids[0], Score.metric == "accuracy")
            .first()
        )
        created = Score(evaluation_id=score.evaluation_id, metric="accuracy", value=0.5, low=0.4, high=0.6, n=score.n,
                     version=2)  # fmt: skip
        session.delete(score)
        session.flush()
        session.add(created)

    database.write(rescore)
    after = next(row for row in board(client)["rows"] if row["name"] == "model-0")
    assert after["metrics"]["accuracy"]["value"] < before


def test_verified_rows_have_signed_records_on_all_data_that_counts(client, ids, database):
    def sign(session):
        for evaluation in session.query(Evaluation).where(Evaluation.submission_id == ids[2]):
            session.add(Record(evaluation_id=evaluation.id, document={}, signature="ab" * 64, made_at=now()))

    database.write(sign)
    assert [row["name"] for row in board(client)["rows"] if row["verified"]] == ["model-2"]


def test_rows_are_filtered_and_sorted_but_keep_their_ranks(client, ids, become):
    become(ids[2], card={"languages": ["de"], "licence": "Apache-2.0", "size_bytes": 5 * 10**9})
    full = ranks(board(client))
    for query in ("?language=de", "?licence=Apache-2.0", "?size=large"):
        result = board(client, query)
        assert [row["name"] for row in result["rows"]] == ["model-2"]
        assert ranks(result)["model-2"] == full["model-2"]
    assert board(client, "?since=2999-01-01")["rows"] == []
    assert [row["name"] for row in board(client, "?sort=-name")["rows"]] == [f"model-{n}" for n in (3, 2, 1, 0)]
    assert board(client, "?sort=m.memory")["rows"][0]["name"] == "model-0"


def test_files_say_the_same_in_all_formats(client, ids):
    result = board(client)
    sheet = rows_of(client.get(f"{BOARD}/file?format=csv").text)
    table = pq.read_table(io.BytesIO(client.get(f"{BOARD}/file?format=parquet").content)).to_pylist()
    assert client.get(f"{BOARD}/file?format=json").json() == result
    for row, line, record in zip(result["rows"], sheet, table, strict=True):
        assert row["name"] == line["name"] == record["name"]
        assert row["score"]["value"] == float(line["score"]) == record["score"]
        assert row["rank"]["high"] == int(line["rank_high"]) == record["rank_high"]


def test_names_that_spreadsheets_take_for_formulas_are_marked(client, ids, become):
    become(ids[0], name="=HYPERLINK(1)")
    assert "'=HYPERLINK(1)" in client.get(f"{BOARD}/file?format=csv").text


@pytest.mark.slow
def test_a_picture_of_the_board(client, ids):
    drawn = client.get(f"{BOARD}/image?format=svg")
    assert drawn.headers["content-type"].startswith("image/svg")
    assert "model-0" in drawn.text
    assert client.get(f"{BOARD}/image?format=png").content.startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_page_works_as_a_plain_form(client, ids):
    page = client.get(f"{PAGE}?m.memory=0&columns=accuracy").text
    assert 'name="m.memory" min="0" max="5" step="1" value="0"' in page
    assert "model-0" in page
    assert client.get("/tasks/nowhere/leaderboard").status_code == 404


def test_ranks_alone_agree_with_the_board(client, ids):
    document = client.get(f"{BOARD}/ranks?m.memory=0").json()
    for row in board(client, "?m.memory=0")["rows"]:
        assert document["ranks"][str(row["id"])] == [row["rank"]["low"], row["rank"]["high"], row["rank"]["group"]]
        assert document["scores"][str(row["id"])][0] == row["score"]["value"]


def test_two_copies_of_a_model_tie_though_one_happened_to_run_faster(client, ids, database):
    def measure_anew(session):
        for at, id in enumerate(ids[1:3]):
            rows = select(Score).join(Evaluation).where(Evaluation.submission_id == id, Score.metric == "throughput")
            for score in session.scalars(rows):
                repeats = [100.0 - at, 101.5 - at, 99.0 - at]
                score.value = 100.0 - at
                score.replicates = pack_replicates(
                    cost_replicates(repeats, f"throughput of evaluation {score.evaluation_id}")
                )
            rows = select(Score).join(Evaluation).where(Evaluation.submission_id == id, Score.metric == "memory")
            for score in session.scalars(rows):
                score.value = 2.0

    database.write(measure_anew)
    _cache.clear()
    for form in ("exact", "guarded"):
        result = ranks(board(client, f"?form={form}&m.throughput=1"))
        (low, high), (other_low, other_high) = result["model-1"], result["model-2"]
        assert low <= other_high
        assert other_low <= high


@pytest.mark.parametrize("form", ["guarded", "exact"])
def test_a_baseline_has_scores_and_no_rank_and_moves_no_other_model(client, ids, person, become, form):
    ada, bob = person("ada"), person("bob")
    become(ids[0], person_id=ada.id)
    address = f"/api/v1/submissions/{ids[0]}"
    assert bob.patch(address, json={"baseline": True}).status_code == 404
    assert ada.patch(address, json={"baseline": True}).json()["baseline"] is True
    with_baseline = board(client, f"?form={form}")
    last = with_baseline["rows"][-1]
    assert (last["name"], last["rank"], last["baseline"]) == ("model-0", None, True)
    assert last["unranked"] == "A baseline: shown for comparison, not ranked."
    assert last["metrics"]["accuracy"]["value"] > with_baseline["rows"][0]["metrics"]["accuracy"]["value"]
    become(ids[0], state="withdrawn")
    without = board(client, f"?form={form}")
    for row, other in zip(with_baseline["rows"][:-1], without["rows"], strict=True):
        assert (row["name"], row["rank"], row["score"]) == (other["name"], other["rank"], other["score"])
    become(ids[0], state="ready")
    assert ada.patch(address, json={"baseline": False}).json()["baseline"] is False
    assert ranks(board(client, f"?form={form}"))["model-0"] == (1, 1)
