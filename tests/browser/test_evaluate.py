"""The evaluation library in a browser: search while typing, compute, link, and the same without scripts."""

import json
import re

import pytest
from playwright.sync_api import expect

from dynabench.site.cards import library
from tests.browser.people import follow
from tests.browser.test_looks import looks_well

pytestmark = [pytest.mark.release, pytest.mark.browser]


def test_typing_narrows_the_list_and_the_address_says_so(guest):
    page = guest().page
    page.goto("/evaluate")
    expect(page.locator(".list-table tbody tr")).to_have_count(len(library.all_entries()))
    page.get_by_role("searchbox", name="Search modules").press_sequentially("harmonic")
    expect(page.locator(".list-table tbody tr").get_by_role("link", name="f1", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="accuracy", exact=True)).to_have_count(0)
    expect(page.get_by_role("searchbox", name="Search modules")).to_be_focused()
    expect(page).to_have_url(re.compile("q=harmonic"))
    page.get_by_role("link", name="f1", exact=True).click(no_wait_after=True)
    first = 60_000  # the first example of all starts the process that computes
    expect(page.get_by_role("heading", name="f1", level=1)).to_be_visible(timeout=first)


def test_computing_keeps_the_page_and_the_link_shows_the_same(guest, tmp_path):
    page = guest().page
    page.goto("/evaluate/metric/f1")
    page.evaluate("() => { window.stayed = true }")
    page.get_by_label("predictions").fill("cat\ndog\ndog\ncat")
    page.get_by_label("references").fill("cat\ndog\ncat\ncat")
    page.get_by_label("average").select_option("macro")
    page.get_by_label("with a 95% interval").check()
    page.get_by_role("button", name="Compute").click()
    expect(page.locator(".calc-number")).to_contain_text("0.7333")
    assert page.evaluate("() => window.stayed")
    page.goto(page.get_by_role("link", name="Link to this result").get_attribute("href"))
    expect(page.locator(".calc-number")).to_contain_text("0.7333")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download JSON").click()
    assert json.loads(download.value.path().read_text())["f1"] == pytest.approx(0.7333, abs=1e-3)


def test_an_error_stands_beside_its_field_which_has_the_focus(guest):
    person = guest()
    page = person.page
    page.goto("/evaluate/metric/accuracy")
    page.get_by_label("predictions").fill("0.9\n0.2\n1\n1\n1\n1")
    page.get_by_role("button", name="Compute").click()
    expect(page.locator("#f-predictions-error")).to_contain_text("Row 0 is 0.9, which is no label")
    expect(page.get_by_label("predictions")).to_be_focused()
    person.forgive("422")


def test_examples_and_uploads(guest, tmp_path):
    page = guest().page
    page.goto("/evaluate/metric/accuracy")
    follow(page.get_by_role("navigation", name="Examples").get_by_role("link").nth(1), "**/accuracy?example=1")
    expect(page.get_by_label("predictions")).to_have_value("yes\nno")
    page.get_by_text("Paste or upload a table").click()
    file = {"name": "rows.csv", "mimeType": "text/csv", "buffer": b"predictions,references\n1,1\n0,1\n1,1\n0,1\n"}
    page.get_by_label("Or a file").set_input_files(file)
    page.get_by_role("button", name="Compute").click()
    expect(page.locator(".calc-number")).to_contain_text("0.5000")
    expect(page.locator(".calc-rows")).to_contain_text("4 rows")


def test_the_form_without_scripts(guest):
    page = guest(java_script_enabled=False).page
    page.goto("/evaluate?q=recall")
    follow(page.get_by_role("link", name="f1", exact=True), "**/evaluate/metric/f1*")
    page.get_by_label("predictions").fill("1\n1")
    page.get_by_label("references").fill("1\n0")
    page.get_by_role("button", name="Compute").click()
    expect(page.locator(".calc-number")).to_contain_text("0.6667")


def test_the_pages_look_well(guest):
    page = guest().page
    for path in ("/evaluate", "/evaluate/metric/f1?example=1", "/evaluate/metric/accuracy?example=2"):
        page.goto(path)
        looks_well(page)
