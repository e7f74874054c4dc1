"""The evaluation library as pages: the list, a module's card, and a form that computes it."""

import json
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from dynabench.evaluate import inputs
from dynabench.kit import security
from dynabench.kit.api import attachment
from dynabench.kit.errors import Forbidden, Invalid, Problem
from dynabench.kit.forms import read_number
from dynabench.kit.language import current
from dynabench.people.accounts.auth import Viewer
from dynabench.site.cards import library, published, service, views
from dynabench.site.cards.api import COMPUTE_LIMIT
from dynabench.site.cards.calculator import NotComputed
from dynabench.site.cards.library import LibraryEntry
from dynabench.site.cards.views import formula_as_mathml
from dynabench.web import render

router = APIRouter(include_in_schema=False)
router.include_router(published.router)
MAX_LINK_LENGTH = 1800  # characters of an address that every browser and mail program passes on
Words = Annotated[str, Query(max_length=200)]


@router.get("/evaluate", name="evaluate")
def modules(request: Request, _: Viewer, q: Words = "", task: Words = "", kind: Words = "") -> Response:
    """All modules, searched and filtered by the address."""
    everything = library.search_entries(q)
    return render(
        request,
        "cards/list.html",
        fragment="cards/_found.html",
        q=q,
        task=task,
        kind=kind,
        found=library.search_entries(q, task, kind),
        total=len(library.all_entries()),
        kinds={
            kind_name: sum(entry.kind == kind_name for entry in library.search_entries(q, task))
            for kind_name in library.KINDS
        },
        tasks=library.count_tasks(entry for entry in everything if kind in ("", entry.kind)),
        task_title=library.task_title,
    )


@router.get("/evaluate/{kind}/{name}", name="module")
async def module(request: Request, kind: str, name: str, _: Viewer, example: Words = "") -> Response:
    """A card. Fields in the address are computed, so that a result is a link; else an example is shown."""
    entry = await run_in_threadpool(library.find_entry, kind, name)
    fields = dict(request.query_params)
    if any(name.startswith((service.COLUMN, "table")) for name in fields):
        return await _computed_page(request, entry, fields)
    chosen = min(read_number(example, 3), len(entry.examples) - 1)
    fields = service.fill_form(entry, entry.examples[chosen])
    return await _page(request, entry, fields, chosen=chosen, **await _example(request, entry, chosen, fields))


@router.post("/evaluate/{kind}/{name}", name="compute")
async def compute(request: Request, kind: str, name: str, _: Viewer) -> Response:
    """Compute the rows that were typed, pasted or uploaded; with `as=json` the result is a file."""
    entry = await run_in_threadpool(library.find_entry, kind, name)
    async with request.form(max_files=1, max_fields=100, max_part_size=1 << 20) as form:
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        return await _computed_page(request, entry, fields, await service.uploaded_table(form))


async def _example(request: Request, entry: LibraryEntry, chosen: int, fields: Mapping[str, str]) -> dict[str, Any]:
    """The result of an example: computed once in each language, then cached, as is a refusal by the module itself.

    Empty where that does not work now.
    """
    if entry.closed:
        return {}
    results = request.app.state.calculator.examples
    key = (entry.kind, entry.name, chosen, current.get())
    if key not in results:
        try:
            results[key] = await _outcome(request, entry, fields)
        except NotComputed as problem:
            return {"errors": service.errors_by_field(entry, problem.fields)}
        except Invalid as problem:
            results[key] = {"errors": service.errors_by_field(entry, problem.fields)}
        except Problem:
            return {}
    return dict(results[key])


async def _outcome(
    request: Request, entry: LibraryEntry, fields: Mapping[str, str], upload: str = ""
) -> dict[str, Any]:
    """The result of a form's fields with all that is shown of it."""
    computation = await run_in_threadpool(service.computation_from_form, entry, fields, upload)
    result = await request.app.state.calculator.compute(**computation.request(), scores=True)
    return await run_in_threadpool(views.outcome_values, entry, computation, result)


async def _computed_page(
    request: Request, entry: LibraryEntry, fields: Mapping[str, str], upload: str = ""
) -> Response:
    if entry.closed:
        raise Forbidden(entry.closed)
    security.throttle(request, *COMPUTE_LIMIT)
    try:
        outcome = await _outcome(request, entry, fields, upload)
    except Invalid as problem:
        return await _page(request, entry, fields, 422, errors=service.errors_by_field(entry, problem.fields))
    if fields.get("as") == "json":
        text = json.dumps(outcome["result"], indent=2, ensure_ascii=False, allow_nan=False)
        name = attachment(f"{entry.name}.json")
        return Response(text + "\n", media_type="application/json", headers=name)
    link = "" if upload else _link(request, entry, fields)
    response = await _page(request, entry, fields, link=link, **outcome)
    if link and request.method == "POST" and request.headers.get("HX-Request") == "true":
        response.headers["HX-Push-Url"] = link
    return response


def _link(request: Request, entry: LibraryEntry, fields: Mapping[str, str]) -> str:
    """An address that shows this result again; "" where it would be too long."""
    parameters = {
        name: value.replace("\r\n", "\n")
        for name, value in fields.items()
        if value and (name in ("table", "interval", "config") or name.startswith((service.COLUMN, service.OPTION)))
    }
    address = f"{request.app.url_path_for('module', kind=entry.kind, name=entry.name)}?{urlencode(parameters)}"
    return address if len(address) <= MAX_LINK_LENGTH else ""


async def _page(
    request: Request, entry: LibraryEntry, fields: Mapping[str, str], status: int = 200, **values: Any
) -> Response:
    defaults: dict[str, Any] = {
        "errors": {},
        "result": None,
        "lines": [],
        "tables": [],
        "chart": None,
        "rows": 0,
        "link": "",
        "chosen": None,
        "here": "",
    }
    return await run_in_threadpool(
        render,
        request,
        "cards/module.html",
        status=status,
        fragment="cards/_bench.html",
        entry=entry,
        card=entry.card,
        columns=service.column_kinds(entry),
        hints={name: inputs.line_format_hint(column) for name, column in service.column_kinds(entry).items()},
        fields=fields,
        changed_options=service.changed_options(entry, fields),
        formula=formula_as_mathml(entry.card.formula),
        usage=views.usage_examples(entry),
        task_title=library.task_title,
        **(defaults | values),
    )
