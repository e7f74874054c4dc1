"""Annotator quality for owners and moderators: estimates of validators, agreement, and the rule of verdicts."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection.overview import started
from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response
from dynabench.kit.forms import Text, redirect
from dynabench.people.accounts.tables import Person
from dynabench.quality import service, verdict_rules
from dynabench.quality.estimates import NAMES
from dynabench.quality.human_difficulty import LEAST_ANSWERS, read_human_difficulty
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskModerator
from dynabench.rounds.schemas import Number

router = APIRouter()

RoundNumber = Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1)]
Done = Annotated[Literal["estimates", "rule"] | None, Query()]
VALIDATOR_COLUMNS = (
    *("id", "name", "votes", "accuracy", "low", "high", "weight"),
    *(f"{true}_taken_for_{vote}" for true in NAMES for vote in NAMES),
)
AGREEMENT_COLUMNS = ("field", "label", "scale", "alpha", "low", "high", "examples", "answers")


async def _page(
    request: Request, person: Person, task: str, number: int | None, status: int = 200, **values: Any
) -> Response:
    def read(session: Session) -> dict[str, Any]:
        return {
            "stored": service.read_estimates(session, person, task, number),
            "rule": verdict_rules.read_rule(session, person, task, number) if number is not None else None,
            "difficulty": read_human_difficulty(session, person, task, number) if number is not None else None,
            "numbers": [round_.number for round_ in started(session, task)],
        }

    defaults: dict[str, Any] = {"problem": "", "done": None, "number": number, "names": NAMES, "least": LEAST_ANSWERS}
    page_values = defaults | await request.app.state.db.aread(read) | values
    return await frame.console_page(
        request,
        task,
        "quality/manage/quality.html",
        "quality",
        status=status,
        fragment="quality/manage/_progress.html",
        **page_values,
    )


@router.get("/tasks/{task}/manage/quality", name="manage_quality")
async def show(
    request: Request, task: str, person: TaskModerator, number: RoundNumber = None, done: Done = None
) -> Response:
    """Estimates of a task or of one of its rounds."""
    return await _page(request, person, task, number, done=done)


@router.post("/tasks/{task}/manage/quality", name="estimate_quality_form")
async def estimate_again(
    request: Request, db: Db, task: str, person: TaskModerator, number: RoundNumber = None
) -> Response:
    """Have the worker compute the estimates; while it does, asking again changes nothing."""
    await db.awrite(service.request_estimates, person, task)
    return redirect(request, "manage_quality", task=task, query={"round": number, "done": "estimates"})


@router.post("/tasks/{task}/manage/rounds/{n}/rule", name="save_verdict_rule")
async def choose_rule(
    request: Request, db: Db, task: str, n: Number, person: TaskModerator, rule: Text = ""
) -> Response:
    """Choose the rule of a round; its verdicts follow."""
    try:
        await db.awrite(verdict_rules.choose_rule, person, task, n, rule)
    except errors.Conflict as problem:
        return await _page(request, person, task, n, problem.status, problem=problem.detail)
    return redirect(request, "manage_quality", task=task, query={"round": n, "done": "rule"})


@router.get("/tasks/{task}/manage/quality/validators.csv", name="download_validator_quality")
async def download_validators(db: Db, task: str, person: TaskModerator, number: RoundNumber = None) -> Response:
    """The estimates of validators as a file."""
    stored = await db.aread(service.read_estimates, person, task, number)
    rows = stored.estimates.validators if stored.estimates else ()
    lines = [
        [
            *(row.person_id, stored.names.get(row.person_id, ""), row.votes),
            *(row.accuracy.value, row.accuracy.low, row.accuracy.high, row.weight),
            *(row.confusion[true][vote] for true in NAMES for vote in NAMES),
        ]
        for row in rows
    ]
    return csv_response(f"{task}-validator-quality.csv", VALIDATOR_COLUMNS, lines)


@router.get("/tasks/{task}/manage/quality/agreement.csv", name="download_agreement")
async def download_agreement(db: Db, task: str, person: TaskModerator, number: RoundNumber = None) -> Response:
    """The agreement of fields as a file."""
    stored = await db.aread(service.read_estimates, person, task, number)
    rows = stored.estimates.agreement if stored.estimates else ()
    lines = [[getattr(row, name) for name in AGREEMENT_COLUMNS] for row in rows]
    return csv_response(f"{task}-agreement.csv", AGREEMENT_COLUMNS, lines)
