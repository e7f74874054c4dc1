"""Results that others report of models, beside those measured here.

Owners import them, or the models' own cards state them. They are never part of a Dynascore or of a rank.
Where a reader asks for it, the results on one dataset in one metric are put in order together with the
measured ones, and each is marked as reported or measured. Knows no web framework.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from sqlalchemy.orm import Session

from dynabench.benchmark.leaderboards import external_results, queries
from dynabench.benchmark.leaderboards.external_results import ExternalResult
from dynabench.benchmark.leaderboards.tables import Report
from dynabench.benchmark.standings import TaskBoard
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds

MAX_BYTES = 2 * 1024 * 1024  # bytes of a document
MAX_REPORTS = 100  # documents of one task
MAX_LINES = 2000  # results that are listed


def add_report(session: Session, person: Person | None, task: str, content: bytes, source: str) -> Report:
    """Keep the results of a document (owners; None is the operator); `source` is the address that it was taken from.

    Raises `Forbidden`, `TooLarge`, `Invalid` by field, `Conflict` where it is there already or `KEPT` are.
    """
    rounds.require(session, person, Action.MANAGE_REPORTS, task)
    if len(content) > MAX_BYTES:
        raise errors.TooLarge(_("At most %(largest)s MB.", largest=MAX_BYTES // 1024**2))
    source = source.strip()
    if not external_results.ADDRESS.fullmatch(source):
        raise errors.Invalid({"source": _("Give the address where these results are published, with https://.")})
    found = external_results.read_report(content)
    digest = hashlib.sha256(content).hexdigest()
    here = reports_of_task(session, task)
    if any(each.digest == digest and each.removed_at is None for each in here):
        raise errors.Conflict(_("These very results are here already."))
    if len(here) >= MAX_REPORTS:
        raise errors.Conflict(_("%(kept)s imports are kept, which is the limit.", kept=MAX_REPORTS))
    made = Report(task_id=task, form=found.form, source=source, digest=digest, made_at=now())
    made.document = {
        "results": [asdict(each) for each in found.results],
        "left_out": found.left_out[: external_results.MAX_NAMED],
    }
    made.left_out, made.person_id = len(found.left_out), person.id if person else None
    session.add(made)
    session.flush()
    rounds.act(session, person, "report.imported", task=task, report=made.id, results=len(found.results))
    return made


def remove_report(session: Session, person: Person | None, task: str, id: int, removed: bool = True) -> Report:
    """Take an import back, or undo that (owners)."""
    rounds.require(session, person, Action.MANAGE_REPORTS, task)
    found = session.get(Report, id)
    if found is None or found.task_id != task:
        raise errors.NotFound(_("This task has no such import."))
    if removed != (found.removed_at is not None):
        found.removed_at = now() if removed else None
        rounds.act(session, person, "report.removed" if removed else "report.restored", task=task, report=id)
    return found


def reports_of_task(session: Session, task: str) -> list[Report]:
    """The imports of a task, newest first, those that were taken back too."""
    rounds.task(session, task)
    return list(session.scalars(queries.reports_of_task(task)))


@dataclass(frozen=True)
class ReportedLine:
    """A reported result; `report` is its import, None for what a model's own card says, whose name is `page`.

    `on` and `measure` are the board's dataset and metric that it seems to be of, empty where there is none.
    """

    result: ExternalResult
    report: int | None
    origin: str
    page: str = ""
    on: str = ""
    measure: str = ""


def reported_lines(session: Session, board: TaskBoard) -> list[ReportedLine]:
    """Return the results reported on a task, those of cards first, at most `LISTED` results."""
    found = list(_cards(session, board))
    for each in reports_of_task(session, board.config.id):
        if each.removed_at is None:
            found += [ReportedLine(ExternalResult(**told), each.id, each.source) for told in each.document["results"]]
    datasets = _names((each.name, (each.name, each.title, f"{board.config.id}/{each.name}")) for each in board.datasets)
    metrics = _names((each.name, (each.name, each.title, f"{each.title} ({each.unit})")) for each in board.metrics)
    placed = []
    for line in found[:MAX_LINES]:
        on, measure = datasets.get(_plain(line.result.dataset), ""), metrics.get(_plain(line.result.metric), "")
        placed.append(ReportedLine(line.result, line.report, line.origin, line.page, on, measure))
    return placed


def _cards(session: Session, board: TaskBoard) -> Iterable[ReportedLine]:
    named = {entrant.id: entrant for entrant in board.entrants if entrant.model and entrant.name}
    for id, text in session.execute(queries.public_readmes(board.config.id)):
        if id in named:
            for each in external_results.readme_results(text):
                told = ExternalResult(**(asdict(each) | {"model": named[id].name}))
                yield ReportedLine(told, None, "", named[id].model if named[id].kind != "predictions" else "")


def _names(of: Iterable[tuple[str, tuple[str, ...]]]) -> Mapping[str, str]:
    return {_plain(text): name for name, texts in of for text in texts}


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


@dataclass(frozen=True)
class OrderedResult:
    """One line of an order of both kinds; `value` in the metric's unit. `line` is None for what was measured here."""

    name: str
    value: float
    low: float | None
    high: float | None
    line: ReportedLine | None


def ordered_results(board: TaskBoard, told: Iterable[ReportedLine], dataset: str, metric: str) -> list[OrderedResult]:
    """Measured and reported results on one dataset in one metric, best first; raises `NotFound`.

    A number from 0 to 1 that is reported of a metric in percent is a share. Ties keep measured ones first.
    """
    data = next((at for at, each in enumerate(board.datasets) if each.name == dataset), None)
    what = next((at for at, each in enumerate(board.metrics) if each.name == metric), None)
    if data is None or what is None:
        raise errors.NotFound(_("This board has no such dataset or metric."))
    of, column, found = board.metrics[what], board.datasets[data], []
    for entrant in board.entrants:
        cell = board.cell(entrant, column, of)
        if cell is not None and not board.held(entrant, column):
            low, high = (None if limit is None else limit * of.scale for limit in (cell.low, cell.high))
            found.append(OrderedResult(entrant.name, cell.value * of.scale, low, high, None))
    for line in told:
        number = line.result.number
        if (line.on, line.measure) == (dataset, metric) and number is not None:
            share = of.unit == "%" and 0 <= number <= 1 and "%" not in line.result.value
            found.append(OrderedResult(line.result.model, number * 100 if share else number, None, None, line))
    return sorted(found, key=lambda each: -of.direction * each.value)
