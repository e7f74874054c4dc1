"""Competitions: made, changed, entered, finished. Every function runs in the caller's transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.collection import boards
from dynabench.communities.competitions import queries
from dynabench.communities.competitions.ranking import RankedTeam, read_ranking
from dynabench.communities.competitions.schemas import (
    CompetitionChangeIn,
    CompetitionIn,
    CompetitionReportOut,
    RankedTeamOut,
)
from dynabench.communities.competitions.tables import (
    Competition,
    CompetitionEntry,
    CompetitionState,
    FreezeMode,
)
from dynabench.communities.teams import queries as team_queries
from dynabench.communities.teams import service as teams
from dynabench.communities.teams.schemas import TeamRateOut
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import service as notices
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState

NAME_LENGTH = 100


def _clean_name(text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise errors.Invalid({"name": _("Enter a name of at most %(longest)s characters.", longest=NAME_LENGTH)})
    return name


def _check(competition: Competition) -> None:
    wrong: dict[str, str] = {}
    if competition.ends_at <= competition.starts_at:
        wrong["ends_at"] = _("The competition must end after it starts.")
    if competition.least_examples > competition.budget:
        wrong["least_examples"] = _("This is more than the budget of a team.")
    if competition.freeze == FreezeMode.LIVE:
        competition.freeze_at = None
    elif competition.freeze_at is None:
        wrong["freeze_at"] = _("Give the moment from which the board is frozen or hidden.")
    elif not competition.starts_at <= competition.freeze_at <= competition.ends_at:
        wrong["freeze_at"] = _("Choose a moment between the start and the end.")
    if wrong:
        raise errors.Invalid(wrong)


def create_competition(session: Session, person: Person | None, task_id: str, body: CompetitionIn) -> Competition:
    """Make a competition on a draft or an open round that has no examples yet (owners)."""
    rounds.require(session, person, Action.RUN_COMPETITION, task_id)
    rounds.lock_task(session, task_id)
    try:
        round_ = rounds.round_of(session, task_id, body.round)
    except errors.NotFound as problem:
        raise errors.Invalid({"round": problem.detail}) from None
    competition_there = session.scalar(queries.competition_of_round(round_.id))
    facts = (_clean_name(body.name), body.rules.strip(), body.budget, body.starts_at, body.ends_at)
    maker = person.id if person else None
    same = (
        competition_there
        and (
            competition_there.name,
            competition_there.rules,
            competition_there.budget,
            competition_there.starts_at,
            competition_there.ends_at,
        )
        == facts
    )
    if competition_there and same and competition_there.created_by == maker:
        return competition_there  # sent twice
    _require_fit_round(session, round_)
    if competition_there is not None:
        raise errors.Invalid({"round": _("There is a competition on this round already.")})
    if body.ends_at <= now():
        raise errors.Invalid({"ends_at": _("Choose a moment in the future.")})
    competition = Competition(
        task_id=task_id,
        round_id=round_.id,
        name=_clean_name(body.name),
        rules=body.rules.strip(),
        budget=body.budget,
        least_examples=body.least_examples or (body.budget + 1) // 2,
        most_members=body.most_members,
        starts_at=body.starts_at,
        ends_at=body.ends_at,
        freeze=body.freeze,
        freeze_at=body.freeze_at,
        created_by=maker,
    )
    _check(competition)
    round_.competition = True
    session.add(competition)
    session.flush()
    subject: dict[str, Any] = {"task": task_id, "round": round_.number, "competition": competition.id}
    rounds.record_act(session, person, "competition.made", **subject)
    return competition


def _require_fit_round(session: Session, round_: Round) -> None:
    config = rounds.config_of(session, round_.version_id)
    if round_.state not in (RoundState.DRAFT, RoundState.OPEN) or session.execute(boards.sums([round_.id])).first():
        raise errors.Invalid({"round": _("Choose a draft, or an open round without examples.")})
    if not round_.targets:
        raise errors.Invalid({"round": _("The round has no targets to compete against.")})
    if config.chat is not None or config.drawing is not None:
        raise errors.Invalid({"round": _("Conversations and drawings ask models outside of any budget.")})


def find_competition(session: Session, competition_id: int, *, lock: bool = False) -> Competition:
    """The competition, or `NotFound`."""
    competition = session.get(Competition, competition_id, with_for_update=True if lock else None)
    if competition is None:
        raise errors.NotFound(_("There is no such competition."))
    return competition


def _run(session: Session, person: Person | None, competition_id: int) -> Competition:
    competition = find_competition(session, competition_id, lock=True)
    rounds.require(session, person, Action.RUN_COMPETITION, competition.task_id)
    if competition.state is CompetitionState.FINISHED:
        raise errors.Conflict(_("The competition is finished. Its report never changes."))
    return competition


def change_competition(
    session: Session, person: Person | None, competition_id: int, body: CompetitionChangeIn
) -> Competition:
    """Change a competition (owners): all of it before its start, afterwards its name, rules, end and freeze."""
    competition = _run(session, person, competition_id)
    changes = {name: getattr(body, name) for name in body.model_fields_set if name != "name"}
    fixed = ("budget", "least_examples", "most_members", "starts_at")
    if competition.state is not CompetitionState.UPCOMING:
        wrong = {
            name: _("This can no longer change: the competition has started.")
            for name in fixed
            if name in changes and changes[name] not in (None, getattr(competition, name))
        }
        if wrong:
            raise errors.Invalid(wrong)
    if body.name is not None:
        competition.name = _clean_name(body.name)
    for name, value in changes.items():
        if value is not None or name == "freeze_at":
            setattr(competition, name, value)
    _check(competition)
    subject: dict[str, Any] = {"task": competition.task_id, "competition": competition.id}
    rounds.record_act(
        session, person, "competition.changed", **subject, changed=", ".join(sorted(body.model_fields_set))
    )
    return competition


def delete_competition(session: Session, person: Person | None, competition_id: int) -> None:
    """Delete a competition in which nothing was written (owners)."""
    competition = _run(session, person, competition_id)
    if session.execute(queries.examples(competition.id).limit(1)).first() is not None:
        raise errors.Conflict(_("Teams have written in this competition. Finish it instead."))
    session.get_one(Round, competition.round_id).competition = False
    session.delete(competition)
    rounds.record_act(session, person, "competition.deleted", task=competition.task_id, competition=competition_id)


def enter(session: Session, person: Person, competition_id: int, team_id: int) -> CompetitionEntry:
    """Enter a team into a competition (captain); a second time changes nothing, and brings a withdrawn team back."""
    competition = find_competition(session, competition_id)
    team = teams.managed_team(session, person, team_id)
    if competition.state not in (CompetitionState.UPCOMING, CompetitionState.RUNNING):
        raise errors.Conflict(_("The competition has ended. No team can enter it."))
    if team.task_id not in (None, competition.task_id):
        raise errors.Conflict(_("The team belongs to another task. Make a team of this task or of the whole site."))
    people.require_seat(session, person, competition.task_id)
    entry = session.get(CompetitionEntry, (competition_id, team_id), with_for_update=True)
    if entry is None:
        entry = CompetitionEntry(competition_id=competition_id, team_id=team_id)
        try:
            with session.begin_nested():
                session.add(entry)
        except IntegrityError:  # another request entered it a moment ago
            return session.get_one(CompetitionEntry, (competition_id, team_id))
        subject: dict[str, Any] = {"task": competition.task_id, "competition": competition_id}
        rounds.record_act(session, person, "competition.entered", **subject, team=team_id)
    entry.withdrawn_at = None
    return entry


def withdraw(session: Session, person: Person, competition_id: int, team_id: int) -> None:
    """Withdraw a team (captain): it is not ranked and writes nothing more. Its examples stay, and are checked."""
    competition = find_competition(session, competition_id)
    teams.managed_team(session, person, team_id)
    entry = session.get(CompetitionEntry, (competition_id, team_id), with_for_update=True)
    if entry is None:
        raise errors.NotFound(_("The team is not in this competition."))
    if competition.state is CompetitionState.FINISHED:
        raise errors.Conflict(_("The competition is finished. Its report never changes."))
    if entry.withdrawn_at is None:
        entry.withdrawn_at = now()
        subject: dict[str, Any] = {"task": competition.task_id, "competition": competition_id}
        rounds.record_act(session, person, "competition.withdrawn", **subject, team=team_id)


# The board and the report


@dataclass(frozen=True)
class CompetitionBoard:
    """The ranking as a viewer sees it; `as_of` is the moment of a frozen one, `hidden` that it is not shown now."""

    lines: Sequence[RankedTeam]
    as_of: datetime | None = None
    hidden: bool = False


def runs_competition(session: Session, person: Person | None, competition: Competition) -> bool:
    """Return whether a person runs a competition, and so sees its board at any time."""
    return bool(may.may_in(session, person, Action.RUN_COMPETITION, competition.task_id))


def read_board(session: Session, competition: Competition, viewer: Person | None) -> CompetitionBoard:
    """Return the ranking of a competition that is not finished, as the freeze lets a viewer see it."""
    frozen = competition.freeze_at is not None and competition.freeze_at <= now()
    if not frozen or competition.freeze == FreezeMode.LIVE or runs_competition(session, viewer, competition):
        return CompetitionBoard(read_ranking(session, competition))
    if competition.freeze == FreezeMode.HIDDEN:
        return CompetitionBoard((), hidden=True)
    return CompetitionBoard(read_ranking(session, competition, competition.freeze_at), as_of=competition.freeze_at)


def line_out(line: RankedTeam) -> RankedTeamOut:
    """Return a line of the ranking as JSON."""
    return RankedTeamOut(
        team=line.team_id,
        name=line.name,
        rank_low=line.rank.low,
        rank_high=line.rank.high,
        group=line.rank.group,
        reason=line.rank.reason,
        spent=line.spent,
        fooled=line.fooled,
        verified=line.verified,
        pending=line.outcomes.pending,
        vmer=TeamRateOut.model_validate(line.vmer),
    )


def target_names(session: Session, competition: Competition) -> list[str]:
    """Return the targets of a competition with their versions."""
    return [f"{model} {version}" for model, version in rounds.targets_of(session, competition.round_id)]


def finish(
    session: Session, person: Person | None, competition_id: int, despite_pending: bool = False
) -> CompetitionReportOut:
    """Make the final report of a competition that has ended (owners); members of its teams get a notice.

    Refused while fooling examples wait for a verdict, unless the owner says otherwise: they then count as not verified.
    """
    competition = _run(session, person, competition_id)
    if competition.state is not CompetitionState.CHECKING:
        raise errors.Conflict(_("The competition has not ended yet."))
    lines = read_ranking(session, competition)
    pending = sum(line.outcomes.pending for line in lines)
    if pending and not despite_pending:
        raise errors.Conflict(
            _("%(pending)s fooling examples wait for a verdict. Have them checked first.", pending=pending),
            pending=pending,
        )
    rows = session.execute(queries.examples(competition.id)).all()
    competition.finished_at = now()
    report = CompetitionReportOut(
        name=competition.name,
        task=competition.task_id,
        round=session.get_one(Round, competition.round_id).number,
        targets=target_names(session, competition),
        budget=competition.budget,
        least_examples=competition.least_examples,
        starts_at=competition.starts_at,
        ends_at=competition.ends_at,
        finished_at=competition.finished_at,
        examples=len(rows),
        votes=sum(row.votes for row in rows),
        pending=pending,
        lines=[line_out(line) for line in lines],
    )
    competition.report = report.model_dump(mode="json")
    _tell_members(session, competition)
    subject: dict[str, Any] = {"task": competition.task_id, "competition": competition.id}
    rounds.record_act(session, person, "competition.finished", **subject, pending=pending)
    return report


def _tell_members(session: Session, competition: Competition) -> None:
    team_ids = [team.id for _entry, team in session.execute(queries.entries(competition.id))]
    members = sorted({person for _team, person in session.execute(team_queries.teammates(team_ids))})
    text = _("The final report of “%(name)s” is out.", name=competition.name)
    for person_id in members:
        notices.notify_person(session, person_id, "announcement", text, link=f"/competitions/{competition.id}")


def read_report(competition: Competition) -> CompetitionReportOut:
    """The final report; `NotFound` until the competition is finished."""
    if competition.report is None:
        raise errors.NotFound(_("The competition has no final report yet."))
    return CompetitionReportOut.model_validate(competition.report)


def forget_person(session: Session, person_id: int) -> None:
    """Take a person's name from the competitions that the person made."""
    session.execute(update(Competition).where(Competition.created_by == person_id).values(created_by=None))
