"""The pages of an onboarding: one step at a time, and what is explained after an answer."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.kit import errors
from dynabench.kit.api import Db
from dynabench.kit.forms import Text, redirect
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.onboarding import manage, quiz, service, steps
from dynabench.onboarding.service import READ, OnboardingStep, StepKind
from dynabench.onboarding.tables import OnboardingActivity
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people
from dynabench.web import render

ACTIONS = [Depends(people.load_actions)]
router = APIRouter(include_in_schema=False)
router.include_router(manage.router)

Position = Annotated[int, Query(ge=0, le=10_000)]
Attempt = Annotated[int | None, Query(ge=1, le=2**63 - 1)]


async def _page(
    request: Request,
    person: Person,
    task: str,
    activity: OnboardingActivity,
    part: StepKind | None = None,
    status: int = 200,
    **values: Any,
) -> Response:
    def read(session: Session) -> tuple[steps.StepView, str]:
        view = steps.read_view(session, person, task, activity, part)
        return view, steps.study_of(session, person) if view.step is not None and view.step.over else ""

    view, study = await request.app.state.db.aread(read)
    if study and not values:
        return RedirectResponse(str(request.app.url_path_for("study", slug=study)), status_code=303)
    defaults: dict[str, Any] = {"errors": {}, "values": {}, "answered": None, "practised": None, "problem": ""}
    defaults["study"] = study
    page_values = defaults | {"task": task, "config": view.path.config, "view": view, "activity": activity} | values
    return render(request, "onboarding/onboarding.html", status=status, **page_values)


@router.get("/tasks/{task}/onboarding", name="begin_onboarding")
async def begin(request: Request, db: Db, task: str, person: Member) -> Response:
    """Redirect to the onboarding that the person has not done yet."""
    activity = await db.aread(steps.first_activity, person, task)
    return redirect(request, "onboarding", task=task, activity=activity.value)


@router.get("/tasks/{task}/onboarding/{activity}", name="onboarding", dependencies=ACTIONS)
async def show(
    request: Request,
    db: Db,
    task: str,
    activity: OnboardingActivity,
    person: Member,
    part: StepKind | None = None,
    attempt: Attempt = None,
    position: Position = 0,
) -> Response:
    """The person's next step; `part` an earlier one again; `attempt` and `position` an answer with its explanation."""
    if attempt is None:
        return await _page(request, person, task, activity, part)
    answered = await db.aread(quiz.explain_answer, person, attempt, position)
    return await _page(request, person, task, activity, answered=answered)


@router.post("/tasks/{task}/onboarding/{activity}/screening", name="answer_screening", dependencies=ACTIONS)
async def screen(request: Request, db: Db, task: str, activity: OnboardingActivity, person: Member) -> Response:
    """Answer the questions about oneself."""
    form = await request.form()
    prefix = "screening."
    answers = {name.removeprefix(prefix): str(form[name]) for name in form if name.startswith(prefix)}

    def write(session: Session) -> OnboardingStep | None:
        step = service.answer_screening(session, person, task, activity, answers)
        steps.end_study(session, person, task, step)
        return step

    try:
        await db.awrite(write)
    except errors.Invalid as problem:
        return await _page(request, person, task, activity, status=422, errors=problem.fields, values=answers)
    return redirect(request, "onboarding", task=task, activity=activity.value)


@router.post("/tasks/{task}/onboarding/{activity}/read", name="finish_reading", dependencies=ACTIONS)
async def read_part(
    request: Request, db: Db, task: str, activity: OnboardingActivity, person: Member, part: Text
) -> Response:
    """Go on from instructions or worked examples."""
    if part not in READ:
        raise errors.NotFound(_("There is no such part."))
    try:
        await db.awrite(service.finish_reading, person, task, activity, StepKind(part))
    except errors.Conflict as problem:
        return await _page(request, person, task, activity, status=409, problem=problem.detail)
    return redirect(request, "onboarding", task=task, activity=activity.value)


@router.post("/tasks/{task}/onboarding/{activity}/practice/{position}", name="practise", dependencies=ACTIONS)
async def practise(
    request: Request, db: Db, task: str, activity: OnboardingActivity, position: RowId, person: Member
) -> Response:
    """Answer a practice item (`position` counts from 1); the page shows the right answer and why."""
    form = await request.form()
    pairs = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    path = await db.aread(service.require_path, person, task, activity)
    values = path.config.form("answer", pairs)
    try:
        practised = await db.awrite(quiz.practise, person, task, activity, position - 1, values)
    except errors.Invalid as problem:
        return await _page(request, person, task, activity, status=422, errors=problem.fields, values=values)
    except errors.Conflict as problem:
        return await _page(request, person, task, activity, status=409, problem=problem.detail)
    return await _page(request, person, task, activity, practised=practised)


@router.post("/tasks/{task}/onboarding/{activity}/quiz", name="begin_quiz", dependencies=ACTIONS)
async def begin_quiz(request: Request, db: Db, task: str, activity: OnboardingActivity, person: Member) -> Response:
    """Begin an attempt at the quiz, which counts from now on."""
    try:
        await db.awrite(quiz.begin_attempt, person, task, activity, service.new_random())
    except errors.Conflict as problem:
        return await _page(request, person, task, activity, status=409, problem=problem.detail)
    return redirect(request, "onboarding", task=task, activity=activity.value)


@router.post(
    "/tasks/{task}/onboarding/{activity}/quiz/{attempt}/{position}", name="answer_question", dependencies=ACTIONS
)
async def answer(
    request: Request,
    db: Db,
    task: str,
    activity: OnboardingActivity,
    attempt: RowId,
    position: RowId,
    person: Member,
    option: Text = "",
) -> Response:
    """Answer a question (`position` counts from 1); the page that follows explains it."""

    def write(session: Session) -> None:
        quiz.answer_question(session, person, attempt, position - 1, option)
        path = service.require_path(session, person, task, activity)
        steps.end_study(session, person, task, service.read_step(session, person, path))

    try:
        await db.awrite(write)
    except errors.Invalid as problem:
        return await _page(request, person, task, activity, status=422, errors=problem.fields)
    except errors.Conflict as problem:
        return await _page(request, person, task, activity, status=409, problem=problem.detail)
    query = {"attempt": attempt, "position": position - 1}
    return redirect(request, "onboarding", task=task, activity=activity.value, query=query)
