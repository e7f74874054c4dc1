"""Finishing a round as a wizard: what is missing, the split of the release, what comes next, a summary, and progress.

The choices stand in the address until the last form is sent: the back button and several tabs are safe. Afterwards the
page shows what the database says, so it can be left and loaded again.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, QueryParams
from starlette.responses import Response

from dynabench.benchmark.releases import api as release_api
from dynabench.benchmark.releases import service as releases
from dynabench.benchmark.releases.pages import NUMBERS, read_rules
from dynabench.benchmark.releases.tables import ReleaseState
from dynabench.benchmark.releases.views import ReleasePreviewOut
from dynabench.cycle import api as cycle_api
from dynabench.cycle import finishing, queries, service
from dynabench.cycle.finishing import FinishedRound, FinishPlan, NextStep
from dynabench.cycle.manage import BLANK, plan_of, read_form
from dynabench.cycle.tables import TurnState
from dynabench.cycle.views import preview_sentences
from dynabench.kit import errors, jobs
from dynabench.kit.forms import redirect
from dynabench.kit.jobs import JobState
from dynabench.kit.language import _
from dynabench.models import serving
from dynabench.people.accounts.tables import Person
from dynabench.rounds import queries as round_queries
from dynabench.rounds import round_models, views
from dynabench.rounds import service as rounds
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.rounds.schemas import Number
from dynabench.rounds.tables import RoundState

router = APIRouter()
STEPS = ("state", "split", "next", "confirm")
CHOICES = (
    *NUMBERS,
    "unverified",
    "disjoint",
    "release",
    "follow",
    "filled",
    *(name for name in BLANK if name != "round"),
)
"""Names of the wizard's fields; those of a release and of a turn are the names in their own forms."""
Step = Annotated[str, Query(max_length=10)]
Form = FormData | QueryParams


def carried_choices(form: Form) -> list[tuple[str, str]]:
    """Return the choices made so far as pairs, for the next step's address."""
    return [(name, str(value)[:200]) for name, value in form.multi_items() if name in CHOICES][:60]


def read_turn(form: Form) -> dict[str, Any]:
    """Return the fields of a turn as posted, or their defaults where that step was not filled in."""
    return read_form(form) if form.get("filled") else BLANK  # type: ignore[arg-type]


def read_follow(form: Form) -> NextStep:
    """Return what is to come next; nothing for what is unknown."""
    posted = str(form.get("follow", ""))
    return NextStep(posted) if posted in list(NextStep) else NextStep.NOTHING


def read_plan(form: Form, state: str) -> FinishPlan:
    """Return the plan that the wizard's choices describe. Raises `Invalid` by field."""
    follow = read_follow(form)
    turn = plan_of(read_turn(form) | {"round": ""})[0] if follow == NextStep.TURN else None
    return FinishPlan(
        state=state,
        release=follow == NextStep.TURN or form.get("release", "yes") != "later",
        rules=release_api.rule_changes(read_rules(form)),
        anyway=bool(form.get("anyway")),
        follow=follow,
        turn=turn,
    )


async def _read(request: Request, owner: Person, task: str, n: int) -> dict[str, Any]:
    def look(session: Session) -> dict[str, Any]:
        round_ = rounds.round_of(session, task, n)
        other = session.scalar(round_queries.open_round(task))
        turns = session.scalars(queries.turns_of_task(task).limit(1)).first()
        config = rounds.newest_config(session, task)
        return {
            "shown": views.round_out(session, round_),
            "finished": finishing.read_finished(session, owner, task, n),
            "work": finishing.open_work(session, owner, task, n),
            "models": round_models.models_of(round_),
            "rules": releases.release_rules(session, task, n, {}).model_dump(),
            "other": other.number if other is not None and other.id != round_.id else None,
            "unfit": service.unfit_reason(config),
            "ways": service.training_methods(config),
            "busy": turns.id
            if turns is not None and turns.state in (*queries.RUNNING_STATES, TurnState.PAUSED)
            else None,
        }

    values: dict[str, Any] = await request.app.state.db.aread(look)
    settings = request.app.state.settings

    def running_kinds() -> list[str]:
        states = [(job.kind, jobs.progress(settings, job)["state"]) for job in values["work"].jobs[:20]]
        return [kind for kind, state in states if state in (JobState.QUEUED, JobState.RUNNING)]

    values["running"] = await to_thread.run_sync(running_kinds) if values["work"].jobs else []
    return values


def _is_begun(values: Mapping[str, Any]) -> bool:
    """Return whether a release of the round or a turn was started, and has not failed before the round was frozen."""
    finished: FinishedRound = values["finished"]
    release = finished.release
    return (release is not None and release.state != ReleaseState.FAILED) or (
        finished.turn is not None and finished.turn.state in queries.OPEN_STATES
    )


async def _preview(
    request: Request, owner: Person, task: str, n: int, form: Form
) -> tuple[ReleasePreviewOut | None, dict[str, str], str]:
    """Return the division by the rules in the form without the finding that the round is open, or what is wrong."""
    try:
        changes = release_api.rule_changes(read_rules(form))
        preview = await release_api.preview_out(request, owner, task, n, changes)
    except errors.Invalid as problem:
        return None, problem.fields, ""
    except errors.Conflict as problem:
        return None, {}, problem.detail
    findings = [finding for finding in preview.report.findings if finding.kind != "open"]
    report = preview.report.model_copy(update={"findings": findings})
    return preview.model_copy(update={"report": report}), {}, ""


async def _wizard(
    request: Request, owner: Person, task: str, n: int, form: Form, step: str, status: int = 200, **more: Any
) -> Response:
    values = await _read(request, owner, task, n)
    released = values["shown"].state == RoundState.RELEASED
    steps = ("next", "confirm") if released else STEPS
    step = step if step in steps else steps[0]
    follow = read_follow(form)
    page_values: dict[str, Any] = {"errors": {}, "problem": "", "preview": None, "sentences": [], "awaited": None}
    is_releasing = not released and (follow == NextStep.TURN or form.get("release", "yes") != "later")
    if step == "split" or (step == "confirm" and is_releasing):
        preview, wrong, problem = await _preview(request, owner, task, n, form)
        page_values |= {"preview": preview, "errors": wrong, "problem": problem}
        if wrong and step == "confirm":
            step = "split"
    if step == "confirm" and follow == NextStep.TURN:
        try:
            plan, _round = plan_of(read_turn(form) | {"round": ""})
            page_values["sentences"] = preview_sentences(await cycle_api.preview(request, owner, task, plan, n))
        except errors.Invalid as problem:
            step, page_values["errors"] = "next", problem.fields
        except errors.Conflict as problem:
            step, page_values["problem"] = "next", problem.detail
    rules = values["rules"] | {name: form[name] for name in (*NUMBERS, "unverified") if name in form}
    if "disjoint" in form:
        rules["disjoint"] = [entry for entry in form.getlist("disjoint") if entry]
    page_values |= values | {
        "steps": steps,
        "step": step,
        "given": rules,
        "posted": read_turn(form),
        "follow": follow,
        "releasing": is_releasing,
        "query": carried_choices(form),
    }
    return await frame.console_page(
        request, task, "cycle/manage/finish.html", "rounds", status=status, **(page_values | more)
    )


async def _progress(request: Request, owner: Person, task: str, n: int, values: dict[str, Any]) -> Response:
    finished: FinishedRound = values["finished"]
    turn = await cycle_api.read_turn_out(request, owner, task, finished.turn.id) if finished.turn else None
    job_id = finished.release.job_id if finished.release else None
    progress = None
    if job_id is not None and finishing.is_running(finished):
        job = await request.app.state.db.aread(lambda session: session.get(jobs.Job, job_id))
        progress = await to_thread.run_sync(jobs.progress, request.app.state.settings, job) if job else None
    return await frame.console_page(
        request,
        task,
        "cycle/manage/finishing.html",
        "rounds",
        fragment="cycle/manage/_finishing.html",
        turn=turn,
        turn_steps=service.STEPS,
        progress=progress,
        going=finishing.is_running(finished) or finished.scored < finished.evaluations,
        **values,
    )


@router.get("/tasks/{task}/manage/rounds/{n}/finish", name="finish_round")
async def show(request: Request, task: str, n: Number, owner: TaskOwner, step: Step = "") -> Response:
    """A step of the wizard; without a step, or where the round is being finished, how far that is."""
    values = await _read(request, owner, task, n)
    is_begun = _is_begun(values)
    follows = step in ("next", "confirm") and not finishing.is_running(values["finished"]) and values["busy"] is None
    if is_begun and not follows:
        return await _progress(request, owner, task, n, values)
    return await _wizard(request, owner, task, n, request.query_params, step)


@router.post("/tasks/{task}/manage/rounds/{n}/finish", name="finish_round_form", dependencies=release_api.PREVIEW)
async def finish(request: Request, task: str, n: Number, owner: TaskOwner) -> Response:
    """Do what the summary says; a form that is sent twice changes nothing more."""
    form = await request.form()
    db = request.app.state.db
    try:
        plan = read_plan(form, str(form.get("seen", ""))[:10])
        if plan.release and plan.state != RoundState.RELEASED and str(form.get("sure", "")).strip() != str(n):
            raise errors.Invalid({"sure": _("Type the number of the round to confirm.")})
        if plan.follow == NextStep.ROUND:
            targets = await db.aread(lambda session: round_models.models_of(rounds.round_of(session, task, n)))
            await serving.require(request.app.state.host, targets)
        await db.awrite(finishing.finish_round, owner, task, n, plan)
    except errors.Unavailable as problem:
        return await _wizard(request, owner, task, n, form, "confirm", problem.status, awaited=problem)
    except errors.Invalid as problem:
        return await _wizard(request, owner, task, n, form, "confirm", 422, errors=problem.fields)
    except errors.Conflict as problem:
        if _is_begun(await _read(request, owner, task, n)) and form.get("seen") != RoundState.RELEASED:
            return redirect(
                request, "finish_round", task=task, n=n
            )  # the same form was sent before, or from another tab
        return await _wizard(request, owner, task, n, form, "confirm", 409, problem=problem.detail)
    is_watched = plan.release or plan.state == RoundState.RELEASED
    return redirect(request, "finish_round" if is_watched else "manage_round", task=task, n=n)
