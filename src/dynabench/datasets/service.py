"""Imports as owners see them: what a file looks like, starting, how it goes."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection.seeds import SeedRow
from dynabench.datasets import waiting
from dynabench.datasets.imports import batches, hub
from dynabench.datasets.imports.plan import make
from dynabench.datasets.imports.state import Numbered
from dynabench.datasets.rows import Row
from dynabench.datasets.schemas import HubIn, ImportPreviewOut, PlanIn, PreviewRow
from dynabench.intake import reader
from dynabench.intake.bad_rows import BadRow
from dynabench.intake.columns import preview_rows
from dynabench.kit import errors, jobs
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.kit.storable import UNSTORABLE
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import contexts
from dynabench.rounds import service as rounds
from dynabench.tasks import TaskConfig

KIND = "import_data"
SHOWN = 8  # rows of a preview
LISTED = 50
LOOKED_THROUGH = 1_000  # imports of all tasks among which a task's are found


def preview(path: Path, config: TaskConfig, body: PlanIn) -> ImportPreviewOut:
    """The beginning of a file under a plan; `problem` says why there is none yet."""
    name = waiting.named(path)
    beginning = preview_rows(reader.read_rows(path, name))
    file = path.name.partition("--")[0]
    shown: list[PreviewRow] = []
    form, problem = body.format, ""
    try:
        plan = make(body.into, body.format, name, body.mapping, beginning.require_rows().values[0])
        form = plan.format
        for batch in batches.cut(path, plan, config, size=SHOWN):
            items = sorted([*batch.good, *batch.bad], key=lambda one: one.number)
            shown = [_shown(one, config) for one in items]
            break
    except errors.Problem as refused:
        problem = refused.detail
    return ImportPreviewOut(file=file, name=name, format=form, columns=beginning.columns, rows=shown, problem=problem)


def _shown(one: Any, config: TaskConfig) -> PreviewRow:
    if isinstance(one, BadRow):
        return PreviewRow(row=one.number, error=UNSTORABLE.sub("\ufffd", one.message))
    values = _values(one)
    return PreviewRow(row=one.number, values=_shown_safely(values), error=_refusal(values, config))


def _shown_safely(values: dict[str, Any]) -> dict[str, Any]:
    """Values without what no page can show: files may hold halves of surrogate pairs."""
    safe: dict[str, Any] = json.loads(UNSTORABLE.sub("\ufffd", json.dumps(values, ensure_ascii=False, default=str)))
    return safe


def _values(one: Any) -> dict[str, Any]:
    if isinstance(one, Numbered):
        return _brief(one.row)
    if isinstance(one, SeedRow):
        return {"context": one.context, "input": one.input, "answer": one.answer, "tag": one.tag}
    row: contexts.Row = one
    return {"context": row.values, "tag": row.tag}


def _brief(row: Row) -> dict[str, Any]:
    said = {"explanation": row.explanation.values} if row.explanation else {}
    return {
        "context": row.context.values, "tag": row.context.tag, "input": row.input, "answer": row.answer,
        "fooled": row.fooled, "predictions": len(row.predictions), "votes": [vote.vote for vote in row.validations],
        "round": row.round, "uid": row.uid, "made_from": row.made_from, **said,
    }  # fmt: skip


def _refusal(values: dict[str, Any], config: TaskConfig) -> str:
    """Why the task would not take these values."""
    try:
        context = config.clean_context(values["context"])
        if "input" in values:
            written = config.clean_input(values["input"], context)
            if values.get("answer") is not None:
                config.clean_answer(values["answer"], context=context, input=written)
    except errors.Invalid as problem:
        return problem.detail
    return ""


def start(session: Session, person: Person, settings: Settings, task: str, file: str, body: PlanIn) -> jobs.Job:
    """Ask for the import of a file that waits (owners). Raises `Invalid` where nothing tells how to read it."""
    rounds.require(session, person, Action.IMPORT_DATA, task)
    path = waiting.find(settings, task, file)
    plan = batches.plan_for(path, waiting.named(path), body.into, body.format, body.mapping)
    mapping = plan.mapping.model_dump(mode="json") if plan.mapping else None
    payload = {"name": plan.source, "into": plan.into, "format": plan.format, "mapping": mapping}
    stored = waiting.take(settings, path)
    return _enqueue(session, person, task, payload | {"file": str(stored)})


def start_hub(session: Session, person: Person, task: str, body: HubIn) -> jobs.Job:
    """Ask for the import of a dataset of the hub (owners); it is downloaded by the worker."""
    rounds.require(session, person, Action.IMPORT_DATA, task)
    wanted = hub.Wanted(body.dataset, body.config, body.split, body.revision)
    if body.format != "auto" or body.mapping:
        make(body.into, body.format, body.dataset, body.mapping)
    else:
        make(body.into, "own", body.dataset)
    payload = {"name": body.dataset, "into": body.into, "format": body.format, "mapping": body.mapping}
    return _enqueue(session, person, task, payload | {"hub": asdict(wanted)})


def _enqueue(session: Session, person: Person, task: str, payload: dict[str, Any]) -> jobs.Job:
    return jobs.enqueue(session, KIND, payload | {"task": task, "person": person.id}, person.id)


def listed(session: Session, person: Person, task: str) -> list[jobs.Job]:
    """A task's newest imports (owners)."""
    rounds.require(session, person, Action.IMPORT_DATA, task)
    statement = select(jobs.Job).where(jobs.Job.kind == KIND).order_by(jobs.Job.created_at.desc())
    found = session.scalars(statement.limit(LOOKED_THROUGH))
    return [job for job in found if job.payload.get("task") == task][:LISTED]


def job_of(session: Session, person: Person, task: str, job: str) -> jobs.Job:
    """An import of the task, for its owners."""
    rounds.require(session, person, Action.IMPORT_DATA, task)
    found = session.get(jobs.Job, job)
    if found is None or found.kind != KIND or found.payload.get("task") != task:
        raise errors.NotFound(_("There is no import %(job)s of this task.", job=repr(job)))
    return found
