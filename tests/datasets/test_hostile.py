"""Files that are broken, or meant to break something: rows are refused with reasons, and nothing is half there."""

import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import func, select

from dynabench.collection.tables import Example, Prediction, Standing
from dynabench.datasets import service
from dynabench.datasets.schemas import PlanIn
from dynabench.rounds.tables import Round
from tests.datasets.test_foreign import NLI, QA
from tests.datasets.world import bring, fresh, rows

ROW = {"uid": "1", "premise": "It rains.", "hypothesis": "It is wet.", "label": "e", "model_label": "n"}
TABLE = b"premise,hypothesis,label\n%s,It is wet.,e\nIt snows.,It is cold.,e\n"


@pytest.fixture
def db(database):
    fresh(database, NLI, "pairs")
    fresh(database, QA, "reading")
    return database


@pytest.fixture
def ours(db, settings, tmp_path):
    """A row as exports write it."""
    path = tmp_path / "first.jsonl"
    path.write_text(json.dumps(ROW))
    bring(db, settings, path, "pairs")
    return rows(db, settings, "pairs")[0]


@pytest.fixture
def send(db, settings, tmp_path):
    """Import a file; what it came to, and the reasons of refused rows by number."""

    def sent(name, content, task="pairs", **how):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else "\n".join(map(json.dumps, content)).encode())
        state, refused = bring(db, settings, path, task, **how)
        return state, {first.number: first.message for first in refused}

    return sent


def count(db, table=Example):
    return db.read(lambda session: session.scalar(select(func.count()).select_from(table)))


def test_numbers_that_are_none_are_refused(db, send, ours):
    answer = {"model": "m", "version": "1", "answer": {"label": "neutral"}, "fooled": True}
    words = {"model": "m", "method": "x", "label": "l", "fields": {"hypothesis": [math.inf]}}
    wrong = [
        ours | {"uid": "n1", "predictions": [answer | {"probabilities": {"neutral": math.nan}}]},
        ours | {"uid": "n2", "attributions": [words]},
        ours | {"uid": "n3", "seconds": 10**400},
        ours | {"uid": "n4", "at": "0001-01-01T00:00:00+14:00"},
        ours | {"uid": "n5", "round": 2**31 - 1},
        ours | {"uid": "n6", "attributions": [words | {"fields": {}}] * 2},
    ]
    state, refused = send("b.jsonl", wrong)
    assert (state.created, list(refused)) == (0, [1, 2, 3, 4, 5, 6])
    assert "NaN" in refused[1]
    assert "twice" in refused[6]
    assert count(db) == count(db, Standing) == count(db, Prediction) == 1


def test_nobody_votes_twice_or_on_their_own_example(send, db, settings, ours):
    vote = {"validator": "somebody", "vote": "correct"}
    row = ours | {"uid": "n1", "validations": [vote, vote, vote | {"validator": ours["author"]}]}
    state, refused = send("b.jsonl", [row])
    assert (state.created, refused, sum(state.notes.values())) == (1, {}, 2)
    result = next(first for first in rows(db, settings, "pairs") if first["uid"] == "n1")
    assert (len(result["validations"]), result["verdict"]) == (1, "pending")


@pytest.mark.slow
def test_a_circle_of_origins_is_refused_where_it_closes(send, db, settings, ours):
    ring = [ours | {"uid": f"n{n}", "made_from": f"n{(n + 1) % 4}"} for n in range(4)]
    state, refused = send("b.jsonl", [*ring, ours | {"uid": "self", "made_from": "self"}])
    assert (state.created, list(refused)) == (3, [4, 5])
    assert "circle" in refused[4]
    links = {row["uid"]: row["made_from"] for row in rows(db, settings, "pairs")}
    assert [links[f"n{n}"] for n in range(3)] == ["n1", "n2", None]
    assert list(state.notes.values()) == [1], "whose origin did not come is told"


def test_an_import_that_broke_off_finds_its_origins_when_it_is_run_again(send, db, settings, ours):
    child, parent = ours | {"uid": "child", "made_from": "parent"}, ours | {"uid": "parent"}
    send("b.jsonl", [child])
    state, _ = send("b.jsonl", [child, parent])
    assert (state.created, state.duplicates) == (1, 1)
    links = {row["uid"]: row["made_from"] for row in rows(db, settings, "pairs")}
    assert links == {"1" if "1" in links else ours["uid"]: None, "child": "parent", "parent": None}


def test_a_file_that_is_sent_twice_changes_nothing(send, db):
    many = [ROW | {"uid": str(n)} for n in range(5)]
    first, again = send("a.jsonl", many + many)[0], send("a.jsonl", many)[0]
    assert (first.created, first.duplicates, again.created, again.duplicates) == (5, 5, 0, 5)
    assert count(db) == count(db, Standing) == 5
    assert count(db, Round) == 1


def test_a_column_that_is_missing_is_named(send):
    cells = b"uid,task_version,predictions,validations,condition.start\nx,1,[],[],blank\n"
    assert "condition.arm" in send("a.csv", cells)[1][2]


def test_a_row_of_parquet_that_is_refused_is_kept_as_text(db, settings, tmp_path):
    table = pa.table({"premise": [""], "hypothesis": ["b"], "label": ["e"], "when": [b"\xff"], "uid": [1]})
    pq.write_table(table, tmp_path / "x.parquet")
    _, [refused] = bring(db, settings, tmp_path / "x.parquet", "pairs")
    assert json.dumps(refused.values)


def test_a_preview_shows_what_no_page_could(db, settings, tmp_path):
    path = tmp_path / "0--x.jsonl"
    path.write_bytes(b'{"\\ud800": 1, "premise": "\\ud800", "hypothesis": "b", "label": "e"}')
    from dynabench.rounds import service as of_rounds

    config = db.read(of_rounds.newest_config, "pairs")
    for into in ("examples", "contexts", "seeds"):
        seen = service.preview_import(path, config, PlanIn(into=into))
        assert seen.model_dump_json()
        assert seen.rows[0].error


def test_one_bad_question_does_not_take_its_article_along(send):
    request = [
        {"id": "q1", "question": "Where?", "answers": [{"text": "harbour", "answer_start": 0}]},
        {"id": "q2", "question": "When?", "answers": [{"text": "1904", "answer_start": 14}]},
    ]
    article = {"title": "T", "paragraphs": [{"context": "Ada met Bo in 1904 in the old harbour.", "qas": request}]}
    state, refused = send("a.json", [{"version": "1.1", "data": [article]}], "reading")
    assert (state.created, list(refused)) == (1, [1])


def test_formulas_come_back_as_the_texts_that_they_are(send, db, settings):
    content = TABLE % b"=HYPERLINK(1)"
    send("a.csv", content)
    assert rows(db, settings, "pairs")[0]["context"]["values"]["premise"] == "=HYPERLINK(1)"
