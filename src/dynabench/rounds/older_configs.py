"""Starting from an older config: what becomes of its lines beside the config that results; nothing is created here."""

import re
from dataclasses import asdict
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.people.accounts.auth import Member, limited
from dynabench.rounds import config_review, proposals
from dynabench.rounds.schemas import Config
from dynabench.tasks import reading
from dynabench.web import render

SELDOM = [Depends(limited("older", 60, 60))]
pages = APIRouter(include_in_schema=False)
api = APIRouter(dependencies=SELDOM)
_ID = re.compile(r"[a-z][a-z0-9-]{0,58}[a-z0-9]")


class OlderIn(StrictModel):
    """A config in one of the older dialects."""

    config: Config
    id: str = Field(pattern=rf"^{_ID.pattern}$", description="The id of the task that it would make.")
    name: str = Field("", max_length=300, description="What people read; made from the id when absent.")


class ConversionNoteOut(BaseModel):
    """A note on the conversion of one key of an older config."""

    line: int | None = Field(description="From 1; null for what is not there.")
    key: str
    kind: reading.NoteKind
    text: str


class OlderOut(BaseModel):
    """The result of converting an older config."""

    dialect: str = Field(description="classic, later, both or neither.")
    valid: bool = Field(description="Whether a task can be created from `config`.")
    notes: list[ConversionNoteOut]
    config: str = Field(description="YAML of today; empty where nothing could be made.")


@api.post("/tasks/older")
async def read_older(body: OlderIn, person: Member) -> OlderOut:
    """Read a config of an older dialect into one of today, with a word on each of its lines. Creates nothing."""
    conversion = await to_thread.run_sync(reading.read_older_config, body.config, body.id, body.name)
    return OlderOut.model_validate({**asdict(conversion), "config": conversion.source})


def _page(request: Request, status: int = 200, **known: Any) -> Response:
    values: dict[str, Any] = {"text": "", "id": "", "called": "", "made": None, "errors": {}} | known
    return render(request, "rounds/older.html", status=status, **values)


@pages.get("/tasks/new/older", name="older_config")
async def empty(request: Request, person: Member) -> Response:
    """A form for an older config."""
    proposals.may_create_task(person, request.app.state.settings.new_tasks)
    return _page(request)


@pages.post("/tasks/new/older", name="read_older_config", dependencies=SELDOM)
async def read(request: Request, person: Member) -> Response:
    """Show the conversion of each line of an older config, and the config that results."""
    proposals.may_create_task(person, request.app.state.settings.new_tasks)
    async with request.form() as form:
        id, name = str(form.get("id", "")).strip()[:100], str(form.get("name", "")).strip()[:300]
        text = ""
        try:
            text = await config_review.posted_config(form)
            if not text.strip():
                raise errors.Invalid({"file": _("Paste a config, or choose a file.")})
            if not _ID.fullmatch(id):
                raise errors.Invalid(
                    {"id": _("Use 2 to 60 lowercase letters, digits and hyphens, starting with a letter.")}
                )
            conversion = await to_thread.run_sync(reading.read_older_config, text, id, name)
        except errors.Invalid as problem:
            return _page(request, 422, text=text, id=id, called=name, errors=problem.fields)
    return _page(request, text=text, id=id, called=name, made=conversion)
