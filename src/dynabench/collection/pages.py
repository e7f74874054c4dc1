"""The create page: a context, a form, the models' answer.

Plain forms get whole pages, htmx gets the part that changes.
"""

import uuid
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.collection import (
    boards,
    content_warning,
    create_page,
    devices,
    eligibility,
    forms,
    media_uploads,
    overview,
    own_writing,
    playing,
    programs,
    round_examples,
    service,
)
from dynabench.collection.api import throttle
from dynabench.collection.assisting import pages as assisting_pages
from dynabench.collection.chat import pages as chat_pages
from dynabench.collection.chat import preferences as chat_boards
from dynabench.collection.drawing import pages as drawing_pages
from dynabench.collection.forms import Posted
from dynabench.collection.round_examples import Choice, ExampleFilters
from dynabench.collection.schemas import ProgramRow
from dynabench.collection.tables import Example
from dynabench.kit import errors
from dynabench.kit.api import csv_response
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people as seats
from dynabench.rounds import service as rounds
from dynabench.rounds import views
from dynabench.rounds.schemas import Number
from dynabench.rounds.tables import Context, Round, RoundState
from dynabench.tasks import TaskConfig
from dynabench.web import refresh, render
from dynabench.web.pages import wants_fragment

router = APIRouter(include_in_schema=False)
router.include_router(content_warning.router)
router.include_router(assisting_pages.router)
router.include_router(chat_pages.router)
router.include_router(chat_boards.pages)
router.include_router(drawing_pages.router)
router.include_router(own_writing.pages)

Handler = Callable[..., Awaitable[Response]]


def told_in_place(handler: Handler) -> Handler:
    """A model without an answer is no failure of the page: it stands, with status 200 and the message in its place."""

    @wraps(handler)
    async def wrapper(*args: Any, **arguments: Any) -> Response:
        try:
            return await handler(*args, **arguments)
        except errors.Unavailable as problem:
            request: Request = arguments["request"]
            response = render(request, "web/error.html", fragment="web/_error.html", problem=problem)
            response.headers["Retry-After"] = str(problem.extra["retry_after"])
            response.headers.update(refresh(request, problem))
            return response

    return wrapper


@router.get("/tasks/{task}/create", name="create", dependencies=[Depends(seats.load_actions)])
@told_in_place
async def create(request: Request, task: str, viewer: Viewer, sandbox: bool = False) -> Response:
    """Write an example: on the context that one has, or a first one. Visitors are in the sandbox."""
    if warning := await content_warning.warn(request, task):
        return warning
    sandbox = sandbox or viewer is None
    page = render(request, "collection/create.html", **await create_page.prepare_page(request, viewer, task, sandbox))
    return page if sandbox else devices.set_device_cookie(request, page)


@router.post("/tasks/{task}/context", name="another_context")
@told_in_place
async def another(request: Request, task: str, viewer: Viewer) -> Response:
    """Another context; what was written on the last one is left to the browser's drafts."""
    form = await request.form()
    sandbox = viewer is None or form.get("sandbox") == "true"
    db = request.app.state.db
    config = await db.aread(rounds.task_config, task)
    but = str(form.get("but", ""))
    posted = forms.posted(config, form, but) if sandbox and but else None
    values = await create_page.prepare_page(request, viewer, task, sandbox, posted, fresh=True)
    if not wants_fragment(request):
        address = str(request.app.url_path_for("create", task=task))
        return RedirectResponse(f"{address}?sandbox=1" if sandbox else address, status_code=303)
    if values["round"] is None:
        raise errors.Conflict(_("The round has closed. Reload the page to see what is open."))
    values["values"] = {"input": values["handout"].initial, "answer": {}}
    return render(request, "collection/create.html", fragment="collection/_context.html", **values)


@router.post("/tasks/{task}/create", name="send_example")
@told_in_place
async def send(request: Request, task: str, viewer: Viewer) -> Response:
    """One try: asked, recorded (not in the sandbox), told."""
    state = request.app.state
    config = await state.db.aread(rounds.task_config, task)
    unstored = None
    try:
        sent = await media_uploads.pairs(request, viewer, task, ("input", "answer"))
    except media_uploads.Unstored as problem:
        sent, unstored = problem.pairs, problem
    posted = forms.posted(config, sent)
    sandbox = viewer is None or posted.sandbox
    throttle(request, viewer)
    key = posted.key or uuid.uuid4().hex
    try:
        if unstored is not None:
            raise unstored
        device = devices.device_digest(request)
        draft_outcome = await playing.play(state.db, state.host, viewer, task, posted.draft(sandbox), key, device)
    except errors.Invalid as problem:
        return await _refused(request, viewer, task, posted, problem)
    except errors.Problem as problem:
        if wants_fragment(request):
            raise  # the error's fragment takes the place of the result, and the form stays as it is
        return await _refused(request, viewer, task, posted, problem)
    values = await create_page.prepare_page(request, viewer, task, sandbox, posted)
    if values["round"] is None:
        raise errors.Conflict(
            _("Your example was recorded. The round has closed since; reload the page to see what is open.")
        )
    values |= create_page.outcome_values(
        draft_outcome.draft.config, values["handout"], posted.context_id, draft_outcome
    )
    return render(request, "collection/create.html", fragment="collection/_answer.html", **values)


@router.post("/examples/{id}/perturbation", name="perturb_example")
@told_in_place
async def perturb(request: Request, id: RowId, person: Member) -> Response:
    """One's own example again, to be edited minimally so that its answer becomes another one."""
    db, host = request.app.state.db, request.app.state.host
    handout = await playing.perturb(db, host, person, id)
    *_rest, task, _fooled = await db.aread(_config_of, person, id)
    if not wants_fragment(request):
        return RedirectResponse(str(request.app.url_path_for("create", task=task)), status_code=303)
    values = await db.aread(create_page.values, person, task, False, None, handout)
    values["checks"] = await create_page.checks_left(request, person, task)
    return render(request, "collection/create.html", fragment="collection/_context.html", **values)


async def _refused(
    request: Request, viewer: Person | None, task: str, posted: Posted, problem: errors.Problem
) -> Response:
    sandbox = viewer is None or posted.sandbox
    values = await create_page.prepare_page(request, viewer, task, sandbox, posted)
    fields = problem.fields if isinstance(problem, errors.Invalid) else {}
    beside = {name for name in fields if name.startswith(("input.", "answer."))}
    rest = "" if fields and beside == set(fields) else problem.detail
    waits = isinstance(problem, errors.Unavailable)
    values |= {"errors": fields, "problem": rest, "waits": waits, "key": posted.key or values.get("key", "")}
    status = 200 if waits else problem.status
    response = render(request, "collection/create.html", fragment="collection/_form.html", status=status, **values)
    response.headers.update({"HX-Retarget": "#create-form", "HX-Reswap": "outerHTML"})
    if waits:
        response.headers["Retry-After"] = str(problem.extra["retry_after"])
    return response


def _config_of(
    session: Session, person: Person, example_id: int
) -> tuple[Example, dict[str, Any], TaskConfig, str, bool | None]:
    example = eligibility.own_example(session, person, example_id)
    config = rounds.config_of(session, example.version_id)
    context = config.shown_context(session.get_one(Context, example.context_id).values)
    task = session.get_one(Round, example.round_id).task_id
    return example, context, config, task, service.fooled(session, example.id)


@router.post("/examples/{id}/explanation", name="send_explanation")
async def explain(request: Request, id: RowId, person: Member) -> Response:
    """Why it is right, what tricked the model, which words did it."""
    db = request.app.state.db
    example, context, config, task, fooled = await db.aread(_config_of, person, id)
    unstored = None
    try:
        pairs = await media_uploads.pairs(request, person, task, ("ask",))
    except media_uploads.Unstored as problem:
        pairs, unstored = problem.pairs, problem
    written = config.form("ask", pairs)
    explanation = create_page.SILENT | {"values": written}
    status = 200
    try:
        if unstored is not None:
            raise unstored
        explanation = create_page.explanation_values(await db.awrite(service.explain, person, id, written, draft=True))
    except errors.Invalid as problem:
        explanation["errors"], status = problem.fields, 422
    return _explained(request, example, context, config, task, fooled, explanation, False, status)


@router.post("/examples/{id}/judgement", name="send_judgement")
@told_in_place
async def judge(request: Request, id: RowId, person: Member) -> Response:
    """Record whether each model's answer to one's example is wrong.

    The form's `wrong.0`, `wrong.1`, ... are `yes` or `no`.
    """
    db, host = request.app.state.db, request.app.state.host
    form = await request.form()
    wrong = [form.get(f"wrong.{place}") == "yes" for place in range(len(form)) if f"wrong.{place}" in form]
    example = await db.awrite(playing.judge, person, id, wrong)
    _example, _round, config, task, fooled = await db.aread(_config_of, person, id)
    handout_ids = {"context_id": example.context_id, "handout_id": example.handout_id}
    handout = await playing.current(db, host, person, task, **handout_ids)
    if handout is None:
        raise errors.Conflict(_("Your answer was recorded. Reload the page to continue."))
    values = await db.aread(create_page.values, person, task, False, None, handout)
    values["values"] = {"input": example.input, "answer": example.answer}
    values["checks"] = await create_page.checks_left(request, person, task)
    values |= create_page.stored_outcome_values(config, handout, example, service.outcome(example, fooled))
    values["explanation"] = create_page.SILENT | {"values": await db.aread(service.explained_values, id)}
    return render(request, "collection/create.html", fragment="collection/_answer.html", **values)


@router.post("/examples/{id}/retraction", name="send_retraction")
async def retract(request: Request, id: RowId, person: Member) -> Response:
    """Take one's example back."""
    db = request.app.state.db
    await db.awrite(service.retract, person, id)
    example, context, config, task, fooled = await db.aread(_config_of, person, id)
    return _explained(request, example, context, config, task, fooled, create_page.SILENT, True, 200)


def _explained(
    request: Request,
    example: Example,
    context: dict[str, Any],
    config: TaskConfig,
    task: str,
    fooled: bool | None,
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
        outcome=service.outcome(example, fooled),
        tried=create_page.tried(example.context_id, context, example.input, example.answer),
        **create_page.asking(config, context, example.input, example.answer, fooled=fooled),
        explanation=explanation,
        retracted=retracted,
    )


@router.get("/tasks/{task}", name="task", dependencies=[Depends(seats.load_actions)])
async def task_page(request: Request, task: str, viewer: Viewer) -> Response:
    """Show the task: its description, how its rounds went, and examples that fooled the models."""
    return render(request, "rounds/task.html", **await request.app.state.db.aread(overview.task_page, task))


@router.get("/tasks/{task}/rounds", name="rounds", dependencies=[Depends(seats.load_actions)])
async def rounds_page(request: Request, task: str, viewer: Viewer) -> Response:
    """List the rounds of a task with what came of each."""
    return render(request, "rounds/rounds.html", **await request.app.state.db.aread(overview.rounds_page, task))


Words = Annotated[str, Query(max_length=1000)]
Name = Annotated[str, Query(max_length=100)]
Cursor = Annotated[int | None, Query(ge=1, le=2**53)]


def example_filters(
    q: Words = "", fooled: Choice = "", verified: Choice = "", tag: Name = "", writer: Name = ""
) -> ExampleFilters:
    """Return the filters of a list of a round's examples, from the parameters of an address."""
    return ExampleFilters(q, fooled, verified, tag, writer)


Filters = Annotated[ExampleFilters, Depends(example_filters)]


@router.get("/tasks/{task}/rounds/{n}", name="round", dependencies=[Depends(seats.load_actions)])
async def round_page(
    request: Request, task: str, n: Number, viewer: Viewer, filters: Filters, after: Cursor = None
) -> Response:
    """The figures of one round and its examples; for htmx the examples alone."""

    def read(session: Session) -> dict[str, Any]:
        current = overview.chosen_round(session, task, n)
        listed = round_examples.list_values(session, current, filters, after)
        if wants_fragment(request) and not listed["no_examples"]:
            return listed | {"task": task, "round": views.round_out(session, current)}
        return overview.round_page(session, viewer, task, n) | listed

    values = await request.app.state.db.aread(read)
    return render(request, "rounds/round.html", fragment="rounds/_round_examples.html", **values)


@router.get("/tasks/{task}/rounds/{n}/examples.csv", name="round_examples_file")
async def round_examples_file(request: Request, task: str, n: Number, viewer: Viewer, filters: Filters) -> Response:
    """The readable examples of a released round that meet the filters."""

    def read(session: Session) -> tuple[list[str], list[list[object]]]:
        current = overview.chosen_round(session, task, n)
        reason = round_examples.why_no_examples(
            rounds.config_of(session, current.version_id), RoundState(current.state)
        )
        if reason:
            raise errors.Conflict(reason)
        return round_examples.export_rows(session, current, filters)

    header, rows = await request.app.state.db.aread(read)
    return csv_response(f"{task}-round-{n}-examples.csv", header, rows)


@router.get("/tasks/{task}/people", name="people", dependencies=[Depends(seats.load_actions)])
async def people(
    request: Request,
    task: str,
    viewer: Viewer,
    number: Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1)] = None,
    after: Annotated[str, Query(max_length=9)] = "",
) -> Response:
    """The people of one round."""

    def read(session: Any) -> dict[str, Any]:
        current = overview.chosen_round(session, task, number)
        return {
            "config": rounds.config_of(session, current.version_id),
            "round": views.round_out(session, current),
            "rounds": [started_round.number for started_round in overview.started(session, task)],
            "board": boards.board(session, current, viewer, boards.place_from(after)),
            "mine": boards.mine(session, viewer, current) if viewer else None,
        }

    values = await request.app.state.db.aread(read)
    return render(request, "collection/board.html", task=task, after=after, **values)


RATES = ("mer", "vmer")
PLAIN = [name for name in ProgramRow.model_fields if name not in RATES]
HEADER = [*PLAIN, *(f"{name}{end}" for name in RATES for end in ("", "_low", "_high"))]


@router.get("/tasks/{task}/rounds/{n}/programs.csv", name="programs_csv")
async def download(request: Request, task: str, n: Number, viewer: Viewer) -> Response:
    """One line for each version of a program."""

    def read(session: Session) -> list[ProgramRow]:
        views.visible_round(session, viewer, task, n)
        return programs.board_out(programs.board(session, rounds.round_of(session, task, n))).items

    rows = [_cells(row) for row in await request.app.state.db.aread(read)]
    return csv_response(f"{task}-round-{n}-programs.csv", HEADER, rows)


def _cells(row: ProgramRow) -> list[object]:
    limits = [figure for rate in (row.mer, row.vmer) for figure in (rate.value, rate.low, rate.high)]
    return [*(getattr(row, name) for name in PLAIN), *limits]
