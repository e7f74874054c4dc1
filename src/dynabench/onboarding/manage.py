"""The onboarding of a task in its console: how far people came, the quiz bank's answers, and further attempts."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.kit.api import Db, csv_response
from dynabench.kit.forms import redirect
from dynabench.kit.security import RowId
from dynabench.onboarding import figures
from dynabench.onboarding.tables import OnboardingActivity
from dynabench.people.may import Action
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskModerator, TaskOwner

router = APIRouter()

After = Annotated[int, Query(ge=0, le=2**63 - 1)]
Act = Literal["allow", "grant", "revoke"]
ACTS = {"allow": figures.allow_again, "grant": figures.grant, "revoke": figures.revoke}
PEOPLE_ON_PAGE = 200
PEOPLE_COLUMNS = ("id", "username", "activity", "state", "attempts", "best", "since", "expires_at")
QUESTION_COLUMNS = ("name", "question", "answers", "right", "low", "high")


@router.get("/tasks/{task}/manage/onboarding", name="manage_onboarding")
async def show(
    request: Request, task: str, person: TaskModerator, after: After = 0, done: Act | None = None
) -> Response:
    """Figures, people and questions; the questions for owners alone."""

    def read(session: Session) -> dict[str, Any]:
        people = figures.list_people(session, person, task, after=after, limit=PEOPLE_ON_PAGE + 1)
        ids = sorted({row.id for row in people})
        last = ids[PEOPLE_ON_PAGE - 1] if len(ids) > PEOPLE_ON_PAGE else None
        owns = Action.MANAGE_TASK in request.state.actions
        return {
            "figures": figures.read_figures(session, person, task),
            "people": [row for row in people if last is None or row.id <= last],
            "after": last,
            "questions": figures.read_questions(session, person, task) if owns else [],
        }

    values = await request.app.state.db.aread(read)
    return await frame.console_page(
        request, task, "onboarding/manage/onboarding.html", "onboarding", done=done, **values
    )


@router.post("/tasks/{task}/manage/onboarding/people/{id}/{activity}/{act}", name="change_onboarding")
async def change(
    request: Request, db: Db, task: str, id: RowId, activity: OnboardingActivity, act: Act, person: TaskModerator
) -> Response:
    """Give a person further attempts, a qualification, or end one."""
    await db.awrite(ACTS[act], person, task, id, activity)
    return redirect(request, "manage_onboarding", task=task, query={"done": act})


@router.get("/tasks/{task}/manage/onboarding/people.csv", name="download_onboarded_people")
async def download_people(db: Db, task: str, person: TaskModerator) -> Response:
    """All people who began, as a file."""

    def read(session: Session) -> list[figures.OnboardedPerson]:
        rows: list[figures.OnboardedPerson] = []
        while page := figures.list_people(session, person, task, after=rows[-1].id if rows else 0, limit=1000):
            rows += page
        return rows

    people = await db.aread(read)
    lines = [
        [
            row.id, row.username, row.activity.value, row.state.value, row.attempts,
            "" if row.best is None else row.best, row.since.isoformat(),
            row.expires_at.isoformat() if row.expires_at else "",
        ]
        for row in people
    ]  # fmt: skip
    return csv_response(f"{task}-onboarding.csv", PEOPLE_COLUMNS, lines)


@router.get("/tasks/{task}/manage/onboarding/questions.csv", name="download_quiz_questions")
async def download_questions(db: Db, task: str, person: TaskOwner) -> Response:
    """The share of right answers to each question, as a file."""
    rows = await db.aread(figures.read_questions, person, task)
    lines = [
        [row.name, row.question, row.right.n, *("" if share is None else share for share in _shares(row))]
        for row in rows
    ]
    return csv_response(f"{task}-quiz.csv", QUESTION_COLUMNS, lines)


def _shares(row: figures.QuestionFigures) -> tuple[float | None, float | None, float | None]:
    return row.right.value, row.right.low, row.right.high
