"""The create page: a context, a form, the models' answer.

Plain forms get whole pages, htmx gets the part that changes.
"""

import random
import uuid
from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench import errors
from dynabench.accounts.auth import Member, Viewer
from dynabench.accounts.tables import Person
from dynabench.collection import boards, drafts, forms, loop, public, queries, service
from dynabench.collection.api import throttle
from dynabench.collection.forms import Posted
from dynabench.collection.schemas import HandoutOut
from dynabench.collection.tables import Example
from dynabench.db import Database
from dynabench.rounds import people, views
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.security import RowId
from dynabench.tasks import TaskConfig
from dynabench.web import render
from dynabench.web.pages import wants_fragment

router = APIRouter(include_in_schema=False)
router.include_router(public.router)

TRIES = 20  # earlier tries on a context that are listed
SILENT: dict[str, Any] = {"values": {}, "errors": {}, "saved": False}


def _bench(
    session: Session, person: Person | None, task: str, sandbox: bool, posted: Posted | None, handout: HandoutOut | None
) -> dict[str, Any]:
    """All that the create page shows, with the context that somebody has; None where no round is open."""
    current = session.scalar(round_queries.open_round(task))
    config = rounds.task_config(session, task)
    values: dict[str, Any] = {"task": task, "config": config, "round": None, "sandbox": sandbox}
    if current is None or handout is None:
        return values
    live = person is not None and not sandbox
    begun = {"input": posted.input, "answer": posted.answer} if posted else {"input": handout.initial, "answer": {}}
    return values | {
        "round": views.round_out(session, current),
        "handout": handout,
        "mine": boards.mine(session, person, current) if person else None,
        "tries": _tries(session, person, current.id, handout.id) if live and person else [],
        "values": begun,
        "key": uuid.uuid4().hex,
        "errors": {},
        "problem": "",
        "outcome": None,
        "tried": None,
    }


async def _shown(
    request: Request, person: Person | None, task: str, sandbox: bool, posted: Posted | None = None, fresh: bool = False
) -> dict[str, Any]:
    """All that the create page shows; draws a context where there is none, or where a `fresh` one is wanted."""
    db: Database = request.app.state.db
    handout = None
    if await db.aread(_collects, person, task):
        handout = await _handout(request, None if sandbox else person, task, posted, fresh)
    return await db.aread(_bench, person, task, sandbox, posted, handout)


def _collects(session: Session, person: Person | None, task: str) -> bool:
    people.require_seat(session, person, task)  # in the sandbox too
    return session.scalar(round_queries.open_round(task)) is not None


async def _handout(
    request: Request, person: Person | None, task: str, posted: Posted | None, fresh: bool
) -> HandoutOut:
    db, host, but = request.app.state.db, request.app.state.host, posted.context_id if posted else 0
    if person is None:
        if posted is None or fresh:
            return await loop.hand_out(db, host, None, task, but=but)
        same: HandoutOut = await db.aread(_same, task, posted)
        return same
    known = None if fresh else await loop.current(db, host, person, task, context_id=but)
    return known or await loop.hand_out(db, host, person, task)


def _same(session: Session, task: str, posted: Posted) -> HandoutOut:
    """The sandbox stores no handouts: what was posted tells which one it was."""
    config = rounds.task_config(session, task)
    context = drafts.context_of(session, task, posted.context_id)
    assigned = config.draw_goal(random.Random()) or {}
    options = {field.name: getattr(field, "values", []) for field in config.answer}
    goal = {  # a forged one is no goal, and is refused as an answer
        name: posted.answer[name] if posted.answer.get(name) in options[name] else drawn
        for name, drawn in assigned.items()
    } or None
    shown = config.shown_context(context.values)
    return HandoutOut(id=context.id, values=shown, goal=goal, start="blank", initial={})


def _tries(session: Session, person: Person, round_id: int, context_id: int) -> list[dict[str, Any]]:
    return [
        {
            "id": example.id,
            "attempt": example.attempt,
            "input": example.input,
            "answer": example.answer,
            "fooled": example.fooled,
            "retracted": standing.retracted,
            "hidden": standing.hidden,
            "verdict": standing.verdict,
        }
        for example, standing in session.execute(queries.tried(person.id, round_id, context_id, TRIES))
    ]


@router.get("/tasks/{task}/create", name="create")
async def create(request: Request, task: str, viewer: Viewer, sandbox: bool = False) -> Response:
    """Write an example: on the context that one has, or a first one. Visitors are in the sandbox."""
    return render(request, "collection/create.html", **await _shown(request, viewer, task, sandbox or viewer is None))


@router.post("/tasks/{task}/context", name="another_context")
async def another(request: Request, task: str, viewer: Viewer) -> Response:
    """Another context; what was written on the last one is left to the browser's drafts."""
    form = await request.form()
    sandbox = viewer is None or form.get("sandbox") == "true"
    db = request.app.state.db
    config = await db.aread(rounds.task_config, task)
    but = str(form.get("but", ""))
    posted = forms.posted(config, form, but) if sandbox and but else None
    values = await _shown(request, viewer, task, sandbox, posted, fresh=True)
    if not wants_fragment(request):
        address = str(request.app.url_path_for("create", task=task))
        return RedirectResponse(f"{address}?sandbox=1" if sandbox else address, status_code=303)
    if values["round"] is None:
        raise errors.Conflict("The round has closed. Reload the page to see what is open.")
    values["values"] = {"input": values["handout"].initial, "answer": {}}
    return render(request, "collection/create.html", fragment="collection/_context.html", **values)


@router.post("/tasks/{task}/create", name="send_example")
async def send(request: Request, task: str, viewer: Viewer) -> Response:
    """One try: asked, recorded (not in the sandbox), told."""
    state = request.app.state
    form = await request.form()
    posted = forms.posted(await state.db.aread(rounds.task_config, task), form)
    sandbox = viewer is None or posted.sandbox
    throttle(request, viewer)
    key = posted.key or uuid.uuid4().hex
    try:
        told = await loop.play(state.db, state.host, viewer, task, posted.draft(sandbox), key)
    except errors.Invalid as problem:
        return await _refused(request, viewer, task, posted, problem)
    except errors.Problem as problem:
        if wants_fragment(request):
            raise  # the error's fragment takes the place of the result, and the form stays as it is
        return await _refused(request, viewer, task, posted, problem)
    values = await _shown(request, viewer, task, sandbox, posted)
    values |= {
        "outcome": told.outcome,
        "tried": {"context_id": posted.context_id, "input": told.draft.input, "answer": told.draft.answer},
        "explanation": SILENT,
        "retracted": False,
    }
    return render(request, "collection/create.html", fragment="collection/_answer.html", **values)


async def _refused(
    request: Request, viewer: Person | None, task: str, posted: Posted, problem: errors.Problem
) -> Response:
    """The form again with what was written, messages beside the fields, and the same key."""
    sandbox = viewer is None or posted.sandbox
    values = await _shown(request, viewer, task, sandbox, posted)
    fields = problem.fields if isinstance(problem, errors.Invalid) else {}
    beside = {name for name in fields if name.startswith(("input.", "answer."))}
    rest = "" if fields and beside == set(fields) else problem.detail
    values |= {"errors": fields, "problem": rest, "key": posted.key or values.get("key", "")}
    status = problem.status
    response = render(request, "collection/create.html", fragment="collection/_form.html", status=status, **values)
    response.headers.update({"HX-Retarget": "#create-form", "HX-Reswap": "outerHTML"})
    return response


def _config_of(session: Session, person: Person, example_id: int) -> tuple[Example, TaskConfig, str]:
    found = service.own(session, person, example_id)
    full = service.full(session, found)
    return found, rounds.config_of(session, found.version_id), full.task


@router.post("/examples/{id}/explanation", name="send_explanation")
async def explain(request: Request, id: RowId, person: Member) -> Response:
    """Why it is right, what tricked the model, which words did it."""
    db = request.app.state.db
    form = await request.form()
    example, config, task = await db.aread(_config_of, person, id)
    pairs = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    said = config.form("ask", pairs)
    explanation: dict[str, Any] = {"values": said, "errors": {}, "saved": False}
    status = 200
    try:
        made = await db.awrite(service.explain, person, id, said)
        explanation |= {"values": made.values, "saved": True}
    except errors.Invalid as problem:
        explanation["errors"], status = problem.fields, 422
    return _explained(request, example, config, task, explanation, False, status)


@router.post("/examples/{id}/retraction", name="send_retraction")
async def retract(request: Request, id: RowId, person: Member) -> Response:
    """Take one's example back."""
    db = request.app.state.db
    await db.awrite(service.retract, person, id)
    example, config, task = await db.aread(_config_of, person, id)
    return _explained(request, example, config, task, SILENT, True, 200)


def _explained(
    request: Request,
    example: Example,
    config: TaskConfig,
    task: str,
    explanation: dict[str, Any],
    retracted: bool,
    status: int,
) -> Response:
    if not wants_fragment(request):
        if status != 200:
            raise errors.Invalid(explanation["errors"])
        return RedirectResponse(str(request.app.url_path_for("create", task=task)), status_code=303)
    return render(
        request,
        "collection/_explain.html",
        status=status,
        task=task,
        config=config,
        outcome=service.outcome(example),
        tried={"context_id": example.context_id, "input": example.input, "answer": example.answer},
        explanation=explanation,
        retracted=retracted,
    )
