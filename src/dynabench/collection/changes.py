"""Changes of examples, from the transaction that writes the ledger to the fold: written here, read until folded."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Select, Table, insert, select, update
from sqlalchemy.orm import Session

from dynabench.collection import terms
from dynabench.collection.fold_tables import ExampleChange
from dynabench.collection.tables import Example, ExampleSource
from dynabench.rounds import arms
from dynabench.rounds.tables import Context, Round

SOURCES = tuple(ExampleSource)
CONTROL = len(SOURCES)  # added to the source's number where no model was asked, since headline rates leave those out
COUNTS = ("examples", "fooled", "validated", "resolved", "retracted", "hidden", "unknown")
_TABLE = cast(Table, ExampleChange.__table__)
_NEW_CHANGE = insert(_TABLE)  # built once: putting it together takes longer than running it


def note_change(
    session: Session,
    example_id: int | None,
    changed_terms: Iterable[str] | None = (),
    round_id: int | None = None,
    counts: str = "",
) -> None:
    """Write a change of an example; `changed_terms` is None where it is new, and all its terms are in the ledger."""
    row = _row(example_id, changed_terms, round_id, counts)
    session.connection().execute(_NEW_CHANGE, row)


def note_changes(session: Session, rows: Iterable[tuple[int | None, Iterable[str], int | None, str]]) -> None:
    """Write many changes at once, each as the arguments of `note_change`."""
    if values := [_row(*row) for row in rows]:
        session.connection().execute(_NEW_CHANGE, values)


def _row(
    example_id: int | None, changed_terms: Iterable[str] | None, round_id: int | None, counts: str
) -> dict[str, Any]:
    joined = None if changed_terms is None else terms.joined(changed_terms)
    return {"example_id": example_id, "round_id": round_id, "terms": joined, "counts": counts}


def describe_counts(change: Mapping[str, Any], conditions: list[Any]) -> str:
    """Write a change of a `Tally` row as a line: its key, the tag of the examples' contexts, and what is added.

    `conditions` are the round's arms.
    """
    kind = kind_of(conditions, change["source"], change["arm"])
    values = [change["person_id"], kind, *(change[name] for name in ("day", "start", "arm", "tag"))]
    return json.dumps([*values, *(change[name] for name in COUNTS)], separators=(",", ":"))


def kind_of(conditions: list[Any], source: str, arm: str) -> int:
    """Return the number of a source, told apart by whether models are asked in the arm."""
    control = bool(conditions) and arm in arms.without_targets(conditions)
    return SOURCES.index(source) + CONTROL * control


def read_terms(session: Session) -> list[tuple[int, Sequence[str]]]:
    """Return the examples' ids and terms of changes that are not folded, in their order."""
    return [(example_id, new_terms) for _, example_id, new_terms, *_ in read(session) if example_id is not None]


def read(session: Session, limit: int | None = None) -> list[tuple[int, int | None, Sequence[str], int | None, str]]:
    """Return the first changes that are not folded: id, example, terms, round, counts. One statement, one moment."""
    return [
        (
            row.id,
            row.example_id,
            terms.describe(row) if row.terms is None else row.terms.split(),
            row.round_id,
            row.counts,
        )
        for row in session.execute(_changes().limit(limit))
    ]


def _changes() -> Select[Any]:
    """Changes with what the ledger says of the examples that are new."""
    return (
        select(
            *(ExampleChange.id, ExampleChange.example_id, ExampleChange.round_id, ExampleChange.terms),
            ExampleChange.counts,
            *(getattr(Example, name) for name in terms.WRITTEN),
            *(Round.task_id, Round.number.label("round")),
            *(Context.values.label("context"), Context.tag),
        )
        .outerjoin(Example, (Example.id == ExampleChange.example_id) & ExampleChange.terms.is_(None))
        .outerjoin(Round, Round.id == Example.round_id)
        .outerjoin(Context, Context.id == Example.context_id)
        .order_by(ExampleChange.id)
    )


def drop_terms(session: Session) -> None:
    """Forget what changes say of terms."""
    session.execute(update(_TABLE).values(terms=""))


def drop_counts(session: Session, round_id: int) -> None:
    """Forget what changes say of the counts of a round."""
    session.execute(update(_TABLE).where(_TABLE.c.round_id == round_id).values(counts=""))
