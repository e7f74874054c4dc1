"""The page of the hall of fame, and its CSV."""

from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.kit.api import Db, csv_response
from dynabench.people.accounts.auth import Viewer
from dynabench.recognition.hall import service
from dynabench.recognition.hall.api import NameText, Place, TaskId
from dynabench.recognition.hall.service import LEAST_EXAMPLES, HallOrder, HallPeriod, HallQuery
from dynabench.rounds.views import list_task_names
from dynabench.web import render

router = APIRouter(include_in_schema=False)
PAGE_SIZE = 50
HEADER = (
    *("rank", "name", "written", "fooled", "verified"),
    *("mer", "mer_low", "mer_high", "vmer", "vmer_low", "vmer_high", "n"),
)


@router.get("/people", name="hall_of_fame")
async def hall_of_fame(
    request: Request,
    db: Db,
    viewer: Viewer,
    period: HallPeriod = HallPeriod.ALL,
    order: HallOrder = HallOrder.VERIFIED,
    task: TaskId = "",
    q: NameText = "",
    after: Place = 0,
) -> Response:
    """People with public profiles, ranked, and the winners of last week."""
    query = HallQuery(period, order, task, q)

    def read(session: Session) -> dict[str, Any]:
        return {
            "page": service.read_hall(session, query, after, PAGE_SIZE),
            "winners": service.read_winners(session),
            "tasks": list_task_names(session),
        }

    values = await db.aread(read)
    return render(request, "hall/page.html", query=query, after=after, least=LEAST_EXAMPLES[period], **values)


@router.get("/people.csv", name="hall_csv")
async def hall_csv(
    db: Db,
    period: HallPeriod = HallPeriod.ALL,
    order: HallOrder = HallOrder.VERIFIED,
    task: TaskId = "",
    q: NameText = "",
) -> Response:
    """The whole ranking as CSV."""
    page = await db.aread(service.read_hall, HallQuery(period, order, task, q), 0, 10**9)
    lines = [
        (
            *(row.rank or "", row.name, row.counts.examples, row.counts.fooled, row.counts.validated),
            *(row.rates.mer.value, row.rates.mer.low, row.rates.mer.high),
            *(row.rates.vmer.value, row.rates.vmer.low, row.rates.vmer.high, row.rates.vmer.n),
        )
        for row in page.rows
    ]
    return csv_response("people.csv", HEADER, [["" if cell is None else cell for cell in line] for line in lines])
