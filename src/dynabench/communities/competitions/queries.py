"""Every `select` over competitions, with its cost."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, func, select, update
from sqlalchemy.sql.dml import ReturningUpdate

from dynabench.collection.tables import Example, Retraction, Standing, VerdictEvent
from dynabench.communities.competitions.tables import (
    Competition,
    CompetitionEntry,
    CompetitionExample,
    CompetitionPerson,
)
from dynabench.communities.teams.queries import PRESENT
from dynabench.communities.teams.tables import Team, TeamMember


def competitions(task_id: str = "") -> Select[Competition]:
    """The competitions of a task, or of all tasks, newest first."""
    newest = select(Competition).order_by(Competition.id.desc())
    return newest.where(Competition.task_id == task_id) if task_id else newest


def competition_of_round(round_id: int) -> Select[Competition]:
    """The competition on a round: one probe of the unique index."""
    return select(Competition).where(Competition.round_id == round_id)


def entries(competition_id: int) -> Select[CompetitionEntry, Team]:
    """The teams of a competition, in the order in which they entered: one range of the primary key."""
    return (
        select(CompetitionEntry, Team)
        .join(Team, Team.id == CompetitionEntry.team_id)
        .where(CompetitionEntry.competition_id == competition_id)
        .order_by(CompetitionEntry.entered_at, Team.id)
    )


def entry_for(competition_id: int, person_id: int) -> Select[CompetitionEntry]:
    """The entries for which a person may write, the earliest first: of teams that the person is in now.

    Who has written for a team already writes for that one alone. A few index probes.
    """
    mine = select(TeamMember.team_id).where(TeamMember.person_id == person_id, PRESENT)
    bound = select(CompetitionPerson.team_id).where(
        CompetitionPerson.competition_id == competition_id, CompetitionPerson.person_id == person_id
    )
    return (
        select(CompetitionEntry)
        .where(CompetitionEntry.competition_id == competition_id, CompetitionEntry.withdrawn_at.is_(None))
        .where(CompetitionEntry.team_id.in_(mine))
        .where(~bound.exists() | CompetitionEntry.team_id.in_(bound))
        .order_by(CompetitionEntry.entered_at, CompetitionEntry.team_id)
        .limit(1)
    )


def spend_one(competition_id: int, team_id: int, budget: int) -> ReturningUpdate[Any]:
    """Use one of a team's budget; no row comes back where nothing is left. Requests at once come one by one."""
    return (
        update(CompetitionEntry)
        .where(CompetitionEntry.competition_id == competition_id, CompetitionEntry.team_id == team_id)
        .where(CompetitionEntry.spent < budget, CompetitionEntry.withdrawn_at.is_(None))
        .values(spent=CompetitionEntry.spent + 1)
        .returning(CompetitionEntry.spent)
        .execution_options(synchronize_session=False)
    )


def writers(competition_id: int, team_id: int) -> Select[int]:
    """Select how many people have written for a team."""
    mine = (CompetitionPerson.competition_id == competition_id, CompetitionPerson.team_id == team_id)
    return select(func.count()).select_from(CompetitionPerson).where(*mine)


def examples(competition_id: int) -> Select[*tuple[Any, ...]]:
    """All examples of a competition with what is known of them now: an index range, a probe or two for each."""
    columns = (CompetitionExample.team_id, Example.id, Example.at, Standing.fooled, Standing.verdict)
    return (
        select(*columns, Standing.hidden, Retraction.at.label("retracted_at"), Standing.votes)
        .join(Example, Example.id == CompetitionExample.example_id)
        .join(Standing, Standing.example_id == Example.id)
        .outerjoin(Retraction, Retraction.example_id == Example.id)
        .where(CompetitionExample.competition_id == competition_id)
        .order_by(Example.id)
    )


def verdicts(example_ids: Sequence[int]) -> Select[VerdictEvent]:
    """The changes of verdicts of some examples, in their order: one index range for each."""
    return select(VerdictEvent).where(VerdictEvent.example_id.in_(example_ids)).order_by(VerdictEvent.id)


def team_examples(round_id: int, person_id: int) -> Select[int]:
    """Select the examples of a round that the teams of a person wrote in a competition, also of teams that they left.

    A few index ranges.
    """
    of_round = Competition.id == CompetitionExample.competition_id
    return own_team_examples(person_id).join(Competition, of_round).where(Competition.round_id == round_id)


def own_team_examples(person_id: int) -> Select[int]:
    """Select the examples that the teams of a person wrote in all competitions: a few index ranges."""
    mine = select(TeamMember.team_id).where(TeamMember.person_id == person_id)
    bound = select(CompetitionPerson.team_id).where(CompetitionPerson.person_id == person_id)
    own = CompetitionExample.team_id.in_(mine) | CompetitionExample.team_id.in_(bound)
    return select(CompetitionExample.example_id).where(own)
