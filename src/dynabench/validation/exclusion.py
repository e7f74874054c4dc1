"""Excluding the votes of a banned person from verdicts, and counting them again.

Votes stay in the ledger, marked by an `Undo` that says `excluded`. Verdicts follow in a durable job, a few examples in
each transaction, in rounds that are not released. The latest decision counts: a job that disagrees with it stops.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, exists, select
from sqlalchemy.orm import Session, aliased

from dynabench.collection import projections
from dynabench.collection.tables import Standing
from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.jobs import Job
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import service as notices
from dynabench.people.roles import Ban
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.stats.verdict import Verdict, Vote, verdict
from dynabench.tasks import TaskConfig
from dynabench.validation import moderation, queries, service
from dynabench.validation.queries import TAKEN_BACK
from dynabench.validation.tables import Undo, Validation, VoteExclusion

KIND = "recount_votes"
SIZE = 50  # votes in one transaction, in which others wait to vote on their examples
SOME = 500  # examples whose votes are read at once for a preview


@dataclass(frozen=True)
class ExclusionEffects:
    """The effects of excluding a person's votes, or of counting them again.

    `votes` change, and with them `verdicts`; `reopened` of these examples wait for votes again. `released` votes are in
    released rounds and stay as they are, where `released_verdicts` would have changed.
    """

    votes: int
    verdicts: int
    reopened: int
    released: int
    released_verdicts: int


@dataclass(frozen=True)
class ExclusionState:
    """The decision on a person's votes; `running` until the verdicts have followed it. The counts are those so far."""

    excluded: bool
    at: datetime
    running: bool
    votes: int
    verdicts: int


def preview_effects(
    session: Session, actor: Person | None, task_id: str, person_id: int, *, excluded: bool = True
) -> ExclusionEffects:
    """Return what excluding a person's votes, or counting them again, would change (owners). Writes nothing."""
    rounds.require(session, actor, Action.EXCLUDE_VOTES, task_id)
    counts = {"votes": 0, "verdicts": 0, "reopened": 0, "released": 0, "released_verdicts": 0}
    configs: dict[int, TaskConfig] = {}
    after = 0
    while page := session.execute(_changeable(task_id, person_id, excluded, after, SOME)).all():
        after = page[-1].id
        changing_ids = {row.id for row in page}
        others = _votes_by_example(session, {row.example_id for row in page})
        for example_id, row in {row.example_id: row for row in page}.items():
            config = configs.setdefault(row.version_id, rounds.config_of(session, row.version_id))
            votes = others[example_id]
            changing = [vote for vote in votes if vote.id in changing_ids]
            new = _verdict_after(votes, changing_ids, config, excluded)
            is_released = row.state == RoundState.RELEASED
            counts["released" if is_released else "votes"] += len(changing)
            counts["released_verdicts" if is_released else "verdicts"] += new != row.verdict
            counts["reopened"] += not is_released and new == Verdict.PENDING != row.verdict
    return ExclusionEffects(**counts)


def _changeable(
    task_id: str, person_id: int, excluded: bool, after: int, limit: int, *, released: bool = True
) -> Select[*tuple[Any, ...]]:
    """Select the votes that a decision changes, by id above `after`: walks the person's own votes.

    A vote that the person cast again after it was excluded is not counted twice.
    """
    later = aliased(Validation)
    again = and_(later.person_id == Validation.person_id, later.example_id == Validation.example_id)
    cast_again = exists().where(
        again, later.id > Validation.id, ~later.by_owner, ~exists().where(Undo.validation_id == later.id)
    )
    state = Round.state.in_(RoundState) if released else Round.state != RoundState.RELEASED
    changes = ~queries.UNDONE if excluded else and_(queries.UNDONE, ~TAKEN_BACK, ~cast_again)
    return (
        select(Validation.id, Validation.example_id, Standing.verdict, Round.state, Round.version_id)
        .join(Standing, Standing.example_id == Validation.example_id)
        .join(Round, Round.id == Standing.round_id)
        .where(Validation.person_id == person_id, Validation.id > after, Round.task_id == task_id, state, changes)
        .order_by(Validation.id)
        .limit(limit)
    )


def _votes_by_example(session: Session, example_ids: set[int]) -> dict[int, list[Any]]:
    undone = aliased(Undo)
    columns = (Validation.id, Validation.example_id, Validation.vote, Validation.by_owner, Validation.weight)
    rows = session.execute(
        select(*columns, undone.validation_id.is_not(None).label("undone"))
        .outerjoin(undone, undone.validation_id == Validation.id)
        .where(Validation.example_id.in_(example_ids))
        .order_by(Validation.id)
    )
    votes: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        votes[row.example_id].append(row)
    return votes


def _verdict_after(votes: Sequence[Any], changing_ids: set[int], config: TaskConfig, excluded: bool) -> str:
    """Return the verdict of an example once some of its votes are excluded, or counted again."""
    counted = [vote for vote in votes if (not excluded if vote.id in changing_ids else not vote.undone)]
    rule = config.validation
    ballots = [Vote(vote.vote, vote.by_owner, vote.weight) for vote in counted]
    return str(verdict(ballots, rule.votes, rule.adjudicate_up_to))


def exclude_votes(session: Session, actor: Person | None, task_id: str, person_id: int) -> VoteExclusion:
    """Decide that the votes of a banned person no longer count (owners); the verdicts follow soon after."""
    rounds.require(session, actor, Action.EXCLUDE_VOTES, task_id)
    # Locked: of two first decisions at once the second finds that of the first.
    if session.get(Ban, (task_id, person_id), with_for_update=True) is None:
        raise errors.Conflict(_("Only the votes of a banned person can be excluded. Ban the person first."))
    return _decide(session, actor, task_id, person_id, excluded=True)


def restore_votes(session: Session, actor: Person | None, task_id: str, person_id: int) -> VoteExclusion | None:
    """Decide that excluded votes count again (owners); None where none were excluded."""
    rounds.require(session, actor, Action.EXCLUDE_VOTES, task_id)
    if session.get(VoteExclusion, (task_id, person_id)) is None:
        return None
    return _decide(session, actor, task_id, person_id, excluded=False)


def _decide(session: Session, actor: Person | None, task_id: str, person_id: int, *, excluded: bool) -> VoteExclusion:
    decision = session.get(VoteExclusion, (task_id, person_id), with_for_update=True, populate_existing=True)
    if decision is not None and decision.excluded == excluded and not _is_running(session, decision):
        return decision
    by = actor.id if actor else None
    job = jobs.enqueue(session, KIND, {"task": task_id, "person": person_id, "excluded": excluded}, by)
    session.flush()
    if decision is None:
        decision = VoteExclusion(task_id=task_id, person_id=person_id, excluded=excluded, by=by, job_id=job.id)
        session.add(decision)
    else:
        decision.excluded, decision.by, decision.job_id, decision.at = excluded, by, job.id, now()
    session.flush()
    kind = "votes.excluded" if excluded else "votes.restored"
    rounds.record_act(session, actor, kind, task=task_id, person=person_id)
    name = rounds.task_config(session, task_id).name
    text = (
        _("Your votes in %(name)s no longer count towards verdicts. They stay on your record.", name=name)
        if excluded
        else _("Your votes in %(name)s count towards verdicts again.", name=name)
    )
    link = "/me/decisions" if excluded else ""
    notices.notify_person(session, person_id, "ban" if excluded else "lifted", text, link=link)
    return decision


def ban_validator(
    session: Session, actor: Person | None, task_id: str, person_id: int, reason: str, *, exclude: bool
) -> None:
    """Ban a person and, if asked, exclude the person's votes (only owners), in one transaction."""
    people.ban_person(session, actor, task_id, person_id, reason)
    session.flush()
    if exclude:
        exclude_votes(session, actor, task_id, person_id)


def lift_ban(session: Session, actor: Person | None, task_id: str, person_id: int, *, restore: bool) -> None:
    """Lift a ban and, if asked, count the person's excluded votes again (only owners), in one transaction."""
    people.lift_ban(session, actor, task_id, person_id)
    if restore:
        restore_votes(session, actor, task_id, person_id)


def read_state(session: Session, actor: Person | None, task_id: str, person_id: int) -> ExclusionState | None:
    """Return the decision on a person's votes (owners and moderators), None where there never was one."""
    rounds.require(session, actor, Action.LIST_PEOPLE, task_id)
    decision = session.get(VoteExclusion, (task_id, person_id))
    if decision is None:
        return None
    job = session.get(Job, decision.job_id) if decision.job_id else None
    done = (job.done if job else None) or {}
    counts = {name: done.get(name, 0) for name in ("votes", "verdicts")}
    return ExclusionState(decision.excluded, decision.at, _is_running(session, decision), **counts)


def _is_running(session: Session, decision: VoteExclusion) -> bool:
    job = session.get(Job, decision.job_id) if decision.job_id else None
    return job is None or not (job.done or {}).get("finished", False)


def recount_some(session: Session, job_id: str, task_id: str, person_id: int, excluded: bool) -> bool:
    """Make some of a person's votes follow the decision, with all that is counted; return whether more are left.

    The job's row says how far it came, in the same transaction: a step that is run again goes on from there.
    """
    job = session.get_one(Job, job_id, with_for_update=True, populate_existing=True)
    decision = session.get(VoteExclusion, (task_id, person_id), with_for_update=True, populate_existing=True)
    done: dict[str, Any] = {"last": 0, "votes": 0, "verdicts": 0, "finished": False} | (job.done or {})
    if done["finished"] or decision is None or decision.excluded != excluded:
        return False
    # A release locks its round first and its standings after that: it comes before these votes or after them.
    ids = session.scalars(select(Round.id).where(Round.task_id == task_id).order_by(Round.id)).all()
    locked = select(Round).where(Round.id.in_(ids)).order_by(Round.id).with_for_update(key_share=True)
    round_by_id = {row.id: row for row in session.scalars(locked.execution_options(populate_existing=True))}
    rows = session.execute(_changeable(task_id, person_id, excluded, done["last"], SIZE, released=False)).all()
    vote_ids = [row.id for row in rows]
    # All of them before anything changes, in the order of their ids: nobody waits in a circle.
    standings = [projections.locked(session, example_id) for example_id in sorted({row.example_id for row in rows})]
    for standing in standings:
        if standing is None or round_by_id[standing.round_id].state == RoundState.RELEASED:
            continue
        config = rounds.config_of(session, round_by_id[standing.round_id].version_id)
        votes, verdicts = _mark_votes(session, standing, config, vote_ids, excluded)
        done["votes"] += votes
        done["verdicts"] += verdicts
    done["last"] = vote_ids[-1] if vote_ids else done["last"]
    done["finished"] = len(rows) < SIZE
    job.done = done
    if done["finished"]:
        actor = session.get(Person, decision.by) if decision.by else None
        counts = {"votes": done["votes"], "verdicts": done["verdicts"]}
        rounds.record_act(session, actor, "votes.recounted", task=task_id, person=person_id, **counts)
    return not done["finished"]


def _mark_votes(
    session: Session, standing: Standing, config: TaskConfig, vote_ids: Sequence[int], excluded: bool
) -> tuple[int, int]:
    """Mark those of `vote_ids` that are on one example, whose standing is locked; the votes and verdicts that changed.

    The marks are read again after the lock: a vote may have been taken back meanwhile.
    """
    example_id = standing.example_id
    before, changed = standing.verdict, []
    undone = aliased(Undo)
    statement = (
        select(Validation, undone)
        .outerjoin(undone, undone.validation_id == Validation.id)
        .where(Validation.example_id == example_id, Validation.id.in_(vote_ids))
        .order_by(Validation.id)
    )
    for vote, mark in session.execute(statement).all():
        if excluded and mark is None:
            session.add(Undo(validation_id=vote.id, excluded=True))
        elif not excluded and mark is not None and mark.excluded:
            session.delete(mark)
        else:
            continue
        changed.append(vote)
        first = session.scalars(queries.votes_ever(example_id, vote.person_id).limit(1)).one()
        if vote.blind_answer is not None and first.id == vote.id:
            service.count_blind(standing, vote.vote, -1 if excluded else 1)
    if not changed:
        return 0, 0
    session.flush()
    votes = session.scalars(queries.votes(example_id)).all()
    if any(vote.vote == Verdict.FLAGGED for vote in changed):
        moderation.note_flags(session, example_id, votes)
    new = service.recount(session, standing, config, votes)
    session.flush()
    return len(changed), int(new != before)
