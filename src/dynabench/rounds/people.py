"""People of a task: roles, bans, warnings, and the list of them. Invitations are in `rounds.invitations`."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import Request
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.auth import Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import service as notices
from dynabench.people.roles import Ban, Role, TaskRole
from dynabench.rounds import queries, service
from dynabench.rounds.tables import Round
from dynabench.web.pages import wants_fragment

REASON = 500


def public_names(session: Session, person_ids: Iterable[int]) -> dict[int, str]:
    """Return the names of people that boards show, by their ids; a statement for each 500 of them."""
    ids, names = sorted(set(person_ids)), dict[int, str]()
    for first in range(0, len(ids), 500):
        some = session.scalars(queries.people_by_id(ids[first : first + 500]))
        names |= {person.id: person.public_name for person in some}
    return names


def require_seat(session: Session, person: Person | None, task_id: str, *, checking: bool = False) -> None:
    """Refuse people who may not write for a task, or not check: the banned, and in tasks for invited people the others.

    Validators check and write nothing. Visitors (None) have no seat in those; elsewhere they have the sandbox. Two
    index probes beyond the task's config.
    """
    config = service.task_config(session, task_id)
    role, banned = _seat(session, person, task_id) if person else (None, None)
    may.require_admission(config.annotators, person, role, banned, checking=checking)


def open_round_for_writer(session: Session, person: Person, task_id: str) -> Round:
    """The round that collects now, for a person who may write in its task, by one statement; refuses as `require_seat`
    does, then as `service.open_round_of`.
    """
    row = session.execute(queries.SEATED, {"task": task_id, "person": person.id}).one_or_none()
    if row is None:
        require_seat(session, person, task_id)
        return service.open_round_of(session, task_id)
    current, role, banned = row
    config = service.config_of(session, current.version_id)
    may.require_admission(config.annotators, person, role, banned)
    return current


def refuse_banned(session: Session, person: Person, task_id: str) -> str | None:
    """Refuse a person who is banned from the task; their role in it, without an admin's."""
    role, banned = _seat(session, person, task_id)
    may.refuse_if_banned(person, banned)
    return role


def _seat(session: Session, person: Person, task_id: str) -> tuple[str | None, str | None]:
    """A person's role in a task and the reason of their ban."""
    role, banned = session.execute(queries.SEAT, {"task": task_id, "person": person.id}).one()
    return role, banned


def person_named(session: Session, username: str) -> Person:
    """An account by username; `NotFound` where there is none."""
    person = session.scalar(queries.person_by_username(username))
    if person is None:
        raise errors.NotFound(_("There is no user called %(username)s.", username=repr(username)))
    return person


def _require_reach(
    session: Session, actor: Person | None, task_id: str, person_id: int
) -> tuple[Person, TaskRole | None]:
    """A person whom `actor` may warn or ban, with their role: moderators reach annotators and experts, owners reach
    moderators too, nobody reaches owners or themselves.
    """
    service.require(session, actor, Action.BAN_MEMBER, task_id)
    person = session.get(Person, person_id)
    if person is None or person.deleted_at is not None:
        raise errors.NotFound(_("There is no such person."))
    role = may.role_of(session, person, task_id)
    if actor is not None and actor.id == person_id:
        raise errors.Forbidden(_("You cannot do this to yourself."))
    if role is TaskRole.OWNER:
        raise errors.Forbidden(_("Owners cannot be warned or banned. Change the role first."))
    if role is TaskRole.MODERATOR:
        may.require(session, actor, Action.BAN_MODERATOR, task_id)
    return person, role


def clean_reason(text: str, name: str = "reason") -> str:
    """A reason on one line, which the person reads; raises `Invalid`."""
    reason = " ".join(text.split())
    if not reason or len(reason) > REASON:
        raise errors.Invalid(
            {name: _("Give a reason of at most %(reason)s characters; they will see it.", reason=REASON)}
        )
    return reason


def warn_person(session: Session, actor: Person | None, task_id: str, person_id: int, text: str) -> None:
    """Show a person a warning on their next pages (owners and moderators); recorded in the audit log."""
    person, _ = _require_reach(session, actor, task_id, person_id)
    reason = clean_reason(text)
    name = service.task_config(session, task_id).name
    notices.notify_person(session, person.id, "warning", f"A moderator of {name} says: {reason}")
    service.record_act(session, actor, "task.warn", task=task_id, person=person.id, reason=reason)


def ban_person(session: Session, actor: Person | None, task_id: str, person_id: int, reason: str) -> None:
    """Let a person neither write nor check for a task any more (owners and moderators); a later reason counts.

    A moderator loses that role; annotators and experts keep theirs for when the ban is lifted.
    """
    person, role = _require_reach(session, actor, task_id, person_id)
    text = clean_reason(reason)
    standing = session.get(Ban, (task_id, person.id), with_for_update=True)
    if standing is None:
        session.add(Ban(task_id=task_id, person_id=person.id, reason=text, by=actor.id if actor else None))
    else:
        standing.reason, standing.by = text, actor.id if actor else None
    if role is TaskRole.MODERATOR:
        session.delete(session.get_one(Role, (task_id, person.id)))
    name = service.task_config(session, task_id).name
    notice = f"You may no longer write or check examples for {name}: {text}"
    notices.notify_person(session, person.id, "ban", notice, link="/me/decisions")
    service.record_act(session, actor, "task.ban", task=task_id, person=person.id, reason=text)


def lift_ban(session: Session, actor: Person | None, task_id: str, person_id: int) -> None:
    """Lift a ban (owners and moderators); where there is none nothing changes."""
    service.require(session, actor, Action.BAN_MEMBER, task_id)
    standing = session.get(Ban, (task_id, person_id), with_for_update=True)
    if standing is None:
        return
    if actor is not None and actor.id == person_id:
        raise errors.Forbidden(_("You cannot do this to yourself."))
    session.delete(standing)
    name = service.task_config(session, task_id).name
    text = _("You can write and check examples for %(name)s again.", name=name)
    notices.notify_person(session, person_id, "lifted", text)
    service.record_act(session, actor, "task.lift", task=task_id, person=person_id)


@dataclass(frozen=True)
class TaskMember:
    """A person's role in a task or ban from it; `banned` is the reason of a ban, None if there is no ban."""

    person_id: int
    name: str
    username: str
    role: str | None
    banned: str | None
    banned_at: datetime | None


def list_members(
    session: Session, actor: Person | None, task_id: str, after: int = 0, limit: int = 50
) -> list[TaskMember]:
    """Everybody who has a role in a task or is banned from it, by id above `after` (owners and moderators).

    Usernames are for owners; moderators know people as boards do.
    """
    service.require(session, actor, Action.LIST_PEOPLE, task_id)
    full = may.actor_may(session, actor, Action.READ_USERNAMES, task_id)
    return [
        TaskMember(
            person_id=person.id,
            name=person.public_name,
            username=person.username if full else "",
            role=role,
            banned=ban.reason if ban else None,
            banned_at=ban.at if ban else None,
        )
        for person, role, ban in session.execute(queries.task_members(task_id, after, limit))
    ]


def forget_person(session: Session, person_id: int) -> None:
    """Remove the roles and bans of a person who leaves, and end the invitation links that they made."""
    for statement in queries.forget_statements(person_id):
        session.execute(statement)


async def load_actions(request: Request, viewer: Viewer) -> None:
    """Keep what the viewer may do in the path's task as `request.state.actions`: one probe, for pages of members alone.

    `request.state.demo_data` tells whether the demo added the task: one probe of a primary key.
    A dependency of routers of pages; parts of pages do without it.
    """
    request.state.actions = frozenset()
    task: Any = request.path_params.get("task")
    if not task or wants_fragment(request):
        return
    db: Database = request.app.state.db
    request.state.demo_data = await db.afirst(queries.DEMO_TASK, {"task": task}) is not None
    if viewer is not None:
        request.state.actions = await db.aread(actions_in, viewer, task)


def actions_in(session: Session, person: Person, task_id: str) -> frozenset[Action]:
    """Return what a person may do in a task."""
    return may.actions_of(person, may.role_of(session, person, task_id))
