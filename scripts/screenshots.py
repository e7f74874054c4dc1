"""Take pictures of the running pages, wide and narrow, light and dark, into docs/screenshots.

Starts a platform of its own with the demo rounds, lets four people write and check a few examples, then looks.
"""

import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.running import operate, platform
from dynabench.client import Client
from scripts.chromium import find

OUT = Path(__file__).parent.parent / "docs" / "screenshots"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
SIZES = {"wide": (1440, 900), "narrow": (390, 844)}
PASSWORD = "a long enough passphrase"
ATTEMPTS = [
    ("sentiment", "I have seen worse films, though not by much, and never twice.", "negative"),
    ("sentiment", "The plot leaks like a sieve and I would happily drown in it again.", "positive"),
    ("sentiment", "The lights went out at nine, as the leaflet said they would.", "neutral"),
    ("sentiment", "Nothing about this terrible, horrible monster movie disappointed me.", "positive"),
    ("nli", "Not a single person is present.", None),
    ("nli", "At least one thing happens after another thing.", None),
    ("nli", "Everybody there will be rich tomorrow.", None),
    ("nli", "Somebody is doing something.", None),
]


def people(base: str) -> dict[str, Client]:
    """Four registered people."""
    clients = {}
    for name in ("ada", "bela", "chen", "dora"):
        clients[name] = Client(base)
        clients[name].register(name, f"{name}@example.org", PASSWORD)
    return clients


def write_and_check(clients: dict[str, Client]) -> None:
    """Ada and Bela write, everybody votes on what is not their own."""
    for name in ("ada", "bela"):
        for task, text, label in ATTEMPTS:
            context = clients[name].next_context(task)
            field = "statement" if task == "sentiment" else "hypothesis"
            answer = {"label": label} if label else context["goal"]
            clients[name].create_example(task, context["id"], {field: f"{text}"}, answer)
    for client in clients.values():
        for task in ("sentiment", "nli"):
            while item := client.next_validation(task):
                vote = {"answer": {"label": "positive"}} if item["mode"] == "answer" else {"vote": "correct"}
                client.validate(item["example_id"], **vote)


def log_in(page: Page, base: str, name: str) -> None:
    """Log in through the page."""
    page.goto(f"{base}/login")
    page.locator("[name=username], [name=login], [name=name]").first.fill(name)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("main form button[type=submit], main form button").first.click()
    page.wait_for_load_state("networkidle")


def visit(page: Page, base: str, suffix: str) -> None:
    """Look at every page."""

    def shoot(name: str, whole: bool = True) -> None:
        page.wait_for_timeout(400)
        page.screenshot(path=OUT / f"{name}-{suffix}.png", full_page=whole)

    for name, path in {
        "login": "/login",
        "register": "/register",
        "not-found": "/tasks/nothing-of-the-kind",
    }.items():
        page.goto(base + path)
        shoot(name)
    page.goto(base)
    box = page.locator("main textarea").first
    box.fill("I would not say that I was not amused.")
    box.press("Control+Enter")
    page.locator("token-strip [data-weight], token-strip .word").first.wait_for(timeout=20000)
    shoot("home")
    log_in(page, base, "chen")
    for name, path in {
        "task": "/tasks/nli",
        "board": "/tasks/sentiment/people",
        "round": "/tasks/sentiment/rounds/1",
        "settings": "/settings",
    }.items():
        page.goto(base + path)
        page.wait_for_load_state("networkidle")
        shoot(name)
    page.goto(f"{base}/tasks/nli/create")
    page.locator("main textarea").first.fill("They finished eating at home before the storm arrived.")
    page.locator("main textarea").first.press("Control+Enter")
    page.locator("token-strip [data-weight], token-strip .word").first.wait_for(timeout=20000)
    shoot("create")
    log_out(page, base)
    log_in(page, base, "ada")
    page.goto(f"{base}/tasks/nli/validate")
    shoot("validate")
    log_out(page, base)


def log_out(page: Page, base: str) -> None:
    """Forget the session."""
    page.context.clear_cookies()


def main() -> None:
    """Start, fill, look."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, platform(Path(home), "--demo") as base, sync_playwright() as driver:
        write_and_check(people(base))
        operate(Path(home), "db", "check")
        browser = driver.chromium.launch(executable_path=find(), args=FLAGS)
        for width, size in SIZES.items():
            for scheme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce"
                )
                visit(context.new_page(), base, f"{width}-{scheme}")
                context.close()
        browser.close()
    print(f"{len(list(OUT.glob('*.png')))} pictures in {OUT}")


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    main()
