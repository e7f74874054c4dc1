"""The onboarding of a task as JSON: the next step, answers and what is explained afterwards; figures for owners."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import Field
from sqlalchemy.orm import Session

from dynabench.kit.api import After, Db, Limit
from dynabench.kit.schemas import Page, RowModel, StrictModel
from dynabench.kit.security import RowId
from dynabench.onboarding import figures, quiz, service, steps
from dynabench.onboarding.figures import OnboardingState
from dynabench.onboarding.service import OnboardingStep, StepKind
from dynabench.onboarding.tables import OnboardingActivity
from dynabench.people.accounts.auth import Member, needs, scope
from dynabench.people.accounts.tables import Person

router = APIRouter(prefix="/api/v1", tags=["onboarding"], dependencies=[Depends(scope("annotate"))])

PATH = "/tasks/{task}/onboarding/{activity}"


class ScreeningQuestionOut(RowModel):
    """A question about the person; which answers let people go on is not shown."""

    name: str
    question: str
    options: list[str]


class OnboardingExampleOut(RowModel):
    """A worked example with its explanation."""

    good: bool
    context: dict[str, Any]
    input: dict[str, Any]
    answer: dict[str, Any]
    explanation: str


class PracticeItemOut(RowModel):
    """A practice item as it is asked, without its answer."""

    context: dict[str, Any]
    input: dict[str, Any]


class AskedQuestionOut(RowModel):
    """A question of the attempt under way, without its answer."""

    attempt_id: int
    position: int = Field(description="Place of the question in the attempt, from 0.")
    size: int
    question: str
    options: list[str]


class OnboardingOut(RowModel):
    """A person's next step; all content but that of the step is null or empty."""

    activity: OnboardingActivity
    required: bool = Field(description="False where people may write or check without it.")
    qualified: bool
    expires_at: datetime | None = Field(description="End of the qualification in UTC, null where it has none.")
    step: StepKind | None = Field(description="Null for a person who is qualified.")
    number: int = Field(description="The step's place among the parts, from 1.")
    total: int
    position: int = Field(description="Practice items or questions that are done in this step.")
    size: int
    attempt: int
    attempts: int
    until: datetime | None = Field(description="When a waiting person may try again, in UTC.")
    text: str = Field(description="Instructions, markdown.")
    screening: list[ScreeningQuestionOut]
    examples: list[OnboardingExampleOut]
    item: PracticeItemOut | None
    question: AskedQuestionOut | None


class AnsweredQuestionOut(RowModel):
    """A question after its answer."""

    position: int
    size: int
    question: str
    options: list[str]
    chosen: str
    right: str
    is_right: bool
    explanation: str
    passed: bool | None = Field(description="Null until the attempt has ended.")
    score: int
    pass_mark: int


class PractisedItemOut(RowModel):
    """A practice item after its answer."""

    position: int
    size: int
    agrees: bool
    answer: dict[str, Any]
    right: dict[str, Any]
    explanation: str


class ScreeningIn(StrictModel):
    """Answers about oneself, by the name of the question."""

    answers: dict[str, str]


class ReadingIn(StrictModel):
    """A part that was read."""

    part: StepKind


class PracticeIn(StrictModel):
    """An answer to a practice item."""

    position: int = Field(ge=0, le=10_000)
    answer: dict[str, Any]


class OptionIn(StrictModel):
    """An answer to a question of the quiz."""

    position: int = Field(ge=0, le=10_000)
    option: str = Field(max_length=300)


class OnboardedPersonOut(RowModel):
    """A person in the onboarding of a task."""

    id: int
    username: str
    activity: OnboardingActivity
    state: OnboardingState
    attempts: int
    best: int | None
    since: datetime
    expires_at: datetime | None


class OnboardedPersonPage(Page[OnboardedPersonOut]):
    """A page of people by id; `next` is the cursor of the page after it."""


def _view(session: Session, person: Person, task: str, activity: OnboardingActivity) -> OnboardingOut:
    view = steps.read_view(session, person, task, activity)
    step = view.step or OnboardingStep(StepKind.QUIZ, activity, 0, len(view.path.parts))
    kind = view.step.kind if view.step else None
    return OnboardingOut(
        activity=activity,
        required=view.path.section.required,
        qualified=view.step is None,
        expires_at=view.expires_at if view.step is None else None,
        step=kind,
        number=step.number,
        total=step.total,
        position=step.position,
        size=step.size,
        attempt=step.attempt,
        attempts=step.attempts,
        until=step.until,
        text=view.text if kind is StepKind.INSTRUCTIONS else "",
        screening=[ScreeningQuestionOut.model_validate(row) for row in view.screening]
        if kind is StepKind.SCREENING
        else [],
        examples=[OnboardingExampleOut.model_validate(row) for row in view.examples]
        if kind is StepKind.EXAMPLES
        else [],
        item=PracticeItemOut.model_validate(view.item) if view.item else None,
        question=AskedQuestionOut.model_validate(view.question) if view.question else None,
    )


@router.get(PATH)
async def get_onboarding(db: Db, task: str, activity: OnboardingActivity, person: Member) -> OnboardingOut:
    """Return the person's next step before writing or checking for a task; 404 where the task has no onboarding."""
    return await db.aread(_view, person, task, activity)


@router.post(f"{PATH}/screening")
async def post_screening(
    db: Db, task: str, activity: OnboardingActivity, body: ScreeningIn, person: Member
) -> OnboardingOut:
    """Answer the questions about oneself; only whether one goes on is stored."""

    def write(session: Session) -> OnboardingOut:
        step = service.answer_screening(session, person, task, activity, body.answers)
        steps.end_study(session, person, task, step)
        return _view(session, person, task, activity)

    return await db.awrite(write)


@router.post(f"{PATH}/reading")
async def post_reading(
    db: Db, task: str, activity: OnboardingActivity, body: ReadingIn, person: Member
) -> OnboardingOut:
    """Go on from a part that is read: `instructions` or `examples`."""

    def write(session: Session) -> OnboardingOut:
        service.finish_reading(session, person, task, activity, body.part)
        return _view(session, person, task, activity)

    return await db.awrite(write)


@router.post(f"{PATH}/practice")
async def post_practice(
    db: Db, task: str, activity: OnboardingActivity, body: PracticeIn, person: Member
) -> PractisedItemOut:
    """Answer a practice item, and return the right answer; nothing of the answer is stored."""
    practised = await db.awrite(quiz.practise, person, task, activity, body.position, body.answer)
    return PractisedItemOut.model_validate(practised)


@router.post(f"{PATH}/attempts")
async def post_attempt(db: Db, task: str, activity: OnboardingActivity, person: Member) -> OnboardingOut:
    """Begin an attempt at the quiz, or return the one under way with its next question."""

    def write(session: Session) -> OnboardingOut:
        quiz.begin_attempt(session, person, task, activity, service.new_random())
        return _view(session, person, task, activity)

    return await db.awrite(write)


@router.post(f"{PATH}/attempts/{{id}}/answers")
async def post_quiz_answer(
    db: Db, task: str, activity: OnboardingActivity, id: RowId, body: OptionIn, person: Member
) -> AnsweredQuestionOut:
    """Answer the next question of an attempt; the first answer stands, and is explained whenever it is sent again."""

    def write(session: Session) -> AnsweredQuestionOut:
        answered = quiz.answer_question(session, person, id, body.position, body.option)
        path = service.require_path(session, person, task, activity)
        steps.end_study(session, person, task, service.read_step(session, person, path))
        return AnsweredQuestionOut.model_validate(answered)

    return await db.awrite(write)


@router.get("/tasks/{task}/onboarded")
async def list_onboarded(
    db: Db, task: str, person: Member, after: After = None, limit: Limit = 100
) -> OnboardedPersonPage:
    """Return the people who began a task's onboarding, by their ids (owners and moderators)."""
    people = await db.aread(figures.list_people, person, task, after=after or 0, limit=limit)
    ids = sorted({row.id for row in people})
    return OnboardedPersonPage(
        items=[OnboardedPersonOut.model_validate(row) for row in people], next=ids[-1] if len(ids) == limit else None
    )


Again = Annotated[bool, Query(description="Give further attempts instead of the qualification itself.")]


@router.put("/tasks/{task}/onboarded/{person_id}/{activity}", status_code=204)
@needs("manage")
async def put_qualification(
    db: Db, task: str, person_id: RowId, activity: OnboardingActivity, person: Member, again: Again = False
) -> None:
    """Qualify a person by hand, or let them try again (owners and moderators)."""
    act = figures.allow_again if again else figures.grant
    await db.awrite(act, person, task, person_id, activity)


@router.delete("/tasks/{task}/onboarded/{person_id}/{activity}", status_code=204)
@needs("manage")
async def delete_qualification(
    db: Db, task: str, person_id: RowId, activity: OnboardingActivity, person: Member
) -> None:
    """End a person's qualification, who goes through the onboarding again (owners and moderators)."""
    await db.awrite(figures.revoke, person, task, person_id, activity)
