"""Help with writing: asked for, used, taken back, edited and sent in; with scripts, by keyboard, and without."""

import pytest
from playwright.sync_api import expect

from tests.browser.people import WIDE
from tests.browser.test_keyboard import reach
from tests.browser.test_looks import looks_well

pytestmark = [pytest.mark.release, pytest.mark.browser]
CONFIG = """
id: helped
name: Sentiment with help
input: [{name: statement, type: text, label: Your sentence}]
answer: [{name: label, type: choice, options: [positive, negative, neutral]}]
assistant: {providers: [edits], edits: [contractions_expanded, upper_case, punctuation_added, misspellings]}
"""
TEXT = "I couldn't believe that this restaurant isn't really terrible."


@pytest.fixture(scope="module")
def task(admin):
    """A task with an open round of one arm, which offers help."""
    admin.save_task(CONFIG)
    admin.upload_contexts("helped", [{"values": {}}])
    admin.open_round("helped", ["sentiment-ngram"], arms=[{"name": "with-help", "assistant": True}])
    return "helped"


def outcomes(admin, task):
    """Return the outcomes of suggestions, by arm, as the owner reads it."""
    [line] = admin.request("GET", f"/tasks/{task}/rounds/1/arms")["assistance"]["items"]
    return line["accepted"], line["edited"], line["ignored"]


def test_a_suggestion_is_used_taken_back_edited_and_sent(guest, admin, task):
    page = guest("helena").page
    page.goto(f"/tasks/{task}/create")
    field = page.get_by_label("Your sentence")
    field.fill(TEXT)
    ask = page.get_by_role("button", name="Suggest something")
    reach(page, ask)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Suggestions for")).to_be_focused()
    uses = page.get_by_role("button", name="Use", exact=True)
    expect(uses).to_have_count(3)
    reach(page, uses.first)
    page.keyboard.press("Enter")
    expect(field).to_be_focused()
    expect(field).not_to_have_value(TEXT)
    looks_well(page)
    page.set_viewport_size(WIDE)
    page.get_by_role("button", name="Undo").click()
    expect(field).to_have_value(TEXT)
    uses.first.click()
    field.press("End")
    page.keyboard.type(" Never.")
    page.get_by_label("negative").check()
    page.get_by_role("button", name="Ask the models").click()
    expect(page.locator("#tries")).to_contain_text("Never.")
    assert outcomes(admin, task) == (0, 1, 0)


def test_a_suggestion_without_scripts(guest, task):
    page = guest("henrik", java_script_enabled=False).page
    page.goto(f"/tasks/{task}/create")
    page.get_by_label("Your sentence").fill(TEXT)
    page.get_by_role("button", name="Suggest something").click()
    expect(page.get_by_label("Your sentence")).to_have_value(TEXT)
    suggestion = page.locator(".suggestion-text").first.text_content()
    page.get_by_role("button", name="Use", exact=True).first.click()
    expect(page.get_by_label("Your sentence")).to_have_value(suggestion)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Your sentence")).to_have_value(TEXT)
