"""The console's frame: access, the task's head, the rail of sections, and the section's own part."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from sqlalchemy.orm import Session
from starlette.responses import HTMLResponse

from dynabench.kit.db import Database
from dynabench.kit.errors import Forbidden
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.people.may import RULES, Action
from dynabench.rounds import people, service, views
from dynabench.web import render


def _actions(session: Session, person: Person, task: str) -> frozenset[Action]:
    service.get_task(session, task)
    return people.actions_in(session, person, task)


async def _load_actions(request: Request, member: Member, task: str) -> frozenset[Action]:
    """Keep the member's actions in the path's task for the page's rail; `NotFound` where there is no such task."""
    db: Database = request.app.state.db
    request.state.actions = await db.aread(_actions, member, task)
    actions: frozenset[Action] = request.state.actions
    return actions


KnownActions = Annotated[frozenset[Action], Depends(_load_actions)]


async def _require_owner(member: Member, actions: KnownActions) -> Person:
    if Action.MANAGE_TASK not in actions:
        raise Forbidden(RULES[Action.MANAGE_TASK].refusal)
    return member


async def _require_moderator(member: Member, actions: KnownActions) -> Person:
    if Action.OPEN_CONSOLE not in actions:
        raise Forbidden(RULES[Action.OPEN_CONSOLE].refusal)
    return member


TaskOwner = Annotated[Person, Depends(_require_owner)]
"""The task's owner (or an admin); everybody else is turned away."""

TaskModerator = Annotated[Person, Depends(_require_moderator)]
"""An owner or a moderator of the task; everybody else is turned away."""


# group, its sections: name, label, whether moderators see it; the page of a section is the route `manage_<section>`
RAIL = (
    (_("Today"), (("health", _("Today"), False),)),
    (
        _("Collect"),
        (
            ("rounds", _("Rounds"), False),
            ("contexts", _("Contexts"), False),
            ("studies", _("Crowd studies"), False),
            ("payments", _("Payments"), False),
            ("cycle", _("Cycle"), False),
            ("competitions", _("Competitions"), False),
            ("inspiration", _("Inspiration"), False),
            ("data", _("Import and export"), False),
        ),
    ),
    (
        _("Review"),
        (
            ("examples", _("Examples"), True),
            ("moderation", _("Moderation"), True),
            ("people", _("People"), True),
            ("validators", _("Validators"), True),
            ("quality", _("Annotator quality"), True),
            ("onboarding", _("Onboarding"), True),
            ("controls", _("Control items"), False),
            ("signals", _("Signals"), True),
        ),
    ),
    (_("Results"), (("figures", _("Figures"), True), ("archives", _("Archives"), False))),
    (
        _("Setup"),
        (
            ("settings", _("Settings"), False),
            ("config", _("Config"), False),
            ("announcements", _("Announcements"), False),
            ("webhooks", _("Webhooks"), False),
            ("log", _("Log"), False),
        ),
    ),
)


@dataclass(frozen=True)
class RailEntry:
    """A section in the rail."""

    section: str
    label: str
    address: str


@dataclass(frozen=True)
class RailGroup:
    """Sections of one kind in the rail; the sections of the current group stand in a row of their own."""

    label: str
    sections: list[RailEntry]
    is_current: bool


def visible_sections(request: Request, task: str, current: str = "") -> list[RailGroup]:
    """Return the groups with the sections that the viewer may see; groups without any are left out."""
    groups = []
    for name, sections in RAIL:
        entries = [
            RailEntry(section, label, str(request.app.url_path_for(f"manage_{section}", task=task)))
            for section, label, moderators in sections
            if moderators or Action.MANAGE_TASK in request.state.actions
        ]
        if entries:
            groups.append(RailGroup(name, entries, current in {entry.section for entry in entries}))
    return groups


def _head(session: Session, task: str) -> dict[str, Any]:
    current = views.current_round(views.started_rounds(session, task))
    return {
        "config": service.newest_config(session, task),
        "round": views.round_out(session, current) if current else None,
    }


async def console_page(
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
    frame = {"task": task, "section": section, "rail": visible_sections(request, task, section), **head}
    return render(request, template, status=status, fragment=fragment, **(frame | values))
