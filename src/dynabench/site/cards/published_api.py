"""Published modules of the hub as JSON: their cards, and results of small inputs."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from dynabench.evaluation_modules import service as modules
from dynabench.hubs.addresses import Namespace, RepositoryName
from dynabench.hubs.service import MAIN
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Viewer, limited, needs, scope
from dynabench.site.cards import service
from dynabench.site.cards.api import CardOut, ComputeIn, MetricResultOut, card_out
from dynabench.site.cards.published import compute_checked, published_entry

router = APIRouter(prefix="/api/v1", tags=["evaluate"], dependencies=[Depends(scope("read"))])
ADDRESS = "/hub/modules/{namespace}/{name}"
Revision = Annotated[str, Query(max_length=300)]


class PublishedCardOut(CardOut):
    """The card of a published module at a commit."""

    repository: str
    revision: str = Field(description="The commit, which never changes.")
    requires: list[str] = Field(description="Packages that its code imports.")


class PublishedResultOut(MetricResultOut):
    """The result, and the commit that computed it."""

    revision: str


@router.get(ADDRESS)
async def show_published_module(
    db: Db, settings: AppSettings, namespace: Namespace, name: RepositoryName, viewer: Viewer, revision: Revision = MAIN
) -> PublishedCardOut:
    """A published module's card, as its README.md declares it."""
    module = await db.aread(modules.find_module, settings, viewer, namespace, name, revision)
    card = await run_in_threadpool(card_out, published_entry(module))
    requires = list(module.manifest.requires) if module.manifest else []
    repository = module.entry.full_name
    return PublishedCardOut(**dict(card), repository=repository, revision=module.revision, requires=requires)


@router.post(f"{ADDRESS}/compute", dependencies=[Depends(limited(*modules.COMPUTE_LIMIT))])
@needs("read")
async def compute_published_module(
    db: Db,
    settings: AppSettings,
    namespace: Namespace,
    name: RepositoryName,
    viewer: Viewer,
    body: ComputeIn,
    revision: Revision = MAIN,
) -> PublishedResultOut:
    """The result of a published module for up to 10,000 rows, computed in the sandbox; the rows are not stored."""
    module = await db.aread(modules.find_module, settings, viewer, namespace, name, revision)
    entry = published_entry(module)
    if body.interval is not None and not entry.has_interval:
        raise Invalid({"interval": _("This module has no interval: it returns a single number.")})
    extra = {"config": body.config, "interval": body.interval, "per_example": body.per_example}
    try:
        computation = service.check_computation(entry, body.columns, body.options, **extra)
        result = await run_in_threadpool(compute_checked, module, entry, computation, False)
    except Invalid as problem:
        raise Invalid(service.rename_for_api(service.errors_by_field(entry, problem.fields))) from None
    return PublishedResultOut(kind=entry.kind, name=entry.name, result=result, revision=module.revision)
