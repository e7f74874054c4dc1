"""The names of people in the thanks of releases."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, delete, exists, or_, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Standing, Tally
from dynabench.communities.credits.tables import Credit, CreditMode
from dynabench.communities.teams.queries import PRESENT
from dynabench.communities.teams.tables import Team, TeamMember
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.validation.queries import UNDONE
from dynabench.validation.tables import Validation

LONGEST = 100
MOST_NAMED = 1_000


def read_credit(session: Session, person_id: int) -> Credit:
    """Return a person's choice; the one of people who made none is not to be named."""
    return session.get(Credit, person_id) or Credit(person_id=person_id, mode=CreditMode.NONE, name="")


def choose_credit(session: Session, person: Person, mode: CreditMode, name: str) -> Credit:
    """Choose how releases from now on name a person. Releases that are out never change."""
    clean = " ".join(name.split())
    if mode is CreditMode.NAME and (not clean or len(clean) > LONGEST or not clean.isprintable()):
        raise errors.Invalid(
            {"name": _("Enter the name to print, of at most %(longest)s characters.", longest=LONGEST)}
        )
    session.get_one(Person, person.id, with_for_update=True)  # of two choices at once the second finds the first
    credit = session.get(Credit, person.id)
    if credit is None:
        session.add(credit := Credit(person_id=person.id))
    credit.mode, credit.name, credit.changed_at = mode, clean if mode is CreditMode.NAME else "", now()
    return credit


def _contributed(round_id: int) -> Any:
    """The condition that a person wrote in a round or checked there; index probes of the person's own rows."""
    wrote = exists().where(Tally.person_id == Person.id, Tally.round_id == round_id, Tally.examples > 0)
    checked = (
        select(Validation.id)
        .join(Standing, Standing.example_id == Validation.example_id)
        .where(Validation.person_id == Person.id, Standing.round_id == round_id, ~UNDONE)
        .exists()
    )
    return or_(wrote, checked)


def _thanked_people(round_id: int) -> Select[Credit, Person]:
    return (
        select(Credit, Person)
        .join(Person, Person.id == Credit.person_id)
        .where(Credit.mode != CreditMode.NONE, Person.deleted_at.is_(None), _contributed(round_id))
        .limit(MOST_NAMED)
    )


def _thanked_teams(round_id: int) -> Select[str]:
    wrote = (
        select(TeamMember.id)
        .join(Tally, Tally.person_id == TeamMember.person_id)
        .where(TeamMember.team_id == Team.id, Tally.round_id == round_id, Tally.examples > 0)
        .where(Tally.day >= TeamMember.first_day, PRESENT | (Tally.day <= TeamMember.last_day))
        .exists()
    )
    return select(Team.name).where(Team.thanked, Team.dissolved_at.is_(None), wrote).limit(MOST_NAMED)


def thanks_for(session: Session, round_id: int) -> tuple[Sequence[str], Sequence[str]]:
    """Return the people and the teams that the release of a round thanks, each in the order of the alphabet.

    Nobody is named without having chosen it, and nothing tells which examples are whose.
    """
    people = {
        credit.name if credit.mode == CreditMode.NAME else person.public_name
        for credit, person in session.execute(_thanked_people(round_id))
    }
    teams = session.scalars(_thanked_teams(round_id)).all()
    return sorted(people, key=str.casefold), sorted(teams, key=str.casefold)


def list_credits(session: Session) -> list[tuple[Credit, Person]]:
    """Return the choices of all people who made one, by username."""
    rows = select(Credit, Person).join(Person, Person.id == Credit.person_id).where(Person.deleted_at.is_(None))
    return [(credit, person) for credit, person in session.execute(rows.order_by(Person.username))]


def reset_credit(session: Session, person: Person) -> None:
    """Forget a person's choice: releases from now on do not name the person."""
    session.execute(delete(Credit).where(Credit.person_id == person.id))


def forget_person(session: Session, person_id: int) -> None:
    """Forget how releases were to name a person."""
    session.execute(delete(Credit).where(Credit.person_id == person_id))
