"""The owner's pages of studies: the list, the consent text, one study, and its participants."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData
from starlette.responses import Response

from dynabench.crowd import (
    accounts,
    bonuses,
    consent,
    lifecycle,
    participants,
    participation,
    studies,
)
from dynabench.crowd import queries as queries_of_crowd
from dynabench.crowd.provider import CrowdProvider, SignedEntries, StudyOutcome, WorkerBlocking, all_providers
from dynabench.crowd.queries import orders_of
from dynabench.crowd.settings_form import read_settings, setting_inputs
from dynabench.crowd.studies import StudyPlan
from dynabench.crowd.tables import CrowdCredentials, ParticipationState, Study, StudyState
from dynabench.crowd.work import Work, work_of
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db, page_address, site_address
from dynabench.kit.db import Database
from dynabench.kit.forms import read_number, redirect, rejection
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.tables import Person
from dynabench.rounds import queries
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.rounds.tables import Round, RoundState

router = APIRouter()
SECTION = "studies"
ACTS = {"publish": StudyState.PUBLISHED, "pause": StudyState.PAUSED, "stop": StudyState.STOPPED}
DEFAULT = "generic"
WAITING = [state.value for state in participation.DECIDABLE]


@dataclass(frozen=True)
class StudyRow:
    """A study in the owner's list, with the number of its participants by state."""

    study: Study
    round_number: int
    platform: str
    counts: Mapping[str, int]

    @property
    def participants(self) -> int:
        """The number of people who entered."""
        return sum(self.counts.values())

    def count(self, *states: str) -> int:
        """Return the number of participants in some states."""
        return sum(self.counts.get(state, 0) for state in states)


@dataclass(frozen=True)
class PlatformRow:
    """A platform with accounts, the account that the task has connected, and this site's address."""

    provider: CrowdProvider
    credentials: CrowdCredentials | None
    site: str

    @property
    def events_address(self) -> str:
        """The address to which the platform sends its webhooks."""
        number = self.credentials.id if self.credentials else 0
        return f"{self.site}/api/v1/crowd/{self.provider.name}/{number}/events"


def _list(session: Session, owner: Person, task: str) -> dict[str, Any]:
    listed = studies.list_studies(session, owner, task)
    counts = studies.count_states(session, [study.id for study in listed])
    task_rounds = session.scalars(queries.rounds(task)).all()
    numbers = {round_.id: round_.number for round_ in task_rounds}
    text = consent.newest_text(session, task)
    rows = [StudyRow(study, numbers[study.round_id], _title(study.provider), counts[study.id]) for study in listed]
    collecting = [round_.number for round_ in task_rounds if round_.state != RoundState.RELEASED]
    return {
        "studies": rows,
        "consent_version": text.version if text else 0,
        "consent_text": text.text if text else consent.first_text(),
        "round_numbers": collecting,
        "connected": {
            name: credentials
            for name in all_providers()
            if (credentials := session.scalars(queries_of_crowd.credentials(task, name)).first())
        },
    }


def _title(provider: str) -> str:
    installed = all_providers().get(provider)
    return installed.title if installed else provider


@router.get("/tasks/{task}/manage/studies", name="manage_studies")
async def list_studies(request: Request, db: Db, task: str, owner: TaskOwner, done: str = "") -> Response:
    """All studies, the consent text, and the way to a new one."""
    return await _list_page(request, db, task, owner, done=done)


async def _list_page(
    request: Request, db: Db, task: str, owner: Person, /, *, status: int = 200, **values: Any
) -> Response:
    page_values = await db.aread(_list, owner, task)
    defaults = {"errors": {}, "done": "", "account_errors": {}}
    site = site_address(request)
    page_values["platforms"] = [
        PlatformRow(provider, page_values["connected"].get(provider.name), site)
        for provider in all_providers().values()
        if provider.credential_fields
    ]
    return await frame.console_page(
        request, task, "crowd/manage/studies.html", SECTION, status=status, **(defaults | page_values | values)
    )


@router.post("/tasks/{task}/manage/consent", name="save_consent_form")
async def save_consent(
    request: Request, db: Db, task: str, owner: TaskOwner, text: Annotated[str, Form(max_length=25_000)] = ""
) -> Response:
    """Save a new version of the text that workers agree to."""
    try:
        await db.awrite(consent.save_text, owner, task, text)
    except errors.Invalid as problem:
        return await _list_page(request, db, task, owner, consent_text=text, **rejection(problem, "text"))
    return redirect(request, "manage_studies", task=task, query={"done": "consent"})


@router.post("/tasks/{task}/manage/crowd-accounts/{provider}", name="connect_crowd_account")
async def connect_account(request: Request, db: Db, task: str, provider: str, owner: TaskOwner) -> Response:
    """Connect an account at a platform after the platform confirmed it, or forget it (`then` = remove)."""
    form = await request.form()
    settings = request.app.state.settings
    if form.get("then") == "remove":
        await db.awrite(accounts.disconnect_account, owner, task, provider)
        return redirect(request, "manage_studies", task=task, query={"done": "disconnected"})
    sent = {name: str(value) for name, value in form.multi_items() if isinstance(value, str)}
    try:
        name, secrets = await to_thread.run_sync(accounts.check_credentials, settings, provider, sent)
    except (errors.Invalid, errors.Unavailable) as problem:
        return await _list_page(
            request, db, task, owner, account_errors={provider: rejection(problem, "token")["errors"]}, status=422
        )
    await db.awrite(accounts.connect_account, owner, task, settings.key, provider, name, secrets)
    return redirect(request, "manage_studies", task=task, query={"done": "connected"})


def _known_provider(name: str) -> CrowdProvider:
    provider = all_providers().get(name)
    if provider is None:
        raise errors.NotFound(_("There is no crowd platform “%(name)s” on this site.", name=name))
    return provider


async def _form_page(
    request: Request,
    db: Db,
    task: str,
    owner: Person,
    provider_name: str,
    plan: StudyPlan,
    /,
    *,
    number: int,
    study: Study | None = None,
    status: int = 200,
    **values: Any,
) -> Response:
    provider = _known_provider(provider_name)
    listed = await db.aread(_list, owner, task)
    defaults: dict[str, Any] = {
        "errors": {},
        "study": study,
        "number": number,
        "round_options": [(str(choice), _("Round %(n)s", n=choice)) for choice in listed["round_numbers"]],
        "provider": provider,
        "providers": list(all_providers().values()),
        "inputs": setting_inputs(provider.settings_model),
        "plan": plan,
    }
    return await frame.console_page(
        request, task, "crowd/manage/form.html", SECTION, status=status, **(defaults | values)
    )


@router.get("/tasks/{task}/manage/studies/new", name="new_study")
async def new_study(
    request: Request,
    db: Db,
    task: str,
    owner: TaskOwner,
    provider: Annotated[str, Query(max_length=40)] = DEFAULT,
    round: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> Response:
    """The form of a new study; the round's page names its round."""
    settings = _known_provider(provider).settings_model().model_dump(mode="json")
    plan = StudyPlan("", settings, Work().model_dump())
    return await _form_page(request, db, task, owner, provider, plan, number=round)


def _posted(provider: CrowdProvider, form: FormData) -> StudyPlan:
    work = {name: str(form.get(f"work.{name}", "")).strip() or 0 for name in Work.model_fields}
    return StudyPlan(str(form.get("name", ""))[:200], read_settings(provider.settings_model, form), work)


@router.post("/tasks/{task}/manage/studies", name="draft_study_form")
async def draft_study(request: Request, db: Db, task: str, owner: TaskOwner) -> Response:
    """Draft a study."""
    form = await request.form()
    name, number = str(form.get("provider", DEFAULT))[:40], read_number(str(form.get("round", "")), 8)
    plan = _posted(_known_provider(name), form)
    try:
        study_id = await db.awrite(lambda session: studies.draft_study(session, owner, task, number, name, plan).id)
    except errors.Invalid as problem:
        return await _form_page(request, db, task, owner, name, plan, number=number, **rejection(problem, "name"))
    return redirect(request, "manage_study", task=task, id=study_id, query={"done": "drafted"})


def _study(session: Session, owner: Person, task: str, study_id: int, key: bytes, state: str) -> dict[str, Any]:
    study = studies.owned_study(session, owner, task, study_id)
    rows = participants.list_participants(session, study, key, state=state, limit=participants.MOST_SHOWN + 1)
    return {
        "study": study,
        "work": work_of(study),
        "round_number": session.get_one(Round, study.round_id).number,
        "counts": studies.count_states(session, [study.id])[study.id],
        "rows": rows[: participants.MOST_SHOWN],
        "more": len(rows) > participants.MOST_SHOWN,
        "consent_version": text.version if (text := consent.newest_text(session, task)) else 0,
        "completed": session.scalar(queries_of_crowd.count_outcome(study.id, WAITING, StudyOutcome.COMPLETED)),
        "orders": list(session.scalars(orders_of(study.id))),
        "approved": bonuses.approved_amount(session, study),
    }


State = Annotated[str, Query(max_length=20)]


@router.get("/tasks/{task}/manage/studies/{id}", name="manage_study")
async def show_study(
    request: Request,
    db: Db,
    settings: AppSettings,
    task: str,
    id: RowId,
    owner: TaskOwner,
    done: str = "",
    count: Annotated[int, Query(ge=0, le=2**31)] = 0,
    state: State = "",
) -> Response:
    """One study: its address for the platform, its state, and the participants."""
    return await study_page(request, db, task, owner, id, done=done, count=count, state=state)


async def study_page(
    request: Request, db: Db, task: str, owner: Person, id: int, /, *, status: int = 200, state: str = "", **values: Any
) -> Response:
    """Answer with the page of one study; `values` are added to those of the page."""
    settings = request.app.state.settings
    study_values = await db.aread(_study, owner, task, id, settings.key, state)
    provider = studies.provider_of(study_values["study"])
    address = page_address(request, "study", slug=study_values["study"].slug)
    facts = studies.facts_of(study_values["study"])
    defaults: dict[str, Any] = {
        "errors": {},
        "done": "",
        "count": 0,
        "provider": provider,
        "signing_key": provider.signing_key(facts) if isinstance(provider, SignedEntries) else "",
        "blocks": isinstance(provider, WorkerBlocking),
        "chosen_state": state,
        "states": [known_state.value for known_state in ParticipationState if study_values["counts"].get(known_state)],
        "entry_address": provider.create_study(None, facts, address).address
        if not provider.credential_fields
        else address,
        "inputs": setting_inputs(provider.settings_model),
    }
    return await frame.console_page(
        request, task, "crowd/manage/study.html", SECTION, status=status, **(defaults | study_values | values)
    )


@router.get("/tasks/{task}/manage/studies/{id}/edit", name="edit_study")
async def edit_study(request: Request, db: Db, task: str, id: RowId, owner: TaskOwner) -> Response:
    """The form of a draft."""
    study, number = await db.aread(_editable, owner, task, id)
    plan = StudyPlan(study.name, study.settings, study.work)
    return await _form_page(request, db, task, owner, study.provider, plan, number=number, study=study)


def _editable(session: Session, owner: Person, task: str, study_id: int) -> tuple[Study, int]:
    study = studies.owned_study(session, owner, task, study_id)
    number = session.get_one(Round, study.round_id).number
    session.expunge(study)
    return study, number


@router.post("/tasks/{task}/manage/studies/{id}/edit", name="change_study")
async def change_study(request: Request, db: Db, task: str, id: RowId, owner: TaskOwner) -> Response:
    """Change a draft."""
    study, number = await db.aread(_editable, owner, task, id)
    plan = _posted(studies.provider_of(study), await request.form())
    try:
        await db.awrite(studies.change_study, owner, task, id, plan)
    except errors.Invalid as problem:
        return await _form_page(
            request, db, task, owner, study.provider, plan, number=number, study=study, **rejection(problem, "name")
        )
    return redirect(request, "manage_study", task=task, id=id, query={"done": "changed"})


async def _entry_address(request: Request, db: Database, task: str, id: int, owner: Person) -> str:
    study, _number_of_round = await db.aread(_editable, owner, task, id)
    return page_address(request, "study", slug=study.slug)


@router.post("/tasks/{task}/manage/studies/{id}/{act}", name="act_on_study")
async def act(request: Request, db: Db, task: str, id: RowId, act: str, owner: TaskOwner) -> Response:
    """Publish, pause, stop or delete a study."""
    if act == "delete":
        await db.awrite(studies.delete_draft, owner, task, id)
        return redirect(request, "manage_studies", task=task, query={"done": "deleted"})
    if act not in ACTS:
        raise errors.NotFound(_("This page does not exist."))
    settings, entry_page = request.app.state.settings, await _entry_address(request, db, task, id, owner)
    try:
        await to_thread.run_sync(lifecycle.lead_study, db, settings, owner, task, id, ACTS[act], entry_page)
    except (errors.Conflict, errors.Unavailable) as problem:
        return await study_page(request, db, task, owner, id, **rejection(problem, "state"))
    return redirect(request, "manage_study", task=task, id=id, query={"done": ACTS[act].value})
