"""Agreement of the page with the server: in a real Chromium, over boards of every kind."""

import re
import threading
from collections.abc import Iterator
from time import sleep
from typing import Any

import numpy as np
import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect

from dynabench.stats.averages import average_over_datasets
from dynabench.stats.dynascore import dynascore, guarded_dynascore
from tests.web import gallery

pytestmark = [pytest.mark.browser, pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)]
BOARD = "/tasks/sentiment/leaderboard"
NAMES = ("accuracy", "f1", "memory")
COMPUTE = """async ([address, boards]) => {
  const { averaged, dynascore } = await import(address);
  return boards.map(({ rows, data, metrics, steps, primary, form }) =>
    dynascore(averaged(rows, data), metrics, steps, primary, form));
}"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with gallery.chromium() as browser:
        yield browser


@pytest.fixture
def address(app: FastAPI, furnished: Any) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def page(chromium: Browser, address: str) -> Iterator[Page]:
    context = chromium.new_context(base_url=address, viewport={"width": 1280, "height": 900})
    opened, answer = context.new_page(), list[str]()
    opened.on("console", lambda message: answer.append(message.text))
    opened.on("pageerror", lambda error: answer.append(str(error)))
    yield opened
    context.close()
    assert answer == []


def cases(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Boards with ties, constant metrics, one model, primaries of which less is better, and both forms."""
    for number in range(200):
        models, data = int(rng.integers(1, 8)), int(rng.integers(1, 4))
        rows = rng.normal(50, 20, (models, data, len(NAMES)))
        if number % 4 == 1:
            rows = np.round(rows, -1)
        if number % 5 == 2:
            rows[:, :, 1] = 7.0
        if number % 7 == 3:
            rows[:] = rows[0]
        numbers: list[Any] = rows.tolist()
        if number % 3 == 0 and data > 1:  # a dataset on which nobody has the metric
            for row in numbers:
                row[-1][1] = None
        yield {
            "rows": numbers,
            "data": [int(step) for step in rng.integers(1, 6, data)],
            "metrics": [
                {"name": "accuracy", "direction": -1 if number % 11 == 0 else 1, "offset": 0, "ends": None},
                {"name": "f1", "direction": 1, "offset": 0, "ends": [0, 60] if number % 6 == 1 else None},
                {"name": "memory", "direction": -1, "offset": 32, "ends": [50, 0] if number % 6 == 1 else None},
            ],
            "steps": [int(rng.integers(1, 6)), *(int(step) for step in rng.integers(0, 6, 2))],
            "primary": 0,
            "form": ("exact", "guarded")[number % 2],
        }


def expected(case: dict[str, Any]) -> list[float]:
    table = average_over_datasets(
        {
            str(at): {
                str(d): {name: value for name, value in zip(NAMES, its, strict=True) if value is not None}
                for d, its in enumerate(row)
            }
            for at, row in enumerate(case["rows"])
        },
        {str(d): step for d, step in enumerate(case["data"])},
    )
    steps = dict(zip(NAMES, map(float, case["steps"]), strict=True))
    directions = {item["name"]: item["direction"] for item in case["metrics"]}
    if case["form"] == "guarded":
        scales = {metric["name"]: tuple(metric["ends"]) for metric in case["metrics"] if metric["ends"]}
        for its in table.values():
            for name in set(scales) & set(its):
                its[name] = min(max(its[name], min(scales[name])), max(scales[name]))
        scales = {name: scale for name, scale in scales.items() if name in next(iter(table.values()))}
        return list(guarded_dynascore(table, "accuracy", steps, directions, scales).values())
    return list(dynascore(table, "accuracy", steps, directions, {"memory": 32.0}).values())


@pytest.mark.slow
def test_the_page_computes_the_dynascore_of_the_library(page):
    page.goto(BOARD)
    boards = list(cases(np.random.default_rng(6)))
    module = page.evaluate("() => document.querySelector('script[type=module]').src.replace(/[^/]+$/, 'dynascore.js')")
    result = page.evaluate(COMPUTE, [module, boards])
    for case, scores in zip(boards, result, strict=True):
        np.testing.assert_allclose(scores, expected(case), rtol=1e-6, atol=1e-6)


def rows_of(page: Page) -> list[tuple[str, str]]:
    rows = page.locator(".lb-table tbody tr")
    return [
        (row.locator("th a").inner_text(), row.locator("[data-c=score]").inner_text().split()[0]) for row in rows.all()
    ]


@pytest.mark.slow
def test_a_slider_moved_by_keys_re_ranks_at_once_and_the_link_shows_the_same(page):
    page.goto(BOARD)
    page.evaluate("() => { window.stayed = true }")
    before = rows_of(page)
    page.get_by_text("Edit weights").click()
    slider = page.get_by_label("Accuracy", exact=True).first
    slider.focus()
    for _ in range(4):
        slider.press("ArrowLeft")
    expect(page.locator("[data-status]")).to_contain_text("Ranked again")
    assert "m.accuracy=0" in page.url
    now = rows_of(page)
    assert now != before
    assert page.evaluate("() => window.stayed"), "no page load"
    intervals = page.locator("[data-c=rank] strong").all_inner_texts()
    page.goto(page.url)
    assert rows_of(page) == now, "what the page computed is what the server computes"
    assert page.locator("[data-c=rank] strong").all_inner_texts() == intervals
    page.get_by_text("Edit weights").click()
    page.get_by_role("link", name="Reset").click()
    expect(page.locator("[data-status]")).to_contain_text("Ranked again")
    assert rows_of(page) == before
    assert "?" not in page.url


@pytest.mark.slow
def test_columns_rows_and_sorting_change_without_a_load(page):
    page.goto(BOARD)
    page.get_by_role("link", name="Model", exact=True).click()
    assert page.locator(".lb-table tbody th a").first.inner_text() == "model-0"
    page.get_by_role("link", name="Model", exact=True).click()
    assert page.locator(".lb-table tbody th a").first.inner_text() == "model-3"
    expect(page).to_have_url(re.compile("sort=-name"))
    page.get_by_text("Edit weights").click()
    page.get_by_text("Rows and columns").click()
    page.get_by_role("checkbox", name="Memory").uncheck()
    expect(page.locator("thead [data-c='m.memory']")).to_be_hidden()
    page.get_by_role("link", name="model-3").click()
    expect(page.locator("[data-detail]")).to_contain_text("Second")


@pytest.mark.slow
def test_details_stay_open_below_their_row_when_the_board_is_ranked_anew(page):
    page.goto(BOARD)
    page.get_by_role("link", name="model-3").click()
    expect(page.locator("[data-detail]")).to_contain_text("Second")
    page.get_by_role("link", name="Model", exact=True).click()  # sorted by name, by scripts alone
    expect(page).to_have_url(re.compile(r"sort=name\b"))
    page.get_by_role("link", name="Model", exact=True).click()
    expect(page).to_have_url(re.compile("sort=-name"))
    rows = page.locator(".lb-table tbody > tr")
    expect(rows.nth(0)).to_contain_text("model-3")
    expect(rows.nth(1)).to_contain_text("Second")
    page.get_by_role("link", name="model-3").click()
    expect(page.locator("[data-detail]")).to_have_count(0)


CLIPPED = """() => [...document.querySelectorAll("table")].filter((table) => {
    const frame = table.closest(".table-scroll") ?? table.parentElement;
    const cut = table.scrollWidth > frame.clientWidth + 1;
    return cut && !getComputedStyle(frame).backgroundImage.includes("gradient");
}).map((table) => table.className || table.caption?.textContent || "table")"""


@pytest.mark.parametrize("width", [390, *(pytest.param(width, marks=pytest.mark.slow) for width in (1024, 1440))])
def test_no_table_is_cut_without_a_hint_that_it_goes_on(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    for path in (BOARD, "/tasks/sentiment/slices", "/tasks/sentiment/matrix"):
        page.goto(path)
        if path == BOARD:
            page.get_by_role("link", name="model-3").click()
            expect(page.locator("[data-detail]")).to_contain_text("Second")
        assert page.evaluate(CLIPPED) == [], path
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
