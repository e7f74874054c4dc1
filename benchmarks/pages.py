"""The weight of pages and what a visitor waits for, in a real Chromium: requests, bytes, first paint, shifts, input."""

from collections.abc import Iterator
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page

from benchmarks.leaderboard import MANY, served
from benchmarks.row import Row
from tests.web import gallery

PAGES = ("/", "/tasks", "/leaderboards", "/models", "/tasks/bench")
"""Pages without charts that need Vega."""
SLOW_4G = {"offline": False, "latency": 150, "downloadThroughput": 1_600_000 / 8, "uploadThroughput": 750_000 / 8}
"""Milliseconds and bytes per second of the profile of that name in Lighthouse."""
VISITS, MOVES = 3, 5
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
SHIFTS = """() => new Promise((done) => {
    let sum = 0;
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) sum += entry.value; })
        .observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done(sum), 500);
})"""
WATCH = """() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration);
    }).observe({ type: "event", durationThreshold: 16 });
}"""
PLAIN = "<!doctype html><title>One slider</title><p>A text</p><input type='range' min='0' max='5'>"


def rows() -> Iterator[Row]:
    """All figures of this file."""
    with TemporaryDirectory() as folder, served(folder) as address, gallery.chromium() as chromium:
        weights = {path: weigh(chromium, address + path) for path in PAGES}
        plain = weigh(chromium, f"{address}/healthz")
        requests = max(count for count, _bytes in weights.values())
        size = max(size for _count, size in weights.values()) / 1024
        first = f"a page without charts, the heaviest of {len(PAGES)}"
        yield Row(f"{first}: requests", requests, "", "a bare answer", plain[0], "8", requests <= 8)
        yield Row(f"{first}: sent", size, "KiB", "a bare answer", plain[1] / 1024, "100 KiB", size <= 100)
        paint = paint_seconds(chromium, f"{address}/")
        bare = paint_seconds(chromium, f"{address}/healthz")
        subject = "first page on slow 4G, first contentful paint"
        yield Row(subject, paint, "s", "a bare answer on slow 4G", bare, "1 s", paint <= 1)
        shifts = max(shift(chromium, address + path) for path in PAGES)
        yield Row("layout shift while a page loads, the worst", shifts, "", budget="0.02", holds=shifts < 0.02)
        page = chromium.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{address}/tasks/bench/leaderboard")
        page.evaluate("() => { for (const panel of document.querySelectorAll('details')) panel.open = true; }")
        moved = longest_input(page)
        page.set_content(PLAIN)
        alone = longest_input(page)
        subject = f"{MANY} models weighed anew by a key, interaction to next paint"
        yield Row(subject, moved, "ms", "a slider alone", alone, "100 ms", moved <= 100)


def weigh(chromium: Browser, address: str) -> tuple[int, float]:
    """Return the requests of a page until it is loaded, and the bytes of their answers as sent."""
    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    wire = page.context.new_cdp_session(page)
    wire.send("Network.enable")
    sizes: list[float] = []
    wire.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(address, wait_until="load")
    page.evaluate("() => document.fonts.ready.then(() => true)")
    result = len(sizes), sum(sizes)
    page.close()
    return result


def paint_seconds(chromium: Browser, address: str) -> float:
    """Return the median seconds to the first contentful paint of visitors who have nothing in their cache."""
    return median(_paint(chromium, address) for _visit in range(VISITS))


def _paint(chromium: Browser, address: str) -> float:
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    wire = page.context.new_cdp_session(page)
    wire.send("Network.enable")
    wire.send("Network.emulateNetworkConditions", SLOW_4G)
    page.goto(address, wait_until="load")
    page.wait_for_function(PAINT)
    seconds = float(page.evaluate(PAINT)) / 1000
    page.close()
    return seconds


def shift(chromium: Browser, address: str) -> float:
    """Return the sum of all layout shifts of a page."""
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto(address, wait_until="load")
    total = float(page.evaluate(SHIFTS))
    page.close()
    return total


def longest_input(page: Page) -> float:
    """Return the median milliseconds from a key on the page's first slider to the next paint."""
    slider: Any = page.locator("input[type=range]:visible").first
    slider.focus()
    durations = []
    for number in range(MOVES):
        page.evaluate(WATCH)
        slider.press("ArrowLeft" if number % 2 else "ArrowRight")
        page.wait_for_timeout(400)
        durations.append(float(page.evaluate("window.longest")) or 16.0)
    return median(durations)
