"""The hall of fame as JSON."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from dynabench.kit.api import Db, Limit
from dynabench.people.accounts.auth import scope
from dynabench.recognition.hall import service
from dynabench.recognition.hall.schemas import HallOut, HallRowOut
from dynabench.recognition.hall.service import LEAST_EXAMPLES, HallOrder, HallPeriod, HallQuery, HallRow
from dynabench.recognition.profiles.schemas import ProfileRateOut

router = APIRouter(prefix="/api/v1", tags=["people"], dependencies=[Depends(scope("read"))])

TaskId = Annotated[str, Query(max_length=60, description="A task's id; all tasks where it is left out.")]
NameText = Annotated[str, Query(max_length=60, description="Words that are in the name.")]
Place = Annotated[int, Query(ge=0, le=10**9, description="The `next` of the page before.")]


@router.get("/people")
async def list_people(
    db: Db,
    period: HallPeriod = HallPeriod.ALL,
    order: HallOrder = HallOrder.VERIFIED,
    task: TaskId = "",
    q: NameText = "",
    after: Place = 0,
    limit: Limit = 50,
) -> HallOut:
    """Return people with public profiles, ranked by verified fooling examples or by vMER."""
    page = await db.aread(service.read_hall, HallQuery(period, order, task, q), after, limit)
    return HallOut(
        items=[_row_out(row) for row in page.rows],
        next=None if page.next is None else str(page.next),
        least_examples=LEAST_EXAMPLES[period],
    )


def _row_out(row: HallRow) -> HallRowOut:
    return HallRowOut(
        rank=row.rank,
        name=row.name,
        written=row.counts.examples,
        fooled=row.counts.fooled,
        verified=row.counts.validated,
        mer=ProfileRateOut.model_validate(row.rates.mer),
        vmer=ProfileRateOut.model_validate(row.rates.vmer),
    )
