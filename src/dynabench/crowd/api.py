"""Studies, participants and consent texts as JSON, for a task's owners."""

from anyio import to_thread
from fastapi import APIRouter, Depends, Request
from sqlalchemy.orm import Session

from dynabench.crowd import consent, lifecycle, participants, participation, reconciling, studies
from dynabench.crowd.provider import all_providers
from dynabench.crowd.schemas import (
    ConsentIn,
    ConsentOut,
    ParticipantDecisionIn,
    ParticipantOut,
    ParticipantPage,
    StudyIn,
    StudyOut,
    StudyPage,
    StudyStateIn,
)
from dynabench.crowd.studies import StudyPlan
from dynabench.crowd.tables import ParticipationState, Study, StudyState
from dynabench.crowd.work import work_of
from dynabench.kit import errors
from dynabench.kit.api import After, AppSettings, Db, Limit, page_address
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, scope
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round

router = APIRouter(prefix="/api/v1", tags=["crowd"], dependencies=[Depends(scope("manage"))])


def _out(session: Session, study: Study, address: str) -> StudyOut:
    counts = studies.count_states(session, [study.id])[study.id]
    return StudyOut(
        id=study.id,
        round=session.get_one(Round, study.round_id).number,
        provider=study.provider,
        name=study.name,
        state=StudyState(study.state),
        work=work_of(study),
        settings=study.settings,
        entry=address.replace("SLUG", study.slug),
        participants={ParticipationState(state): number for state, number in counts.items()},
        created_at=study.created_at,
        published_at=study.published_at,
        stopped_at=study.stopped_at,
    )


def _address(request: Request) -> str:
    return page_address(request, "study", slug="SLUG")


@router.get("/tasks/{task}/studies")
async def list_studies(request: Request, db: Db, task: str, person: Member) -> StudyPage:
    """List the studies that recruit workers for a task (owners)."""

    def read(session: Session) -> list[StudyOut]:
        return [_out(session, study, _address(request)) for study in studies.list_studies(session, person, task)]

    return StudyPage(items=await db.aread(read))


@router.post("/tasks/{task}/studies", status_code=201)
async def draft_study(request: Request, db: Db, task: str, body: StudyIn, person: Member) -> StudyOut:
    """Draft a study for a round (owners); it recruits nobody before it is published."""
    plan = StudyPlan(body.name, body.settings, body.work.model_dump())

    def write(session: Session) -> StudyOut:
        study = studies.draft_study(session, person, task, body.round, body.provider, plan)
        return _out(session, study, _address(request))

    return await db.awrite(write)


@router.get("/tasks/{task}/studies/{id}")
async def get_study(request: Request, db: Db, task: str, id: RowId, person: Member) -> StudyOut:
    """Return a study (owners)."""

    def read(session: Session) -> StudyOut:
        return _out(session, studies.owned_study(session, person, task, id), _address(request))

    return await db.aread(read)


@router.delete("/tasks/{task}/studies/{id}", status_code=204)
async def delete_study(db: Db, task: str, id: RowId, person: Member) -> None:
    """Delete a draft (owners)."""
    await db.awrite(studies.delete_draft, person, task, id)


@router.post("/tasks/{task}/studies/{id}/state")
async def move_study(request: Request, db: Db, task: str, id: RowId, body: StudyStateIn, person: Member) -> StudyOut:
    """Publish, pause or stop a study (owners)."""

    settings, to = request.app.state.settings, StudyState(body.state)
    study = await get_study(request, db, task, id, person)
    await to_thread.run_sync(lifecycle.lead_study, db, settings, person, task, id, to, study.entry)
    return await get_study(request, db, task, id, person)


@router.get("/tasks/{task}/studies/{id}/participants")
async def list_participants(
    db: Db, settings: AppSettings, task: str, id: RowId, person: Member, after: After = None, limit: Limit = 50
) -> ParticipantPage:
    """List the workers of a study with the platform's ids (owners)."""

    def read(session: Session) -> ParticipantPage:
        study = studies.owned_study(session, person, task, id)
        rows = participants.list_participants(session, study, settings.key, after=after or 0, limit=limit + 1)
        return ParticipantPage.cut(
            rows, limit, show=lambda row: ParticipantOut.model_validate(row, from_attributes=True)
        )

    return await db.aread(read)


@router.post("/tasks/{task}/studies/{id}/participants/{participant}/decision")
async def decide_participant(
    db: Db, settings: AppSettings, task: str, id: RowId, participant: RowId, body: ParticipantDecisionIn, person: Member
) -> ParticipantOut:
    """Approve or reject a worker who has finished (owners); a job tells the platform."""

    def write(session: Session) -> ParticipantOut:
        decision = (body.approve, body.reason, body.category)
        participation.decide(session, person, task, id, participant, *decision)
        session.flush()
        study = studies.owned_study(session, person, task, id)
        rows = participants.list_participants(session, study, settings.key, after=participant - 1, limit=1)
        if not rows:
            raise errors.NotFound(_("This study has no such participant."))
        return ParticipantOut.model_validate(rows[0], from_attributes=True)

    return await db.awrite(write)


@router.get("/tasks/{task}/consent")
async def get_consent(db: Db, task: str, person: Member) -> ConsentOut:
    """Return the newest text that a task's workers agree to (owners)."""
    return await db.aread(_consent, person, task)


def _consent(session: Session, owner: Person, task: str) -> ConsentOut:
    rounds.require(session, owner, Action.RUN_STUDIES, task)
    text = consent.newest_text(session, task)
    return ConsentOut(version=text.version if text else 0, text=text.text if text else consent.first_text())


@router.put("/tasks/{task}/consent")
async def save_consent(db: Db, task: str, body: ConsentIn, person: Member) -> ConsentOut:
    """Save a new version of the text that a task's workers agree to (owners)."""

    def write(session: Session) -> ConsentOut:
        text = consent.save_text(session, person, task, body.text)
        return ConsentOut(version=text.version, text=text.text)

    return await db.awrite(write)


@router.post("/crowd/{provider}/{account}/events", status_code=204)
async def receive_events(request: Request, db: Db, provider: str, account: RowId) -> None:
    """Receive a crowd platform's signed webhook; each event counts once, and forged or old ones are refused."""
    settings, body = request.app.state.settings, await request.body()
    known_provider = all_providers().get(provider)
    if known_provider is None:
        raise errors.NotFound(_("There is no such crowd platform."))
    task, secret = await db.aread(reconciling.find_webhook_secret, settings.key, provider, account)
    events = known_provider.read_events(secret, dict(request.headers), body, now())
    await db.awrite(reconciling.take_events, task, provider, events)
