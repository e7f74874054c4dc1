"""Turns as pages, commands and the API show them, also before they begin."""

from collections import defaultdict
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field, SkipValidation
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries as scoring_queries
from dynabench.benchmark.registry import queries as submission_queries
from dynabench.benchmark.releases import service as releases
from dynabench.benchmark.releases.tables import ReleaseState
from dynabench.cycle import queries, report, service
from dynabench.cycle import training as trainer
from dynabench.cycle.plan import TurnPlan
from dynabench.cycle.report import TurnReport, rule_text
from dynabench.cycle.tables import CycleTurn
from dynabench.datasets.tables import DatasetVersion
from dynabench.kit import jobs
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.schemas import Page, StrictModel
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState


class CandidateOut(BaseModel):
    """A model that a turn trains: `waiting`, `ready` or `failed` with the `reason`."""

    name: str
    method: str
    seed: int
    state: str
    reason: SkipValidation[str]  # which would make a plain text of a phrase
    version: str
    submission: int | None
    rows: int | None
    seconds: float | None


class TurnProgressOut(BaseModel):
    """The progress of a turn: the step, its present activity, and the number of its parts that are done, of all."""

    step: str
    what: str = ""
    done: int = 0
    of: int = 0


class TurnOut(BaseModel):
    """A turn: `queued`, `running`, `paused`, `done`, `failed` with the `reason`, or `undone`."""

    id: int
    task: str
    round: int
    state: str
    step: str
    reason: SkipValidation[str]  # which would make a plain text of a phrase
    present: list[str]
    plan: dict[str, Any]
    candidates: list[CandidateOut]
    release: str | None = Field(None, description="The digest of the round's release.")
    progress: TurnProgressOut | None = None
    report: TurnReport | None = None
    next: int | None = Field(None, description="The round that the turn drafted or opened.")
    back: int | None = Field(None, description="The round that took its place when the turn was undone.")
    created_at: datetime
    ended_at: datetime | None


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
        report=report.add_words(
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


class TurnPage(Page[TurnOut]):
    """Turns of a task, newest first."""


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
    return TurnPage.cut(turns, limit, show=lambda turn: turn_out(session, turn))


class RoundLineageOut(BaseModel):
    """A round with those that it follows and those that follow it, by number."""

    round: int
    state: str
    targets: list[str]
    parents: list[int]
    children: list[int]


class LineagePage(Page[RoundLineageOut]):
    """The rounds of a task as a graph, newest first, all on one page."""


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
        for link in queries.lineage_links(session, task)
    ]
    return LineagePage(items=items)


class Foreseen(BaseModel):
    """The effects that a turn would have.

    `examples` and `verified` count those of a round that is not released yet; `rows` the training rows that the
    releases of earlier rounds hold now. `seconds` is the estimated time of training and evaluation without
    waiting for other jobs; None where no comparable training was done before.
    """

    task: str
    round: int
    closes: bool
    releases: bool
    examples: int
    verified: int
    rows: int
    ancestors: list[int]
    models: list[str]
    present: list[str]
    evaluations: int
    rule: str
    next: int
    opens: bool
    parents: list[int]
    seconds: float | None


def preview_turn(
    session: Session, settings: Settings, person: Person | None, task: str, plan: TurnPlan, number: int | None = None
) -> Foreseen:
    """Return the effects that a turn by this plan would have (owners); raises as `service.start_turn` does."""
    rounds.require(session, person, Action.RUN_CYCLE, task)
    round_ = service.starting_round(session, task, number)
    service.check_plan(session, person, task, round_, plan)
    trainer.outside_datasets(session, task, plan)
    task_rounds = list(session.scalars(round_queries.rounds(task)))
    ages = queries.generations(queries.parent_numbers(session, task, task_rounds), round_.number)
    release = releases.release_of_round(session, task, round_.number)
    fresh = release is None or release.state != ReleaseState.READY
    examples, verified = session.execute(queries.example_counts(round_.id)).one() if fresh else (0, 0)
    planned_turn = CycleTurn(
        task_id=task, round_id=round_.id, plan=plan.model_dump(mode="json"), created_at=round_.created_at
    )
    before = trainer.ancestor_releases(session, settings, planned_turn)
    rows, tested = _sizes(session, task, before)
    share = releases.release_rules(session, task, round_.number, plan.release)
    rows_after = rows + round(verified * share.train)
    tested += round(verified * (share.test + share.hidden))
    models = [service.model_name(task, round_.number, item.name, seed) for item, seed in plan.runs()]
    present = [f"{item.model}@{item.version}" for item in round_.targets]
    sets = len([id for item in before for id in (item.test, item.hidden) if id]) + (2 if fresh else 0)
    return Foreseen(
        task=task,
        round=round_.number,
        closes=round_.state == RoundState.OPEN,
        releases=fresh,
        examples=examples,
        verified=verified,
        rows=rows,
        ancestors=sorted(ages),
        models=models,
        present=present,
        evaluations=sets * len(models),
        rule=rule_text(plan.promote),
        next=(session.scalar(round_queries.last_number(task)) or 0) + 1,
        opens=plan.next.open,
        parents=sorted({round_.number, *plan.next.parents}),
        seconds=_seconds(session, task, plan, round_, rows_after, tested),
    )


def _sizes(session: Session, task: str, before: list[trainer.RoundRelease]) -> tuple[int, int]:
    train = tested = 0
    for ancestor in before:
        release = releases.release_of_round(session, task, ancestor.number)
        released = releases.release_report(release) if release else None
        train += released.parts.get("train", 0) if released else 0
        tested += sum(session.get_one(DatasetVersion, id).rows for id in (ancestor.test, ancestor.hidden) if id)
    return train, tested


def _seconds(session: Session, task: str, plan: TurnPlan, round_: Round, rows: int, tested: int) -> float | None:
    """Estimated seconds of training and evaluation, by the pace of earlier turns and of the present targets."""
    pace: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for method, count, seconds in session.execute(queries.trained_candidates(task)):
        pace[method][0] += seconds or 0.0
        pace[method][1] += count or 0
    if any(not pace[candidate.method][1] for candidate, _seed in plan.runs()):
        return None
    training = sum(rows * pace[candidate.method][0] / pace[candidate.method][1] for candidate, _seed in plan.runs())
    return round(training + len(plan.runs()) * tested * _slowest(session, task, round_), 1)


def _slowest(session: Session, task: str, round_: Round) -> float:
    """Seconds that the slowest present target took for a row; 0 where none was evaluated yet."""
    paces = [0.0]
    for target in round_.targets:
        submission = session.scalar(submission_queries.submission_of_model(task, target.model, target.version))
        answered, seconds = (
            session.execute(scoring_queries.answering_speed(submission.id)).one() if submission else (0, 0.0)
        )
        if answered and seconds:
            paces.append(seconds / answered)
    return max(paces)


def preview_sentences(preview: Foreseen) -> list[str]:
    """Return the preview as translated sentences."""
    sentences = []
    if preview.closes:
        sentences.append(_("Round %(round)s is closed.", round=preview.round))
    if preview.releases:
        sentences.append(
            _(
                "Round %(round)s is released: %(examples)s examples, %(verified)s of them verified.",
                round=preview.round,
                examples=f"{preview.examples:,}",
                verified=f"{preview.verified:,}",
            )
        )
    ancestors = ", ".join(map(str, preview.ancestors))
    sentences.append(
        _("Trained on rounds %(ancestors)s: %(models)s.", ancestors=ancestors, models=", ".join(preview.models))
    )
    sentences.append(
        _(
            "They are evaluated on all rounds (%(count)s evaluations) and compared with %(present)s by the rule "
            "“%(rule)s”.",
            count=preview.evaluations,
            present=", ".join(preview.present),
            rule=preview.rule,
        )
    )
    opened = _("opened") if preview.opens else _("drafted")
    sentences.append(
        _(
            "Round %(next)s, which follows %(parents)s, is %(opened)s with the winning models or "
            "with the current ones.",
            next=preview.next,
            parents=", ".join(map(str, preview.parents)),
            opened=opened,
        )
    )
    if preview.seconds is None:
        sentences.append(_("The duration is not known: nothing was trained for this task in these ways before."))
    else:
        sentences.append(_("Estimated duration from earlier turns: %(time)s.", time=duration_text(preview.seconds)))
    return sentences


def duration_text(seconds: float) -> str:
    """Return a translated duration in seconds, minutes or hours."""
    if seconds < 90:
        return _("%(n)s seconds", n=f"{seconds:.0f}")
    return (
        _("%(n)s minutes", n=f"{seconds / 60:.0f}") if seconds < 5400 else _("%(n)s hours", n=f"{seconds / 3600:.1f}")
    )


class TurnIn(StrictModel):
    """A turn to be started: its round, by default the open one, and the plan as an object with the keys of the YAML."""

    round: int | None = Field(None, ge=1, le=100_000)
    plan: dict[str, Any] = Field({}, description="What is absent is as the plan has it by default.")
