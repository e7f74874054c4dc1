"""Counting what the ledger says, as it is written: one `Standing` per example, sums of them in `Tally`.

Every function runs in the transaction that writes the ledger, so that counts and ledger never part. Sums are
added to in the database itself: two people counting at once lose nothing. `dynabench.validation.rebuild` counts
the same figures again from the ledger alone, and tests hold the two equal.
"""

import hashlib
from collections.abc import Iterable
from datetime import UTC
from functools import cache
from typing import Any

from sqlalchemy import Executable, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from dynabench.collection import search
from dynabench.collection.tables import Example, Standing, Tally
from dynabench.stats.verdict import Verdict
from dynabench.tasks import TaskConfig

KEY = ("round_id", "person_id", "day", "start", "arm", "source")
COUNTS = ("examples", "fooled", "validated", "resolved", "retracted", "hidden")


def draw(example_id: int) -> int:
    """The example's place in the validators' queue, 0 to 2**31 - 1: scattered as if at random, the same each time."""
    return int.from_bytes(hashlib.blake2b(example_id.to_bytes(8, "big"), digest_size=4).digest(), "big") >> 1


def wants_votes(config: TaskConfig, fooled: bool) -> bool:
    """Whether examples like this are put before validators."""
    return fooled or config.validation.also_not_fooled


def is_open(config: TaskConfig, *, fooled: bool, verdict: str, retracted: bool) -> bool:
    """Whether an example may be handed to validators now."""
    return wants_votes(config, fooled) and verdict == Verdict.PENDING and not retracted


def tally_key(example: Example) -> dict[str, Any]:
    """The `Tally` row that an example is counted in."""
    day = example.at.astimezone(UTC).date().isoformat()
    made = {"start": example.start, "arm": example.arm, "source": example.source}
    return {"round_id": example.round_id, "person_id": example.author_id, "day": day, **made}


def tally_counts(*, fooled: bool, verdict: str, retracted: bool) -> dict[str, int]:
    """What one example adds to its `Tally` row."""
    if retracted:
        return dict.fromkeys(COUNTS, 0) | {"retracted": 1}
    return {
        "examples": 1,
        "fooled": int(fooled),
        "validated": int(fooled and verdict == Verdict.CORRECT),
        "resolved": int(fooled and verdict != Verdict.PENDING),
        "retracted": 0,
        "hidden": 0,
    }


def count_example(
    session: Session, example: Example, *, targets: int, targets_right: int, config: TaskConfig
) -> Standing:
    """Count an example that was just written.

    `targets` predictions were made on it and `targets_right` of them did not count as fooled.
    """
    session.flush()
    standing = Standing(
        example_id=example.id,
        round_id=example.round_id,
        author_id=example.author_id,
        fooled=example.fooled,
        verdict=str(Verdict.PENDING),
        open=is_open(config, fooled=example.fooled, verdict=Verdict.PENDING, retracted=False),
        draw=draw(example.id),
        targets=targets,
        targets_right=targets_right,
    )
    session.add(standing)
    search.add(session, example)
    _add(session, example, tally_counts(fooled=example.fooled, verdict=Verdict.PENDING, retracted=False))
    return standing


def count_retraction(session: Session, *examples: Example) -> None:
    """Count examples out. Takes the locks that voters take, so that a vote comes either before or not at all."""
    # All standings first, in order, and sums after them, as voters do: nobody waits in a circle.
    standings = [locked(session, example.id) for example in sorted(examples, key=lambda example: example.id)]
    for standing in standings:
        if standing is not None and not standing.retracted:
            before = tally_counts(fooled=standing.fooled, verdict=standing.verdict, retracted=False)
            after = tally_counts(fooled=standing.fooled, verdict=standing.verdict, retracted=True)
            standing.retracted, standing.open = True, False
            search.change(session, standing.example_id, retracted=True)
            _add(session, session.get_one(Example, standing.example_id), _change(before, after))


def count_verdict(session: Session, standing: Standing, old: str, new: str) -> None:
    """Count that the verdict on an example, whose standing is locked, went from `old` to `new`."""
    before = tally_counts(fooled=standing.fooled, verdict=old, retracted=standing.retracted)
    after = tally_counts(fooled=standing.fooled, verdict=new, retracted=standing.retracted)
    search.change(session, standing.example_id, verdict=new)
    _add(session, session.get_one(Example, standing.example_id), _change(before, after))


def locked(session: Session, example_id: int) -> Standing | None:
    """The standing of an example, locked until the transaction ends and read afresh."""
    # SQLite has no row locks and leaves FOR UPDATE out: there the whole writing transaction is alone.
    statement = select(Standing).where(Standing.example_id == example_id).with_for_update()
    return session.scalars(statement, execution_options={"populate_existing": True}).one_or_none()


def _change(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in COUNTS}


def _add(session: Session, example: Example, counts: dict[str, int]) -> None:
    if not any(counts.values()):
        return
    key = tally_key(example)
    add_to_tallies(session, [key | counts])


def add_to_tallies(session: Session, rows: Iterable[dict[str, Any]]) -> None:
    """Add counts to `Tally` rows, each made if absent; a row holds the columns of `KEY` and of `COUNTS`."""
    values = list(rows)
    if not values:
        return
    session.execute(_upsert(session.get_bind().dialect.name), values)


@cache  # putting the statement together takes longer than running it
def _upsert(dialect: str) -> Executable:
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(Tally.__table__)
    sums = {name: Tally.__table__.c[name] + insert.excluded[name] for name in COUNTS}
    statement: Executable = insert.on_conflict_do_update(index_elements=list(KEY), set_=sums)
    return statement
