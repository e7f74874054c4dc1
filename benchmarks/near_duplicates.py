"""Looking for near-duplicates of a text among a million and putting it into the index, as each example that is written.

Words follow Zipf's law, so that many texts share bands with common ones. The anchor is one row fetched by its key.
"""

import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from benchmarks.bulk import load
from benchmarks.million import Million, N, draw, ledger
from benchmarks.row import Row, median_ms
from benchmarks.world import databases
from dynabench.collection import near_duplicates
from dynabench.kit.db import Database
from dynabench.rounds import service
from dynabench.stats.minhash import band_keys, shingle_hashes

BUDGET_MS = 5.0


def index(million: Million) -> Iterator[tuple[str, int, int]]:
    """The bands of all texts, in the order of the table."""
    for place in range(N):
        words = " ".join(f"w{word}" for word in million.words[place].tolist())
        for band in set(band_keys(shingle_hashes(words)).tolist()):
            yield "bench", band, place + 1


def written(db: Database, million: Million, copied: bool) -> float:
    """Median milliseconds of what a new text costs in its transaction: one of new words, or a copy with one changed."""
    rng, result = random.Random(1), []

    def note(session: Session) -> None:
        place = rng.randrange(N)
        words = [f"w{word}" for word in million.words[place].tolist()]
        words[0] = f"new{rng.randrange(10**9)}"
        text = " ".join(words if copied else [f"x{rng.randrange(10**6)}" for _ in words])
        config = service.config_of(session, 1).model_copy(update={"near_duplicates": RULE})
        draft = SimpleNamespace(
            config=config, input={"hypothesis": text}, task_id="bench", made_from=None, author_id=0, context_id=0
        )
        other = (place + N // 2) % N + 1  # any example that has other words
        result.append(near_duplicates.recorded(session, draft, None, other).get("near"))  # type: ignore[arg-type]
        session.rollback()

    used = median_ms(lambda: db.read(note), 300)
    if copied and sum(item is not None for item in result) < 0.5 * len(result):
        raise RuntimeError("copies with one word changed are not found")
    return used


RULE: Any = SimpleNamespace(do="tell", similarity=0.7)


def rows() -> list[Row]:
    """A row for each database and kind of text."""
    source, result = draw(), []
    with databases() as kinds:
        for name, db in kinds.items():
            ledger(db, source)
            load(db, "near_bands", ("task_id", "band", "example_id"), index(source))
            db.write(lambda session: session.execute(text("ANALYZE")))
            anchor = median_ms(lambda db=db: db.read(_probe), 200)  # type: ignore[misc]
            for subject, copied in (("a new text", False), ("a near-duplicate", True)):
                value = written(db, source, copied)
                result.append(
                    Row(f"near-duplicates of {subject} in 1e6, {name}", value, "ms", "one probe by key", anchor, "5 ms",
                        value <= BUDGET_MS)
                )  # fmt: skip
    return result


def _probe(session: Session) -> Any:
    return session.execute(text("SELECT uid FROM examples WHERE id = :id"), {"id": random.randrange(1, N)}).one()
