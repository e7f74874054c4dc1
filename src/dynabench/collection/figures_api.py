"""JSON schemas of a round's arms, and of judgements compared with verdicts."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from dynabench.collection import boards, eligibility, figures, programs, statistics
from dynabench.collection.assisting import figures as assistance
from dynabench.collection.assisting.figures import Helped
from dynabench.collection.figure_schemas import (
    AnnotatorOut,
    AnnotatorsOut,
    BreakdownLineOut,
    BreakdownOut,
    FigureRateOut,
    GoalOut,
    LeftOut,
    RoundProgressOut,
    rate_out,
)
from dynabench.collection.figures import Annotator, ArmLine, FigureLine
from dynabench.collection.schemas import ProgramsOut
from dynabench.collection.statistics import Calibration
from dynabench.kit import errors
from dynabench.kit.api import Db
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member, Viewer, needs
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds import views
from dynabench.rounds.plan import parse_plan
from dynabench.rounds.schemas import ArmOut, Number
from dynabench.rounds.tables import Round
from dynabench.stats.clusters import ClusteredEstimate
from dynabench.stats.rates import ErrorRates


class EstimateOut(BaseModel):
    """A number with its 95 % interval, clustered by person; `p` is corrected for the number of arms."""

    value: float | None
    low: float | None
    high: float | None
    p: float | None = None

    @classmethod
    def of(cls, estimate: ClusteredEstimate) -> "EstimateOut":
        """As JSON."""
        return cls(value=estimate.value, low=estimate.low, high=estimate.high, p=estimate.p)


class ArmFiguresOut(BaseModel):
    """The figures of one arm."""

    arm: ArmOut
    people: int
    handouts: int
    skipped: int = Field(description="Handouts that their person left for another without a try.")
    examples: int
    unknown: int = Field(description="Nobody knows (yet) whether a model was fooled; these are in no rate of it.")
    mer: FigureRateOut
    vmer: FigureRateOut
    verified: FigureRateOut = Field(description="Found correct, of all with a final verdict.")
    seconds: EstimateOut = Field(description="Per example.")
    from_first: dict[str, EstimateOut] = Field(description="Differences from the first arm, by measure.")

    @classmethod
    def of(cls, line: ArmLine) -> "ArmFiguresOut":
        """As JSON."""
        rates = {name: rate_out(rate) for name, rate in line.rates.items()}
        differences = {name: EstimateOut.of(estimate) for name, estimate in line.from_first.items()}
        return cls(
            arm=ArmOut.model_validate(line.arm),
            people=line.people,
            handouts=line.handouts,
            skipped=line.skipped,
            examples=line.examples,
            unknown=line.unknown,
            seconds=EstimateOut.of(line.seconds),
            from_first=differences,
            **rates,
        )


class HelpedArmOut(BaseModel):
    """Counts of examples by outcome of suggestions, in an arm that offers help with writing."""

    arm: str
    examples: int
    accepted: int
    edited: int
    ignored: int
    unasked: int = Field(description="Its author had seen no suggestion.")
    mer_used: FigureRateOut = Field(
        description="Of those that a suggestion was used for, which people choose themselves."
    )
    mer_unused: FigureRateOut


class AssistanceOut(BaseModel):
    """Arms with help with writing against those without."""

    items: list[HelpedArmOut]
    with_help: FigureRateOut
    without: FigureRateOut
    difference: EstimateOut

    @classmethod
    def of(cls, helped: Helped) -> "AssistanceOut":
        """As JSON."""
        items = [
            HelpedArmOut(
                arm=line.arm,
                examples=line.examples,
                mer_used=rate_out(line.mer["used"]),
                mer_unused=rate_out(line.mer["unused"]),
                **line.outcomes,
            )
            for line in helped.lines
        ]
        rates = {"with_help": rate_out(helped.with_help), "without": rate_out(helped.without)}
        return cls(items=items, difference=EstimateOut.of(helped.difference), **rates)


class ArmsOut(BaseModel):
    """The arms of a round in their order; `assistance` where some offer help with writing."""

    items: list[ArmFiguresOut]
    assistance: AssistanceOut | None = None


class CalibrationOut(BaseModel):
    """Judgements beside verdicts: how often who judges (`annotator` or `model`) is found right."""

    judge: str
    model: str
    both: int = Field(description="Judged wrong and found wrong.")
    judged_only: int
    found_only: int
    neither: int
    agreement: FigureRateOut
    precision: FigureRateOut
    recall: FigureRateOut

    @classmethod
    def of(cls, calibration: Calibration) -> "CalibrationOut":
        """As JSON."""
        counts = {name: getattr(calibration, name) for name in ("both", "judged_only", "found_only", "neither")}
        rates = {name: rate_out(getattr(calibration, name)) for name in ("agreement", "precision", "recall")}
        return cls(judge=calibration.judge, model=calibration.model, **counts, **rates)


router = APIRouter()

AuthorGroup = Literal["people", "crowd", "experts", "owners", "programs"]
By = Literal["target", "arm", "start", "source", "tag", "day"]
Sort = Literal["examples", "fooled", "validated", "mer", "vmer", "retracted", "hidden"]


@router.get("/tasks/{task}/rounds/{n}/figures")
@needs("manage")
async def read_figures(
    db: Db, task: str, n: Number, person: Member, by: By = "arm", who: AuthorGroup = "people"
) -> BreakdownOut:
    """A round's error rates by target, arm, start, source, tag or day, over examples of `who` (owners, moderators)."""

    def read(session: Session) -> BreakdownOut:
        breakdown = figures.figures(session, _round(session, person, task, n), [by], who)
        items = [line_out(line) for line in breakdown.by[by]]
        return BreakdownOut(by=by, who=who, total=line_out(breakdown.total), items=items)

    return await db.aread(read)


@router.get("/tasks/{task}/rounds/{n}/progress")
async def read_progress(db: Db, task: str, n: Number, viewer: Viewer) -> RoundProgressOut:
    """Return the progress of a round towards its goals, and how many examples you may still write in it now."""

    def read(session: Session) -> RoundProgressOut:
        views.visible_round(session, viewer, task, n)
        round_ = rounds.round_of(session, task, n)
        goals = [
            GoalOut(name=goal.name, wanted=goal.required, reached=goal.reached)
            for goal in eligibility.goals(session, round_)
        ]
        quota = eligibility.quota(session, viewer.id, round_.id, parse_plan(round_.plan)) if viewer else None
        remaining = LeftOut(left=quota.remaining, for_good=quota.for_good, resets_at=quota.resets) if quota else None
        return RoundProgressOut(goals=goals, mine=remaining)

    return await db.aread(read)


@router.get("/tasks/{task}/rounds/{n}/annotators")
@needs("manage")
async def read_annotators(
    db: Db,
    task: str,
    n: Number,
    person: Member,
    sort: Sort = "validated",
    who: AuthorGroup = "people",
    after: Annotated[str, Query(max_length=9)] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> AnnotatorsOut:
    """A round's annotators with their error rates (owners, moderators), most of `sort` first."""
    start = boards.place_from(after)

    def read(session: Session) -> AnnotatorsOut:
        round_ = _round(session, person, task, n)
        annotators, more = figures.annotators(session, round_, authors=who, sort=sort, after=start, limit=limit)
        return AnnotatorsOut(
            items=[_annotator(annotator) for annotator in annotators], next=str(more) if more else None
        )

    return await db.aread(read)


@router.get("/tasks/{task}/rounds/{n}/arms")
@needs("manage")
async def read_arms(db: Db, task: str, n: Number, person: Member) -> ArmsOut:
    """Return the figures of each arm of a round, and its differences from the first (owners, moderators)."""

    def read(session: Session) -> ArmsOut:
        round_ = _round(session, person, task, n)
        items = [ArmFiguresOut.of(line) for line in figures.lines(session, round_)]
        helped = assistance.helped(session, round_)
        return ArmsOut(items=items, assistance=AssistanceOut.of(helped) if helped else None)

    return await db.aread(read)


@router.get("/tasks/{task}/rounds/{n}/programs")
async def read_programs(db: Db, task: str, n: Number, viewer: Viewer) -> ProgramsOut:
    """The programs that proposed examples in a round, what that took them, and people beside them."""

    def read(session: Session) -> ProgramsOut:
        views.visible_round(session, viewer, task, n)
        return programs.board_out(programs.board(session, rounds.round_of(session, task, n)))

    return await db.aread(read)


@router.get("/tasks/{task}/rounds/{n}/calibration")
@needs("manage")
async def read_calibration(db: Db, task: str, n: Number, person: Member) -> CalibrationOut:
    """Return how often validators find the authors, or the judge model, right (owners, moderators).

    `Conflict` where the task's rule has no judge.
    """

    def read(session: Session) -> CalibrationOut:
        calibration = statistics.calibration(session, _round(session, person, task, n))
        if calibration is None:
            raise errors.Conflict(_("In this round only validators judge answers."))
        return CalibrationOut.of(calibration)

    return await db.aread(read)


def _round(session: Session, person: Person, task: str, n: int) -> Round:
    rounds.require(session, person, Action.READ_FIGURES, task)
    return rounds.round_of(session, task, n)


def _rates(rates: ErrorRates) -> dict[str, FigureRateOut]:
    named = {"mer": rates.mer, "vmer": rates.vmer, "vmer_resolved": rates.vmer_resolved}
    return {name: rate_out(rate) for name, rate in named.items()}


def _counts(line: FigureLine | Annotator) -> dict[str, Any]:
    names = ("examples", "fooled", "validated", "resolved", "unknown")
    return {name: getattr(line.counts, name) for name in names} | {"retracted": line.retracted, "hidden": line.hidden}


def line_out(line: FigureLine) -> BreakdownLineOut:
    """A line of figures as programs see it."""
    values = {"value": line.value, "people": line.people, "clustered": _rates(line.clustered)}
    return BreakdownLineOut.model_validate(values | _counts(line) | _rates(line.rates))


def _annotator(annotator: Annotator) -> AnnotatorOut:
    rates = _rates(annotator.rates)
    return AnnotatorOut.model_validate(
        {"name": annotator.name, "mer": rates["mer"], "vmer": rates["vmer"]} | _counts(annotator)
    )
