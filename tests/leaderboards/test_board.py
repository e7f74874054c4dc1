"""The leaderboard of a task: ranks, weights, who sees what, files, and what a hostile address gets."""

import csv
import io
import math
import re
from datetime import timedelta

import pyarrow.parquet as pq
import pytest
from sqlalchemy import delete, select

from dynabench.datasets.tables import Dataset, Twin
from dynabench.db import now
from dynabench.leaderboards.board import _kept
from dynabench.scoring import measures
from dynabench.scoring.measures import Measure, packed
from dynabench.scoring.tables import Evaluation, Record, Score
from dynabench.stats.replicates import measured

BOARD = "/api/v1/tasks/sentiment/leaderboard"
PAGE = "/tasks/sentiment/leaderboard"


def board(client, query="", **how):
    answer = client.get(f"{BOARD}{query}", **how)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ranks(found):
    return {row["name"]: (row["rank"]["low"], row["rank"]["high"]) for row in found["rows"] if row["rank"]}


def test_two_models_alike_share_their_ranks_and_a_better_one_stands_above(client, ids):
    only = "?m.f1=0&m.fairness=0&m.robustness=0&m.throughput=0&m.memory=0"
    found = board(client, only)
    assert ranks(found) == {"model-0": (1, 1), "model-1": (2, 3), "model-2": (2, 3), "model-3": (4, 4)}
    groups = {row["name"]: row["rank"]["group"] for row in found["rows"]}
    assert groups == {"model-0": 1, "model-1": 2, "model-2": 2, "model-3": 3}
    best = found["rows"][0]
    mean = sum(each["accuracy"]["value"] for each in best["datasets"].values()) / 2
    assert best["score"]["value"] == pytest.approx(best["metrics"]["accuracy"]["value"])
    assert best["score"]["value"] == pytest.approx(mean)
    assert best["score"]["low"] < best["score"]["value"] < best["score"]["high"]


def test_weights_of_metrics_and_datasets_change_the_order(client, ids):
    slow_first = "?m.accuracy=0&m.f1=0&m.fairness=0&m.robustness=0&m.memory=0&form=guarded"
    assert [row["name"] for row in board(client, slow_first)["rows"]] == [f"model-{n}" for n in range(4)]
    one = board(client, "?d.second=0")
    assert one["weights"]["datasets"] == {"first": 5, "second": 0}
    row = one["rows"][0]
    assert row["metrics"]["accuracy"]["value"] == pytest.approx(row["datasets"]["first"]["accuracy"]["value"])


def test_defaults_are_four_for_the_primary_metric_and_one_for_the_others(client, ids):
    weights = board(client)["weights"]
    assert weights["metrics"] == {"accuracy": 4, "f1": 1, "fairness": 1, "robustness": 1, "throughput": 1, "memory": 1}
    assert weights["form"] == "exact"


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


def test_a_model_without_a_weighed_metric_is_listed_unranked_with_the_reason(client, ids, database, become):
    def forget(session):
        for score in (
            session.query(Score)
            .join(Evaluation)
            .where(Evaluation.submission_id == ids[1], Score.metric.in_(["memory", "throughput"]))
        ):
            session.delete(score)

    database.write(forget)
    become(ids[1], kind="predictions")
    last = board(client)["rows"][-1]
    assert (last["name"], last["rank"], last["score"]["value"]) == ("model-1", None, None)
    assert last["unranked"] == "A file of predictions has no throughput, memory; give these the weight 0 to rank it."
    assert "model-1" in ranks(board(client, "?m.memory=0&m.throughput=0"))


def test_a_score_that_is_not_finite_counts_as_none(client, ids, database):
    def spoil(session):
        for score in (
            session.query(Score).join(Evaluation).where(Evaluation.submission_id == ids[0], Score.metric == "accuracy")
        ):
            score.value = float("inf")

    database.write(spoil)
    _kept.clear()
    last = board(client)["rows"][-1]
    assert (last["name"], last["rank"]) == ("model-0", None)
    assert last["metrics"]["accuracy"]["value"] is None


def test_one_model_alone_and_an_empty_board(client, ids, become):
    for id in ids[1:]:
        become(id, state="withdrawn")
    found = board(client)
    assert ranks(found) == {"model-0": (1, 1)}
    become(ids[0], state="withdrawn")
    assert board(client)["rows"] == []
    assert "No models yet" in client.get(PAGE).text


def test_a_new_score_is_on_the_board_at_once(client, ids, database):
    before = board(client)["rows"][0]["metrics"]["accuracy"]["value"]

    def rescore(session):
        score = (
            session.query(Score)
            .join(Evaluation)
            .where(Evaluation.submission_id == ids[0], Score.metric == "accuracy")
            .first()
        )
        made = Score(evaluation_id=score.evaluation_id, metric="accuracy", value=0.5, low=0.4, high=0.6, n=score.n,
                     version=2)  # fmt: skip
        session.delete(score)
        session.flush()
        session.add(made)

    database.write(rescore)
    after = next(row for row in board(client)["rows"] if row["name"] == "model-0")
    assert after["metrics"]["accuracy"]["value"] < before


def test_private_rows_are_their_submitters_and_anonymous_ones_have_no_name(client, ids, ada, person, become):
    become(ids[0], visibility="private", person_id=ada.id)
    become(ids[1], visibility="anonymous", person_id=ada.id)
    bob = person("bob")
    for other in (client, bob):
        found = board(other)
        names = [row["name"] for row in found["rows"]]
        assert "model-0" not in names
        assert "model-1" not in names
        row = next(row for row in found["rows"] if row["id"] == ids[1])
        assert (row["name"], row["model"], row["version"], row["submitter"], row["licence"]) == (
            f"Anonymous {ids[1]}", "", "", "", "",
        )  # fmt: skip
        text = other.get(f"{BOARD}/file?format=csv").text + other.get(f"{BOARD}/paperswithcode").text
        assert "model-0" not in text
        assert "model-1" not in text
        assert "ada" not in text
        assert other.get(f"{BOARD}/rows/{ids[0]}").status_code == 404
        assert other.get(f"{BOARD}/rows/{ids[1]}/card").status_code == 404
    assert {"model-0", "model-1"} <= {row["name"] for row in board(ada)["rows"]}


def slice_of(database, submission):
    def add(session):
        for evaluation in session.query(Evaluation).where(Evaluation.submission_id == submission):
            session.add(Score(evaluation_id=evaluation.id, metric="accuracy", slice="negation", value=0.5, low=0.4,
                              high=0.6, n=100))  # fmt: skip

    database.write(add)


def test_slices_are_shown_but_not_of_hidden_data(client, ids, database, hide):
    slice_of(database, ids[0])
    address = f"{BOARD}/rows/{ids[0]}"
    assert {each["dataset"] for each in client.get(address).json()["slices"]} == {"first", "second"}
    hide("second")
    assert {each["dataset"] for each in client.get(address).json()["slices"]} == {"first"}
    assert client.get(f"{PAGE}/rows/{ids[0]}").text.count("negation") == 1
    hide("first")
    assert "negation" not in client.get(f"{PAGE}/rows/{ids[0]}").text


def test_later_submissions_climb_on_hidden_data_only_where_they_clearly_improve(client, ids, ada, become, hide):
    for id in ids:
        become(id, person_id=ada.id)
    hide("first")
    rows = {row["name"]: row for row in board(client)["rows"]}
    told = {name: row["datasets"]["first"]["accuracy"]["value"] for name, row in rows.items()}
    assert told["model-1"] == told["model-2"], "a copy is no improvement"
    assert [rows[f"model-{n}"]["held"] for n in range(4)] == [False, True, True, True]
    assert set(told.values()) == {told["model-0"]}, "what is no improvement is told nothing, losses included"
    assert rows["model-3"]["datasets"]["second"]["accuracy"]["value"] < told["model-0"], "that is for hidden data alone"
    assert "held back" in client.get(PAGE).text
    for name in ("model-1", "model-0"):
        results = client.get(f"{BOARD}/rows/{rows[name]['id']}/card").text
        assert ("/first" in results) is (name == "model-0"), "a card claims no score of another submission"


def test_an_anonymous_submission_that_is_held_back_tells_nothing_and_no_row_shows_its_scores(
    client, ids, ada, become, hide
):
    for at, (id, visibility) in enumerate(zip(ids, ("anonymous", "public", "anonymous", "private"), strict=True)):
        become(id, person_id=ada.id, visibility=visibility, created_at=now() + timedelta(hours=at))
    hide("first")
    for caller in (client, ada):
        rows = {row["id"]: row for row in board(caller)["rows"]}
        told = {id: row["datasets"]["first"]["accuracy"]["value"] for id, row in rows.items()}
        assert told[ids[1]] < told[ids[0]], "the named one stands by itself, whatever anonymous ones scored"
        assert told[ids[2]] is None, "a tie with either would link them"
        assert rows[ids[2]]["datasets"]["first"]["memory"]["value"] is not None
        assert rows[ids[2]]["rank"] is None
        assert rows[ids[2]]["unranked"].startswith("Held back on First")
        assert [rows[id]["held"] for id in ids[:3]] == [False, False, True]
    freed = {row["id"]: row for row in board(client, "?d.first=0")["rows"]}
    assert freed[ids[2]]["rank"] is not None
    assert told[ids[3]] < told[ids[1]], "what is private shows its own to its submitter, and nobody's row shows it"


def test_a_significant_improvement_is_told_and_is_then_the_one_to_beat(client, ids, ada, become, hide, database):
    times = iter(now() + timedelta(hours=n) for n in range(4))
    for id in reversed(ids):  # the worst first
        become(id, person_id=ada.id, created_at=next(times))
    hide("first")
    rows = {row["name"]: row for row in board(client)["rows"]}
    told = {name: row["datasets"]["first"]["accuracy"]["value"] for name, row in rows.items()}
    assert told["model-3"] < told["model-2"] == told["model-1"] < told["model-0"]
    assert [name for name, row in rows.items() if row["held"]] == ["model-1"], "a copy is held back"


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
        found = board(client, query)
        assert [row["name"] for row in found["rows"]] == ["model-2"]
        assert ranks(found)["model-2"] == full["model-2"]
    assert board(client, "?since=2999-01-01")["rows"] == []
    assert [row["name"] for row in board(client, "?sort=-name")["rows"]] == [f"model-{n}" for n in (3, 2, 1, 0)]
    assert board(client, "?sort=m.memory")["rows"][0]["name"] == "model-0"


def test_files_say_the_same_in_all_formats(client, ids):
    found = board(client)
    sheet = list(csv.DictReader(io.StringIO(client.get(f"{BOARD}/file?format=csv").text.removeprefix("\ufeff"))))
    table = pq.read_table(io.BytesIO(client.get(f"{BOARD}/file?format=parquet").content)).to_pylist()
    assert client.get(f"{BOARD}/file?format=json").json() == found
    for row, line, record in zip(found["rows"], sheet, table, strict=True):
        assert row["name"] == line["name"] == record["name"]
        assert row["score"]["value"] == float(line["score"]) == record["score"]
        assert row["rank"]["high"] == int(line["rank_high"]) == record["rank_high"]


def test_names_that_spreadsheets_take_for_formulas_are_marked(client, ids, become):
    become(ids[0], name="=HYPERLINK(1)")
    assert "'=HYPERLINK(1)" in client.get(f"{BOARD}/file?format=csv").text


def test_a_picture_of_the_board(client, ids):
    drawn = client.get(f"{BOARD}/image?format=svg")
    assert drawn.headers["content-type"].startswith("image/svg")
    assert "model-0" in drawn.text
    assert client.get(f"{BOARD}/image?format=png").content.startswith(b"\x89PNG")


def test_the_embedded_table_may_be_framed_and_sets_no_cookie_and_nothing_else_may(client, ids, ada, become):
    become(ids[0], visibility="private", person_id=ada.id)
    answer = client.get(f"{PAGE}/embed")
    assert "frame-ancestors *" in answer.headers["content-security-policy"]
    assert "x-frame-options" not in answer.headers or not answer.headers["x-frame-options"]
    assert "set-cookie" not in answer.headers
    assert "model-1" in answer.text
    assert "model-0" not in answer.text
    assert "frame-ancestors 'none'" in client.get(PAGE).headers["content-security-policy"]


def test_the_page_works_as_a_plain_form(client, ids):
    page = client.get(f"{PAGE}?m.memory=0&columns=accuracy").text
    assert 'name="m.memory" min="0" max="5" step="1" value="0"' in page
    assert "model-0" in page
    assert client.get("/tasks/nowhere/leaderboard").status_code == 404


def test_names_with_markup_are_shown_as_text(client, ids, become):
    become(ids[0], name="</script><script>alert(1)</script>")
    for address in (PAGE, f"{PAGE}/embed", f"{PAGE}/rows/{ids[0]}", "/tasks/sentiment/ledger"):
        assert "<script>alert(1)" not in client.get(address).text


def test_ranks_alone_agree_with_the_board(client, ids):
    found = client.get(f"{BOARD}/ranks?m.memory=0").json()
    for row in board(client, "?m.memory=0")["rows"]:
        assert found["ranks"][str(row["id"])] == [row["rank"]["low"], row["rank"]["high"], row["rank"]["group"]]
        assert found["scores"][str(row["id"])][0] == row["score"]["value"]


def forget(database, metric, submissions, datasets=("first", "second")):
    """Take scores away as if they had not been made."""

    def write(session):
        versions = select(Dataset.version_id).where(Dataset.name.in_(datasets))
        of = select(Evaluation.id).where(Evaluation.submission_id.in_(submissions), Evaluation.version_id.in_(versions))
        session.execute(delete(Score).where(Score.metric == metric, Score.evaluation_id.in_(of)))

    database.write(write)
    _kept.clear()


def reason(found, name):
    return next(row["unranked"] for row in found["rows"] if row["name"] == name)


def test_a_metric_that_nobody_has_yet_is_named_with_its_reason_and_the_link_that_ranks_all(client, ids, database):
    forget(database, "robustness", ids)
    assert ranks(board(client)) == {}
    assert reason(board(client), "model-0") == "It has no robustness; give this the weight 0 to rank it."
    page = client.get(PAGE).text
    assert "No model has robustness yet" in page
    [link] = re.findall(r'href="([^"]+)">Rank all without it', page)
    ranked = client.get(link.replace("&amp;", "&")).text
    assert "No model has robustness yet" not in ranked
    assert set(ranks(board(client, "?m.robustness=0"))) == {f"model-{n}" for n in range(4)}

    def perturbing(session):
        version = session.scalars(select(Dataset.version_id).where(Dataset.name == "first")).one()
        session.add(Twin(version_id=version, axis="robustness", state="reading"))

    database.write(perturbing)
    assert "the perturbed copies are still being made; until then" in reason(board(client), "model-0")


def test_a_model_whose_evaluation_goes_on_keeps_its_scores_and_says_its_place_in_the_queue(client, ids, database):
    forget(database, "robustness", ids)
    before = board(client)["rows"][0]["metrics"]["accuracy"]["value"]

    def queued(session):
        for each in session.scalars(select(Evaluation).order_by(Evaluation.id)):
            each.state, each.attempt = "queued", 2

    database.write(queued)
    found = board(client)
    assert max(row["metrics"]["accuracy"]["value"] for row in found["rows"]) == before
    assert reason(found, "model-0") == (
        "Robustness is being measured: place 1 in the queue. Until then, give this the weight 0 to rank it."
    )
    assert "place 7 in the queue" in reason(found, "model-3")
    assert len(ranks(board(client, "?m.robustness=0"))) == 4


def test_a_dataset_without_perturbed_copies_does_not_count_in_their_metric_and_unranks_nobody(client, ids, database):
    forget(database, "robustness", ids, ["second"])
    found = board(client)
    assert len(ranks(found)) == 4
    for row in found["rows"]:
        assert row["metrics"]["robustness"]["value"] == row["datasets"]["first"]["robustness"]["value"]
    forget(database, "robustness", ids[:1], ["first"])
    assert set(ranks(board(client))) == {"model-1", "model-2", "model-3"}
    forget(database, "accuracy", ids[1:2], ["second"])
    assert reason(board(client), "model-1") == "Not yet scored on Second."


def set_all(database, metric, value, submissions=None):
    """One value and no spread for everybody, or for some."""

    def write(session):
        rows = select(Score).join(Evaluation).where(Score.metric == metric, Score.slice == "")
        for score in session.scalars(rows if submissions is None else rows.where(
            Evaluation.submission_id.in_(submissions))):  # fmt: skip
            score.value, score.low, score.high, score.replicates = value, value, value, None

    database.write(write)
    _kept.clear()


@pytest.mark.parametrize("form", ["exact", "guarded"])
def test_all_ties_and_constant_metrics_have_finite_scores_and_shared_ranks(client, ids, database, form):
    set_all(database, "memory", 3.0)
    varied = board(client, f"?form={form}")
    assert len(ranks(varied)) == 4
    for metric in ("accuracy", "f1", "fairness", "robustness", "throughput"):
        set_all(database, metric, 0.5)
    tied = board(client, f"?form={form}")
    assert ranks(tied) == {f"model-{n}": (1, 4) for n in range(4)}
    assert len({row["score"]["value"] for row in tied["rows"]}) == 1
    assert all(math.isfinite(row["score"]["value"]) for row in (*varied["rows"], *tied["rows"]))


@pytest.mark.parametrize("form", ["exact", "guarded"])
def test_a_primary_metric_of_which_less_is_better_ranks_the_least_first(client, ids, monkeypatch, form):
    monkeypatch.setitem(measures.KNOWN, "accuracy", Measure("accuracy", "Error", "lower"))
    _kept.clear()
    only = "m.f1=0&m.fairness=0&m.robustness=0&m.throughput=0&m.memory=0"
    found = board(client, f"?{only}&form={form}")
    assert ranks(found) == {"model-3": (1, 1), "model-1": (2, 3), "model-2": (2, 3), "model-0": (4, 4)}
    assert found["rows"][0]["name"] == "model-3"


def test_two_copies_of_a_model_tie_though_one_happened_to_run_faster(client, ids, database):
    def measure_anew(session):
        for at, id in enumerate(ids[1:3]):
            rows = select(Score).join(Evaluation).where(Evaluation.submission_id == id, Score.metric == "throughput")
            for score in session.scalars(rows):
                repeats = [100.0 - at, 101.5 - at, 99.0 - at]
                score.value = 100.0 - at
                score.replicates = packed(measured(repeats, f"throughput of evaluation {score.evaluation_id}"))
            rows = select(Score).join(Evaluation).where(Evaluation.submission_id == id, Score.metric == "memory")
            for score in session.scalars(rows):
                score.value = 2.0

    database.write(measure_anew)
    _kept.clear()
    for form in ("exact", "guarded"):
        found = ranks(board(client, f"?form={form}&m.throughput=1"))
        (low, high), (other_low, other_high) = found["model-1"], found["model-2"]
        assert low <= other_high
        assert other_low <= high
