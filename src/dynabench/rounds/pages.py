"""Pages of invitations, new tasks and proposals."""

import re
import unicodedata
from collections.abc import Iterator
from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.db import Database
from dynabench.kit.forms import read_number, redirect, rejection
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Admin, Member, Viewer, limited
from dynabench.people.accounts.tables import Person
from dynabench.rounds import builder, config_review, invitations, older_configs, proposals, service, task_drafts
from dynabench.rounds.proposal_api import proposal_values
from dynabench.rounds.tables import Task
from dynabench.tasks import shipped_tasks
from dynabench.tasks.reading import Path, with_values
from dynabench.tasks.shipped import (
    ShippedTask,
    needed_model,
    shipped_conversations,
    shipped_drawings,
    shipped_selections,
    shipped_writing,
)
from dynabench.web import render

router = APIRouter(include_in_schema=False)
router.include_router(older_configs.pages)

SELDOM = [Depends(limited("join", 30, 60))]


@router.get("/join/{secret}", name="join", dependencies=SELDOM)
async def join(request: Request, db: Db, secret: str, viewer: Viewer) -> Response:
    """Show the role that an invitation offers; visitors log in or register first and come back."""
    offer = await db.aread(invitations.read_offer, viewer, secret)
    return render(request, "rounds/join.html", offer=offer, secret=secret)


@router.post("/join/{secret}", name="accept_invitation", dependencies=SELDOM)
async def accept(request: Request, db: Db, secret: str, person: Member) -> Response:
    """Join, and go to the task."""
    offer = await db.awrite(invitations.accept_invitation, person, secret)
    return redirect(request, "task", task=offer.task_id)


Template = Annotated[str, Query(max_length=60)]
Called = Annotated[str, Query(max_length=100, description="The name that it begins with.")]
Word = Annotated[str, Query(max_length=20)]
Draft = Annotated[int, Query(ge=0, le=2**53, description="The draft that is opened.")]
Earlier = Annotated[int, Query(ge=0, le=2**53)]


def starter_config() -> str:
    """The config that one begins with."""
    return files("dynabench.rounds").joinpath("starter.yaml").read_text(encoding="utf-8")


def task_templates() -> list[ShippedTask]:
    """The shipped tasks, to begin with."""
    needing_models = [*shipped_writing(), *shipped_conversations(), *shipped_drawings()]
    return [*shipped_tasks(), *needing_models, *shipped_selections()]


def _template_title(template: ShippedTask) -> str:
    """The name of a shipped task, with the model that it needs where none worth fooling is shipped."""
    needed = needed_model(template.config.id)
    if not needed:
        return template.config.name
    return _("%(name)s (needs %(model)s)", name=template.config.name, model=needed)


def template_config(session: Session, id: str, name: str) -> str:
    """The config of a shipped task, or the starter for any other id, under a name and an id that no task has yet."""
    source = next((shipped_task.source for shipped_task in task_templates() if shipped_task.config.id == id), None)
    stem = _plain_id(name) or f"my-{id if source else 'task'}"
    changes: dict[Path, str] = {("id",): _free_id(session, stem)}
    if name:
        changes[("name",)] = name
    return with_values(source or starter_config(), changes)


def _plain_id(name: str) -> str:
    """A name as an address has it; empty where it has no letters for one."""
    ascii = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"[^a-z0-9]+", "-", ascii).strip("-")
    return plain[:30].strip("-") if re.match(r"[a-z].", plain) else ""


def _free_id(session: Session, stem: str) -> str:
    """`wanted`, or with the first number behind it that makes it an id which is not taken."""

    def ids() -> Iterator[str]:
        yield stem
        yield from (f"{stem}-{number}" for number in range(2, 100))

    reserved = service.RESERVED
    return next((id for id in ids() if id not in reserved and session.get(Task, id) is None), stem)


async def _page(
    request: Request,
    person: Person,
    text: str,
    status: int = 200,
    part: str = "rounds/_checked.html",
    refused: dict[str, str] | None = None,
    **known: Any,
) -> Response:
    state = request.app.state
    checked = known if "problems" in known else known | await state.db.aread(config_review.check_config, text)
    drafts = await state.db.aread(task_drafts.list_drafts, person)
    values = {"text": text, "address": str(request.app.url_path_for("new_task")), "base": 0, "note": "", "effects": []}
    values |= {
        "templates": [(shipped_task.config.id, _template_title(shipped_task)) for shipped_task in task_templates()],
        "template": "",
        "called": "",
        "drafts": [(saved.id, task_drafts.draft_name(saved), saved.created_at) for saved in drafts],
        "draft": 0,
        "done": "",
    }
    values |= {"rewritten": False, "builder": builder.build_form(text, checked["problems"], refused)}
    values["creates"] = proposals.may_create_task(person, state.settings.new_tasks)
    return render(request, "rounds/new.html", status=status, fragment=part, **(values | checked))


@router.get("/tasks/new", name="new_task")
async def new(
    request: Request,
    settings: AppSettings,
    db: Db,
    person: Member,
    template_of: Template = "",
    name: Called = "",
    earlier: Earlier = 0,
    draft: Draft = 0,
    done: Word = "",
) -> Response:
    """The editor with a config to begin with: the starter, a shipped task, a draft, or what one proposed before."""
    proposals.may_create_task(person, settings.new_tasks)
    called = " ".join(name.split())
    if draft:
        opened = await db.aread(task_drafts.get_draft, person, draft)
        return await _page(request, person, opened.source, note=opened.note, draft=draft, done=done)
    if earlier:
        text = (await db.aread(proposals.get_proposal, person, earlier)).source
    else:
        text = await db.aread(template_config, template_of, called)
    return await _page(request, person, text, template=template_of, called=called, done=done)


@router.post("/tasks/new", name="send_new_task")
async def create(request: Request, person: Member) -> Response:
    """Create the task and go to its console, or propose it; or (`then` = check) show what is wrong with it.

    With `then` = edit its text is edited as the form says, with `then` = draft it is saved for later.
    """
    state = request.app.state
    text, note, draft = "", "", 0

    def make(session: Session) -> str:
        task_drafts.forget_draft(session, person, draft)
        if proposals.may_create_task(person, state.settings.new_tasks):
            task_id = proposals.create_task(session, person, state.settings.new_tasks, text)
            return str(request.app.url_path_for("manage_health", task=task_id))
        sent = proposals.propose_task(session, person, state.settings.new_tasks, text, note)
        return f"{request.app.url_path_for('proposals')}?done=sent#proposal-{sent.id}"

    async with request.form() as form:
        note, draft = str(form.get("note", "")), read_number(str(form.get("draft", "")), 15)
        try:
            text = await config_review.posted_config(form)
            if form.get("then") == "draft":
                proposals.may_create_task(person, state.settings.new_tasks)
                return await _save_draft(request, person, text, note, draft)
            if form.get("then") == "check":
                return await _page(request, person, text, note=note, draft=draft)
            if form.get("then") == "edit":
                edited = builder.edit_config(text, str(form.get("edit", "")))
                return await _page(
                    request,
                    person,
                    edited.text,
                    part="rounds/_edited.html",
                    refused=edited.errors,
                    note=note,
                    draft=draft,
                    rewritten=edited.rewritten,
                )
            proposals.may_create_task(person, state.settings.new_tasks)
            await service.parse_ahead(text)
            address = await _write_or_refuse(state.db, make)
        except errors.Invalid as problem:
            wrong = config_review.config_problems(problem.fields)
            return await _page(request, person, text, 422, note=note, draft=draft, problems=wrong, preview=None)
    return RedirectResponse(address, status_code=303)


async def _save_draft(request: Request, person: Person, text: str, note: str, draft: int) -> Response:
    """Save the editor's text as a draft, and open it."""
    try:
        saved = await request.app.state.db.awrite(task_drafts.save_draft, person, text, note, draft)
    except errors.Conflict as problem:
        raise errors.Invalid({"config": problem.detail}) from None
    return redirect(request, "new_task", query={"draft": saved.id, "done": "saved"})


@router.post("/tasks/new/drafts/{id}/delete", name="delete_task_draft")
async def delete_draft(request: Request, db: Db, id: RowId, person: Member) -> Response:
    """Delete a draft of one's own."""
    await db.awrite(task_drafts.delete_draft, person, id)
    return redirect(request, "new_task", query={"done": "deleted"})


async def _write_or_refuse(db: Database, make: Any) -> str:
    """Make it; what stands in its way is said beside the text."""
    try:
        address: str = await db.awrite(make)
    except errors.Conflict as problem:
        raise errors.Invalid({"config": problem.detail}) from None
    return address


PAGE_ROWS = 20
Before = Annotated[int | None, Query(ge=1, le=2**53)]


def proposal_page(session: Session, person_id: int | None, state: Any, after: int | None) -> dict[str, Any]:
    """Return the values of a page of proposals: of one person or (None) of all, in one state or any."""
    page_rows = proposals.list_proposals(session, person_id, state, after, PAGE_ROWS + 1)
    following = page_rows[PAGE_ROWS - 1].id if len(page_rows) > PAGE_ROWS else None
    return {
        "items": [proposal_values(session, proposal) for proposal in page_rows[:PAGE_ROWS]],
        "next": following,
        "after": after,
    }


@router.get("/proposals", name="proposals")
async def own_proposals(
    request: Request, settings: AppSettings, db: Db, person: Member, after: Before = None, done: Word = ""
) -> Response:
    """The tasks that one proposed, and what was said of them."""
    values = await db.aread(proposal_page, person.id, None, after)
    mode = settings.new_tasks
    return render(request, "rounds/proposals.html", done=done, mode=mode, **values)


@router.post("/proposals/{id}/withdraw", name="withdraw_proposal_form")
async def withdraw(request: Request, db: Db, id: RowId, person: Member) -> Response:
    """Take one back."""
    await db.awrite(proposals.withdraw_proposal, person, id)
    return redirect(request, "proposals", query={"done": "withdrawn"})


def _proposal_values(session: Session, admin: Person, id: int) -> dict[str, Any]:
    proposal = proposals.get_proposal(session, admin, id)
    return {
        "proposal": proposal_values(session, proposal),
        "text": proposal.source,
        "effects": [],
        **config_review.check_config(session, proposal.source),
    }


@router.get("/admin/proposals/{id}", name="admin_proposal")
async def show_proposal(request: Request, db: Db, id: RowId, admin: Admin) -> Response:
    """A proposed task: what annotators would see, its config, and the two buttons."""
    values = await db.aread(_proposal_values, admin, id)
    return render(request, "rounds/proposal.html", errors={}, reason="", **values)


@router.post("/admin/proposals/{id}", name="decide_proposal_form")
async def decide(
    request: Request,
    db: Db,
    id: RowId,
    admin: Admin,
    act: Annotated[str, Form(max_length=10)] = "",
    reason: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """Accept (`act` = accept) or refuse."""
    try:
        if act not in ("accept", "refuse"):
            raise errors.Invalid({"act": _("Accept it or refuse it.")})
        proposal = await db.awrite(proposals.decide_proposal, admin, id, act == "accept", reason)
    except (errors.Invalid, errors.Conflict) as problem:
        values = await db.aread(_proposal_values, admin, id) | rejection(problem, "act")
        return render(request, "rounds/proposal.html", reason=reason, **values)
    return redirect(request, "admin_tasks", query={"state": proposal.state})
