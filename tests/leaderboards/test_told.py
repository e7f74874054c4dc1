"""Visibility on a board: private, anonymous and hidden things, the ladder, markup and frames."""

from datetime import timedelta

from dynabench.benchmark.evaluations.tables import Evaluation, Score
from dynabench.kit.db import now
from tests.leaderboards.asking import BOARD, PAGE, board


def test_private_rows_are_their_submitters_and_anonymous_ones_have_no_name(client, ids, ada, person, become):
    become(ids[0], visibility="private", person_id=ada.id)
    become(ids[1], visibility="anonymous", person_id=ada.id)
    bob = person("bob")
    for other in (client, bob):
        result = board(other)
        names = [row["name"] for row in result["rows"]]
        assert "model-0" not in names
        assert "model-1" not in names
        row = next(row for row in result["rows"] if row["id"] == ids[1])
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
    assert {item["dataset"] for item in client.get(address).json()["slices"]} == {"first", "second"}
    hide("second")
    assert {element["dataset"] for element in client.get(address).json()["slices"]} == {"first"}
    assert client.get(f"{PAGE}/rows/{ids[0]}").text.count("negation") == 1
    hide("first")
    assert "negation" not in client.get(f"{PAGE}/rows/{ids[0]}").text


def test_later_submissions_climb_on_hidden_data_only_where_they_clearly_improve(client, ids, ada, become, hide):
    for id in ids:
        become(id, person_id=ada.id)
    hide("first")
    rows = {row["name"]: row for row in board(client)["rows"]}
    answer = {name: row["datasets"]["first"]["accuracy"]["value"] for name, row in rows.items()}
    assert answer["model-1"] == answer["model-2"], "a copy is no improvement"
    assert [rows[f"model-{n}"]["held"] for n in range(4)] == [False, True, True, True]
    assert set(answer.values()) == {answer["model-0"]}, "what is no improvement is told nothing, losses included"
    assert rows["model-3"]["datasets"]["second"]["accuracy"]["value"] < answer["model-0"], (
        "that is for hidden data alone"
    )
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
        answer = {id: row["datasets"]["first"]["accuracy"]["value"] for id, row in rows.items()}
        assert answer[ids[1]] < answer[ids[0]], "the named one stands by itself, whatever anonymous ones scored"
        assert answer[ids[2]] is None, "a tie with either would link them"
        assert rows[ids[2]]["datasets"]["first"]["memory"]["value"] is not None
        assert rows[ids[2]]["rank"] is None
        assert rows[ids[2]]["unranked"].startswith("Held back on First")
        assert [rows[id]["held"] for id in ids[:3]] == [False, False, True]
    freed = {row["id"]: row for row in board(client, "?d.first=0")["rows"]}
    assert freed[ids[2]]["rank"] is not None
    assert answer[ids[3]] < answer[ids[1]], "what is private shows its own to its submitter, and nobody's row shows it"


def test_a_significant_improvement_is_told_and_is_then_the_one_to_beat(client, ids, ada, become, hide, database):
    times = iter(now() + timedelta(hours=n) for n in range(4))
    for id in reversed(ids):  # the worst first
        become(id, person_id=ada.id, created_at=next(times))
    hide("first")
    rows = {row["name"]: row for row in board(client)["rows"]}
    answer = {name: row["datasets"]["first"]["accuracy"]["value"] for name, row in rows.items()}
    assert answer["model-3"] < answer["model-2"] == answer["model-1"] < answer["model-0"]
    assert [name for name, row in rows.items() if row["held"]] == ["model-1"], "a copy is held back"


def test_the_embedded_table_may_be_framed_and_sets_no_cookie_and_nothing_else_may(client, ids, ada, become):
    become(ids[0], visibility="private", person_id=ada.id)
    answer = client.get(f"{PAGE}/embed")
    assert "frame-ancestors *" in answer.headers["content-security-policy"]
    assert "x-frame-options" not in answer.headers or not answer.headers["x-frame-options"]
    assert "set-cookie" not in answer.headers
    assert "model-1" in answer.text
    assert "model-0" not in answer.text
    assert "frame-ancestors 'none'" in client.get(PAGE).headers["content-security-policy"]


def test_names_with_markup_are_shown_as_text(client, ids, become):
    become(ids[0], name="</script><script>alert(1)</script>")
    for address in (PAGE, f"{PAGE}/embed", f"{PAGE}/rows/{ids[0]}", "/tasks/sentiment/ledger"):
        assert "<script>alert(1)" not in client.get(address).text
