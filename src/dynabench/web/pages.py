"""One function that turns a template and its values into a response."""

import re
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from dynabench.kit.errors import Unavailable
from dynabench.kit.security import csrf_token
from dynabench.web.bundles import parts_of
from dynabench.web.environment import environment
from dynabench.web.static import static_address

HTMX = re.compile(r"\shx-(?:get|post|put|patch|delete|trigger|boost)\b")
"""Attributes of pages that need htmx; the others are sent without it."""


def render(
    request: Request, name: str, *, status: int = 200, fragment: str | None = None, **values: Any
) -> HTMLResponse:
    """The page `name` as a response; when htmx asks for a part, `fragment` in its place.

    A template sees `values` and, besides the environment's globals, `request`, `viewer` (Person or None), `unseen`
    (what their inbox has that they have not seen, or None), `url(route, **params)`, `seen_address` (see `seen_page`),
    `csrf_token` and `csrf_field()`. A variable that nobody passed is an error.
    """
    partial = fragment is not None and wants_fragment(request)
    template = environment().get_template(fragment if fragment is not None and partial else name)
    token = csrf_token(request)
    html = template.render(
        request=request,
        viewer=getattr(request.state, "viewer", None),
        unseen=getattr(request.state, "unseen", None),
        url=lambda route, **params: str(request.app.url_path_for(route, **params)),
        seen_address=seen_page(request),
        csrf_token=token,
        csrf_field=lambda: Markup('<input type="hidden" name="csrf" value="{}">').format(escape(token)),
        partial=partial,
        **values,
    )
    scripts = (f'<script src="{static_address(part)}" type="module"></script>' for part in parts_of(html))
    html = html.replace("<!--parts-->", "".join(scripts), 1)
    if HTMX.search(html) is None:
        html = html.replace(f'<script src="{static_address("vendor/htmx.js")}" defer></script>', "", 1)
    headers = {"Vary": "HX-Request"} if fragment is not None else None
    return HTMLResponse(html, status_code=status, headers=headers)


def refresh(request: Request, problem: Unavailable) -> dict[str, str]:
    """Return the header by which a browser repeats a request without scripts until what it needs is there.

    Empty for forms, which only a person sends again.
    """
    whole = request.method == "GET" and not wants_fragment(request)
    return {"Refresh": str(problem.extra.get("retry_after", 2))} if whole else {}


def seen_page(request: Request) -> str:
    """Path and query of the page that the visitor sees, also where htmx asks for a part of it; empty for forms."""
    address = request.headers.get("HX-Current-URL", "") if request.headers.get("HX-Request") == "true" else ""
    seen = urlsplit(address or (str(request.url) if request.method in ("GET", "HEAD") else ""))
    return f"{seen.path}?{seen.query}" if seen.query else seen.path


def wants_fragment(request: Request) -> bool:
    """Return whether htmx wants a part of a page: not when it restores a whole page from its address."""
    headers = request.headers
    return headers.get("HX-Request") == "true" and headers.get("HX-History-Restore-Request") != "true"
