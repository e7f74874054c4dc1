"""The public pages: the first page, a task, a round."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy.orm import Session, selectinload

from dynabench.collection import boards, eligibility, folding, programs
from dynabench.collection import statistics as target_figures
from dynabench.collection.attributions import round_overlap
from dynabench.collection.statistics import ExampleFigures, RoundStatistics, statistics
from dynabench.collection.tables import Example, Standing
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds import views
from dynabench.rounds.schemas import RoundOut
from dynabench.rounds.tables import Context, Round, RoundState
from dynabench.stats.rates import ErrorCounts, Rate, error_rates
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Field
from dynabench.tasks.fields.spans import Spans
from dynabench.web import charts
from dynabench.web.charts import Chart

WRITERS = {"person": _("person"), "expert": _("expert"), "owner": _("owner"), "program": _("program")}
TASKS = 50  # on the first page
SPECIMENS = 3
LONGEST = 260  # characters of a context that a card shows
LATELY = 500  # newest verified examples that the first page chooses from


data_findings: list[Callable[[Session, Round], Sequence[tuple[str, str, str]]]] = []
"""Functions of higher packages that return public findings on a round's data: (anchor, title, finding)."""


def started(session: Session, task_id: str) -> list[Round]:
    """A task's rounds that were opened, newest first."""
    rounds.get_task(session, task_id)
    return views.started_rounds(session, task_id)


def page_head(session: Session, task_id: str) -> dict[str, Any]:
    """Return the values for the head of a task's pages: its config, and its open round, else its newest one."""
    current = views.current_round(started(session, task_id))
    round_view = views.round_out(session, current) if current else None
    return {"config": rounds.task_config(session, task_id), "round": round_view}


def chosen_round(session: Session, task_id: str, number: int | None) -> Round:
    """Round `number`; without a number the one that is open, else the newest."""
    opened_rounds = started(session, task_id)
    if number is not None:
        opened_rounds = [round_ for round_ in opened_rounds if round_.number == number]
    current = views.current_round(opened_rounds)
    if current is None:
        raise errors.NotFound(_("There is no such round of this task."))
    return current


def history(session: Session, task_rounds: Sequence[Round]) -> list[tuple[int, Rate]]:
    """The vMER of rounds, oldest first."""
    rows = {
        row.round_id: row
        for row in session.execute(boards.sums([round_.id for round_ in task_rounds], boards.controls(task_rounds)))
    }
    counts = {
        id: ErrorCounts(*(int(getattr(r, field.name)) for field in fields(ErrorCounts))) for id, r in rows.items()
    }
    return [(round_.number, error_rates(counts.get(round_.id, ErrorCounts())).vmer) for round_ in reversed(task_rounds)]


@dataclass(frozen=True)
class RoundLine:
    """A round in the list of a task's rounds."""

    round: RoundOut
    examples: int
    verified: int
    vmer: Rate


def rounds_page(session: Session, task_id: str) -> dict[str, Any]:
    """Return the values for the list of a task's rounds, newest first."""
    task_rounds = started(session, task_id)
    totals = boards.sums([round_.id for round_ in task_rounds], boards.controls(task_rounds))
    sums = {row.round_id: row for row in session.execute(totals)}
    rates = dict(history(session, task_rounds))
    lines = []
    for round_ in task_rounds:
        row = sums.get(round_.id)
        examples, verified = (int(row.examples), int(row.validated)) if row else (0, 0)
        lines.append(RoundLine(views.round_out(session, round_), examples, verified, rates[round_.number]))
    return {"task": task_id, "lines": lines, **page_head(session, task_id)}


@dataclass(frozen=True)
class Excerpt:
    """A field of an example as a card shows it: its `read` template draws `value` among the values `beside` it."""

    field: Field
    value: Any
    beside: Mapping[str, Any]


def _answer_in_words(config: TaskConfig, answer: dict[str, Any]) -> str:
    return ", ".join(field.in_words(answer[field.name]) for field in config.answer if field.name in answer)


def specimens(session: Session, task_id: str | None, limit: int) -> list[dict[str, Any]]:
    """Verified examples that fooled: of one task the newest; else the newest of each task in turn, of the last few.

    None of tasks whose contents need a warning: public pages show nothing of them.
    """
    task_ids = [task_id] if task_id else [task.id for task in session.scalars(round_queries.tasks("", TASKS))]
    task_ids = [id_ for id_ in task_ids if not rounds.task_config(session, id_).content_warning]
    statement = boards.verified(task_ids)
    if task_id is None:
        turns = Counter[str]()
        places: dict[int, tuple[int, int]] = {}
        lately = statement.with_only_columns(Example.id, Round.task_id).limit(LATELY)
        for place, (id_, task) in enumerate(session.execute(lately)):
            places[id_] = (turns[task], place)
            turns[task] += 1
        statement = statement.where(Example.id.in_(sorted(places, key=places.__getitem__)[:limit]))
    rows = session.execute(statement.limit(limit).options(selectinload(Example.predictions))).all()
    return [specimen(session, example, standing, round_) for example, standing, round_ in rows]


def person_specimens(session: Session, person_id: int, limit: int) -> list[dict[str, Any]]:
    """A person's newest verified examples that fooled, of released rounds: these are public with all that they say.

    None of tasks whose contents need a warning.
    """
    task_ids = [
        task_id
        for task_id in session.scalars(boards.released_tasks(person_id))
        if not rounds.task_config(session, task_id).content_warning
    ]
    statement = boards.verified(task_ids).where(Example.author_id == person_id, Round.state == RoundState.RELEASED)
    rows = session.execute(statement.limit(limit).options(selectinload(Example.predictions))).all()
    return [specimen(session, example, standing, round_) for example, standing, round_ in rows]


def specimen(session: Session, example: Example, standing: Standing, round_: Round) -> dict[str, Any]:
    """Return an example as a card shows it, with the answers of the models that it fooled, else of all models."""
    config = rounds.config_of(session, example.version_id)
    context = config.shown_context(session.get_one(Context, example.context_id).values)
    return {
        "task": round_.task_id,
        "task_name": config.name,
        "round": round_.number,
        "context": _excerpts(config, context, example.answer),
        "input": [
            Excerpt(field, example.input[field.name], context) for field in config.input if field.name in example.input
        ],
        "answer": _answer_in_words(config, example.answer),
        "said": [
            (prediction.model, _answer_in_words(config, prediction.answer))
            for prediction in example.predictions
            if prediction.errs or not standing.fooled
        ],
        "votes": standing.votes,
    }


def _excerpts(config: TaskConfig, context: dict[str, Any], answer: dict[str, Any]) -> list[Excerpt]:
    """A context's fields, without pictures that were only chosen from; long texts are cut to what stands around the
    answer where it is marked in them."""
    starts = {}
    for field in config.answer:
        spans = answer.get(field.name)
        if isinstance(field, Spans) and isinstance(spans, list) and spans:
            starts[field.of] = int(spans[0]["start"])
    return [
        Excerpt(field, excerpt(value, starts.get(field.name, 0)) if isinstance(value, str) else value, context)
        for field in config.context
        if field.name not in config.offered and (value := context.get(field.name)) is not None
    ]


def excerpt(text: str, at: int = 0, longest: int = LONGEST) -> str:
    """At most about `longest` characters of a text around the place `at`, cut between words, with dots where it is."""
    if len(text) <= longest:
        return text
    start = max(0, min(at - longest // 3, len(text) - longest))
    start = text.find(" ", start) + 1 if start else 0
    end = text.rfind(" ", start, start + longest) if start + longest < len(text) else len(text)
    end = end if end > start else min(start + longest, len(text))
    return f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"


def task_page(session: Session, task_id: str) -> dict[str, Any]:
    """A task's first page."""
    opened_rounds = started(session, task_id)
    current = views.current_round(opened_rounds)
    figures = statistics(session, current, by=()) if current else None
    return {
        "task": task_id,
        "config": rounds.task_config(session, task_id),
        "round": views.round_out(session, current) if current else None,
        "numbers": [round_.number for round_ in opened_rounds],
        "owners": [person.public_name for person in session.scalars(round_queries.owners(task_id))],
        "statistics": figures,
        "targets": _targets(session, current, figures) if current and figures else [],
        "lower_bound": target_figures.is_lower_bound(session, current) if current else False,
        "chart": charts.rate_over_rounds(history(session, opened_rounds), _target_names(session, opened_rounds)),
        "examples": specimens(session, task_id, SPECIMENS),
    }


TOP_WRITERS = 3


def round_page(session: Session, viewer: Person | None, task_id: str, number: int) -> dict[str, Any]:
    """The figures of one round."""
    current = chosen_round(session, task_id, number)
    figures = statistics(session, current)
    out: RoundOut = views.round_out(session, current)
    return {
        "task": task_id,
        "config": rounds.config_of(session, current.version_id),
        "round": out,
        "numbers": [round_.number for round_ in started(session, task_id)],
        "statistics": figures,
        "targets": _targets(session, current, figures),
        "lower_bound": target_figures.is_lower_bound(session, current),
        "charts": _charts(figures),
        "programs": programs.board(session, current),
        "waiting": session.scalar(boards.waiting(current.id)),
        "overlap": round_overlap(session, current),
        "goals": eligibility.goals(session, current),
        "writers": boards.board(session, current, viewer, limit=TOP_WRITERS),
        "written": figures.total.counts.examples,
        "verified_count": figures.total.counts.validated,
        "findings": [finding for read in data_findings for finding in read(session, current)],
    }


def _targets(session: Session, round_: Round, figures: RoundStatistics) -> list[tuple[str, ExampleFigures]]:
    """Each model's label and own figures; none where there is one, whose figures the round's are."""
    figures_by_target = target_figures.by_target(session, round_, figures.total)
    return [
        (target_figures.label(target, list(figures_by_target)), own_figures)
        for target, own_figures in figures_by_target.items()
        if len(figures_by_target) > 1
    ]


def _charts(figures: RoundStatistics) -> list[Chart]:
    by = figures.by
    daily, cumulative = (
        [(day, day_figures.clustered.mer, day_figures.clustered.vmer) for day, day_figures in days.items()]
        for days in (by["day"], figures.cumulative)
    )
    possible_charts = [
        charts.rates_per_day(daily, cumulative),
        _by(by["start"], folding.STARTS),
        _by(by["source"], WRITERS),
    ]
    return [chart for chart in possible_charts if chart]


def _by(figures: Mapping[str, ExampleFigures], names: Mapping[str, str]) -> Chart | None:
    return charts.rates_by_condition(
        [(names.get(name, name), condition_figures.rates.vmer) for name, condition_figures in figures.items()]
    )


def _target_names(session: Session, task_rounds: Sequence[Round]) -> list[str]:
    """The names of the targets of rounds, oldest first."""
    views_of_rounds = [views.round_out(session, round_) for round_ in reversed(task_rounds)]
    return [", ".join(target.model for target in view.targets) for view in views_of_rounds]
