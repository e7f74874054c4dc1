"""The whole way without a mouse: join, write, read the strip, explain, mark words, check, undo."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.people import PASSWORD, arrived, ask_the_models, example_on, something_fooling
from tests.browser.test_looks import serious

pytestmark = [pytest.mark.release, pytest.mark.browser]


def reach(page: Page, target: Locator, key: str = "Tab", most: int = 80) -> None:
    """Press the key until `target` has the focus, which must be visible."""
    arrived(target)
    for _ in range(most):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{target} cannot be reached by {key}")


def enter(page: Page, target: Locator) -> None:
    reach(page, target)
    page.keyboard.press("Enter")


def join(page: Page, name: str) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    enter(page, page.get_by_role("banner").get_by_role("link", name="Join"))
    reach(page, page.get_by_label("Username"))
    for text in (name, f"{name}@example.org", PASSWORD):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    reach(page, page.get_by_role("checkbox"))  # past the button that shows the password
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Welcome, {name}. Write your first example.")


def read_the_strip(page: Page) -> None:
    """From word to word by arrows; then look closer."""
    target = page.get_by_role("article", name=re.compile("minilm"))
    words = target.get_by_role("listitem").and_(page.locator("[data-word]"))
    reach(page, words.first)
    page.keyboard.press("ArrowRight")
    expect(words.nth(1)).to_be_focused()
    expect(target.locator(".strip-readout")).to_have_text(re.compile(r": [+−]\d\.\d\d, (for|against) "))
    enter(page, target.locator(".strip-more > summary"))
    enter(page, target.get_by_role("button", name="more precise"))
    expect(target.locator(".strip-method")).to_contain_text("the weights miss")
    expect(words.first).to_be_focused()


def explain(page: Page) -> None:
    chips = page.locator("#explain details.chip-more > summary")
    for chip, text in ((0, "It follows from nothing but itself."), (1, "The word not.")):
        enter(page, chips.nth(chip))
        page.keyboard.press("Tab")
        page.keyboard.type(text)
    enter(page, chips.nth(2))
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#explain").get_by_text("Saved. Thank you.")).to_be_visible()
    expect(page.locator("#explain .span-check:checked")).to_have_count(2)


def test_the_whole_way_by_keyboard(guest, visitor):
    page = guest().page
    join(page, "fritz")
    enter(page, page.get_by_role("link", name="Choose another task"))
    enter(page, page.get_by_role("link", name=re.compile("^Play.*Natural language inference$")))
    expect(page.get_by_role("button", name="Ask the models")).to_be_visible()
    draft = something_fooling(page, visitor, "nli")
    reach(page, page.get_by_role("textbox", name="Hypothesis"))
    page.keyboard.type(draft.text)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="You fooled")).to_be_focused()
    expect(page.locator("#announcer")).to_have_text(re.compile("^You fooled "))
    read_the_strip(page)
    explain(page)
    page.keyboard.press("?")
    keys = page.get_by_role("dialog")
    expect(keys).to_contain_text("Another context")
    assert serious(page) == []
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("e")
    expect(page.get_by_role("textbox", name="Hypothesis")).to_be_focused()
    expect(page.get_by_role("textbox", name="Hypothesis")).to_have_value(draft.text)


def test_enter_goes_on_and_c_brings_another_context(guest, visitor):
    page = guest("fritz").page
    page.goto("/tasks/nli/create")
    context = page.locator("#create-form [name=context_id]")
    first = context.input_value()
    page.keyboard.press("c")
    expect(context).not_to_have_value(first)
    ask_the_models(page, "nli", something_fooling(page, visitor, "nli"))
    expect(page.get_by_role("heading", name="You fooled")).to_be_focused()
    second = context.input_value()
    page.keyboard.press("Enter")
    expect(context).not_to_have_value(second)
    expect(page.locator("#result .answer")).to_have_count(0)
    expect(page.get_by_role("textbox", name="Hypothesis")).to_be_focused()


def test_checking_by_number_keys(guest, visitor):
    fritz = guest("fritz").page
    fritz.goto("/tasks/nli/create")
    ask_the_models(fritz, "nli", something_fooling(fritz, visitor, "nli"))
    expect(fritz.get_by_role("heading", name="You fooled")).to_be_focused()
    example = example_on(fritz)
    page = guest("greta").page
    page.goto("/tasks/nli/validate")
    form = page.locator("form.vote")
    for _ in range(30):
        here = form.get_attribute("action") or ""
        if here.endswith(f"/{example}"):
            break
        page.keyboard.press("0")
        expect(page.locator(f'form.vote[action="{here}"]')).to_have_count(0)
    page.keyboard.press("1")
    expect(page.locator(".last")).to_contain_text("correct")
    page.keyboard.press("u")
    expect(page.locator(".last")).to_have_count(0)
