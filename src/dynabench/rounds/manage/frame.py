"""The console's frame: the task's head, the rail of sections, and the section's own part."""

from dataclasses import dataclass
from typing import Any

from fastapi import Request
from sqlalchemy.orm import Session
from starlette.responses import HTMLResponse

from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people.may import Action
from dynabench.rounds import queries, service, views
from dynabench.rounds.tables import RoundState
from dynabench.web import render

# section, what the rail calls it, whether moderators see it; the page of a section is the route `manage_<section>`
RAIL = (
    ("health", _("Health"), False),
    ("rounds", _("Rounds"), False),
    ("cycle", _("Cycle"), False),
    ("contexts", _("Contexts"), False),
    ("examples", _("Examples"), True),
    ("figures", _("Figures"), True),
    ("moderation", _("Moderation"), True),
    ("people", _("People"), True),
    ("data", _("Data"), False),
    ("config", _("Config"), False),
    ("settings", _("Settings"), False),
    ("announcements", _("Announcements"), False),
    ("archives", _("Archives"), False),
    ("webhooks", _("Webhooks"), False),
    ("log", _("Log"), False),
)


@dataclass(frozen=True)
class Entry:
    """A line of the rail."""

    section: str
    label: str
    address: str


def rail(request: Request, task: str) -> list[Entry]:
    """The sections that the viewer may see."""
    return [
        Entry(section, label, str(request.app.url_path_for(f"manage_{section}", task=task)))
        for section, label, moderators in RAIL
        if moderators or Action.MANAGE_TASK in request.state.actions
    ]


def _head(session: Session, task: str) -> dict[str, Any]:
    rounds = list(session.scalars(queries.rounds(task)))
    current = next((each for each in rounds if each.state == RoundState.OPEN), None)
    current = current or next((each for each in rounds if each.state != RoundState.DRAFT), None)
    return {
        "config": service.newest_config(session, task),
        "round": views.round_out(session, current) if current else None,
    }


async def page(
    request: Request,
    task: str,
    template: str,
    section: str,
    /,
    *,
    status: int = 200,
    fragment: str | None = None,
    **values: Any,
) -> HTMLResponse:
    """The `template`, which extends `rounds/manage/layout.html`, as a page of `section`; htmx gets `fragment`.

    Beside `values` a template sees `task`, `config` (the newest), `round` (the open one, else the newest that was
    opened, or None), `section` and `rail`. For handlers that depend on `Owning` or `Moderating`.
    """
    db: Database = request.app.state.db
    head = await db.aread(_head, task)
    known = {"task": task, "section": section, "rail": rail(request, task), **head}
    return render(request, template, status=status, fragment=fragment, **(known | values))
