"""Imports as owners see them: what a file looks like, starting, how it goes."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection.seeds import SeedRow
from dynabench.datasets.imports import batches
from dynabench.datasets.imports.batches import make_plan
from dynabench.datasets.imports.places import NumberedRow
from dynabench.datasets.rows import ExampleRow
from dynabench.datasets.schemas import HubIn, ImportPreviewOut, PlanIn, PreviewRow
from dynabench.intake import reader, sources
from dynabench.intake.mapping import preview_rows
from dynabench.intake.rows import BadRow
from dynabench.kit import errors, jobs
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.kit.storable import UNSTORABLE
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import contexts, uploaded_files
from dynabench.rounds import service as rounds
from dynabench.tasks import TaskConfig

IMPORT_KIND = "import_data"
PREVIEW_ROWS = 8  # rows of a preview
MOST_LISTED = 50
LOOKED_THROUGH = 1_000  # imports of all tasks among which a task's are found


def preview_import(path: Path, config: TaskConfig, body: PlanIn) -> ImportPreviewOut:
    """The beginning of a file under a plan; `problem` says why there is none yet."""
    name = uploaded_files.original_name(path)
    beginning = preview_rows(reader.read_rows(path, name))
    file = path.name.partition("--")[0]
    preview_rows_shown: list[PreviewRow] = []
    form, problem = body.format, ""
    try:
        plan = make_plan(body.into, body.format, name, body.mapping, beginning.require_rows().values[0])
        form = plan.format
        for batch in batches.cut_batches(path, plan, config, size=PREVIEW_ROWS):
            items = sorted([*batch.good, *batch.bad], key=lambda item: item.number)
            preview_rows_shown = [_preview_row(item, config) for item in items]
            break
    except errors.Problem as refused:
        problem = refused.detail
    return ImportPreviewOut(
        file=file, name=name, format=form, columns=beginning.columns, rows=preview_rows_shown, problem=problem
    )


def _preview_row(item: Any, config: TaskConfig) -> PreviewRow:
    if isinstance(item, BadRow):
        return PreviewRow(row=item.number, error=UNSTORABLE.sub("\ufffd", item.message))
    values = _values(item)
    return PreviewRow(row=item.number, values=_printable_values(values), error=_refusal(values, config))


def _printable_values(values: dict[str, Any]) -> dict[str, Any]:
    """Values without what no page can show: files may hold halves of surrogate pairs."""
    safe: dict[str, Any] = json.loads(UNSTORABLE.sub("\ufffd", json.dumps(values, ensure_ascii=False, default=str)))
    return safe


def _values(item: Any) -> dict[str, Any]:
    if isinstance(item, NumberedRow):
        return _brief(item.row)
    if isinstance(item, SeedRow):
        return {"context": item.context, "input": item.input, "answer": item.answer, "tag": item.tag}
    row: contexts.ContextRow = item
    return {"context": row.values, "tag": row.tag}


def _brief(row: ExampleRow) -> dict[str, Any]:
    explanation = {"explanation": row.explanation.values} if row.explanation else {}
    return {
        "context": row.context.values, "tag": row.context.tag, "input": row.input, "answer": row.answer,
        "fooled": row.fooled, "predictions": len(row.predictions), "votes": [vote.vote for vote in row.validations],
        "round": row.round, "uid": row.uid, "made_from": row.made_from, **explanation,
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


def start_import(session: Session, person: Person, settings: Settings, task: str, file: str, body: PlanIn) -> jobs.Job:
    """Ask for the import of a file that waits (owners). Raises `Invalid` where nothing tells how to read it."""
    rounds.require(session, person, Action.IMPORT_DATA, task)
    path = uploaded_files.find_named_upload(settings, task, file)
    plan = batches.plan_file(path, uploaded_files.original_name(path), body.into, body.format, body.mapping)
    mapping = plan.mapping.model_dump(mode="json") if plan.mapping else None
    payload = {"name": plan.source, "into": plan.into, "format": plan.format, "mapping": mapping}
    stored = uploaded_files.claim_named_upload(settings, path)
    return _enqueue(session, person, task, payload | {"file": str(stored)})


def start_hub_import(session: Session, person: Person, task: str, body: HubIn) -> jobs.Job:
    """Ask for the import of a dataset of the hub (owners); it is downloaded by the worker."""
    rounds.require(session, person, Action.IMPORT_DATA, task)
    request = sources.HubRequest(body.dataset, body.config, body.split, body.revision)
    if body.format != "auto" or body.mapping:
        make_plan(body.into, body.format, body.dataset, body.mapping)
    else:
        make_plan(body.into, "own", body.dataset)
    payload = {"name": body.dataset, "into": body.into, "format": body.format, "mapping": body.mapping}
    return _enqueue(session, person, task, payload | {"hub": asdict(request)})


def _enqueue(session: Session, person: Person, task: str, payload: dict[str, Any]) -> jobs.Job:
    return jobs.enqueue(session, IMPORT_KIND, payload | {"task": task, "person": person.id}, person.id)


def list_imports(session: Session, person: Person, task: str) -> list[jobs.Job]:
    """A task's newest imports (owners)."""
    rounds.require(session, person, Action.IMPORT_DATA, task)
    statement = select(jobs.Job).where(jobs.Job.kind == IMPORT_KIND).order_by(jobs.Job.created_at.desc())
    import_jobs = session.scalars(statement.limit(LOOKED_THROUGH))
    return [job for job in import_jobs if job.payload.get("task") == task][:MOST_LISTED]


def import_job(session: Session, person: Person, task: str, job: str) -> jobs.Job:
    """An import of the task, for its owners."""
    rounds.require(session, person, Action.IMPORT_DATA, task)
    row = session.get(jobs.Job, job)
    if row is None or row.kind != IMPORT_KIND or row.payload.get("task") != task:
        raise errors.NotFound(_("There is no import %(job)s of this task.", job=repr(job)))
    return row
