"""Acts on many examples of the browser at once: chosen on the page, or all that the question finds; confirmed first."""

from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from pydantic import ValidationError
from sqlalchemy.orm import Session
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from dynabench.collection import notes, search
from dynabench.collection.schemas import ExampleQuery
from dynabench.kit import errors
from dynabench.kit.api import Db
from dynabench.kit.forms import field_errors, redirect
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.tables import Person
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskModerator
from dynabench.validation import bulk
from dynabench.validation.manage import examples

router = APIRouter()
PREVIEW_LIMIT = 5
KINDS = ("hide", "restore", "flag", "label", "unlabel", "note")


def _chosen(session: Session, person: Person, task: str, form: FormData) -> list[int]:
    if form.get("which") != "all":
        ids = [int(str(raw_id)) for raw_id in form.getlist("ids") if str(raw_id).isdecimal() and len(str(raw_id)) < 17]
        return sorted(set(ids), reverse=True)
    try:
        question = ExampleQuery.model_validate({**_conditions(form), "after": 0, "limit": 1})
    except ValidationError:
        raise errors.Invalid({"ids": _("This request cannot be understood. Go back and try again.")}) from None
    top = str(form.get("top", ""))  # what was written since is not meant
    before = int(top) + 1 if top.isdecimal() and len(top) < 17 else None
    return search.ids(session, person, task, question.filters(), before=before, most=bulk.MOST + 1)


@router.post("/tasks/{task}/manage/examples/bulk", name="bulk_examples")
async def ask(request: Request, task: str, person: TaskModerator) -> Response:
    """Say what would be done to how many; do it where `sure` says that this was read."""
    form = await request.form()
    kind, value, db = str(form.get("kind", "")), str(form.get("value", "")), request.app.state.db
    wrong: dict[str, str] = {}
    ids = await db.aread(_chosen, person, task, form)
    if kind not in KINDS:
        wrong["kind"] = _("Choose an action.")
    if not ids:
        wrong["ids"] = _("Select examples first.")
    elif len(ids) > bulk.MOST:
        wrong["ids"] = _("At most %(most)s at once. Narrow the filters, for instance by day.", most=f"{bulk.MOST:,}")
    if not wrong and form.get("sure") == str(len(ids)):
        try:
            done = await db.awrite(lambda s: bulk.act(s, person, task, kind, value, ids).id)  # type: ignore[arg-type]
            return RedirectResponse(f"{_browser(request, task, form)}bulk={done}", status_code=303)
        except errors.Invalid as problem:
            wrong = problem.fields
        except (errors.Conflict, errors.NotFound) as problem:
            wrong = {"ids": problem.detail}
    preview = await db.aread(search.public, ids[:PREVIEW_LIMIT]) if "ids" not in wrong else []
    preview = [seen_example for seen_example in preview if seen_example.round.task_id == task]
    hidden_fields = [
        (name, text) for name, text in form.multi_items() if name not in ("csrf", "kind", "value", "sure", "ids")
    ]
    values: dict[str, Any] = {
        "kind": kind,
        "value": value,
        "ids": ids,
        "items": preview,
        "errors": wrong,
        "kept": hidden_fields,
    }
    values |= {"back": _browser(request, task, form).rstrip("?&"), "all": form.get("which") == "all"}
    status = 422 if wrong and form.get("sure") else 200
    return await frame.console_page(
        request, task, "validation/manage/bulk.html", "examples", status=status, **examples.words(**values)
    )


def _conditions(form: FormData) -> dict[str, str]:
    return {name: str(form[name]) for name in ExampleQuery.model_fields if str(form.get(name, "")).strip()}


def _browser(request: Request, task: str, form: FormData) -> str:
    conditions = _conditions(form)
    here = f"{request.app.url_path_for('manage_examples', task=task)}?"
    return f"{here}{urlencode(conditions)}&" if conditions else here


@router.post("/tasks/{task}/manage/examples/bulk/{id}/undo", name="undo_bulk")
async def undo(request: Request, db: Db, task: str, id: RowId, person: TaskModerator) -> Response:
    """Undo it."""
    await db.awrite(bulk.undo, person, task, id)
    return redirect(request, "manage_examples", task=task, query={"hidden": "any", "bulk": id})


@router.post("/tasks/{task}/manage/notes/{id}", name="note_example")
async def note(request: Request, db: Db, task: str, id: RowId, person: TaskModerator) -> Response:
    """Write a note or put a label on an example, or take one away (`remove`, `unlabel`)."""
    form = await request.form()
    text, name = str(form.get("note", "")), str(form.get("label", ""))
    gone, off = str(form.get("remove", "")), str(form.get("unlabel", ""))

    def write(session: Session) -> None:
        if notes.task_of(session, person, id) != task:
            raise errors.NotFound(_("Task %(task)s has no example %(id)s.", task=repr(task), id=id))
        if gone.isdecimal() and len(gone) < 17:
            notes.remove(session, person, id, int(gone))
        elif off:
            notes.label(session, person, id, off, on=False)
        elif name.strip():
            notes.label(session, person, id, name)
        else:
            notes.add(session, person, id, text)

    try:
        await db.awrite(write)
    except (errors.Invalid, errors.Conflict) as problem:
        wrong = {"label" if name.strip() else "note": field_errors(problem, "value")["value"]}
        values = {"note": text, "label": name}
        return await examples.example_page(
            request, db, person, task, id, status=problem.status, errors=wrong, values=values
        )
    return redirect(request, "manage_example", task=task, id=id, anchor="notes")
