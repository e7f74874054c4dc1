"""Rows of a stored dataset as contexts: written to a file like those that people send, and imported in the same way."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import orjson
from anyio import to_thread
from fastapi import APIRouter, Request
from pydantic import Field
from sqlalchemy.orm import Session

from dynabench.datasets import library, stored
from dynabench.datasets.stored import Stored
from dynabench.intake.mapping import ColumnMapping
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds import uploads, waiting
from dynabench.rounds.schemas import Strict
from dynabench.rounds.uploads import ImportOut

router = APIRouter()

Column = Annotated[str, Field(max_length=200)]


class FromDatasetIn(Strict):
    """A public dataset, of the same task unless `of_task` names another, and which column becomes which field.

    Columns are the rows' inputs by their names, their first answer by its fields with `answer_` before them, and
    `tag`, their first tag. Without `columns` the columns are named like the fields.
    """

    dataset: Annotated[str, Field(max_length=62)]
    of_task: Annotated[str, Field(max_length=60)] = ""
    columns: dict[Annotated[str, Field(max_length=100)], Column] = Field({}, max_length=50)
    tag: Column = Field("", description="The column that holds tags; by default none.")
    fixed_tag: Annotated[str, Field(max_length=100)] = Field("", description="The tag of rows without one.")


def digest(session: Session, owner: Person | None, task: str, of_task: str, name: str) -> str:
    """The digest of the rows that a task's owner may have; raises `Forbidden` for datasets that are not public."""
    rounds.require(session, owner, Action.MANAGE_CONTEXTS, task)
    return library.rows_for(session, owner, of_task or task, name).digest


def row(of: Stored) -> dict[str, Any]:
    """A row as a line of a file of contexts."""
    said = {f"answer_{name}": value for name, value in of.answers[0].items()} if of.answers else {}
    return {**said, **of.inputs} | ({"tag": of.tags[0]} if of.tags else {})


def write(settings: Settings, rows: str, path: Path) -> None:
    """Write the rows of a digest to a new file, JSON lines."""
    with path.open("xb") as file:
        file.writelines(_lines(stored.read(settings, rows)))


def _lines(rows: Iterator[Stored]) -> Iterator[bytes]:
    for each in rows:
        yield orjson.dumps(row(each), option=orjson.OPT_APPEND_NEWLINE)


async def keep(settings: Settings, task: str, rows: str) -> uuid.UUID:
    """Let a file of these rows wait until somebody has said which column is what; its id."""
    place, id = waiting.folder(settings, task), uuid.uuid4()
    waiting.sweep(place)
    await to_thread.run_sync(write, settings, rows, place / f"{id}.jsonl")
    return id


@router.post("/tasks/{task}/contexts/datasets", status_code=202)
async def import_dataset_rows(request: Request, task: str, body: FromDatasetIn, person: Member) -> ImportOut:
    """Make contexts of the rows of a public dataset (owners); they are imported in the background."""
    db: Database = request.app.state.db
    settings: Settings = request.app.state.settings
    rows = await db.aread(digest, person, task, body.of_task, body.dataset)
    path = waiting.folder(settings) / f"{uuid.uuid4()}.jsonl"
    await to_thread.run_sync(write, settings, rows, path)
    mapping = ColumnMapping.of_context(body.columns, body.tag, body.fixed_tag) if body.columns else None
    name = f"{body.dataset}.jsonl"
    return ImportOut(id=await db.awrite(uploads.enqueue, person, task, path, name, mapping), state="queued")
