"""All accounts of the site for administrators: a searchable list, one person, and what can be done about an account."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Tally
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts import second_factor
from dynabench.people.accounts import service as accounts
from dynabench.people.accounts.tables import Act, Identity, Person, SecondFactor
from dynabench.people.accounts.tables import Session as Login
from dynabench.people.may import Action
from dynabench.people.roles import Ban, Role


@dataclass(frozen=True)
class AccountRow:
    """An account in the list; `seen_at` is the last use of a browser that is still logged in."""

    person: Person
    roles: Sequence[Role]
    bans: Sequence[Ban]
    seen_at: datetime | None
    examples: int
    second_factor: bool
    administers: bool


@dataclass(frozen=True)
class AccountView:
    """One account with all that an administrator may see of it."""

    row: AccountRow
    identities: Sequence[Identity]
    sessions: int
    acts: Sequence[Act]


def list_accounts(
    session: Session, words: str = "", kind: str = "", after: int = 0, limit: int = 50
) -> tuple[list[AccountRow], int | None]:
    """Return a page of accounts, newest first, below the id `after`, and the id before which the next page begins.

    `words` are looked for in names and addresses; `kind` is `admins`, `roles`, `banned`, or empty for all.
    """
    statement = select(Person).where(Person.deleted_at.is_(None), Person.imported_as.is_(None))
    if text := words.strip().lower():
        pattern = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        names = (Person.username, Person.email, Person.pseudonym)
        statement = statement.where(or_(*(func.lower(name).like(pattern, escape="\\") for name in names)))
    conditions = {"admins": Person.admin, "roles": Person.id.in_(select(Role.person_id))}
    conditions["banned"] = Person.id.in_(select(Ban.person_id))
    if kind in conditions:
        statement = statement.where(conditions[kind])
    if after:
        statement = statement.where(Person.id < after)
    people = session.scalars(statement.order_by(Person.id.desc()).limit(limit + 1)).all()
    rows = _rows(session, people[:limit])
    return rows, (people[limit - 1].id if len(people) > limit else None)


def view_account(session: Session, person_id: int) -> AccountView:
    """Return one account; raises `NotFound`."""
    person = _existing(session, person_id)
    [row] = _rows(session, [person])
    identities = session.scalars(select(Identity).where(Identity.person_id == person_id)).all()
    sessions = len(accounts.list_sessions(session, person_id))
    acts = session.scalars(select(Act).where(Act.person_id == person_id).order_by(Act.id.desc()).limit(10)).all()
    return AccountView(row, identities, sessions, acts)


def change_admin(session: Session, actor: Person, person_id: int, admin: bool) -> None:
    """Make a person an administrator, or no longer one; none takes the right from themselves."""
    _require_admin(actor)
    person = _existing(session, person_id)
    if person.id == actor.id:
        raise errors.Conflict(_("Another administrator has to do this for you."))
    if person.admin == admin:
        return
    person.admin = admin
    change = {"person": person_id, "to": "admin" if admin else "member"}
    accounts.record_act(session, actor.id, "user.promote", change)


def end_sessions(session: Session, actor: Person, person_id: int) -> None:
    """Log out all browsers of a person."""
    _require_admin(actor)
    accounts.end_other_sessions(session, _existing(session, person_id).id, "")
    accounts.record_act(session, actor.id, "user.log_out", {"person": person_id})


def drop_second_factor(session: Session, actor: Person, person_id: int) -> None:
    """Ask a person who has lost phone and recovery codes for no code any more."""
    _require_admin(actor)
    second_factor.drop_second_factor(session, actor.id, _existing(session, person_id).id)


def _require_admin(actor: Person) -> None:
    may.refuse_unless(may.may(actor, Action.ADMINISTER_SITE))


def _existing(session: Session, person_id: int) -> Person:
    person = session.get(Person, person_id)
    if person is None or person.deleted_at is not None:
        raise errors.NotFound(_("There is no such person."))
    return person


def _rows(session: Session, people: Sequence[Person]) -> list[AccountRow]:
    """Rows of the list: five statements for a page."""
    ids = [person.id for person in people]
    roles: dict[int, list[Role]] = {}
    for role in session.scalars(select(Role).where(Role.person_id.in_(ids)).order_by(Role.task_id)):
        roles.setdefault(role.person_id, []).append(role)
    bans: dict[int, list[Ban]] = {}
    for ban in session.scalars(select(Ban).where(Ban.person_id.in_(ids)).order_by(Ban.task_id)):
        bans.setdefault(ban.person_id, []).append(ban)
    used = select(Login.person_id, func.max(Login.seen_at)).where(Login.person_id.in_(ids)).group_by(Login.person_id)
    seen = {row[0]: row[1] for row in session.execute(used)}
    written = select(Tally.person_id, func.sum(Tally.examples)).where(Tally.person_id.in_(ids))
    examples = {person_id: int(count) for person_id, count in session.execute(written.group_by(Tally.person_id))}
    statement = select(SecondFactor.person_id).where(
        SecondFactor.person_id.in_(ids), SecondFactor.confirmed_at.is_not(None)
    )
    factors = set(session.scalars(statement))
    return [
        AccountRow(
            person,
            roles.get(person.id, ()),
            bans.get(person.id, ()),
            seen.get(person.id),
            examples.get(person.id, 0),
            person.id in factors,
            person.admin,
        )
        for person in people
    ]
