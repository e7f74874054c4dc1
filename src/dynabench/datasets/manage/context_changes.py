"""Several contexts at once: tagged, weighted, retired or handed out again; and contexts made of a dataset."""

from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from dynabench.datasets import as_contexts, library, library_queries
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import context_list
from dynabench.rounds.context_list import Change
from dynabench.rounds.manage.access import Owning

router = APIRouter()

DATASETS = 200  # that one may choose among


def public(session: Session, viewer: Person, task: str) -> list[tuple[str, str]]:
    """Datasets whose rows may become contexts, as pairs of `task/name` and what is shown; the task's own first."""
    found = session.execute(library_queries.listed(library.sought(session, viewer))).all()
    rows = [each for each, version in found if Disclosure.of(viewer, each).rows and version is not None]
    rows.sort(key=lambda each: (each.task_id != task, each.task_id, each.name))
    return [(f"{each.task_id}/{each.name}", f"{each.title} ({each.task_id})") for each in rows[:DATASETS]]


def wanted(form: FormData) -> tuple[list[int], Change, str]:
    """The ids, what to do with them, and what the page then says; `then` is `tag`, `weigh`, `retire` or `restore`."""
    ids = [int(str(each)) for each in form.getlist("contexts") if str(each).isdecimal() and len(str(each)) < 16]
    then = str(form.get("then", ""))
    if then == "tag":
        return ids, Change(tag=str(form.get("tag", "")).strip()), "tagged"
    if then == "weigh":
        try:
            return ids, Change(weight=float(str(form.get("weight", "")))), "weighed"
        except ValueError:
            raise errors.Invalid({"weight": _("Give a number from 0 to 1,000.")}) from None
    if then in ("retire", "restore"):
        return ids, Change(retired=then == "retire"), f"{then}d"
    raise errors.Invalid({"contexts": _("Say what to do with them.")})


@router.post("/tasks/{task}/manage/contexts/changes", name="change_contexts")
async def change(request: Request, task: str, owner: Owning) -> Response:
    """Change the contexts that were ticked."""
    db: Database = request.app.state.db
    ids, what, done = wanted(await request.form())
    changed = await db.awrite(context_list.change, owner, task, ids, what)
    told: dict[str, Any] = {"done": done, "changed": changed}
    if what.retired is not None:
        told |= {"ids": ",".join(map(str, ids[:100])), "retired": "any" if what.retired else "no"}
    address = request.app.url_path_for("manage_contexts", task=task)
    return RedirectResponse(f"{address}?{urlencode(told)}", status_code=303)


@router.post("/tasks/{task}/manage/contexts/datasets", name="contexts_of_dataset")
async def from_dataset(request: Request, task: str, owner: Owning) -> Response:
    """Take the rows of a public dataset, and show which column becomes which field."""
    form = await request.form()
    of_task, _, name = str(form.get("dataset", ""))[:130].partition("/")
    rows = await request.app.state.db.aread(as_contexts.digest, owner, task, of_task, name)
    id = await as_contexts.keep(request.app.state.settings, task, rows)
    address = request.app.url_path_for("map_contexts", task=task, id=id)
    return RedirectResponse(f"{address}?{urlencode({'name': f'{name}.jsonl'})}", status_code=303)
