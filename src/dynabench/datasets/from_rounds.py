"""A round as a dataset: its verified examples, with the answers that validators settled on."""

from collections.abc import Iterator
from typing import Any

import orjson
from sqlalchemy.orm import Session

from dynabench.datasets import exports, library, library_queries, stored
from dynabench.datasets.intake.cases import tags
from dynabench.datasets.library_schemas import Settled
from dynabench.datasets.rows import COLUMNS
from dynabench.datasets.scopes import Scope, scope
from dynabench.datasets.stored import Stored, Written
from dynabench.datasets.tables import Dataset, DatasetState
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.tasks import TaskConfig

READ = ("uid", "context", "input", "answer", "fooled", "condition", "validations")
AT = {name: place for place, name in enumerate(COLUMNS)}


def frozen(session: Session, person: Person | None, task: str, number: int) -> tuple[int, TaskConfig, Scope]:
    """A round that is closed or released (owners), with its config and what to read of it. Raises `Conflict`."""
    rounds.require(session, person, Action.MANAGE_DATASETS, task)
    found = rounds.round_of(session, task, number)
    if found.state not in (RoundState.CLOSED, RoundState.RELEASED):
        raise errors.Conflict(_("Close the round first: a dataset is made of a round that collects no more."))
    if found.state == RoundState.RELEASED and session.scalar(library_queries.of_round(found.id)):
        raise errors.Conflict(_("The round is released, so its dataset stays as it is."))
    return found.id, rounds.config_of(session, found.version_id), scope(session, person, task, number)


def write(db: Database, settings: Settings, config: TaskConfig, what: Scope) -> Written:
    """Store the round's verified examples; in a thread, and outside of any transaction of the caller."""
    pages = exports.records(db, settings, what)
    return stored.write(settings, _rows(pages, config))


def _rows(pages: exports.Pages, config: TaskConfig) -> Iterator[Stored]:
    for page in pages:
        for record in page:
            if record[AT["verdict"]] == '"correct"':
                yield row_of({name: orjson.loads(str(record[AT[name]])) for name in READ}, config)


def row_of(example: dict[str, Any], config: TaskConfig) -> Stored:
    """An example, of which `READ` are there, as a row that models are evaluated on."""
    inputs = config.model_inputs(example["context"]["values"], example["input"])
    tag = example["context"].get("tag") or None
    start = f"start={example['condition']['start']}"
    fooled = {True: "fooled", False: "not fooled", None: None}[example["fooled"]]  # None: no tag
    made = tags([tag, start, fooled])
    return Stored(example["uid"], inputs, tuple(_answers(example)), made)


def _answers(example: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The claim, and what validators answered blind who were found to agree with it in other words."""
    yield example["answer"]
    known = [example["answer"]]
    for vote in example["validations"]:
        blind = vote.get("blind_answer")
        if vote["vote"] == "correct" and blind and blind not in known:
            known.append(blind)
            yield blind


def of_round(session: Session, person: Person | None, round_id: int, written: Written) -> Dataset:
    """The dataset of a round, with these rows as its newest version. Raises `Conflict` where nothing is new."""
    found = session.get_one(Round, round_id)
    if not written.rows:
        raise errors.Conflict(_("No example of this round is verified yet, so the dataset would be empty."))
    dataset = session.scalar(library_queries.of_round(round_id))
    config = rounds.config_of(session, found.version_id)
    if dataset is None:
        name = library.fresh_name(session, found.task_id, f"round-{found.number}")
        settled = Settled(title=f"Round {found.number}", licence=config.data.licence)
        dataset = library.add(session, person, found.task_id, name, settled, kind="round", round_id=round_id)
    version = library.ready(session, library.draft(session, person, dataset).id, written)
    if version.state == DatasetState.FAILED:
        raise errors.Conflict(version.reason)
    return dataset
