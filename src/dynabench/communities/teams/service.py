"""Teams: made, joined by link, left. Every function runs in the caller's transaction."""

import secrets
from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.communities.teams import queries
from dynabench.communities.teams.schemas import TeamChangeIn, TeamIn
from dynabench.communities.teams.tables import Team, TeamMember
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.security import digest
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import people
from dynabench.rounds import service as rounds

MOST_TEAMS, MOST_MEMBERS = 20, 50
NAME_LENGTH = 60
GONE = _("This link leads to no team. Ask the team's captain for a new one.")


def _today() -> str:
    return now().date().isoformat()


def _clean_name(text: str) -> str:
    name = " ".join(text.split())
    if not 3 <= len(name) <= NAME_LENGTH or not name.isprintable():
        raise errors.Invalid({"name": _("Enter a name of 3 to %(longest)s characters.", longest=NAME_LENGTH)})
    return name


def create_team(session: Session, person: Person, body: TeamIn) -> Team:
    """Make a team, of which the person is the captain; in one task where the body names it."""
    name = _clean_name(body.name)
    if body.task:
        try:
            people.require_seat(session, person, body.task, checking=True)
        except errors.NotFound as problem:
            raise errors.Invalid({"task": problem.detail}) from None
    _count_teams(session, person)
    for own in session.scalars(queries.captained_teams(person.id)):
        if (own.name, own.task_id, own.about) == (name, body.task or None, body.about.strip()):
            return own  # sent twice
    team = Team(name=name, task_id=body.task or None, about=body.about.strip())
    _keep_named(session, team)
    session.add(TeamMember(team_id=team.id, person_id=person.id, captain=True, first_day=_today()))
    session.flush()
    rounds.record_act(session, person, "team.made", task=team.task_id, team=team.id)
    return team


def _count_teams(session: Session, person: Person) -> None:
    session.get_one(Person, person.id, with_for_update=True)  # counted one at a time
    if len(session.scalars(queries.teams_of(person.id)).all()) >= MOST_TEAMS:
        raise errors.Conflict(_("You are in %(most)s teams. Leave one first.", most=MOST_TEAMS))


def _keep_named(session: Session, team: Team) -> None:
    refusal = errors.Conflict(_("Another team has this name."), fields={"name": _("Another team has this name.")})
    same = select(Team.id).where(func.lower(Team.name) == team.name.lower(), Team.id != (team.id or 0))
    with session.no_autoflush:
        if session.scalar(same) is not None:
            raise refusal
    try:
        with session.begin_nested():
            session.add(team)
    except IntegrityError:
        raise refusal from None


def find_team(session: Session, team_id: int) -> Team:
    """The team, or `NotFound`."""
    team = session.get(Team, team_id)
    if team is None or team.dissolved_at is not None:
        raise errors.NotFound(_("There is no such team."))
    return team


def captain_of(session: Session, team_id: int) -> int | None:
    """Return the id of a team's captain."""
    present = (TeamMember.team_id == team_id, TeamMember.captain, queries.PRESENT)
    return session.scalar(select(TeamMember.person_id).where(*present))


def is_member(session: Session, team_id: int, person: Person | None) -> bool:
    """Return whether a person is in a team now."""
    return person is not None and session.scalar(queries.membership(team_id, person.id)) is not None


def managed_team(session: Session, person: Person | None, team_id: int) -> Team:
    """A team that a person manages, locked: its captain, or an administrator; the operator (None) manages all."""
    find_team(session, team_id)
    team = session.get_one(Team, team_id, with_for_update=True)
    if person is not None:
        may.refuse_unless(may.may(person, Action.MANAGE_TEAM, author=captain_of(session, team_id)))
    return team


def change_team(session: Session, person: Person, team_id: int, body: TeamChangeIn) -> Team:
    """Change the name or the description of a team, or whether releases thank it (captain)."""
    team = managed_team(session, person, team_id)
    if body.name is not None:
        team.name = _clean_name(body.name)
        _keep_named(session, team)
    if body.about is not None:
        team.about = body.about.strip()
    if body.thanked is not None:
        team.thanked = body.thanked
    return team


def renew_link(session: Session, person: Person | None, team_id: int) -> str:
    """Return the secret of a new link for joining, shown once; the earlier link lets nobody in (captain)."""
    team = managed_team(session, person, team_id)
    secret = secrets.token_urlsafe(24)
    team.link_digest = digest(secret)
    return secret


def offered_team(session: Session, secret: str) -> Team:
    """The team that a link leads to; `NotFound` where it leads to none."""
    team = session.scalar(queries.team_with_link(digest(secret)))
    if team is None:
        raise errors.NotFound(GONE)
    return team


def join_team(session: Session, person: Person, secret: str) -> Team:
    """Join a team by its link; a member who joins again changes nothing."""
    offer = offered_team(session, secret)
    team = session.get_one(Team, offer.id, with_for_update=True)
    if is_member(session, team.id, person):
        return team
    if team.task_id:
        people.refuse_banned(session, person, team.task_id)
    _count_teams(session, person)
    if len(session.execute(queries.members(team.id)).all()) >= MOST_MEMBERS:
        raise errors.Conflict(_("The team has %(most)s members. No more can join.", most=MOST_MEMBERS))
    last = session.scalar(queries.last_membership(team.id, person.id))
    if last is not None and last.last_day == _today():
        last.left_at = last.last_day = None  # no day counts twice
    else:
        session.add(TeamMember(team_id=team.id, person_id=person.id, first_day=_today()))
    rounds.record_act(session, person, "team.joined", task=team.task_id, team=team.id, person=person.id)
    return team


def remove_member(session: Session, actor: Person, team_id: int, person_id: int) -> None:
    """Leave a team, or remove a member (captain).

    When the captain leaves, the member who joined first follows; when the last member leaves, the team is dissolved.
    """
    find_team(session, team_id)
    team = session.get_one(Team, team_id, with_for_update=True)
    if actor.id != person_id:
        may.refuse_unless(may.may(actor, Action.MANAGE_TEAM, author=captain_of(session, team_id)))
    member = session.scalar(queries.membership(team_id, person_id))
    if member is None:
        raise errors.NotFound(_("The team has no such member."))
    _leave(session, team, member)
    rounds.record_act(session, actor, "team.left", task=team.task_id, team=team_id, person=person_id)


def _leave(session: Session, team: Team, member: TeamMember) -> None:
    was_captain = member.captain
    member.left_at, member.last_day, member.captain = now(), _today(), False
    session.flush()
    others: Sequence[TeamMember] = [row for row, _person in session.execute(queries.members(team.id))]
    if not others:
        team.dissolved_at, team.link_digest = now(), None
        team.name = f"{team.name[:40]} ({team.id})"  # the name is free again
    elif was_captain:
        others[0].captain = True


def name_captain(session: Session, person: Person, team_id: int, person_id: int) -> None:
    """Make another member the captain (captain)."""
    managed_team(session, person, team_id)
    member = session.scalar(queries.membership(team_id, person_id))
    if member is None:
        raise errors.NotFound(_("The team has no such member."))
    for row, _person in session.execute(queries.members(team_id)):
        row.captain = row.person_id == person_id


def forget_person(session: Session, person_id: int) -> None:
    """Let a person who deletes the account leave all teams."""
    for team in session.scalars(queries.teams_of(person_id)).all():
        member = session.scalar(queries.membership(team.id, person_id))
        if member is not None:
            _leave(session, team, member)
