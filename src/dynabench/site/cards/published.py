"""Published modules of the hub with the form of the library's modules: a page that computes, and the JSON API."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from dynabench.evaluate import inputs
from dynabench.evaluation_modules import service as modules
from dynabench.evaluation_modules.service import PublishedModule
from dynabench.hubs import pages as hub_pages
from dynabench.hubs.addresses import Namespace, RepositoryName, RepositoryPlace
from dynabench.hubs.schemas import HubKinds
from dynabench.hubs.service import MAIN
from dynabench.kit import security
from dynabench.kit.api import AppSettings, Db, attachment, site_address
from dynabench.kit.errors import Invalid
from dynabench.kit.forms import read_number
from dynabench.people.accounts.auth import Viewer
from dynabench.published_modules.manifest import declared_class
from dynabench.site.cards import service, views
from dynabench.site.cards.library import LibraryEntry, task_title
from dynabench.site.cards.views import formula_as_mathml
from dynabench.web import render

router = APIRouter(include_in_schema=False)
PAGE = "/hub/spaces/{namespace}/{name}/compute"
KINDS: HubKinds = "spaces"
Words = Annotated[str, Query(max_length=300)]


@dataclass(frozen=True)
class PublishedEntry(LibraryEntry):
    """A published module as the library's pages take one; `interval` says whether it declares intervals."""

    interval: bool = False

    @cached_property
    def closed(self) -> str:
        """Always open: the sandbox computes it."""
        return ""

    @property
    def description(self) -> str:
        """The description as its author wrote it."""
        return self.card.description

    @property
    def has_interval(self) -> bool:
        """True where a bootstrap interval can be computed."""
        return self.interval


def published_entry(module: PublishedModule) -> PublishedEntry:
    """Return the entry of a module that declares one. Raises `Invalid` for one that does not."""
    if module.manifest is None:
        raise Invalid({"": module.fault})
    manifest = module.manifest
    return PublishedEntry(manifest.kind, manifest.name, declared_class(manifest), False, manifest.interval)


def compute_checked(
    module: PublishedModule, entry: PublishedEntry, computation: service.Computation, scores: bool
) -> dict[str, Any]:
    """Return the result of a checked request. Raises `Invalid` with errors by field."""
    options = dict(computation.options)
    options |= {"interval": computation.interval} if computation.interval is not None else {}
    if scores or computation.per_example:
        try:
            with_scores = {**options, "per_example": True}
            return modules.compute_module(module, computation.config, computation.columns, with_scores)
        except Invalid:
            if computation.per_example:
                raise
    return modules.compute_module(module, computation.config, computation.columns, options)


async def _find(
    request: Request,
    db: Db,
    settings: AppSettings,
    viewer: Viewer,
    namespace: Namespace,
    name: RepositoryName,
    revision: Words = MAIN,
) -> tuple[PublishedModule, dict[str, Any]]:
    """The module, and what the head of its page needs."""
    module = await db.aread(modules.find_module, settings, viewer, namespace, name, revision)
    place = RepositoryPlace(KINDS, module.entry.namespace, module.entry.row.name)
    _entry, _store, head = await db.aread(hub_pages.repository_page, settings, viewer, place)
    values = {"repository": head.pop("entry"), "commit": module.revision, "revision": revision}
    values["site"] = site_address(request)
    return module, values | head


FoundModule = Annotated[tuple[PublishedModule, dict[str, Any]], Depends(_find)]


@router.get(PAGE, name="published_module")
async def published_module(request: Request, found_module: FoundModule, example: Words = "") -> Response:
    """A published module's card, with an example in its form."""
    module, values = found_module
    if module.manifest is None:
        return render(request, "cards/undeclared.html", fault=module.fault, **values)
    entry = published_entry(module)
    chosen = min(read_number(example, 3), len(entry.examples) - 1) if entry.examples else None
    fields = service.fill_form(entry, entry.examples[chosen]) if chosen is not None else {}
    return await _page(request, entry, values, fields, chosen=chosen)


@router.post(PAGE, name="compute_published")
async def compute_published(request: Request, found_module: FoundModule) -> Response:
    """Compute the rows of the form in the sandbox; with `as=json` the result is a file."""
    module, values = found_module
    if module.manifest is None:
        return render(request, "cards/undeclared.html", status=422, fault=module.fault, **values)
    security.throttle(request, *modules.COMPUTE_LIMIT)
    entry = published_entry(module)
    async with request.form(max_files=1, max_fields=100, max_part_size=1 << 20) as form:
        fields = {key: value for key, value in form.items() if isinstance(value, str)}
        upload = await service.uploaded_table(form)
    try:
        outcome = await run_in_threadpool(_outcome, module, entry, fields, upload)
    except Invalid as problem:
        errors = service.errors_by_field(entry, problem.fields)
        return await _page(request, entry, values, fields, 422, errors=errors)
    if fields.get("as") == "json":
        text = json.dumps(outcome["result"], indent=2, ensure_ascii=False, allow_nan=False)
        return Response(f"{text}\n", media_type="application/json", headers=attachment(f"{entry.name}.json"))
    return await _page(request, entry, values, fields, **outcome)


def _outcome(module: PublishedModule, entry: PublishedEntry, fields: Mapping[str, str], upload: str) -> dict[str, Any]:
    """The result of a form's fields with all that is shown of it."""
    computation = service.computation_from_form(entry, fields, upload)
    return views.outcome_values(entry, computation, compute_checked(module, entry, computation, scores=True))


async def _page(
    request: Request,
    entry: PublishedEntry,
    head: Mapping[str, Any],
    fields: Mapping[str, str],
    status: int = 200,
    **values: Any,
) -> Response:
    defaults: dict[str, Any] = {"errors": {}, "result": None, "lines": [], "tables": [], "chart": None, "rows": 0}
    columns = service.column_kinds(entry)
    place = {"namespace": head["place"]["namespace"], "name": head["place"]["name"]}
    here = str(request.app.url_path_for("published_module", **place))
    return await run_in_threadpool(
        render,
        request,
        "cards/published.html",
        status=status,
        fragment="cards/_bench.html",
        entry=entry,
        card=entry.card,
        columns=columns,
        hints={name: inputs.line_format_hint(column) for name, column in columns.items()},
        fields=fields,
        changed_options=service.changed_options(entry, fields),
        formula=formula_as_mathml(entry.card.formula),
        task_title=task_title,
        here=f"{here}?revision={head['commit']}",
        **(defaults | {"link": "", "chosen": None} | dict(head) | values),
    )
