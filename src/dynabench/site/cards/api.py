"""The evaluation library as JSON: the list of modules, their cards, and results of small inputs."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool

from dynabench.evaluate.module import Kind
from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.people.accounts.auth import limited, needs, scope
from dynabench.site.cards import library, schemas, service

router = APIRouter(prefix="/api/v1", tags=["evaluate"], dependencies=[Depends(scope("read"))])
COMPUTE_LIMIT = ("compute", 60, 60.0)
Words = Annotated[str, Query(max_length=200)]


@router.get("/evaluate")
def list_modules(q: Words = "", task: Words = "", kind: Kind | None = None) -> schemas.ModuleList:
    """Metrics, measurements and comparisons, with all the words of `q`, for `task`, of `kind`."""
    entries = library.search_entries(q, task, kind or "")
    return schemas.ModuleList(items=[schemas.ModuleOut(**schemas.module_fields(entry)) for entry in entries])


@router.get("/evaluate/{kind}/{name}")
def show_module(kind: str, name: str) -> schemas.CardOut:
    """A module's card: formula, columns, options, outputs with range and direction, worked examples, limits."""
    return schemas.card_out(library.find_entry(kind, name))


@router.post("/evaluate/{kind}/{name}", dependencies=[Depends(limited(*COMPUTE_LIMIT))])
@needs("read")
async def compute_module(request: Request, kind: str, name: str, body: schemas.ComputeIn) -> schemas.MetricResultOut:
    """The module's result for up to 10,000 rows and 1 MiB, within 8 seconds; the rows are not stored."""
    entry = await run_in_threadpool(library.find_entry, kind, name)
    if body.interval is not None and not entry.has_interval:
        raise Invalid({"interval": _("This module has no interval: it returns a single number.")})
    extra = {"config": body.config, "interval": body.interval, "per_example": body.per_example}
    try:
        computation = service.check_computation(entry, body.columns, body.options, **extra)
        result = await request.app.state.calculator.compute(**computation.request())
    except Invalid as problem:
        raise Invalid(service.rename_for_api(service.errors_by_field(entry, problem.fields))) from None
    return schemas.MetricResultOut(kind=entry.kind, name=entry.name, result=result)
