"""Histories of a task to be exported: a round with arms, starts, blind votes, undone votes, origins, explanations."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import Example, Explanation, Proposed, StoredAttribution
from dynabench.datasets import exports, scopes
from dynabench.datasets.formats import FORMATS
from dynabench.datasets.imports import batches, files
from dynabench.datasets.imports.places import ImportState
from dynabench.intake.rows import BadRow
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.media.store import MediaStore
from dynabench.rounds.tables import Task, TaskVersion
from tests.validation.world import World

BEGUN = datetime(2026, 3, 1, 9, 30, 15, 250_000, tzinfo=UTC)


def written(world: World, author: Any, text: str, **columns: Any) -> int:
    """An example with a text of its own, written some seconds after a handout; returns its id.

    One that was made from another began with its text, as the platform hands it out.
    """
    number = next(world.numbers)
    at = BEGUN + timedelta(seconds=7.25 * number)
    example = world.example(author, input={"hypothesis": text}, at=at, seconds=number / 3, **columns)

    def hand_out(session: Session) -> None:
        result = session.get_one(Example, example)
        handout = session.get_one(Handout, result.handout_id)
        handout.at, handout.start, handout.arm = at - timedelta(seconds=result.seconds), result.start, result.arm
        if result.made_from is not None:
            handout.made_from, handout.initial = result.made_from, session.get_one(Example, result.made_from).input

    world.db.write(hand_out)
    return example


def proposed(world: World, example: int, name: str = 'Swap, "words"', queries: int = 40, cost: float = 0.1) -> None:
    """A program wrote the example."""

    def note(session: Session) -> None:
        source = session.get_one(Example, example).round_id
        values = {"name": name, "version": "2.1", "queries": queries, "cost": cost, "facts": {}}
        session.add(Proposed(example_id=example, round_id=source, **values))

    world.db.write(note)


def explain(world: World, example: int, values: dict[str, Any]) -> None:
    """Return the author's explanation of an example."""
    world.db.write(lambda session: session.add(Explanation(example_id=example, values=values, at=BEGUN)))


def looked_at(world: World, example: int, label: str = "neutral") -> None:
    """The words that the target looked at."""
    words = {"hypothesis": [{"text": "It", "start": 0, "end": 2, "weight": -0.123456789012345678}]}
    row = StoredAttribution(
        example_id=example, model="m", method="occlusion", label=label, fields=words, completeness_error=None
    )
    world.db.write(lambda session: session.add(row))


def fresh(db: Database, source: str, task: str = "checks") -> None:
    """The same task in another database, without any round."""

    def make(session: Session) -> None:
        session.add(Task(id=task))
        session.flush()
        version = TaskVersion(task_id=task, number=1, source=source)
        session.add(version)
        session.flush()
        session.get_one(Task, task).version_id = version.id

    db.write(make)


def export(db: Database, settings: Settings, form: str, attributions: bool = True, task: str = "checks") -> bytes:
    """A task's export as a file's bytes."""
    subject = replace(
        db.read(scopes.export_scope, None, task, attributions=attributions), files=MediaStore.of(settings)
    )
    return b"".join(FORMATS[form].write(exports.read_records(db, settings, subject), subject))


def rows(db: Database, settings: Settings, task: str = "checks") -> list[dict[str, Any]]:
    """A task's examples as exports tell them."""
    return [json.loads(line) for line in export(db, settings, "jsonl", task=task).splitlines()]


def bring(
    db: Database, settings: Settings, path: Path, task: str = "checks", into: str = "examples", form: str = "auto",
    mapping: object = None,
) -> tuple[ImportState, list[BadRow]]:  # fmt: skip
    """Import a file as the command does."""
    if files.is_export_zip(path):
        path = files.extract_rows(db, settings, task, None, path, path.with_name("rows.jsonl"))
    plan = batches.plan_file(path, path.name, into, form, mapping)
    return batches.import_file(db, settings, task, path, plan, lambda _: None)


def recount(db: Database, world_rows: Callable[[], Any], task: str = "checks") -> None:
    """Counters are what a recount says."""
    from dynabench.validation.rebuild import rebuild_all

    before = world_rows()
    rebuild_all(db)
    assert world_rows() == before
