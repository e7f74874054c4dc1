"""Icons, the manifest, pictures of shared links, robots.txt and the site map.

A picture shows what every visitor may see on its page, also to those who may see more.
"""

import time
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from markupsafe import escape
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from dynabench.benchmark.registry.api import find_model
from dynabench.collection import overview
from dynabench.kit import errors
from dynabench.kit.api import site_address
from dynabench.kit.language import _, ngettext, translate
from dynabench.people.accounts.auth import Viewer
from dynabench.recognition.profiles import service as profiles
from dynabench.rounds.schemas import Number
from dynabench.site.home.pages import read_lines
from dynabench.site.home.task_index import TaskLine
from dynabench.site.identity import pictures
from dynabench.site.identity.pictures import LinkFigure
from dynabench.stats.rates import Rate
from dynabench.tasks.fields.text import Text
from dynabench.web import render
from dynabench.web.charts import MODELS, rate_over_rounds
from dynabench.web.filters import number, percent
from dynabench.web.static import static_address

router = APIRouter(include_in_schema=False)
FRESH = 300  # seconds that a picture is kept
MOST = 200  # pictures that are kept
FOR_AN_HOUR = {"Cache-Control": "public, max-age=3600"}
CLAIM = _("People write examples that models get wrong. What other people confirm becomes the next, harder benchmark.")
SIDES = (180, 192, 512)
"""Pixels of the icons that telephones ask for."""


async def _send_png(request: Request, draw: Callable[[], str]) -> Response:
    """The drawing as PNG: each address is drawn once in `FRESH` seconds."""
    state = request.app.state
    cache: dict[str, tuple[float, bytes]] = state.__dict__.setdefault("link_pictures", {})
    now, key = time.monotonic(), request.url.path
    if key not in cache or now - cache[key][0] > FRESH:
        png = await run_in_threadpool(lambda: pictures.render_png(draw()))
        while len(cache) >= MOST:
            cache.pop(next(iter(cache)))
        cache[key] = now, png
    return Response(cache[key][1], media_type="image/png", headers=FOR_AN_HOUR)


async def _line_of(request: Request, task: str) -> TaskLine:
    line = next((line for line in await read_lines(request) if line.id == task), None)
    if line is None:
        raise errors.NotFound(_("There is no such task."))
    return line


@router.get("/social/site.png", name="site_picture")
async def site_picture(request: Request) -> Response:
    """The picture of the first page and of all pages without one of their own."""
    return await _send_png(request, lambda: pictures.draw_link_picture(_("Can you fool the model?"), CLAIM))


@router.get("/social/tasks/{task}.png", name="task_picture")
async def task_picture(request: Request, task: str) -> Response:
    """A task: how often its examples fool models."""
    line = await _line_of(request, task)
    newest = next((rate for _round, rate in reversed(line.history) if rate.value is not None), None)
    label = ngettext("%(num)s example", "%(num)s examples", line.examples)
    figure = _vmer(newest) if newest else LinkFigure(number(line.examples), label.removeprefix(f"{line.examples} "))
    return await _send_png(
        request, lambda: pictures.draw_link_picture(line.name, line.description, figure if line.examples else None)
    )


@router.get("/social/tasks/{task}/leaderboard.png", name="board_picture")
async def board_picture(request: Request, task: str) -> Response:
    """A leaderboard: its best model, beside people where they compare."""
    line = await _line_of(request, task)
    best = line.board.best
    if best is None or best.score.value is None:
        text = _("Leaderboard: no model ranked yet")
        return await _send_png(request, lambda: pictures.draw_link_picture(line.name, text))
    score = best.score
    ends = (score.value, score.low, score.high)
    value, low, high = (None if end is None or not line.board.percent else end / 100 for end in ends)
    figure = LinkFigure(number(score.value, 1), best.entrant.name, value, low, high, line.human.value, MODELS)
    text = _("Leaderboard: the best of %(n)s models by %(metric)s", n=line.board.models, metric=line.board.metric.title)
    return await _send_png(request, lambda: pictures.draw_link_picture(line.name, text, figure))


@router.get("/social/tasks/{task}/rounds/{n}.png", name="round_picture")
async def round_picture(request: Request, task: str, n: Number) -> Response:
    """A round: its models, and how often they were fooled."""

    def read(session: Session) -> tuple[str, list[str], Rate]:
        current = overview.chosen_round(session, task, n)
        rates = dict(overview.history(session, [current]))
        name = overview.page_head(session, task)["config"].name
        return name, [target.model for target in current.targets], rates[current.number]

    name, models, rate = await request.app.state.db.aread(read)
    title = _("%(task)s, round %(n)s", task=name, n=n)
    text = _("Against %(models)s", models=", ".join(models)) if models else ""
    figure = _vmer(rate) if rate.value is not None else None
    return await _send_png(request, lambda: pictures.draw_link_picture(title, text, figure))


@router.get("/social/models/{name}.png", name="model_picture")
async def model_picture(request: Request, name: str) -> Response:
    """A model that everybody may see: its task and its card's summary."""
    model = await find_model(request, None, name)
    card = model.card
    text = card.summary if card and card.summary else _("A model that people try to fool.")
    return await _send_png(request, lambda: pictures.draw_link_picture(model.name, text))


@router.get("/social/people/{name}.png", name="person_picture")
async def person_picture(request: Request, name: str) -> Response:
    """A person with a public profile: how often the person's examples fool models."""

    def read(session: Session) -> tuple[str, str, Rate]:
        profile = profiles.read_profile(session, None, name)
        counts, checked = profile.total.counts, profile.total.checked
        text = _(
            "%(verified)s verified fooling examples, %(checked)s examples of others checked",
            verified=number(counts.validated),
            checked=number(checked),
        )
        return profile.person.public_name, text, profile.total.rates.vmer

    title, text, rate = await request.app.state.db.aread(read)
    figure = _vmer(rate) if rate.value is not None else None
    return await _send_png(request, lambda: pictures.draw_link_picture(title, text, figure))


def _vmer(rate: Rate) -> LinkFigure:
    label = _("fooled the models, confirmed by people")
    return LinkFigure(percent(rate.value), label, rate.value, rate.low, rate.high)


COLOURS = (
    "paper",
    "sunken",
    "ink",
    "ink-2",
    "ink-3",
    "people",
    "models",
    "good",
    "bad",
    "m1",
    "m2",
    "m3",
    "m4",
    "m5",
    "m6",
)
SIZES = (("tiny", 12), ("small", 13), ("body", 15), ("lead", 17), ("3", 20), ("1", 32), ("hero", 46))
"""The names of type sizes, and their pixels on a wide window."""


@router.get("/design", name="design")
async def design(request: Request, viewer: Viewer) -> Response:
    """The components of the pages, drawn by their own macros with example values."""
    rates = [Rate(0.62, 0.51, 0.72, 78), Rate(0.47, 0.38, 0.57, 102), Rate(0.31, 0.24, 0.39, 140)]
    shares = {"positive": 0.6, "neutral": 0.22, "negative": 0.18}
    prediction = {"model": "sentiment-minilm", "answer": {"label": "positive"}, "probabilities": shares}
    values: dict[str, Any] = {"rates": rates, "prediction": prediction, "colours": COLOURS, "sizes": SIZES}
    values["chart"] = rate_over_rounds(list(enumerate(rates, start=1)), ["sentiment-ngram", *["sentiment-minilm"] * 2])
    statement = Text(name="statement", type="text", label=_("Statement"))
    text = _("If you enjoy queueing, you will love this museum.")
    values["specimen"] = {
        "context": [], "input": [{"field": statement, "value": translate(text), "beside": {}}], "answer": "negative",
        "said": [("sentiment-minilm", "positive")], "fooled": True, "verdict": "correct", "votes": 3, "writer": "",
    }  # fmt: skip
    return render(request, "identity/design.html", **values)


@router.get("/icon-{side}.png", name="icon")
async def icon(request: Request, side: int) -> Response:
    """The mark on paper, for telephones."""
    if side not in SIDES:
        raise errors.NotFound(_("There is no icon of this size."))
    return await _send_png(request, lambda: pictures.draw_icon().replace('="512"', f'="{side}"'))


@router.get("/favicon.ico", name="favicon")
async def favicon(request: Request) -> Response:
    """The mark for browsers that ask for it by its old name."""
    png = await _send_png(request, lambda: pictures.draw_mark().replace('="512"', '="48"'))
    return Response(pictures.wrap_ico(bytes(png.body), 48), media_type="image/x-icon", headers=FOR_AN_HOUR)


@router.get("/manifest.webmanifest", name="manifest")
async def manifest() -> Response:
    """Describe the site to telephones that keep it among their programs."""
    icons: list[dict[str, Any]] = [
        {"src": f"/icon-{side}.png", "sizes": f"{side}x{side}", "type": "image/png"} for side in SIDES[1:]
    ]
    icons.append({"src": static_address("favicon.svg"), "sizes": "any", "type": "image/svg+xml"})
    document = {
        "name": "Dynabench",
        "short_name": "Dynabench",
        "start_url": "/",
        "display": "minimal-ui",
        "background_color": pictures.PAPER,
        "theme_color": pictures.PAPER,
        "icons": icons,
    }
    return JSONResponse(document, media_type="application/manifest+json", headers=FOR_AN_HOUR)


@router.get("/robots.txt", name="robots")
async def robots(request: Request) -> Response:
    """Search engines may read the pages, not the interface of programs nor a person's own pages."""
    closed = ("/api/", "/settings", "/people/me$", "/people/me/", "/admin", "/login", "/register", "/try")
    lines = [
        "User-agent: *",
        *(f"Disallow: {path}" for path in closed),
        f"Sitemap: {site_address(request)}/sitemap.xml",
    ]
    return Response("\n".join(lines) + "\n", media_type="text/plain", headers=FOR_AN_HOUR)


@router.get("/sitemap.xml", name="site_map")
async def site_map(request: Request) -> Response:
    """The public pages: the indexes, and those of each task."""
    paths = ["/", "/tasks", "/leaderboards", "/models", "/datasets", "/evaluate", "/people", "/badges", "/docs"]
    for line in await read_lines(request):
        paths += [f"/tasks/{line.id}{page}" for page in ("", "/leaderboard", "/rounds", "/datasets")]
    entries = "".join(f"<url><loc>{escape(site_address(request) + path)}</loc></url>" for path in paths)
    document = f'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    return Response(document, media_type="application/xml", headers=FOR_AN_HOUR)
