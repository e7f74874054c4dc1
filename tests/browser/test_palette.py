"""The command palette by keys alone: nothing is asked of the server before something is typed."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_looks import serious

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_every_page_is_a_few_keys_away(guest):
    page = guest().page
    requests = []
    page.on("request", lambda request: requests.append(request.url) if "/api/v1/search" in request.url else None)
    page.goto("/tasks/nli")
    page.goto("/docs")
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Search")
    expect(box).to_be_focused()
    expect(page.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("group", name="Recent pages").get_by_role("option")).to_have_count(1)
    assert serious(page) == []
    assert requests == []
    page.keyboard.press("Escape")
    while page.request.get("/docs/api").status == 503:
        pass  # the reference is being prepared
    page.goto("/docs/api/accounts#get-me")  # an address opens its operation, which loads what it hides
    expect(page.locator("#get-me pre")).to_contain_text("curl")
    expect(page.locator("#post-accounts")).to_be_hidden()
    assert serious(page) == []
    page.keyboard.press("Control+k")
    expect(box).to_be_focused()
    page.keyboard.type("senti")
    task = page.get_by_role("group", name="Tasks").get_by_role("option")
    expect(task).to_have_text("Sentiment")
    expect(page.get_by_role("option", name="Write in Sentiment")).to_be_visible()
    expect(box).to_have_attribute("aria-activedescendant", task.get_attribute("id"))
    page.keyboard.press("ArrowDown")
    expect(task).to_have_attribute("aria-selected", "false")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tasks/sentiment")
    page.keyboard.press("/")
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()


def test_without_scripts_the_header_searches(guest):
    page = guest(java_script_enabled=False).page
    page.goto("/docs")
    box = page.get_by_role("banner").get_by_role("searchbox", name="Search")
    box.fill("sentiment")
    box.press("Enter")
    expect(page.get_by_role("heading", name="Tasks")).to_be_visible()
    beside = guest().page  # axe waits by timers, which do not run without scripts
    beside.goto(page.url)
    assert serious(beside) == []
