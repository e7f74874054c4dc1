"""Every `select` over teams and the work of their members, with its cost."""

from collections.abc import Sequence

from sqlalchemy import Select, func, select

from dynabench.collection.tables import ExampleSource, Tally
from dynabench.communities.teams.tables import Team, TeamMember
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round

PRESENT = TeamMember.left_at.is_(None)
SUMS = ("examples", "fooled", "validated", "resolved", "unknown")


def teams_of(person_id: int) -> Select[Team]:
    """The teams that a person is in, by name: one index range."""
    mine = select(TeamMember.team_id).where(TeamMember.person_id == person_id, PRESENT)
    return select(Team).where(Team.id.in_(mine), Team.dissolved_at.is_(None)).order_by(func.lower(Team.name))


def captained_teams(person_id: int) -> Select[Team]:
    """The teams of which a person is the captain: one index range."""
    mine = select(TeamMember.team_id).where(TeamMember.person_id == person_id, PRESENT, TeamMember.captain.is_(True))
    return select(Team).where(Team.id.in_(mine), Team.dissolved_at.is_(None))


def team_with_link(digest: str) -> Select[Team]:
    """The team whose link has a secret with this digest: one probe of the unique index."""
    return select(Team).where(Team.link_digest == digest, Team.dissolved_at.is_(None))


def members(team_id: int) -> Select[TeamMember, Person]:
    """The present members of a team with their accounts, the captain first: one index range."""
    return (
        select(TeamMember, Person)
        .join(Person, Person.id == TeamMember.person_id)
        .where(TeamMember.team_id == team_id, PRESENT)
        .order_by(TeamMember.captain.desc(), TeamMember.id)
    )


def membership(team_id: int, person_id: int) -> Select[TeamMember]:
    """The present membership of a person in a team: one probe."""
    return select(TeamMember).where(TeamMember.team_id == team_id, TeamMember.person_id == person_id, PRESENT)


def teammates(team_ids: Sequence[int]) -> Select[int, int]:
    """Select teams and the people in them now: one index range for each."""
    return select(TeamMember.team_id, TeamMember.person_id).where(TeamMember.team_id.in_(team_ids), PRESENT)


def work_by_member(team_id: int | None = None, task_id: str = "") -> Select[*tuple[int, ...]]:
    """Sums of the examples of teams' members, by team and person, from the day of joining to that of leaving.

    Only examples of the team's own task count where it has one; those of programs are left out. Walks the tallies of
    people who are or were in a team, of one task where it is named.
    """
    sums = [func.sum(getattr(Tally, name)) for name in SUMS]
    statement = (
        select(TeamMember.team_id, TeamMember.person_id, *sums)
        .join(Team, Team.id == TeamMember.team_id)
        .join(Tally, Tally.person_id == TeamMember.person_id)
        .join(Round, Round.id == Tally.round_id)
        .where(Tally.source != ExampleSource.PROGRAM, Team.dissolved_at.is_(None))
        .where(Team.task_id.is_(None) | (Team.task_id == Round.task_id))
        .where(Tally.day >= TeamMember.first_day, TeamMember.last_day.is_(None) | (Tally.day <= TeamMember.last_day))
        .group_by(TeamMember.team_id, TeamMember.person_id)
    )
    if team_id is not None:
        statement = statement.where(TeamMember.team_id == team_id)
    return statement.where(Round.task_id == task_id) if task_id else statement


def last_membership(team_id: int, person_id: int) -> Select[TeamMember]:
    """The latest membership of a person in a team, present or past: one index range."""
    mine = select(TeamMember).where(TeamMember.team_id == team_id, TeamMember.person_id == person_id)
    return mine.order_by(TeamMember.id.desc()).limit(1)


def active_teams() -> Select[Team]:
    """All teams that are not dissolved, by name."""
    return select(Team).where(Team.dissolved_at.is_(None)).order_by(func.lower(Team.name))
