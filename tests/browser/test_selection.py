"""Data selection as people play it: rows chosen and sent, trained on and scored, compared, taken away."""

import csv
import io
import re

import pytest
from playwright.sync_api import Page, expect

from dynabench.tasks.shipped import shipped_selections
from tests.browser.test_looks import looks_well

pytestmark = [pytest.mark.release, pytest.mark.browser]
[SHIPPED] = shipped_selections()
HERE = "/tasks/data-selection"
POOL = list(SHIPPED.rows("pool"))


def uids_from(source: str) -> list[str]:
    return [row["uid"] for row in POOL if source in row["tags"]][:100]


def send(page: Page, name: str, uids: list[str]) -> None:
    page.get_by_label("Name", exact=True).fill(name)
    content = "\n".join(uids).encode()
    page.get_by_label("Your rows").set_input_files({"name": "rows.txt", "mimeType": "text/plain", "buffer": content})
    page.get_by_role("button", name="Submit").click()


def scored(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    expect(page.locator(".timeline .reached")).to_have_count(4, timeout=300_000)
    expect(page.locator(".facts")).to_contain_text("100 rows")


def test_two_people_choose_and_the_board_says_what_it_was_worth(guest):
    ada, ben = guest("selma"), guest("selim")
    page = ada.page
    page.goto(HERE)
    expect(page.get_by_role("navigation", name="Task").get_by_role("link", name="Play")).to_have_count(0)
    looks_well(page)
    page.get_by_role("link", name="Submit a training set").click()
    page.wait_for_url("**/submit")
    looks_well(page)
    send(page, "desk-rows", [*uids_from("desk"), uids_from("desk")[0], "p-999"])
    expect(page.locator("main")).to_contain_text("line 102: The pool has no row 'p-999'.", timeout=120_000)
    page.goto(f"{HERE}/submit")
    send(page, "desk-rows", uids_from("desk"))
    ben.page.goto(f"{HERE}/submit")
    send(ben.page, "app-rows", uids_from("app"))
    scored(page, "desk-rows")
    scored(ben.page, "app-rows")
    looks_well(page)

    page.goto(f"{HERE}/leaderboard")
    rows = page.locator(".lb-table tr[data-row]")
    for name in ("desk-rows", "app-rows", "data-selection-random-rows", "data-selection-whole-pool"):
        score = page.locator(f'tr[data-name="{name}"] [data-c="m.accuracy"]')
        expect(score).to_have_attribute("title", re.compile("–"), timeout=120_000)  # its interval
    order = rows.evaluate_all("rows => rows.map(row => row.dataset.name)")
    assert order.index("desk-rows") < order.index("app-rows")
    expect(page.locator('tr[data-name="desk-rows"]')).to_contain_text("100 rows")
    looks_well(page)
    page.get_by_role("link", name="desk-rows", exact=True).click()
    expect(page.locator(".lb-detail")).to_contain_text("trained on 100 rows")
    sheet = list(csv.DictReader(io.StringIO(page.request.get(f"/api/v1{HERE}/leaderboard/file").text())))
    assert {row["name"]: row["rows"] for row in sheet}["app-rows"] == "100"
    assert "roads: " in sheet[0]["balance"]
