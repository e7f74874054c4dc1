"""Datasets made of rounds and of suites, and contexts made of datasets."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import orjson
from anyio import to_thread
from fastapi import APIRouter
from pydantic import Field
from sqlalchemy.orm import Session

from dynabench.adversaries.checklist import Suite
from dynabench.datasets import exports, library, stored
from dynabench.datasets import library as queries
from dynabench.datasets.intake.cases import read_tags
from dynabench.datasets.rows import COLUMNS
from dynabench.datasets.schemas import DatasetSettings
from dynabench.datasets.scopes import ExportScope, export_scope
from dynabench.datasets.stored import StoredRow, WrittenRows
from dynabench.datasets.tables import Dataset, DatasetState
from dynabench.intake.mapping import ColumnMapping
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.kit.settings import Settings
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import owner_api, uploaded_files
from dynabench.rounds import service as rounds
from dynabench.rounds.owner_api import ImportOut
from dynabench.rounds.tables import Round, RoundState
from dynabench.tasks import TaskConfig

READ_MEMBERS = ("uid", "context", "input", "answer", "fooled", "condition", "validations")
COLUMN_PLACES = {name: place for place, name in enumerate(COLUMNS)}


def closed_round(
    session: Session, person: Person | None, task: str, number: int
) -> tuple[int, TaskConfig, ExportScope]:
    """A round that is closed or released (owners), with its config and what to read of it. Raises `Conflict`."""
    rounds.require(session, person, Action.MANAGE_DATASETS, task)
    round_ = rounds.round_of(session, task, number)
    if round_.state not in (RoundState.CLOSED, RoundState.RELEASED):
        raise errors.Conflict(_("Close the round first: a dataset is created from a closed round."))
    if round_.state == RoundState.RELEASED and session.scalar(library.dataset_of_round(round_.id)):
        raise errors.Conflict(_("The round is released, so its dataset can no longer change."))
    return round_.id, rounds.config_of(session, round_.version_id), export_scope(session, person, task, number)


def store_round_rows(db: Database, settings: Settings, config: TaskConfig, scope: ExportScope) -> WrittenRows:
    """Store the round's verified examples; in a thread, and outside of any transaction of the caller."""
    pages = exports.read_records(db, settings, scope)
    return stored.write_rows(settings, _rows(pages, config))


def _rows(pages: exports.Pages, config: TaskConfig) -> Iterator[StoredRow]:
    for page in pages:
        for record in page:
            if record[COLUMN_PLACES["verdict"]] == '"correct"':
                yield example_row(
                    {name: orjson.loads(str(record[COLUMN_PLACES[name]])) for name in READ_MEMBERS}, config
                )


def example_row(example: dict[str, Any], config: TaskConfig) -> StoredRow:
    """An example, of which `READ` are there, as a row that models are evaluated on."""
    inputs = config.model_inputs(example["context"]["values"], example["input"])
    tag = example["context"].get("tag") or None
    start = f"start={example['condition']['start']}"
    fooled = {True: "fooled", False: "not fooled", None: None}[example["fooled"]]  # None: no tag
    row_tags = read_tags([tag, start, fooled])
    return StoredRow(example["uid"], inputs, tuple(_answers(example)), row_tags)


def _answers(example: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The claim, and what validators answered blind who were found to agree with it in other words."""
    yield example["answer"]
    answers = [example["answer"]]
    for vote in example["validations"]:
        blind = vote.get("blind_answer")
        if vote["vote"] == "correct" and blind and blind not in answers:
            answers.append(blind)
            yield blind


def make_dataset(session: Session, person: Person | None, round_id: int, written: WrittenRows) -> Dataset:
    """The dataset of a round, with these rows as its newest version. Raises `Conflict` where nothing is new."""
    round_ = session.get_one(Round, round_id)
    if not written.rows:
        raise errors.Conflict(_("No example of this round is verified yet, so the dataset would be empty."))
    dataset = session.scalar(library.dataset_of_round(round_id))
    config = rounds.config_of(session, round_.version_id)
    if dataset is None:
        name = library.fresh_name(session, round_.task_id, f"round-{round_.number}")
        settled = DatasetSettings(title=f"Round {round_.number}", licence=config.data.licence)
        dataset = library.add_dataset(session, person, round_.task_id, name, settled, kind="round", round_id=round_id)
    version = library.publish_version(session, library.draft_version(session, person, dataset).id, written)
    if version.state == DatasetState.FAILED:
        raise errors.Conflict(version.reason)
    return dataset


def suite_rows(suite: Suite) -> Iterator[StoredRow]:
    """A suite's items as a dataset's rows; what each is about is its tag."""
    for item in suite.items():
        yield StoredRow(item.uid, item.inputs, (item.answer,), (item.phenomenon,))


def suite_lines(suite: Suite) -> Iterator[dict[str, Any]]:
    """A suite's items as rows of a file that can be added as a dataset: its columns need no layout."""
    for item in suite.items():
        yield {"uid": item.uid, **item.inputs, **item.answer, "functionality": item.phenomenon}


def suite_card(suite: Suite) -> str:
    """Return the description of a suite for its dataset's page, in Markdown."""
    about = "\n".join(f"- **{phenomenon.name}**: {phenomenon.about}" for phenomenon in suite.phenomena)
    how = _("Each phenomenon has short sentences generated from templates and word lists; the sample is fixed.")
    why = _("A model that passes handles the simplest form of the phenomenon; a model that fails does not.")
    return f"{how} {why}\n\n{about}\n"


def add_suite(session: Session, suite: Suite, written: WrittenRows) -> Dataset | None:
    """A suite as a public dataset of its task, with its stored rows; None where the task has one of that name."""
    if session.scalar(queries.dataset_named(suite.task, suite.name)):
        return None
    settled = DatasetSettings(
        title=suite.title,
        card=suite_card(suite),
        licence=suite.licence,
        languages=["en"],
        visibility="public",
        kind="suite",
    )
    dataset = library.add_dataset(session, None, suite.task, suite.name, settled)
    library.publish_version(session, library.draft_version(session, None, dataset).id, written)
    return dataset


router = APIRouter()

Column = Annotated[str, Field(max_length=200)]


class FromDatasetIn(StrictModel):
    """A public dataset, of the same task unless `of_task` names another, and which column becomes which field.

    Columns are the rows' inputs by their names, their first answer by its fields with `answer_` before them, and
    `tag`, their first tag. Without `columns` the columns are named like the fields.
    """

    dataset: Annotated[str, Field(max_length=62)]
    of_task: Annotated[str, Field(max_length=60)] = ""
    columns: dict[Annotated[str, Field(max_length=100)], Column] = Field({}, max_length=50)
    tag: Column = Field("", description="The column that holds tags; by default none.")
    fixed_tag: Annotated[str, Field(max_length=100)] = Field("", description="The tag of rows without one.")


def source_digest(session: Session, owner: Person | None, task: str, of_task: str, name: str) -> str:
    """The digest of the rows that a task's owner may have; raises `Forbidden` for datasets that are not public."""
    rounds.require(session, owner, Action.MANAGE_CONTEXTS, task)
    return library.readable_version(session, owner, of_task or task, name).digest


def context_document(stored_row: StoredRow) -> dict[str, Any]:
    """A row as a line of a file of contexts."""
    answer = {f"answer_{name}": value for name, value in stored_row.answers[0].items()} if stored_row.answers else {}
    return {**answer, **stored_row.inputs} | ({"tag": stored_row.tags[0]} if stored_row.tags else {})


def write_context_file(settings: Settings, rows: str, path: Path) -> None:
    """Write the rows of a digest to a new file, JSON lines."""
    with path.open("xb") as file:
        file.writelines(
            orjson.dumps(context_document(row), option=orjson.OPT_APPEND_NEWLINE)
            for row in stored.read_rows(settings, rows)
        )


async def store_context_file(settings: Settings, task: str, rows: str) -> uuid.UUID:
    """Let a file of these rows wait until its sender has mapped the columns; its id."""
    place, id = uploaded_files.uploads_folder(settings, task), uuid.uuid4()
    uploaded_files.sweep_folder(place)
    await to_thread.run_sync(write_context_file, settings, rows, place / f"{id}.jsonl")
    return id


@router.post("/tasks/{task}/contexts/datasets", status_code=202)
async def import_dataset_rows(
    settings: AppSettings, db: Db, task: str, body: FromDatasetIn, person: Member
) -> ImportOut:
    """Make contexts of the rows of a public dataset (owners); they are imported in the background."""
    rows = await db.aread(source_digest, person, task, body.of_task, body.dataset)
    path = uploaded_files.uploads_folder(settings) / f"{uuid.uuid4()}.jsonl"
    await to_thread.run_sync(write_context_file, settings, rows, path)
    mapping = ColumnMapping.of_context(body.columns, body.tag, body.fixed_tag) if body.columns else None
    name = f"{body.dataset}.jsonl"
    return ImportOut(id=await db.awrite(owner_api.enqueue_import, person, task, path, name, mapping), state="queued")
