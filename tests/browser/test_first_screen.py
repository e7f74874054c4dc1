"""After an answer the verdict and what to do next are in sight, wide and on a phone, whatever the task."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import draw_over
from tests.browser.test_tasks import accept_warning
from tests.browser.test_text_tasks import fill

pytestmark = [pytest.mark.slow, pytest.mark.browser]
SIZES = [{"width": 1440, "height": 900}, {"width": 390, "height": 844}]


def choose(page: Page, label: str) -> None:
    page.locator("#create-form").get_by_label(label, exact=True).check()


def mark(page: Page) -> None:
    fill(page, Question="Which words does the passage begin with?")
    words = page.locator(".span-passage .span-word")
    draw_over(page, words.nth(1), words.nth(3))


def name(page: Page) -> None:
    fill(page, Sentence="Hope sold nine boats to Virginia.")
    page.get_by_role("checkbox", name="Hope", exact=True).focus()
    page.keyboard.press("1")


def pick(page: Page) -> None:
    page.locator(".media-choice input").nth(1).check()
    page.locator("#create-form").get_by_label("3", exact=True).check()


WRITTEN: dict[str, Callable[[Page], object]] = {
    "nli": lambda page: fill(page, Hypothesis="Nobody has ever been anywhere."),
    "sentiment": lambda page: (fill(page, Statement="A great gift for an enemy."), choose(page, "negative")),
    "hate": lambda page: (fill(page, Statement="They serve noodles on Mondays."), choose(page, "not hateful")),
    "hate-emoji": lambda page: (fill(page, Statement="Cake 🎂 for all of us."), choose(page, "not hateful")),
    "boolq": lambda page: (fill(page, Question="Is there more than one thing in it?"), choose(page, "yes")),
    "qa": mark,
    "qa-extended": lambda page: fill(page, Question="Who was Sir Zzyzx?", The_answer="a heron"),
    "summarization": lambda page: fill(
        page,
        Document="The bus was late. " * 6,
        Your_summary="It ran.",
    ),
    "translation": lambda page: fill(page, Source="Lyon", Your_translation="Qqq"),
    "ner": name,
    "image-classification": pick,
    "vqa": lambda page: fill(page, Question="what shape is this?", The_right_answer="a house"),
}


def result_and_next_are_seen(page: Page, width: int) -> None:
    """The title of the answer has the focus; it and “Next” are in sight, and nothing is too wide."""
    title = page.locator("#answer-title")
    expect(title).to_be_focused()
    expect(title).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name=re.compile("^Next"))).to_be_in_viewport(ratio=1)
    expect(page.locator("html")).to_have_js_property("scrollWidth", width)


@pytest.mark.parametrize("task", list(WRITTEN))
def test_the_result_and_next_are_seen_without_scrolling(guest, start_task, task):
    start_task(task)
    for size in SIZES:
        writer = guest(f"olive{size['width']}", viewport=size)
        page = writer.page
        page.goto(f"/tasks/{task}/create")
        if task.startswith("hate"):
            accept_warning(page)
        WRITTEN[task](page)
        page.get_by_role("button", name="Ask the models").click()
        result_and_next_are_seen(page, size["width"])
        expect(page.get_by_text("Show all").or_(page.locator(".target-name")).first).to_be_visible()
        page.close()  # which also delivers what its console still had to say
        writer.forgive("503")  # a machine at its limit: the page waited by itself
