"""Turns as pages, commands and the API show them."""

from typing import Any

from sqlalchemy.orm import Session

from dynabench import jobs
from dynabench.accounts.tables import Person
from dynabench.cycle import lineage, queries, service, telling
from dynabench.cycle.report import TurnReport
from dynabench.cycle.schemas import CandidateOut, LineagePage, RoundLineageOut, TurnOut, TurnPage, TurnProgressOut
from dynabench.cycle.tables import CycleTurn
from dynabench.db import Database
from dynabench.people.may import Action
from dynabench.releases import service as releases
from dynabench.releases.tables import ReleaseState
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.settings import Settings


def out(session: Session, turn: CycleTurn) -> TurnOut:
    """A turn with its candidates and its report, without progress."""
    of = session.get_one(Round, turn.round_id)
    release = releases.of_round(session, turn.task_id, of.number)
    made = [
        CandidateOut(
            name=each.name, method=each.method, seed=each.seed, state=each.state, reason=each.reason,
            version=each.version, submission=each.submission_id, rows=each.rows, seconds=each.seconds,
        )
        for each in session.scalars(queries.candidates(turn.id))
    ]  # fmt: skip
    return TurnOut(
        id=turn.id,
        task=turn.task_id,
        round=of.number,
        state=turn.state,
        step=turn.step,
        reason=turn.reason,
        present=turn.present,
        plan=turn.plan,
        candidates=made,
        release=release.digest if release and release.state == ReleaseState.READY else None,
        report=telling.told(TurnReport.model_validate(turn.report), {each.name: each.reason for each in made})
        if turn.report
        else None,
        next=_number(session, turn.next_id),
        back=_number(session, turn.back_id),
        created_at=turn.created_at,
        ended_at=turn.ended_at,
    )


def _number(session: Session, round_id: int | None) -> int | None:
    return session.get_one(Round, round_id).number if round_id else None


def one(db: Database, settings: Settings, person: Person | None, task: str, id: int | None = None) -> TurnOut:
    """A turn with its progress (owners; None is the operator), by default the newest. Raises `NotFound`."""

    def read(session: Session) -> tuple[TurnOut, jobs.Job | None]:
        rounds.require(session, person, Action.RUN_CYCLE, task)
        turn = service.one(session, task, id)
        job = session.get(jobs.Job, turn.job_id) if turn.job_id and turn.state in queries.GOING else None
        return out(session, turn), job

    made, job = db.read(read)
    found: dict[str, Any] | None = jobs.progress(settings, job)["progress"] if job else None
    return made.model_copy(update={"progress": TurnProgressOut.model_validate(found) if found else None})


def page(session: Session, person: Person | None, task: str, before: int | None = None, limit: int = 50) -> TurnPage:
    """The turns of a task (owners), newest first, without progress; `before` is the id of the last that was seen."""
    rounds.require(session, person, Action.RUN_CYCLE, task)
    asked = queries.newest(task)
    if before is not None:
        asked = asked.where(CycleTurn.id < before)
    found = session.scalars(asked.limit(limit + 1)).all()
    more = str(found[limit - 1].id) if len(found) > limit else None
    return TurnPage(items=[out(session, each) for each in found[:limit]], next=more)


def graph(session: Session, person: Person | None, task: str) -> LineagePage:
    """Which round follows which (owners)."""
    rounds.require(session, person, Action.RUN_CYCLE, task)
    items = [
        RoundLineageOut(
            round=each.round.number, state=each.round.state,
            targets=[f"{target.model}@{target.version}" for target in each.round.targets],
            parents=list(each.parents), children=list(each.children),
        )
        for each in lineage.links(session, task)
    ]  # fmt: skip
    return LineagePage(items=items)
