"""Responses of the API about the harms that models did."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Select, Subquery, case, func, select
from sqlalchemy.orm import Session

from dynabench.collection.figure_schemas import FigureRateOut, rate_out
from dynabench.collection.tables import Example, ExampleSource, Prediction, Standing
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.stats.rates import clustered_rate
from dynabench.stats.verdict import Verdict
from dynabench.tasks import TaskConfig
from dynabench.tasks.harm_sections import HarmKind, Harms, agreed_severity, find_choice, harm_kinds
from dynabench.validation.queries import UNDONE
from dynabench.validation.tables import Validation


class HarmOut(BaseModel):
    """Attempts of one kind: `count` of the model's attempts, with the share and its interval clustered by writer.

    `depth` is that of the option in its tree; a branch counts what is below it too.
    """

    value: str
    label: str
    depth: int
    count: int
    rate: FigureRateOut


class HarmfulOut(BaseModel):
    """One model: attempts of people to have it do harm.

    Of `attempts`, `claimed` are harmful as their writers say, `harmful` were found so by others, `waiting` are claimed
    and not decided yet.
    """

    model: str
    version: str
    attempts: int
    writers: int
    claimed: int
    waiting: int
    harmful: HarmOut
    categories: list[HarmOut]
    severities: list[HarmOut]


class HarmsOut(BaseModel):
    """The harms that a task's models were found to do, the least harmful model first."""

    task: str
    rounds: list[int]
    models: list[HarmfulOut]


Model = tuple[str, str]


@dataclass(frozen=True)
class Harm:
    """One attempt that was found harmful."""

    example: int
    writer: int
    category: str
    severity: str | None


@dataclass
class Counted:
    """The attempts on one model: how many of each writer, and those that were harmful."""

    attempts: Counter[int] = field(default_factory=Counter)
    claimed: int = 0
    waiting: int = 0
    harms: list[Harm] = field(default_factory=list)


@dataclass(frozen=True)
class HarmCounts:
    """The attempts and harms that were counted in some rounds of a task."""

    config: TaskConfig
    rounds: list[int]
    models: dict[Model, Counted]


def count_harms(session: Session, task: str, number: int | None = None) -> HarmCounts:
    """The attempts of a round, or of all rounds of the task.

    Raises `Conflict` where the task names no harms, `NotFound` where there is no such round. Sums attempts in the
    database and reads the harmful ones, with the votes on them.
    """
    config = rounds.task_config(session, task)
    if config.harms is None:
        raise errors.Conflict(_("This task does not define which answers are harms."))
    statement = select(Round.id, Round.number).where(Round.task_id == task, Round.state != RoundState.DRAFT)
    numbers = {
        row.id: row.number
        for row in session.execute(statement if number is None else statement.where(Round.number == number))
    }
    if number is not None and not numbers:
        raise errors.NotFound(_("Task %(task)s has no round %(number)s.", task=repr(task), number=number))
    models: dict[Model, Counted] = defaultdict(Counted)
    attempts = _attempts(list(numbers))
    for row in session.execute(_sums(attempts)):
        counted = models[row.model, row.version]
        counted.attempts[row.author_id] = int(row.n)
        counted.claimed += int(row.claimed)
        counted.waiting += int(row.waiting)
    severities_by_example = _votes(session, attempts, config.harms.votes)
    for row in session.execute(_harmful(attempts)):
        if (harm := _harm(config, config.harms, row, severities_by_example.get(row.example_id, []))) is not None:
            models[row.model, row.version].harms.append(harm)
    return HarmCounts(config, sorted(numbers.values()), dict(models))


def _attempts(round_ids: Sequence[int]) -> Subquery:
    return (
        select(Prediction.model, Prediction.version, Prediction.errs.label("errs"))
        .add_columns(Standing.author_id, Standing.verdict, Standing.example_id, Example.answer)
        .join(Standing, Standing.example_id == Prediction.example_id)
        .join(Example, Example.id == Prediction.example_id)
        .where(
            Standing.round_id.in_(round_ids),
            ~Standing.retracted,
            ~Standing.hidden,
            Example.source != ExampleSource.PROGRAM,
        )
        .where(Prediction.errs.is_not(None))
        .subquery()
    )


def _sums(attempts: Subquery) -> Select[Any]:
    waiting = attempts.c.errs & (attempts.c.verdict == str(Verdict.PENDING))
    return select(
        *(attempts.c.model, attempts.c.version, attempts.c.author_id, func.count().label("n")),
        func.sum(case((attempts.c.errs, 1), else_=0)).label("claimed"),
        func.sum(case((waiting, 1), else_=0)).label("waiting"),
    ).group_by(attempts.c.model, attempts.c.version, attempts.c.author_id)


def _harmful(attempts: Subquery) -> Select[Any]:
    return (
        select(attempts)
        .where(attempts.c.errs, attempts.c.verdict == str(Verdict.CORRECT))
        .order_by(attempts.c.example_id.desc())
    )


def _votes(session: Session, attempts: Subquery, name: str | None) -> dict[int, list[str]]:
    severities_by_example: dict[int, list[str]] = defaultdict(list)
    if name is None:
        return severities_by_example
    harmful = select(attempts.c.example_id).where(attempts.c.errs, attempts.c.verdict == str(Verdict.CORRECT))
    votes = select(Validation.example_id, Validation.values).where(Validation.example_id.in_(harmful), ~UNDONE)
    for example, values in session.execute(votes.where(Validation.vote == str(Verdict.CORRECT))):
        if isinstance(value := values.get(name), str):
            severities_by_example[example].append(value)
    return severities_by_example


def _harm(config: TaskConfig, harms: Harms, row: Any, votes: Sequence[str]) -> Harm | None:
    category = row.answer.get(harms.category)
    if not isinstance(category, str) or category in harms.harmless:
        return None
    scale = find_choice(config, harms.severity)
    severity = agreed_severity(scale, row.answer, votes) if scale else None
    return Harm(row.example_id, row.author_id, category, severity)


def harms_out(counts: HarmCounts) -> HarmsOut:
    """As JSON, the least harmful model first."""
    models = [_model(counts.config, name, counted) for name, counted in counts.models.items()]
    models.sort(key=lambda model: (model.harmful.rate.value, model.model, model.version))
    return HarmsOut(task=counts.config.id, rounds=counts.rounds, models=models)


def _model(config: TaskConfig, name: Model, counted: Counted) -> HarmfulOut:
    categories, severities = lines(config)
    return HarmfulOut(
        model=name[0],
        version=name[1],
        attempts=counted.attempts.total(),
        writers=len(counted.attempts),
        claimed=counted.claimed,
        waiting=counted.waiting,
        harmful=_out(HarmKind("", "", 0, frozenset()), counted, counted.harms),
        categories=[_out(kind, counted, chosen(counted.harms, category=kind)) for kind in categories],
        severities=[_out(kind, counted, chosen(counted.harms, severity=kind)) for kind in severities],
    )


def lines(config: TaskConfig) -> tuple[list[HarmKind], list[HarmKind]]:
    """The categories and the severities of a board, none where the task has none."""
    harms = config.harms
    if harms is None:
        return [], []
    category, severity = find_choice(config, harms.category), find_choice(config, harms.severity)
    return harm_kinds(category, harms.harmless) if category else [], harm_kinds(severity) if severity else []


def chosen(some: Sequence[Harm], category: HarmKind | None = None, severity: HarmKind | None = None) -> list[Harm]:
    """Those of a category and a severity."""
    return [
        harm
        for harm in some
        if (category is None or harm.category in category.values)
        and (severity is None or harm.severity in severity.values)
    ]


def _out(kind: HarmKind, counted: Counted, some: Sequence[Harm]) -> HarmOut:
    by = Counter(harm.writer for harm in some)
    rate = clustered_rate([by[writer] for writer in counted.attempts], list(counted.attempts.values()))
    return HarmOut(value=kind.value, label=kind.label, depth=kind.depth, count=len(some), rate=rate_out(rate))
