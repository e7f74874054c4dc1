"""The registry in a browser, with the shipped models: find one, talk to it, look at its words, compare two, share."""

import pytest
from playwright.sync_api import expect

from tests.browser.people import PHONE, arrived, follow
from tests.browser.test_looks import looks_well

pytestmark = pytest.mark.browser
PREMISE = "Two hikers eat lunch on a bridge while a storm gathers behind them."
HYPOTHESIS = "They finished eating at home."


def write(page):
    page.get_by_label("Premise").fill(PREMISE)
    page.get_by_role("textbox", name="Hypothesis").fill(HYPOTHESIS)


@pytest.mark.release
def test_find_a_model_talk_to_it_compare_it_and_share_what_it_said(guest):
    page = guest().page
    page.goto("/")
    follow(page.get_by_role("navigation", name="Main").get_by_role("link", name="Models"), "**/models")
    page.get_by_role("searchbox", name="Search models").press_sequentially("nli")
    expect(page.locator(".list-table tbody tr")).to_have_count(2)
    looks_well(page)
    follow(page.get_by_role("link", name="nli-minilm"), "**/models/nli-minilm*")
    page.evaluate("() => { window.stayed = true }")
    write(page)
    page.get_by_role("textbox", name="Hypothesis").press("Control+Enter")
    role = page.get_by_role("heading", name="Prediction")
    expect(role).to_be_focused()
    expect(page.locator(".bar-row.predicted")).to_have_count(1)
    expect(page.locator("token-strip [data-word]").first).to_be_visible()
    page.locator("token-strip .strip-more > summary").click()
    page.get_by_role("combobox", name="Method:").select_option("layer_integrated_gradients")
    expect(page.locator(".strip-method")).to_contain_text("the weights miss")
    expect(page.get_by_role("combobox", name="Method:")).to_be_focused()
    assert page.evaluate("() => window.stayed"), "the page was not loaded again"
    looks_well(page)

    other = guest(viewport=PHONE, color_scheme="dark").page
    other.goto(page.url)
    expect(other.get_by_role("heading", name="Prediction")).to_have_text(role.inner_text())
    expect(other.get_by_role("textbox", name="Hypothesis")).to_have_value(HYPOTHESIS)

    follow(page.get_by_role("link", name="Compare", exact=True), "**/models/compare?*")
    page.get_by_label("Second model").select_option("nli-ngram")
    page.get_by_role("button", name="Compare").click()
    arrived(page.get_by_role("button", name="Ask both"))
    write(page)
    page.get_by_role("button", name="Ask both").click()
    expect(page.locator(".replies article")).to_have_count(2)
    expect(page.locator(".replies-difference")).to_contain_text("largest difference is on")
    expect(page.locator("article[aria-label=nli-ngram] token-strip [data-word]").first).to_be_visible()
    looks_well(page)
    page.go_back()
    expect(page.locator(".replies")).to_have_count(0)


@pytest.mark.slow
def test_without_scripts_a_model_answers_and_explains(guest):
    page = guest(java_script_enabled=False).page
    page.goto("/tasks/nli")
    follow(page.get_by_role("navigation", name="Task").get_by_role("link", name="Rounds & data"), "**/tasks/nli/rounds")
    follow(page.get_by_role("navigation", name="Pages").get_by_role("link", name="Models"), "**/tasks/nli/models")
    follow(page.get_by_role("link", name="nli-ngram"), "**/models/nli-ngram*")
    write(page)
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("heading", name="Prediction")).to_be_visible()
    page.get_by_role("button", name="exact for this model").click()
    expect(page.locator(".replies ol.strip").first).to_be_visible()
    expect(page.get_by_role("textbox", name="Hypothesis")).to_have_value(HYPOTHESIS)


def test_an_empty_field_is_named_and_has_the_focus(guest):
    person = guest()
    page = person.page
    page.goto("/models/sentiment-ngram")
    page.get_by_label("Statement").fill("\u200b")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".field-error")).to_have_text("This field is required.")
    expect(page.get_by_label("Statement")).to_be_focused()
    person.forgive("422")
