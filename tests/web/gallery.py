"""Every template with sample values behind the platform's own content security policy, without any feature's code.

`python -m tests.web.gallery FOLDER LANGUAGE [name ...]` takes pictures of all of them, wide and narrow, light and dark.
"""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from time import sleep

import uvicorn
from playwright.sync_api import Browser, Page, expect, sync_playwright
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from dynabench.kit import language
from dynabench.kit.security import HEADERS
from dynabench.kit.settings import Settings
from dynabench.web import render, static_files
from scripts.programs import find
from tests.web.pages import PAGES
from tests.web.samples import ANSWERED, BOX_ANSWERED, STRIP

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
PATIENCE = 60_000  # milliseconds: the machine may be busy, and nothing waits longer than it has to
expect.set_options(timeout=PATIENCE)
AXE = Path(__file__).parents[2] / "frontend/node_modules/axe-core/axe.min.js"


async def show(request: Request) -> Response:
    """One page of the gallery."""
    template, values, viewer = PAGES[request.path_params["name"]]
    request.state.viewer = viewer
    language.current.set(language.choose_language(None, request.headers.get("accept-language", "")))
    return secured(render(request, template, **values))


async def tasks(request: Request) -> Response:
    """The part of the home page that asks for itself while a demo is being set up."""
    request.state.viewer = None
    return secured(render(request, "home/_home_boards.html", **PAGES["home-starting"][1]))


async def answer(request: Request) -> Response:
    """Return the result of a try, without asking any model."""
    request.state.viewer = None
    if request.url.path == "/try":
        return secured(render(request, "home/_try.html", **BOX_ANSWERED))
    return secured(render(request, "collection/create.html", fragment="collection/_answer.html", **ANSWERED))


async def explained(request: Request) -> Response:
    """Save what the author says of an example."""
    request.state.viewer = None
    explanation = {"values": {}, "errors": {}, "saved": True, "answered": 0, "required": 0}
    return secured(render(request, "collection/_explain.html", **ANSWERED | {"explanation": explanation}))


async def live(request: Request) -> Response:
    """No stream, and counters that stay as they are."""
    if request.url.path.endswith("/events"):
        return Response(status_code=204)
    return JSONResponse({"texts": {}, "counts": {}})


async def badge_news(_request: Request) -> Response:
    """No badge was earned."""
    return secured(Response("", media_type="text/html"))


async def vote(request: Request) -> Response:
    """The next item after a vote."""
    request.state.viewer = None
    return secured(render(request, "validation/_desk.html", **PAGES["validate"][1]))


async def strip(request: Request) -> Response:
    """Words with weights."""
    fields, at = {}, 0
    for name, words in STRIP["fields"].items():
        fields[name] = []
        for text, weight in words:
            fields[name].append({"text": text, "start": at, "end": at + len(text), "weight": weight})
            at += len(text) + (text != "home")
    body = json.loads(await request.body() or "{}") if request.method == "POST" else dict(request.query_params)
    more = {"method": body["method"], "closer": "", "completeness_error": 0.004} if body.get("method") else {}
    return JSONResponse({**STRIP, "fields": fields, **more})


def secured(response: Response) -> Response:
    """The response with the headers of the real application."""
    response.headers.update(HEADERS)
    return response


def app() -> Starlette:
    """The gallery."""
    starlette = Starlette(
        routes=[
            Route("/gallery/{name}", show),
            Route("/", tasks),
            Route("/live", live),
            Route("/badges/news", badge_news),
            Route("/live/events", live),
            Route("/try", answer, methods=["POST"]),
            Route("/tasks/{task}/create", answer, methods=["POST"]),
            Route("/examples/{id}/explanation", explained, methods=["POST"]),
            Route("/tasks/{task}/validate/{id}", vote, methods=["POST"]),
            Route("/api/v1/attributions", strip, methods=["POST"]),
            Route("/api/v1/examples/{id}/attributions", strip),
            Route("/api/v1/examples/{id}/validations/attributions", strip),
            Mount("/static", static_files()),
        ]
    )
    starlette.state.settings = Settings(home=Path(mkdtemp()), secret="gallery" * 5)
    return starlette


@contextmanager
def served() -> Iterator[str]:
    """The gallery on a port of this machine; its address."""
    server = uvicorn.Server(uvicorn.Config(app(), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@contextmanager
def chromium() -> Iterator[Browser]:
    """A Chromium without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        yield browser
        browser.close()


DRAWN = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const drawn = { "token-strip": (strip) => strip.loaded };
  for (const each of document.querySelectorAll("token-strip")) {
    if (!each.checkVisibility()) continue;
    each.scrollIntoView({ block: "center", behavior: "instant" });
    for (const began = Date.now(); !drawn[each.localName](each); await frame()) {
      if (Date.now() - began > 60000) throw new Error(`not drawn: ${each.outerHTML.slice(0, 200)}`);
    }
  }
  await document.fonts.ready;
  window.scrollTo({ top: 0, behavior: "instant" });
  await frame();
  await frame();
}"""


def settle(page: Page) -> None:
    """Look at all strips, which are drawn when they are seen, and wait until they are."""
    page.evaluate(DRAWN)
    for selector in ("token-strip[aria-busy]", ".skeleton"):
        page.locator(selector).first.wait_for(state="detached", timeout=PATIENCE)


def pictures(folder: Path, names: list[str], spoken: str = "en") -> None:
    """PNGs of the named pages, of all without names."""
    folder.mkdir(parents=True, exist_ok=True)
    with served() as address, chromium() as browser:
        for width in (1440, 390):
            for theme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce", locale=spoken
                )
                page = context.new_page()
                page.on("console", lambda message: print(message.page.url, message.text))
                for name in names or PAGES:
                    page.goto(f"{address}/gallery/{name}")
                    settle(page)
                    page.screenshot(path=folder / f"{name}-{width}-{theme}.png", full_page=True)
                context.close()


if __name__ == "__main__":
    pictures(Path(sys.argv[1]), sys.argv[3:], sys.argv[2])
