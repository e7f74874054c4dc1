"""The part that a competition has in the writing and the checking of examples.

`collection` and `validation` call these functions for rounds with a competition alone, and import this module only
then. The budget is used in the transaction that records the example, so that it is used exactly once.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Select
from sqlalchemy.orm import Session

from dynabench.communities.competitions import queries
from dynabench.communities.competitions.tables import (
    Competition,
    CompetitionEntry,
    CompetitionExample,
    CompetitionPerson,
    CompetitionState,
)
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person


def _spent(budget: int) -> errors.Conflict:
    return errors.Conflict(_("Your team has used its budget of %(budget)s examples.", budget=budget))


def require_entry(session: Session, person_id: int, round_id: int) -> tuple[Competition, CompetitionEntry] | None:
    """Return the competition on a round and the entry of a person's team; None where there is no competition.

    Raises `Forbidden` for people without a team in it, `Conflict` outside its dates and where the budget is used.
    """
    competition = session.scalar(queries.competition_of_round(round_id))
    if competition is None:
        return None
    page = f"/competitions/{competition.id}"
    entry = session.scalar(queries.entry_for(competition.id, person_id))
    if entry is None:
        raise errors.Forbidden(_("This round is a competition of teams. Enter it with a team: %(page)s", page=page))
    if competition.state is CompetitionState.UPCOMING:
        raise errors.Conflict(
            _("The competition starts on %(day)s UTC.", day=f"{competition.starts_at:%Y-%m-%d %H:%M}")
        )
    if competition.state is not CompetitionState.RUNNING:
        raise errors.Conflict(_("The competition has ended. Its examples are being checked."))
    if entry.spent >= competition.budget:
        raise _spent(competition.budget)
    return competition, entry


def admit(session: Session, person: Person | None, round_id: int, sandbox: bool) -> None:
    """Refuse who may not write in a round with a competition; its targets are asked within the budget alone."""
    if session.scalar(queries.competition_of_round(round_id)) is None:
        return
    if person is None:
        raise errors.Unauthenticated(_("This round is a competition of teams. Log in to enter it with your team."))
    if sandbox:
        raise errors.Forbidden(_("A competition has no sandbox: each question to its targets uses the budget."))
    require_entry(session, person.id, round_id)


def before_record(
    session: Session, person: Person, config: object, body: Any, handout: Any
) -> tuple[Any, dict[str, Any]]:
    """Refuse a draft of a person without an entry, before any target is asked."""
    require_entry(session, person.id, handout.id)
    return body, {}


def recorded(session: Session, draft: Any, verdict: object, example_id: int) -> None:
    """Use one of the team's budget for an example that is being recorded; `Conflict` undoes the recording."""
    entered = require_entry(session, draft.author_id, draft.round_id)
    if entered is None:
        return
    competition, entry = entered
    if session.execute(queries.spend_one(competition.id, entry.team_id, competition.budget)).first() is None:
        raise _spent(competition.budget)
    if session.get(CompetitionPerson, (competition.id, draft.author_id)) is None:
        if (session.scalar(queries.writers(competition.id, entry.team_id)) or 0) >= competition.most_members:
            raise errors.Conflict(
                _("At most %(most)s members of a team can write in this competition.", most=competition.most_members)
            )
        session.add(CompetitionPerson(competition_id=competition.id, person_id=draft.author_id, team_id=entry.team_id))
    session.add(CompetitionExample(example_id=example_id, competition_id=competition.id, team_id=entry.team_id))
    session.flush()


def examples_of_own_team(session: Session, round_id: int, person_id: int) -> Collection[int]:
    """Return the examples of a round that a person's own teams wrote, which others are to check."""
    return set(session.scalars(queries.team_examples(round_id, person_id)))


def select_own_team(person_id: int) -> Select[int]:
    """Select the examples of all competitions that a person's own teams wrote, for counting what they may check."""
    return queries.own_team_examples(person_id)
