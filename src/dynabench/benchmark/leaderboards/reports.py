"""Results that others report of models, beside those measured here. Knows no web framework.

Owners import them, or the models' own cards state them. They are never part of a Dynascore or of a rank. Where a reader
asks for it, the results on one dataset in one metric are put in order together with the measured ones, and each is
marked as reported or measured. Documents are Papers-with-Code's evaluation tables or a model card's `model-index`.
Their authors are not trusted: anything that is no number or no plain text is left out and named.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

import orjson
from sqlalchemy.orm import Session

from dynabench.benchmark.leaderboards import queries
from dynabench.benchmark.leaderboards.tables import Report
from dynabench.benchmark.standings import TaskBoard
from dynabench.evaluate.cards import CardError, split_card
from dynabench.evaluate.cards.model_index import KEY, read_model_index
from dynabench.intake.mapping import bare_letters
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds

MAX_RESULTS = 2000  # results of one document
MAX_NAMED = 50  # results that were left out which are named, and results of one model's README
MAX_FRONT_MATTER = 64 * 1024  # characters of a README's front matter
ADDRESS = re.compile(r"https?://[\x21-\x7e]{3,500}")
NUMBER = re.compile(
    r"\s*([-+]?(?:\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})(?:e[-+]?\d{1,2})?)\s*%?\s*(?:(?:±|\+/?-).{0,40})?", re.I
)


@dataclass(frozen=True)
class ExternalResult:
    """One number as it was reported; `source` says who reports it, `link` is an address or empty."""

    model: str
    dataset: str
    metric: str
    value: str
    source: str = ""
    link: str = ""
    date: str = ""

    @property
    def number(self) -> float | None:
        """The number in `value`, written as `88.6`, `88.6%` or `88.6 ± 0.2`; None where it is not a number."""
        match = NUMBER.fullmatch(self.value)
        return float(match[1]) if match else None


@dataclass
class ParsedReport:
    """The results that a document reports, and a line with the reason for each result left out."""

    form: str
    results: list[ExternalResult] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def read_report(content: bytes) -> ParsedReport:
    """The results in a document of either form; raises `Invalid` (field `file`) where it is neither or has none."""
    report = ParsedReport("")
    report.form, results = _results_by_form(content, report)
    for result in islice(results, MAX_RESULTS + 1):
        where = " · ".join(text for text in (result.model, result.dataset, result.metric) if text) or "a result"
        if not all((result.model, result.dataset, result.metric)):
            report.left_out.append(f"{where}: its model, dataset or metric has no name")
        elif result.number is None:
            report.left_out.append(f"{where}: {result.value or 'nothing'} is no number")
        else:
            report.results.append(result)
    if len(report.results) + len(report.left_out) > MAX_RESULTS:
        raise errors.Invalid(
            {"file": _("Import at most %(most)s results at once. Split the file.", most=f"{MAX_RESULTS:,}")}
        )
    if not report.results:
        reason = f" {report.left_out[0]}." if report.left_out else ""
        raise errors.Invalid({"file": _("No results were recognised in this file.") + reason})
    return report


def _results_by_form(content: bytes, report: ParsedReport) -> tuple[str, Iterator[ExternalResult]]:
    if content.lstrip().startswith(b"---"):
        return "model-index", _models(front_matter(content.decode("utf-8", "replace")), report.left_out)
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as problem:
        raise errors.Invalid(
            {"file": _("This is neither JSON nor the front matter of a model card: %(problem)s.", problem=problem)}
        ) from None
    if _get(document, KEY):
        return "model-index", _models(document, report.left_out)
    return "papers-with-code", _tasks(document)


@lru_cache(maxsize=64)
def readme_results(text: str) -> tuple[ExternalResult, ...]:
    """The results that a README's `model-index` tells, at most `NAMED`; none where it has none."""
    return tuple(islice((result for result in _models(front_matter(text), []) if result.value), MAX_NAMED))


def front_matter(text: str) -> object:
    """Return the values of a model card's front matter; None where there is none, or it is unreadable or too long."""
    try:
        card = split_card(text)
        return card.metadata() if len(card.block or "") <= MAX_FRONT_MATTER else None
    except CardError:
        return None


def _models(matter: object, left_out: list[str]) -> Iterator[ExternalResult]:
    """The results of a card, as `evaluate/cards` reads them; those of another shape are named in `left_out`."""
    index = _get(matter, KEY)
    if not isinstance(index, list):
        return
    unreadable: list[str] = []
    for model in read_model_index(index, unreadable):
        for result in model.results:
            data = _text(result.dataset_name) or _text(result.dataset_type)
            metric = _text(result.metric_name) or _text(result.metric_type)
            source, link = _text(result.source_name), _address(result.source_url)
            yield ExternalResult(_text(model.name), data, metric, _text(result.metric_value), source, link)
    left_out += filter(None, map(_text, unreadable[:MAX_RESULTS]))


def _tasks(document: object) -> Iterator[ExternalResult]:
    """Of tasks with their subtasks and datasets with their subdatasets, in whatever depth."""
    waiting = _maps(document) or _maps([document])
    while waiting:
        entry = waiting.pop(0)
        waiting += _maps(entry.get("subtasks")) + _maps(entry.get("datasets")) + _maps(entry.get("subdatasets"))
        data = _text(entry.get("dataset")) or _text(entry.get("subdataset"))
        for row in _maps(_get(entry.get("sota"), "rows")):
            link = _address(row.get("paper_url"))
            metrics = row.get("metrics")
            for metric, value in metrics.items() if isinstance(metrics, Mapping) else ():
                date = _text(row.get("paper_date"))[:10]
                title = _text(row.get("paper_title"))
                yield ExternalResult(_text(row.get("model_name")), data, _text(metric), _text(value), title, link, date)


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _maps(value: object) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _text(value: object) -> str:
    """One line of it; empty where it is no text, or has signs that cannot be shown."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return ""
    try:
        text = " ".join(str(value).split())[:200]
    except ValueError:  # a whole number of thousands of digits
        return ""
    return text if text.isprintable() else ""


def _address(value: object) -> str:
    text = _text(value)
    return text if ADDRESS.fullmatch(text) else ""


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
    if not ADDRESS.fullmatch(source):
        raise errors.Invalid({"source": _("Give the address where these results are published, with https://.")})
    parsed = read_report(content)
    digest = hashlib.sha256(content).hexdigest()
    here = reports_of_task(session, task)
    if any(earlier.digest == digest and earlier.removed_at is None for earlier in here):
        raise errors.Conflict(_("These results are already imported."))
    if len(here) >= MAX_REPORTS:
        raise errors.Conflict(_("There are already %(kept)s imports, which is the limit.", kept=MAX_REPORTS))
    report = Report(task_id=task, form=parsed.form, source=source, digest=digest, made_at=now())
    report.document = {
        "results": [asdict(earlier) for earlier in parsed.results],
        "left_out": parsed.left_out[:MAX_NAMED],
    }
    report.left_out, report.person_id = len(parsed.left_out), person.id if person else None
    session.add(report)
    session.flush()
    rounds.record_act(session, person, "report.imported", task=task, report=report.id, results=len(parsed.results))
    return report


def remove_report(session: Session, person: Person | None, task: str, id: int, removed: bool = True) -> Report:
    """Take an import back, or undo that (owners)."""
    rounds.require(session, person, Action.MANAGE_REPORTS, task)
    report = session.get(Report, id)
    if report is None or report.task_id != task:
        raise errors.NotFound(_("This task has no such import."))
    if removed != (report.removed_at is not None):
        report.removed_at = now() if removed else None
        rounds.record_act(session, person, "report.removed" if removed else "report.restored", task=task, report=id)
    return report


def reports_of_task(session: Session, task: str) -> list[Report]:
    """The imports of a task, newest first, those that were taken back too."""
    rounds.get_task(session, task)
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
    lines = list(_cards(session, board))
    for entry in reports_of_task(session, board.config.id):
        if entry.removed_at is None:
            lines += [
                ReportedLine(ExternalResult(**result), entry.id, entry.source) for result in entry.document["results"]
            ]
    datasets = _names(
        (entry.name, (entry.name, entry.title, f"{board.config.id}/{entry.name}")) for entry in board.datasets
    )
    metrics = _names(
        (entry.name, (entry.name, entry.title, f"{entry.title} ({entry.unit})")) for entry in board.metrics
    )
    placed = []
    for line in lines[:MAX_LINES]:
        on = datasets.get(bare_letters(line.result.dataset), "")
        measure = metrics.get(bare_letters(line.result.metric), "")
        placed.append(ReportedLine(line.result, line.report, line.origin, line.page, on, measure))
    return placed


def _cards(session: Session, board: TaskBoard) -> Iterable[ReportedLine]:
    named = {entrant.id: entrant for entrant in board.entrants if entrant.model and entrant.name}
    for id, text in session.execute(queries.public_readmes(board.config.id)):
        if id in named:
            for result in readme_results(text):
                named_result = ExternalResult(**(asdict(result) | {"model": named[id].name}))
                yield ReportedLine(named_result, None, "", named[id].model if named[id].kind != "predictions" else "")


def _names(entries: Iterable[tuple[str, tuple[str, ...]]]) -> Mapping[str, str]:
    return {bare_letters(text): name for name, texts in entries for text in texts}


@dataclass(frozen=True)
class OrderedResult:
    """One line of an order of both kinds; `value` in the metric's unit. `line` is None for what was measured here."""

    name: str
    value: float
    low: float | None
    high: float | None
    line: ReportedLine | None


def ordered_results(board: TaskBoard, lines: Iterable[ReportedLine], dataset: str, metric: str) -> list[OrderedResult]:
    """Measured and reported results on one dataset in one metric, best first; raises `NotFound`.

    A number from 0 to 1 that is reported of a metric in percent is a share. Ties keep measured ones first.
    """
    dataset_place = next((at for at, entry in enumerate(board.datasets) if entry.name == dataset), None)
    metric_place = next((at for at, entry in enumerate(board.metrics) if entry.name == metric), None)
    if dataset_place is None or metric_place is None:
        raise errors.NotFound(_("This board has no such dataset or metric."))
    measure, column, results = board.metrics[metric_place], board.datasets[dataset_place], []
    for entrant in board.entrants:
        cell = board.cell(entrant, column, measure)
        if cell is not None and not board.held(entrant, column):
            low, high = (None if limit is None else limit * measure.scale for limit in (cell.low, cell.high))
            results.append(OrderedResult(entrant.name, cell.value * measure.scale, low, high, None))
    for line in lines:
        number = line.result.number
        if (line.on, line.measure) == (dataset, metric) and number is not None:
            share = measure.unit == "%" and 0 <= number <= 1 and "%" not in line.result.value
            results.append(OrderedResult(line.result.model, number * 100 if share else number, None, None, line))
    return sorted(results, key=lambda entry: -measure.direction * entry.value)
