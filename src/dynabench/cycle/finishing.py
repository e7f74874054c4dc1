"""Finishing a round: closing it, its release, and what comes next, in one transaction. Knows no web framework.

The services that do each of these are those of the API and the commands; here they are only put together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.tables import Evaluation, EvaluationState
from dynabench.benchmark.releases import service as releases
from dynabench.benchmark.releases.tables import Release, ReleaseState
from dynabench.collection import boards, search
from dynabench.collection.search import Filters
from dynabench.collection.tables import FlagReview
from dynabench.cycle import queries, service
from dynabench.cycle.plan import TurnPlan
from dynabench.cycle.tables import CycleTurn, TurnState
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.jobs import Job
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import planning
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState

MOST_FLAGS = 1_000
WRITING_KINDS = ("import_data", "import_contexts", "recount_votes", "weigh_votes")
"""Jobs that change the examples or verdicts of a task while they run."""
RECENT = timedelta(days=7)


class NextStep(StrEnum):
    """The follower of a finished round: nothing, a round with the same targets, or a turn of the cycle."""

    NOTHING = "nothing"
    ROUND = "round"
    TURN = "turn"


@dataclass(frozen=True)
class FinishPlan:
    """The choices of an owner who finishes a round.

    `state` is the state of the round that the owner saw. `rules` change the release's rules in the config; with
    `anyway` the round is released despite warnings. `turn` is the plan of a turn of the cycle, where that comes next.
    """

    state: str
    release: bool = True
    rules: dict[str, Any] = field(default_factory=dict)
    anyway: bool = False
    follow: NextStep = NextStep.NOTHING
    turn: TurnPlan | None = None


@dataclass(frozen=True)
class OpenWork:
    """The work left on a round: examples without a verdict, flags without a decision, jobs that may be running."""

    waiting: int
    flags: int
    jobs: Sequence[Job]


@dataclass(frozen=True)
class FinishedRound:
    """The progress of a round towards the next: its release, the turn that began with it, the rounds that follow it.

    `scored` of `evaluations` of models on the release's test parts have ended.
    """

    release: Release | None
    turn: CycleTurn | None
    children: Sequence[Round]
    scored: int
    evaluations: int


def open_work(session: Session, person: Person | None, task: str, number: int) -> OpenWork:
    """Return what a round still lacks (owners)."""
    rounds.require(session, person, Action.CLOSE_ROUND, task)
    round_ = rounds.round_of(session, task, number)
    filters = Filters(round=number, review=FlagReview.WAITING, hidden=False, retracted=False)
    recent = select(Job).where(Job.kind.in_(WRITING_KINDS), Job.created_at > now() - RECENT, Job.cancelled_at.is_(None))
    unsettled = session.scalars(recent.order_by(Job.created_at.desc()).limit(200)).all()
    return OpenWork(
        waiting=session.scalar(boards.waiting(round_.id)) or 0,
        flags=len(search.ids(session, person, task, filters, before=None, most=MOST_FLAGS)),
        jobs=[job for job in unsettled if job.payload.get("task") == task],
    )


def read_finished(session: Session, person: Person | None, task: str, number: int) -> FinishedRound:
    """Return how far a round has come on its way to the next (owners)."""
    rounds.require(session, person, Action.CLOSE_ROUND, task)
    round_ = rounds.round_of(session, task, number)
    release = releases.release_of_round(session, task, number)
    turns = select(CycleTurn).where(CycleTurn.task_id == task, CycleTurn.round_id == round_.id)
    turn = session.scalars(turns.order_by(CycleTurn.id.desc()).limit(1)).first()
    links = queries.lineage_links(session, task)
    numbers = next((link.children for link in links if link.round.id == round_.id), ())
    scored, evaluations = _count_evaluations(session, release)
    return FinishedRound(
        release=release,
        turn=turn if turn is not None and turn.state != TurnState.UNDONE else None,
        children=[link.round for link in links if link.round.number in numbers],
        scored=scored,
        evaluations=evaluations,
    )


def _count_evaluations(session: Session, release: Release | None) -> tuple[int, int]:
    versions = [id for id in (release.test_id, release.hidden_id) if id is not None] if release else []
    if not versions:
        return 0, 0
    final = (EvaluationState.DONE, EvaluationState.FAILED, EvaluationState.CANCELLED)
    statement = select(Evaluation.state, func.count()).where(Evaluation.version_id.in_(versions))
    counts: dict[str, int] = dict(session.execute(statement.group_by(Evaluation.state)).all())
    return sum(counts.get(state, 0) for state in final), sum(counts.values())


def finish_round(session: Session, person: Person | None, task: str, number: int, plan: FinishPlan) -> None:
    """Close a round, start its release, and start what follows (owners): all of it or nothing.

    Raises `Conflict` where the round is in another state than the owner saw, and as each of the steps does. The caller
    has made sure that the models of a round that is opened are served.
    """
    rounds.require(session, person, Action.CLOSE_ROUND, task)
    rounds.lock_task(session, task)  # before the round, as drafting and opening a round do
    round_ = rounds.round_of(session, task, number)
    session.refresh(round_, with_for_update=True)
    if round_.state != plan.state:
        raise errors.Conflict(_("This round has changed since you opened this page. Read the summary again."))
    if round_.state == RoundState.DRAFT:
        raise errors.Conflict(_("Round %(number)s was never opened.", number=number))
    if plan.follow == NextStep.TURN:
        turn = plan.turn or TurnPlan()
        if round_.state != RoundState.RELEASED:
            turn = turn.model_copy(update={"release": plan.rules, "anyway": plan.anyway})
        service.start_turn(session, person, task, turn, number)
        return
    if round_.state == RoundState.OPEN:
        rounds.close_round(session, person, task, number)
    if plan.release and round_.state == RoundState.CLOSED:
        session.flush()
        rules = releases.release_rules(session, task, number, plan.rules)
        releases.start_release(session, person, task, number, rules, plan.anyway)
    if plan.follow == NextStep.ROUND:
        if any(child.state != RoundState.DRAFT for child in read_finished(session, person, task, number).children):
            raise errors.Conflict(_("A round that follows round %(number)s was already opened.", number=number))
        draft = planning.clone_round(session, person, task, number)
        session.flush()
        rounds.open_round(session, person, task, draft.number)


def is_running(finished: FinishedRound) -> bool:
    """Return whether something that was started still goes on."""
    release, turn = finished.release, finished.turn
    releasing = release is not None and release.state in (ReleaseState.QUEUED, ReleaseState.WRITING)
    return releasing or (turn is not None and turn.state in queries.RUNNING_STATES)
