"""Take screenshots of every page into screenshots/, wide and narrow, light and dark, and renew the README's pictures.

Starts a platform of its own with the demo and its history, follows the links of its pages as a visitor and as an
administrator, and takes one page of each route. `sheets` are made from them, several pages on one picture, so that a
person can look at all of them. Before that it writes and checks examples, for the README's six pictures
(`readme_pictures.py`). `python scripts/screenshots.py readme` takes these six alone.
"""

import io
import itertools
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from fastapi.routing import iter_route_contexts
from PIL import Image, ImageDraw
from playwright.sync_api import Page, expect, sync_playwright
from starlette.routing import compile_path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.running import operate, platform
from dynabench.client import Client
from dynabench.site.app import routes
from scripts import readme_pictures
from scripts.programs import find
from scripts.screenshot_content import account_pages, fill
from scripts.screenshot_content.collection import voices
from scripts.screenshot_content.demo import PASSWORD, Demo

ROOT = Path(__file__).parent.parent
OUT = ROOT / "screenshots"
ADMIN, ANNOTATOR = "olga", "sofia"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
SIZES = {"wide": (1440, 900), "narrow": (390, 844)}
COLUMNS = {"wide": 3, "narrow": 6}
"""Pages beside each other on a sheet."""
TALLEST = 2400
"""Pixels of a page, from its top, that a sheet shows."""
STARTS = (
    "/",
    "/login",
    "/register",
    "/login/forgot",
    "/nothing-of-the-kind",
    "/design",
    "/settings",
    "/admin",
    "/me/inbox",
)
OF_ANNOTATOR = ("/people/me", "/pay", "/me/decisions", "/settings", "/settings/examples", "/settings/delete", "/inbox")
"""Pages that show more to a person who writes than to an administrator."""
MOST_PAGES = 400
NO_PAGE = r"^/(api|healthz|readyz|metrics|live|try|badges/news|\.well-known)|png$|csv$|\.\{|\.\w+$|/(events|chat)$"
"""Routes whose answer is no page: probes, downloads and parts of pages."""
PREMISE = "The second violinist played the solo, since the first had caught a cold."
HYPOTHESES = ("Nobody played the solo.", "The first violinist was too ill to play that evening.")


def log_in(page: Page, name: str) -> None:
    """Log in through the page, as another account where one is logged in."""
    page.context.clear_cookies()
    page.goto("/login")
    page.get_by_label("Username or email").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator(".avatar").first).to_be_visible()


def capture(page: Page, name: str, width: str, scheme: str) -> Path:
    """Write a screenshot of the whole page and return its path; few colours keep the file small."""
    page.evaluate("() => scrollTo(0, document.body.scrollHeight)")
    expect(page.locator("token-strip[aria-busy]")).to_have_count(0)
    page.evaluate("() => { document.activeElement?.blur(); scrollTo(0, 0) }")
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    path = OUT / f"{name}-{width}-{scheme}.png"
    picture.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


@cache
def patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return patterns of addresses with the routes that answer them, in the order in which they are tried."""
    contexts = iter_route_contexts(routes())
    return [
        (compile_path(path)[0], path)
        for context in contexts
        if "GET" in (context.methods or ()) and (path := context.path)
    ]


def route_of(address: str) -> str:
    """Return the route that answers an address, so that one page of each is taken."""
    path = address.partition("?")[0]
    return next((route for pattern, route in patterns() if pattern.match(path)), path)


def crawl(page: Page, starts: Sequence[str] = ()) -> Iterator[str]:
    """Yield the address of one page of each route that `starts` and links lead to, in the order of the links."""
    waiting, seen = [*starts, *STARTS], set[str]()
    while waiting and len(seen) < MOST_PAGES:
        path = waiting.pop(0)
        route = route_of(path)
        if route in seen or route.startswith("/api/"):
            continue
        seen.add(route)
        if "text/html" not in page.context.request.get(path).headers.get("content-type", ""):
            continue
        page.goto(path)
        yield path
        links = page.eval_on_selector_all("a[href^='/']", "links => links.map(link => link.getAttribute('href'))")
        waiting += [link.partition("#")[0] for link in links if not re.search(r"logout|/static/|\.\w{2,4}(\?|$)", link)]


def take_pages(page: Page, role: str, paths: list[str]) -> None:
    """Take screenshots of all pages in all looks, and put them on sheets."""
    for (width, (across, down)), scheme in itertools.product(SIZES.items(), ("light", "dark")):
        page.set_viewport_size({"width": across, "height": down})
        page.emulate_media(color_scheme="light" if scheme == "light" else "dark", reduced_motion="reduce")
        captures = []
        for number, path in enumerate(paths):
            page.goto(path)
            name = re.sub(r"\W+", "-", path.partition("?")[0]).strip("-")[:60] or "home"
            captures.append((path, capture(page, f"{role}-{number:03d}-{name}", width, scheme)))
        for start in range(0, len(captures), COLUMNS[width]):
            row = captures[start : start + COLUMNS[width]]
            sheet(row, COLUMNS[width]).save(OUT / f"sheet-{role}-{width}-{scheme}-{start:03d}.png")


def sheet(row: list[tuple[str, Path]], columns: int) -> Image.Image:
    """Return a picture with the tops of several pages beside each other, each below its address and height."""
    side = 1560 // columns
    pictures = []
    for path, file in row:
        with Image.open(file) as whole:
            top = whole.convert("RGB").crop((0, 0, whole.width, min(whole.height, TALLEST)))
            height = round(top.height * (side - 8) / top.width)
            pictures.append((f"{path} ({whole.height} px)", top.resize((side - 8, height), Image.Resampling.LANCZOS)))
    board = Image.new("RGB", (side * columns, 18 + max(picture.height for _, picture in pictures)), "gray")
    for place, (label, picture) in enumerate(pictures):
        board.paste(picture, (place * side, 18))
        ImageDraw.Draw(board).text((place * side + 4, 3), label[: side // 6], fill="white")
    return board


def register(base: str, name: str) -> Client:
    """Register an account and return a client that is logged in with it."""
    client = Client(base)
    client.register(name, f"{name}@example.org", PASSWORD)
    client.log_in(name, PASSWORD)
    return client


def take_readme_pictures(page: Page, client: Client) -> None:
    """Take the six pages of the README, with an answer on the first page and one on the create page."""
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/")
    page.get_by_label("Your sentence").fill("The best thing about the hotel is the train that leaves it every hour.")
    page.get_by_label("negative").check()
    page.get_by_role("button", name="Ask the model").click()
    expect(page.locator("token-strip .strip").first).to_be_visible()
    capture(page, "home", "wide", "light")
    page.goto("/tasks/nli/leaderboard")
    capture(page, "leaderboard", "wide", "light")
    page.goto(f"/models/nli-minilm?{urlencode({'inputs.premise': PREMISE, 'inputs.hypothesis': HYPOTHESES[1]})}")
    capture(page, "model", "wide", "light")
    log_in(page, ANNOTATOR)
    while not client.next_context("nli")["values"]["premise"].startswith(PREMISE[:20]):
        pass
    page.goto("/tasks/nli/create")
    for text in HYPOTHESES:
        hypothesis = page.get_by_role("textbox", name="Hypothesis")
        hypothesis.fill(text)
        hypothesis.press("Control+Enter")
        expect(page.locator(".try-text").first).to_have_text(text)
    capture(page, "create", "wide", "light")
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.goto("/tasks/nli/validate")
    capture(page, "validate", "narrow", "dark")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(color_scheme="light")
    log_in(page, ADMIN)
    page.goto("/tasks/nli/manage/figures")
    capture(page, "console-figures", "wide", "light")
    readme_pictures.renew_pictures(OUT)


def missing_routes(paths: Iterable[str]) -> list[str]:
    """Return the routes of pages that no address of `paths` shows; downloads and parts of pages are no pages."""
    seen = {route_of(path) for path in paths}
    pages = {route for _, route in patterns() if not re.search(NO_PAGE, route)}
    return sorted(pages - seen)


def main() -> None:
    """Start the demo, take the README's pictures, then those of every page."""
    OUT.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=20_000)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        home = Path(folder)
        with voices(home / "models"), platform(home, "--demo", private_endpoints="127.0.0.1") as base:
            annotator, admin = register(base, ANNOTATOR), register(base, ADMIN)
            operate(home, "user", "promote", ADMIN, "--admin")
            browser = driver.chromium.launch(executable_path=find(), args=FLAGS)
            page = browser.new_page(base_url=base, reduced_motion="reduce")
            take_readme_pictures(page, annotator)
            if "readme" in sys.argv[1:]:
                return
            demo = Demo(base, home, admin, annotator)
            fill(demo)
            take_all_pages(page, [*demo.starts, *account_pages()])
            browser.close()
    pictures = list(OUT.glob("*.png"))
    print(f"{len(pictures)} pictures, {sum(item.stat().st_size for item in pictures) / 1e6:.1f} MB, in {OUT}")


def take_all_pages(page: Page, starts: Sequence[str]) -> None:
    """Take every page as a visitor sees it, else as an administrator does, and some as an annotator."""
    page.context.clear_cookies()
    public = list(crawl(page, [start for start in starts if start.startswith(("/hub", "/snapshots", "/studies"))]))
    take_pages(page, "visitor", public)
    log_in(page, ADMIN)
    own = list(crawl(page, starts))
    routes_of_visitors = {route_of(path) for path in public}
    take_pages(page, "admin", [path for path in own if route_of(path) not in routes_of_visitors])
    log_in(page, ANNOTATOR)
    take_pages(page, "annotator", list(OF_ANNOTATOR))
    for route in missing_routes([*public, *own]):
        print(f"not taken: {route}")


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    main()
