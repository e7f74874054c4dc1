"""Contexts: uploaded row by row, drawn by index, by every strategy."""

import json
import random
import time
from collections import Counter
from itertools import pairwise

import pytest
from sqlalchemy import func, insert, select, text, update
from typer.testing import CliRunner

from dynabench.cli import context as command
from dynabench.rounds import config_review, contexts, queries, service
from dynabench.rounds.contexts import ContextRow
from dynabench.rounds.tables import Context
from dynabench.tasks import TaskConfig, shipped_tasks
from tests.collection.conftest import draw

NLI = next(shipped for shipped in shipped_tasks() if shipped.config.id == "nli")


@pytest.fixture
def task(database) -> TaskConfig:
    """The NLI task without contexts."""
    database.write(service.save_task, None, NLI.source)
    return NLI.config


def fill(session, count):
    rng = random.Random(7)
    rows = [
        {
            "task_id": "nli",
            "values": {"premise": str(n)},
            "digest": f"{n:064d}",
            "draw": rng.randint(0, queries.KEYS),
            "used": n % 3,
            "fooled": n % 2,
            "tag": "",
        }
        for n in range(count)
    ]
    session.execute(insert(Context), rows)


def test_a_preview_shows_the_same_context_after_others_were_used(database, task):
    """A row that is updated moves to the end of a PostgreSQL table, and a query without an order follows it."""
    database.write(fill, 3)
    database.write(lambda session: session.execute(text("ANALYZE contexts")))  # PostgreSQL reads small tables in order
    before = database.read(config_review.preview_config, task)["context"]
    database.write(lambda session: session.execute(update(Context).where(Context.id == 1).values(used=9)))
    assert database.read(config_review.preview_config, task)["context"] == before


def test_good_rows_are_kept_bad_ones_named_repeated_ones_counted(owner, ada):
    body = {
        "contexts": [
            {"values": {"premise": "A new one."}, "tag": "mine"},
            {"values": {"premise": "A new one."}},
            {"values": {"premise": ""}},
            {"values": {"premise": "x" * 1001}},
            {"values": {"other": "x"}},
            {"values": "text"},
            {"tag": "t"},
            {"values": {"premise": "Bad tag."}, "tag": 7},
            {"values": {"premise": "And a second one 🙂."}},
        ]
    }
    assert ada.post("/api/v1/tasks/nli/contexts", json=body).status_code == 403
    response = owner.post("/api/v1/tasks/nli/contexts", json=body)
    assert response.status_code == 201
    assert (response.json()["created"], response.json()["duplicates"]) == (2, 1)
    assert [error["row"] for error in response.json()["errors"]] == [3, 4, 5, 6, 7, 8]
    again = owner.post("/api/v1/tasks/nli/contexts", json=body).json()
    assert (again["created"], again["duplicates"]) == (0, 3)


def test_more_than_a_thousand_rows_are_refused(owner):
    rows = [{"values": {"premise": f"{n}."}} for n in range(1001)]
    assert owner.post("/api/v1/tasks/nli/contexts", json={"contexts": rows}).status_code == 422
    assert owner.post("/api/v1/tasks/nli/contexts", json={"contexts": rows[:1000]}).json()["created"] == 1000


@pytest.mark.slow
def test_a_pick_from_many_takes_milliseconds(database, task):
    database.write(fill, 30_000)

    def seconds(session):
        rng, claimed = random.Random(1), []
        for _ in range(50):
            begun = time.perf_counter()
            contexts.pick_context(session, "nli", "least_used", rng)
            claimed.append(time.perf_counter() - begun)
            session.expunge_all()
        return sorted(claimed)[25]

    assert database.read(seconds) < 0.02


def test_least_used_takes_from_the_lowest_level_and_passes_over_the_current_one(database, task):
    def drawn(session):
        fill(session, 30)
        rng = random.Random(3)
        some = [contexts.pick_context(session, "nli", "least_used", rng, but=1) for _ in range(60)]
        return {item.used for item in some}, {element.id for element in some}

    levels, ids = database.write(drawn)
    assert levels == {0}
    assert 1 not in ids


def test_an_only_context_is_given_again(database, task):
    def drawn(session):
        contexts.add_contexts(session, "nli", task, [ContextRow(1, {"premise": "The only one."})])
        first = contexts.pick_context(session, "nli", "least_used", random.Random(1))
        return first.id, contexts.pick_context(session, "nli", "uniform", random.Random(1), but=first.id).id

    first, second = database.write(drawn)
    assert first == second


@pytest.mark.release
def test_redrawn_keys_make_every_context_equally_likely(database, task):
    """2,000 draws of 20 contexts: with fixed keys the widest gap would get several times its share."""

    def drawn(session):
        contexts.add_contexts(session, "nli", task, [ContextRow(n, {"premise": f"Number {n}."}) for n in range(20)])
        rng, seen = random.Random(11), Counter()
        for _ in range(2000):
            context = contexts.pick_context(session, "nli", "uniform", rng)
            context.draw = rng.randint(0, queries.KEYS)
            session.flush()
            seen[context.id] += 1
        return seen

    seen = database.write(drawn)
    assert len(seen) == 20
    assert all(50 < n < 160 for n in seen.values()), seen


def test_people_who_ask_again_get_another_context(ada):
    ids = [draw(ada)["id"] for _ in range(12)]
    assert all(first != second for first, second in pairwise(ids))


def upload(database, monkeypatch, path, *options):
    from dynabench.kit.settings import Settings, get_settings

    monkeypatch.setattr("dynabench.cli.operator.get_settings", lambda: Settings(database_url=database.url))
    get_settings.cache_clear()
    return CliRunner().invoke(command.app, ["upload", "nli", str(path), *options])


def test_a_jsonl_file_is_uploaded_with_errors_by_line(database, task, monkeypatch, tmp_path):
    path = tmp_path / "contexts.jsonl"
    lines = [
        b'\xef\xbb\xbf{"premise": "Plain fields.", "tag": "a"}',
        b'{"values": {"premise": "Wrapped."}}',
        b'{"context": {"premise": "As the older platform wrote it."}, "tag": null, "metadata": {}}',
        b"",
        b"{broken",
        b'{"premise": "caf\xe9"}',
        b"[1]",
        b'{"premise": "Wrapped."}',
        b'{"premise": "' + b"x" * 1_100_000 + b'"}',
        b'{"premise": "Last."}',
    ]
    path.write_bytes(b"\n".join(lines))
    result = upload(database, monkeypatch, path, "--json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (answer["created"], answer["duplicates"]) == (4, 1)
    assert [error["row"] for error in answer["errors"]] == [5, 6, 7, 9]
    assert database.read(lambda session: session.scalar(select(func.count()).select_from(Context))) == 4


def test_a_csv_file_is_uploaded_with_errors_by_line(database, task, monkeypatch, tmp_path):
    path = tmp_path / "contexts.csv"
    path.write_bytes(b'premise,tag\r\n"Two\nlines, one record.",a\r\nOne.,b,c\r\ncaf\xe9,d\r\n,e\r\nLast.,f\r\n')
    result = upload(database, monkeypatch, path)
    assert result.exit_code == 1
    assert "2 new, 0 known already, 3 left out." in result.stdout
    assert "contexts.csv:4:" in result.stderr


def test_other_files_are_refused(database, task, monkeypatch, tmp_path):
    path = tmp_path / "contexts.txt"
    path.write_text("x")
    result = upload(database, monkeypatch, path)
    assert result.exit_code == 1
    assert ".jsonl" in result.stderr
