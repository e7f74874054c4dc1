"""Asking all sources of a search side by side, for the page and for the JSON route."""

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from dynabench.benchmark.registry import pages as registry_pages
from dynabench.benchmark.registry.service import ListedModel
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.site.search import service
from dynabench.site.search.service import KINDS, SearchGroup

PATIENCE = 1.0
"""Seconds that a source has. The first search of a process reads the library and the documentation, and a model
host may be silent; what comes later is there for the next search."""
FRESH = 10.0
"""Seconds that the models which visitors see are kept."""


@dataclass(frozen=True)
class SearchResults:
    """The groups that have hits, those first in which a title begins with the query; not `complete` where a source took
    too long."""

    groups: list[SearchGroup]
    complete: bool = True


async def search_everything(request: Request, viewer: Person | None, query: str, limit: int) -> SearchResults:
    """Ask all sources side by side."""
    if not query.strip():
        return SearchResults([])
    sources: list[Coroutine[Any, Any, Any]] = [
        run_in_threadpool(service.search_documents, query, limit),
        run_in_threadpool(service.search_metrics, query, limit),
        _models(request, viewer),
    ]
    tasks = [asyncio.ensure_future(source) for source in sources]
    stored = await request.app.state.db.aread(service.search_stored, viewer, query, limit)
    await asyncio.wait(tasks, timeout=PATIENCE)
    documents, metrics, models = (task.result() if task.done() else None for task in tasks)
    groups = {group.kind: group for group in (*stored, documents, metrics) if group is not None}
    if models is not None:
        names = await request.app.state.db.aread(rounds.task_names, {model.task for model in models})
        groups["models"] = service.search_models(models, query, limit, names)
    with_hits = [groups[kind] for kind in KINDS if kind in groups and groups[kind].count]
    with_hits.sort(key=lambda group: not group.begins_with(query))
    return SearchResults(with_hits, complete=len(groups) == len(KINDS))


async def _models(request: Request, viewer: Person | None) -> list[ListedModel]:
    state = request.app.state
    cached: tuple[float, list[ListedModel]] | None = getattr(state, "searched_models", None) if viewer is None else None
    if cached is not None and time.monotonic() - cached[0] < FRESH:
        return cached[1]
    models, _why = await registry_pages.visible_models(request, viewer)
    if viewer is None:
        state.searched_models = (time.monotonic(), models)
    return models
