"""The page of results."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from dynabench.people.accounts.auth import Viewer
from dynabench.site.search.requests import search_everything
from dynabench.site.search.service import KINDS, LONGEST, words_of
from dynabench.web import render

router = APIRouter(include_in_schema=False)
FEW, MANY = 5, 50
"""Hits of each kind where all are shown, and of one kind alone."""


@router.get("/search", name="search_results")
async def search_page(
    request: Request,
    viewer: Viewer,
    q: Annotated[str, Query(max_length=LONGEST)] = "",
    kind: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """Everything that has the words, by kind; `kind` shows one kind alone."""
    chosen = kind if kind in KINDS else ""
    results = await search_everything(request, viewer, q, MANY if chosen else FEW)
    return render(
        request,
        "search/page.html",
        fragment="search/_results.html",
        q=q,
        kind=chosen,
        kinds=KINDS,
        results=results,
        sought=words_of(q),
    )
