"""A million examples as a large task has them: 2,000 annotators, 60 days, two rounds' worth of conditions.

Words follow Zipf's law; each annotator works on a dozen of the days; validators have not come to the newest three in
ten; every two hundredth example is flagged. The ledger, the index and the counts by person are written straight into
the tables, in the formats of `collection.search` and `collection.folding`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap
from sqlalchemy.orm import Session

from benchmarks.bulk import load
from benchmarks.validation_items import SOURCE
from dynabench.collection import projections
from dynabench.collection.folding import ROW
from dynabench.collection.projections import SOURCES
from dynabench.collection.search import SIZE
from dynabench.collection.terms import day_facets, facet
from dynabench.kit.db import Database, now
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Context, Round, Task, TaskVersion

N, PEOPLE, DAYS, TAGS, CONTEXTS, VOCABULARY, LENGTH = 1_000_000, 2_000, 60, 40, 10_000, 50_000, 12
VERDICTS = ("pending", "correct", "incorrect", "flagged", "disputed")
ARMS, STARTS = ("plain", "assisted", "seeded"), ("blank", "seed")
FIRST = date(2026, 1, 1)
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Million:
    """Columns of the examples, each of shape (N,), `words` of shape (N, LENGTH); example i has the id i + 1."""

    author: Ints
    day: Ints
    arm: Ints
    start: Ints
    source: Ints
    tag: Ints
    verdict: Ints
    fooled: Ints
    retracted: Ints
    words: Ints


def draw() -> Million:
    """The same million each time."""
    rng = np.random.default_rng(0)
    author = np.minimum(rng.zipf(1.2, N) - 1, 10**6) % PEOPLE
    day = np.arange(N) * DAYS // N
    active = (author * 7 + day * 13) % 5 == 0  # about a dozen days each; else a person whose day it is writes
    author = np.where(active, author, (author + (5 - (author * 7 + day * 13) % 5) * 3) % PEOPLE)
    fooled = (rng.random(N) < 0.3).astype(int)
    decided = (np.arange(N) < 0.7 * N) & (fooled == 1)
    verdict = np.where(decided, rng.choice([1, 2, 4], N, p=[0.6, 0.3, 0.1]), 0)
    verdict = np.where(rng.random(N) < 0.005, 3, verdict)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    return Million(
        author=author,
        day=day,
        arm=rng.integers(0, len(ARMS), N),
        start=rng.integers(0, len(STARTS), N),
        source=np.where(author % 20 == 0, 1, np.where(author % 97 == 0, 3, 0)),
        tag=np.arange(N) % CONTEXTS % TAGS,
        verdict=verdict,
        fooled=fooled,
        retracted=(rng.random(N) < 0.02).astype(int),
        words=rng.choice(VOCABULARY, (N, LENGTH), p=weights / weights.sum()),
    )


def fill(db: Database, million: Million) -> None:
    """Write the task, its people, contexts, examples, standings, index and counts."""
    ledger(db, million)
    load(db, "search_postings", ("term", "block", "members"), _postings(million))
    load(db, "breakdowns", ("round_id", "name", "value", "counts"), _breakdowns(million))


def ledger(db: Database, million: Million) -> None:
    """Write the task, its people, contexts, examples and standings."""
    db.write(_setting)
    stamp = now().isoformat()
    password = ("", "", False, "1", stamp, stamp)
    columns = ("id", "username", "email", "password_hash", "pseudonym", "admin", "terms", "agreed_at", "created_at")
    load(db, "people", columns, ((i + 1, f"person{i}", f"{i}@example.org", *password) for i in range(PEOPLE)))
    columns = ("id", "round_id", "context_id", "person_id", "start", "initial", "arm", "at")
    load(db, "handouts", columns, [(1, 1, 1, 1, "blank", "{}", "", stamp)])
    columns = (
        *("id", "uid", "round_id", "context_id", "handout_id", "author_id", "version_id", "input", "answer", "fooled"),
        *("source", "start", "arm", "attempt", "seconds", "latency_ms", "key", "request", "at"),
    )
    load(db, "examples", columns, _examples(million))
    columns = (
        *("example_id", "round_id", "author_id", "fooled", "verdict", "votes", "retracted", "hidden", "open", "draw"),
        *("blind", "blind_right", "targets", "targets_right"),
    )
    load(db, "standings", columns, _standings(million))


def _setting(session: Session) -> None:
    session.add(Task(id="bench"))
    session.flush()
    session.add(TaskVersion(id=1, task_id="bench", number=1, source=SOURCE))
    session.add(
        Person(
            id=PEOPLE + 1, username="owner", email="o@x.org", password_hash="", terms="1", agreed_at=now(), admin=True
        )
    )
    session.flush()
    session.get_one(Task, "bench").version_id = 1
    session.add(Round(id=1, task_id="bench", number=1, version_id=1, state="open"))
    session.flush()
    session.add_all(
        Context(
            id=i + 1, task_id="bench", values={"premise": f"Premise {i}."}, tag=f"tag {i % TAGS}", digest=str(i), draw=i
        )
        for i in range(CONTEXTS)
    )


def _examples(source: Million) -> Iterator[tuple[Any, ...]]:
    label, rest = json.dumps({"label": "a"}), (1, 1.0, 1.0)
    at = [datetime.combine(FIRST + timedelta(days=d), datetime.min.time(), UTC).isoformat() for d in range(DAYS)]
    for i in range(N):
        text = json.dumps({"hypothesis": " ".join(f"w{word}" for word in source.words[i].tolist())})
        entries = (
            i + 1,
            f"{i:032x}",
            1,
            i % CONTEXTS + 1,
            1,
            int(source.author[i]) + 1,
            1,
            text,
            label,
            bool(source.fooled[i]),
        )
        created = (SOURCES[source.source[i]], STARTS[source.start[i]], ARMS[source.arm[i]])
        yield (*entries, *created, *rest, str(i), "0" * 64, at[source.day[i]])


def _standings(source: Million) -> Iterator[tuple[Any, ...]]:
    for i in range(N):
        verdict, gone = VERDICTS[source.verdict[i]], bool(source.retracted[i])
        waits = verdict == "pending" and bool(source.fooled[i]) and not gone
        yield (
            *(i + 1, 1, int(source.author[i]) + 1, bool(source.fooled[i]), verdict, 0, gone, False, waits),
            *(projections.draw(i + 1), 0, 0, 1, 1 - int(source.fooled[i])),
        )


def _sets(source: Million) -> Iterator[tuple[list[str], Ints]]:
    """Each value's terms with the places of its examples."""
    everything = np.arange(N)
    same = [facet("task", "bench"), facet("round", 1), facet("made", False), "premise", "a"]
    yield [*same, facet("hidden", False), facet("perturbed", False)], everything
    for name, values, column in (
        ("verdict", VERDICTS, source.verdict),
        ("fooled", (False, True), source.fooled),
        ("flagged", (False, True), (source.verdict == 3).astype(int)),
        ("retracted", (False, True), source.retracted),
        ("source", SOURCES, source.source),
        ("start", STARTS, source.start),
        ("arm", ARMS, source.arm),
        ("tag", [f"tag {i}" for i in range(TAGS)], source.tag),
        ("author", range(1, PEOPLE + 1), source.author),
    ):
        for value, places in zip(values, _places(column, len(values)), strict=True):
            yield [facet(name, value)], places
    for day, places in enumerate(_places(source.day, DAYS)):
        yield [day_facets(FIRST + timedelta(days=day))[0]], places
    months = np.array([(FIRST + timedelta(days=d)).month for d in range(DAYS)])[source.day] - 1
    for month, places in enumerate(_places(months, 3)):
        yield [facet("month", f"2026-{month + 1:02}")], places
    yield [facet("year", "2026")], everything
    word_of = np.repeat(everything, LENGTH)[np.argsort(source.words.ravel(), kind="stable")]
    ends = np.cumsum(np.bincount(source.words.ravel(), minlength=VOCABULARY))
    for word in range(VOCABULARY):
        yield [f"w{word}"], np.unique(word_of[ends[word - 1] if word else 0 : ends[word]])


def _places(column: Ints, values: int) -> list[Ints]:
    order = np.argsort(column, kind="stable")
    return np.split(order, np.cumsum(np.bincount(column, minlength=values))[:-1])


def _postings(source: Million) -> Iterator[tuple[str, int, bytes]]:
    for terms, places in _sets(source):
        blocks, members = np.divmod(places + 1, SIZE)
        for block in np.unique(blocks).tolist():
            packed = BitMap(members[blocks == block].astype(np.uint32)).serialize()
            yield from ((term, block, packed) for term in terms)


def _breakdowns(source: Million) -> Iterator[tuple[int, str, str, bytes]]:
    yield 1, "all", "", _rows(source, np.arange(N))
    days = [(FIRST + timedelta(days=d)).isoformat() for d in range(DAYS)]
    tags = [f"tag {i}" for i in range(TAGS)]
    for name, values, column in (
        ("day", days, source.day),
        ("start", STARTS, source.start),
        ("arm", ARMS, source.arm),
        ("tag", tags, source.tag),
    ):
        for value, places in zip(values, _places(column, len(values)), strict=True):
            yield 1, name, value, _rows(source, places)


def _rows(source: Million, places: Ints) -> bytes:
    keys, group = np.unique((source.author[places] + 1) * 8 + source.source[places], return_inverse=True)
    live = source.retracted[places] == 0
    fooled = live & (source.fooled[places] == 1)
    rows = np.zeros(keys.size, ROW)
    rows["person"], rows["kind"] = np.divmod(keys, 8)
    for name, mask in (
        ("examples", live),
        ("fooled", fooled),
        ("validated", fooled & (source.verdict[places] == 1)),
        ("resolved", fooled & (source.verdict[places] != 0)),
        ("retracted", ~live),
    ):
        rows[name] = np.bincount(group, mask, keys.size)
    return rows.tobytes()
