"""Answers that people call wrong, from the create page to the verdict, with a real model."""

import re

import pytest
from playwright.sync_api import Page, expect

from dynabench.client import Client
from tests.browser.people import PHONE
from tests.browser.test_looks import looks_well

pytestmark = [pytest.mark.browser, pytest.mark.release]

CONFIG = """id: TASK
name: Judged feelings
input: [{name: statement, type: text, max_length: 300}]
answer: {name: label, type: choice, options: [positive, neutral, negative]}
fooled: {rule: RULE, guidance: "Go by what the *writer* feels."}
ask: [{name: why_fooled, type: text, label: "What tricked it?", when: fooled}]
validate: {mode: judge, votes: 1, also_not_fooled: true}
"""
TEXT = "If you enjoy queueing, you will love this museum."


def opened(admin: Client, task: str, rule: str) -> None:
    """A task under a rule, with a round against the shipped model."""
    admin.save_task(CONFIG.replace("TASK", task).replace("RULE", rule))
    admin.open_round(task, ["sentiment-ngram"])


def write(page: Page, task: str) -> None:
    """One try, sent by keys."""
    page.goto(f"/tasks/{task}/create")
    page.locator("#create-form").get_by_label("negative").check()
    box = page.get_by_role("textbox", name="Statement")
    box.fill(TEXT)
    box.press("Control+Enter")


def test_an_author_judges_and_a_validator_confirms_by_keys(guest, admin):
    opened(admin, "judged-author", "judged_by_annotator")
    ada, bela = guest("ada").page, guest("bela", viewport=PHONE).page
    write(ada, "judged-author")
    expect(ada.get_by_role("heading", level=2, name="Is the model's answer wrong?")).to_be_focused()
    expect(ada.locator(".try-state").first).to_contain_text("not judged yet")
    expect(ada.get_by_label("What tricked it?")).to_have_count(0)
    looks_well(ada)
    ada.keyboard.press("y")
    expect(ada.get_by_role("heading", name="You fooled sentiment-ngram.")).to_be_focused()
    expect(ada.get_by_role("button", name="Yes, wrong")).to_have_attribute("aria-pressed", "true")
    expect(ada.locator(".chip", has_text="What tricked it?")).to_be_visible()
    ada.keyboard.press("n")
    expect(ada.get_by_role("heading", name="Not fooled: sentiment-ngram got it right.")).to_be_focused()
    ada.keyboard.press("y")
    expect(ada.get_by_role("heading", name="You fooled sentiment-ngram.")).to_be_focused()
    bela.goto("/tasks/judged-author/validate")
    expect(bela.get_by_text("The model says:")).to_be_visible()
    expect(bela.get_by_role("heading", name="Is the model's answer wrong?")).to_be_visible()
    looks_well(bela)
    bela.keyboard.press("1")
    expect(bela.get_by_role("heading", name=re.compile("model wrong"))).to_be_visible()
    expect(bela.locator(".last")).to_contain_text("verified")


def test_a_verdict_says_whether_the_model_was_wrong(guest, admin):
    opened(admin, "judged-others", "judged_by_validators")
    ada, bela = guest("ada").page, guest("bela").page
    write(ada, "judged-others")
    expect(
        ada.get_by_role("heading", name="Recorded. Validators will decide whether the answer is wrong.")
    ).to_be_focused()
    bela.goto("/tasks/judged-others/validate")
    bela.get_by_role("button", name="No, right").click()
    expect(bela.locator(".last")).to_contain_text("not fooled")
    ada.reload()
    expect(ada.locator(".try-state").first).to_contain_text("not fooled")


def test_without_javascript_the_form_judges_too(guest, admin):
    opened(admin, "judged-plain", "judged_by_annotator")
    page = guest("ada", java_script_enabled=False).page
    page.goto("/tasks/judged-plain/create")
    page.locator("#create-form").get_by_label("negative").check()
    page.get_by_role("textbox", name="Statement").fill(TEXT)
    page.get_by_role("button", name="Ask the models").click()
    page.get_by_role("button", name="Yes, wrong").click()
    expect(page.get_by_role("heading", name="You fooled sentiment-ngram.")).to_be_visible()
