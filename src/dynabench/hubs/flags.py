"""Flags of repositories: a person says what is wrong, an administrator hides the repository or dismisses the flags."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.hubs import queries
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import HubRepository, RepositoryFlag, RepositoryFlagReason, RepositoryFlagState
from dynabench.kit.db import now
from dynabench.kit.errors import Conflict, Invalid
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.service import record_act
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action

LONGEST = 2000
MOST_WAITING = 50
"""Flags of one person that wait for an administrator."""


def flag_repository(session: Session, person: Person, entry: HubEntry, reason: str, text: str) -> RepositoryFlag:
    """Flag a repository; the person's earlier flag of it is replaced. Raises `Invalid`, and `Conflict` for too many."""
    if entry.row.owner_id == person.id:
        raise Invalid({"reason": _("This is your own repository. Change it, or delete it in its settings.")})
    if reason not in list(RepositoryFlagReason):
        raise Invalid({"reason": _("Choose a reason.")})
    if len(text) > LONGEST:
        raise Invalid({"text": _("Use at most %(n)s characters.", n=LONGEST)})
    session.get_one(HubRepository, entry.row.id, with_for_update=True)  # a repeated request changes the same flag
    flag = session.scalar(queries.flag_of(entry.row.id, person.id))
    if flag is None:
        waiting = (RepositoryFlag.person_id == person.id, RepositoryFlag.state == RepositoryFlagState.WAITING)
        if (session.scalar(select(func.count()).select_from(RepositoryFlag).where(*waiting)) or 0) >= MOST_WAITING:
            raise Conflict(_("%(n)s flags of yours wait for an administrator. Flag more later.", n=MOST_WAITING))
        flag = RepositoryFlag(repository_id=entry.row.id, person_id=person.id)
        session.add(flag)
    flag.reason, flag.text, flag.state = reason, text.strip(), RepositoryFlagState.WAITING
    flag.created_at, flag.decided_at, flag.decided_by = now(), None, None
    session.flush()
    return flag


def decide_flags(session: Session, person: Person, entry: HubEntry, hide: bool) -> int:
    """Hide a repository or show it again, and decide its flags (administrator); returns how many were waiting."""
    may.refuse_unless(may.may(person, Action.HIDE_REPOSITORY))
    row = session.get_one(HubRepository, entry.row.id, with_for_update=True)
    waiting = session.scalars(queries.waiting_flags(row.id, RepositoryFlagState.WAITING)).all()
    for flag in waiting:
        flag.state = RepositoryFlagState.UPHELD if hide else RepositoryFlagState.DISMISSED
        flag.decided_at, flag.decided_by = now(), person.id
    if row.hidden != hide:
        row.hidden = hide
        act = "repository.hide" if hide else "repository.show"
        record_act(session, person.id, act, {"repository": f"{row.kind} {entry.full_name}"})
    return len(waiting)
