"""Turns as pages, commands and the API show them."""

from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.releases import service as releases
from dynabench.benchmark.releases.tables import ReleaseState
from dynabench.cycle import lineage, queries, report_text, service
from dynabench.cycle.report import TurnReport
from dynabench.cycle.schemas import CandidateOut, LineagePage, RoundLineageOut, TurnOut, TurnPage, TurnProgressOut
from dynabench.cycle.tables import CycleTurn
from dynabench.kit import jobs
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round


def turn_out(session: Session, turn: CycleTurn) -> TurnOut:
    """Return a turn with its candidates and its report, without progress."""
    round_ = session.get_one(Round, turn.round_id)
    release = releases.release_of_round(session, turn.task_id, round_.number)
    candidate_outs = [
        CandidateOut(
            name=candidate.name,
            method=candidate.method,
            seed=candidate.seed,
            state=candidate.state,
            reason=candidate.reason,
            version=candidate.version,
            submission=candidate.submission_id,
            rows=candidate.rows,
            seconds=candidate.seconds,
        )
        for candidate in session.scalars(queries.candidates_of_turn(turn.id))
    ]
    return TurnOut(
        id=turn.id,
        task=turn.task_id,
        round=round_.number,
        state=turn.state,
        step=turn.step,
        reason=turn.reason,
        present=turn.present,
        plan=turn.plan,
        candidates=candidate_outs,
        release=release.digest if release and release.state == ReleaseState.READY else None,
        report=report_text.add_words(
            TurnReport.model_validate(turn.report), {candidate.name: candidate.reason for candidate in candidate_outs}
        )
        if turn.report
        else None,
        next=_number(session, turn.next_id),
        back=_number(session, turn.back_id),
        created_at=turn.created_at,
        ended_at=turn.ended_at,
    )


def _number(session: Session, round_id: int | None) -> int | None:
    return session.get_one(Round, round_id).number if round_id else None


def turn_with_progress(
    db: Database, settings: Settings, person: Person | None, task: str, id: int | None = None
) -> TurnOut:
    """Return a turn with its progress (owners; `person` None is the operator), by default the newest. Raises
    `NotFound`."""

    def read(session: Session) -> tuple[TurnOut, jobs.Job | None]:
        rounds.require(session, person, Action.RUN_CYCLE, task)
        turn = service.find_turn(session, task, id)
        job = session.get(jobs.Job, turn.job_id) if turn.job_id and turn.state in queries.RUNNING_STATES else None
        return turn_out(session, turn), job

    turn_view, job = db.read(read)
    progress: dict[str, Any] | None = jobs.progress(settings, job)["progress"] if job else None
    return turn_view.model_copy(update={"progress": TurnProgressOut.model_validate(progress) if progress else None})


def turn_page(
    session: Session, person: Person | None, task: str, before: int | None = None, limit: int = 50
) -> TurnPage:
    """Return the turns of a task (owners), newest first, without progress; `before` is the last id of the page
    before."""
    rounds.require(session, person, Action.RUN_CYCLE, task)
    statement = queries.turns_of_task(task)
    if before is not None:
        statement = statement.where(CycleTurn.id < before)
    turns = session.scalars(statement.limit(limit + 1)).all()
    more = str(turns[limit - 1].id) if len(turns) > limit else None
    return TurnPage(items=[turn_out(session, row) for row in turns[:limit]], next=more)


def lineage_page(session: Session, person: Person | None, task: str) -> LineagePage:
    """Return the graph of a task's rounds (owners)."""
    rounds.require(session, person, Action.RUN_CYCLE, task)
    items = [
        RoundLineageOut(
            round=link.round.number,
            state=link.round.state,
            targets=[f"{target.model}@{target.version}" for target in link.round.targets],
            parents=list(link.parents),
            children=list(link.children),
        )
        for link in lineage.lineage_links(session, task)
    ]
    return LineagePage(items=items)
