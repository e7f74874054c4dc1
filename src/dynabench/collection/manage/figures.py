"""A round's figures for those who run it: by condition, tag, day and annotator; experts and programs apart."""

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import boards, figures, overview, statistics
from dynabench.collection.assisting import figures as assistance
from dynabench.collection.figures import Annotator, FigureLine
from dynabench.collection.figures_api import AuthorGroup, Sort
from dynabench.collection.folding import STARTS
from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response
from dynabench.kit.language import _
from dynabench.rounds import views
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskModerator
from dynabench.rounds.tables import Round
from dynabench.stats.rates import Rate
from dynabench.web import charts

router = APIRouter()

VIEWS = {
    "conditions": ("target", "arm", "start", "source"),
    "arms": (),
    "day": ("day",),
    "tag": ("tag",),
    "annotator": (),
}
ABOUT = {
    "target": _("Model"),
    "arm": _("Condition"),
    "start": _("Start"),
    "source": _("Author"),
    "tag": _("Tag"),
    "day": _("Day (UTC)"),
}
WRITERS = {"person": _("annotators"), "expert": _("experts"), "owner": _("owners"), "program": _("programs")}
NAMES = {"source": WRITERS, "start": STARTS}
PAGE_SIZE = 25
HEADER = ("examples", "fooled", "validated", "resolved", "retracted", "hidden", "people")

View = Annotated[str, Query(max_length=20)]
Number = Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1)]
After = Annotated[str, Query(max_length=9)]


def chosen(session: Session, task: str, number: int | None) -> Round | None:
    """The round asked for; without a number the open one, else the newest that was opened, or None."""
    if number is not None:
        return overview.chosen_round(session, task, number)
    return views.current_round(views.started_rounds(session, task))


@router.get("/tasks/{task}/manage/figures", name="manage_figures")
async def show(
    request: Request,
    db: Db,
    task: str,
    person: TaskModerator,
    view: View = "conditions",
    who: AuthorGroup = "people",
    number: Number = None,
    sort: Sort = "validated",
    after: After = "",
) -> Response:
    """The round's rates and one way to break them down."""
    if view not in VIEWS:
        raise errors.NotFound(_("There is no such view."))
    start = boards.place_from(after)

    def read(session: Session) -> dict[str, Any]:
        round_ = chosen(session, task, number)
        numbers = [row.number for row in views.started_rounds(session, task)]
        if round_ is None:
            return {"total": None, "of": None, "numbers": numbers, "tables": [], "people": [], "next": None}
        breakdown = figures.figures(session, round_, VIEWS[view], who)
        people: list[Annotator] = []
        more = None
        if view == "annotator":
            people, more = figures.annotators(session, round_, authors=who, sort=sort, after=start, limit=PAGE_SIZE)
        tables = [(by, ABOUT[by], lines, _chart(by, lines, breakdown.cumulative)) for by, lines in breakdown.by.items()]
        page_values: dict[str, Any] = {
            "arms": figures.lines(session, round_) if view == "arms" else [],
            "assign": round_.assign,
            "has_arms": bool(round_.arms),
            "judged": statistics.calibration(session, round_) if view == "conditions" else None,
            "helped": assistance.helped(session, round_) if view == "arms" else None,
        }
        page_values |= {"total": breakdown.total, "of": round_.number, "numbers": numbers, "tables": tables}
        page_values["lower_bound"] = statistics.is_lower_bound(session, round_)
        return page_values | {"people": people, "next": more}

    values = await db.aread(read)
    chosen_now: dict[str, Any] = {
        "view": view,
        "who": who,
        "sort": sort,
        "after": start,
        "views": list(VIEWS),
        "whos": list(figures.AUTHOR_GROUPS),
        "names": NAMES,
    }
    return await frame.console_page(request, task, "collection/manage/figures.html", "figures", **chosen_now, **values)


def _chart(by: str, lines: list[FigureLine], cumulative: list[FigureLine]) -> charts.Chart | None:
    """The breakdown as a picture, with intervals clustered by annotator; none where there is nothing to compare."""
    live = [line for line in lines if line.counts.examples]
    if by == "day":
        daily, sofar = (
            [(line.value, line.clustered.mer, line.clustered.vmer) for line in some] for some in (live, cumulative)
        )
        return charts.rates_per_day(daily, sofar)
    if len(live) < 2:
        return None
    ordered = sorted(live, key=lambda line: -(line.clustered.vmer.value or 0))[:12] if by == "tag" else live
    names = NAMES.get(by, {})
    rates = [(names.get(line.value, line.value) or _("none"), line.clustered.vmer) for line in ordered]
    return charts.rates_by_condition(rates)


@router.get("/tasks/{task}/manage/figures.csv", name="download_figures")
async def download(
    db: Db, task: str, person: TaskModerator, by: View = "arm", who: AuthorGroup = "people", number: Number = None
) -> Response:
    """One table of the figures as CSV: a breakdown, or all annotators."""
    if by not in (*figures.BY, "annotator"):
        raise errors.NotFound(_("There is no such table."))

    def read(session: Session) -> tuple[int, list[list[object]]]:
        round_ = chosen(session, task, number)
        if round_ is None:
            raise errors.NotFound(_("No round of this task was opened yet."))
        if by == "annotator":
            return round_.number, [_person(annotator) for annotator in _everybody(session, round_, who)]
        return round_.number, [_row(line) for line in figures.figures(session, round_, [by], who).by[by]]

    round_number, rows = await db.aread(read)
    rates = [f"{name}{end}" for name in ("mer", "vmer", "vmer_resolved") for end in ("", "_low", "_high")]
    header = [by, *HEADER, *rates]
    if by != "annotator":
        header += [f"{name}_clustered{end}" for name in ("mer", "vmer", "vmer_resolved") for end in ("_low", "_high")]
    return csv_response(f"{task}-round-{round_number}-by-{by}.csv", header, rows)


def _everybody(session: Session, round_: Round, authors: str) -> Iterator[Annotator]:
    after: int | None = 0
    while after is not None:
        page, after = figures.annotators(session, round_, authors=authors, after=after, limit=1000)
        yield from page


def _counts(line: FigureLine | Annotator, people: int) -> list[object]:
    counts = line.counts
    return [counts.examples, counts.fooled, counts.validated, counts.resolved, line.retracted, line.hidden, people]


def _limits(rate: Rate) -> list[object]:
    return [rate.value, rate.low, rate.high]


def _row(line: FigureLine) -> list[object]:
    rates = [part for rate in (line.rates.mer, line.rates.vmer, line.rates.vmer_resolved) for part in _limits(rate)]
    wide = (line.clustered.mer, line.clustered.vmer, line.clustered.vmer_resolved)
    return [
        line.value,
        *_counts(line, line.people),
        *rates,
        *(part for rate in wide for part in _limits(rate)[1:]),
    ]


def _person(annotator: Annotator) -> list[object]:
    rates = [
        part
        for rate in (annotator.rates.mer, annotator.rates.vmer, annotator.rates.vmer_resolved)
        for part in _limits(rate)
    ]
    return [annotator.name, *_counts(annotator, 1), *rates]
