"""Without scripts: forms post, pages come back whole."""

import pytest
from playwright.sync_api import expect

from tests.browser.people import PASSWORD, something_fooling, writing

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_the_loop_without_scripts(guest, visitor):
    page = guest(java_script_enabled=False).page
    page.goto("/register?next=/tasks/nli/create")
    page.get_by_label("Username").fill("halina")
    page.get_by_label("Email", exact=True).fill("halina@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Join").click()
    draft = something_fooling(page, visitor, "nli")
    writing(page, "nli").fill(draft.text)
    page.get_by_role("button", name="Ask the models").click()
    expect(page.get_by_role("heading", name="You fooled")).to_be_visible()
    expect(writing(page, "nli")).to_have_value(draft.text)
    page.get_by_text("Why is your label right?").first.click()
    page.get_by_label("Why is your label right?").fill("It is so.")
    page.get_by_role("button", name="Save explanation").click()
    expect(page.locator("#tries")).to_contain_text(draft.text)

    other = guest("ines", java_script_enabled=False).page
    other.goto("/tasks/nli/validate")
    expect(other.get_by_text("Which label is right?")).to_be_visible()
    other.get_by_role("button", name="Correct", exact=False).first.click()
    expect(other.locator(".last")).to_contain_text("correct")
    other.get_by_role("button", name="Undo").click()
    expect(other.locator("form.vote")).to_be_visible()
    other.goto("/tasks/nli/rounds/1")
    other.locator("summary").filter(has_text="Model error rates").click()
    expect(other.get_by_role("row", name="vMER share of examples")).to_be_visible()


def test_a_visitor_tries_it_without_scripts(guest):
    page = guest(java_script_enabled=False).page
    page.goto("/")
    page.get_by_label("Your sentence").fill("If you enjoy queueing, you will love this museum.")
    page.get_by_label("negative").check()
    page.get_by_role("button", name="Ask the model").click()
    expect(page.get_by_role("heading", name="You fooled it.")).to_be_visible()


def test_refused_forms_keep_what_was_written(guest):
    person = guest(java_script_enabled=False)
    page = person.page
    page.goto("/login")
    page.get_by_label("Username or email").fill("nobody")
    page.get_by_label("Password").fill("wrong wrong wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Username or email")).to_have_value("nobody")
    person.forgive("401")
