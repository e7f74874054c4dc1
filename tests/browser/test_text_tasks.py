"""The further tasks of texts, from the create page to somebody else's vote, against the models that come with them."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import example_on, find_in_queue, unfold
from tests.browser.test_looks import looks_well
from tests.browser.test_tasks import accept_warning

pytestmark = [pytest.mark.release, pytest.mark.browser]
OUTCOME = re.compile("You fooled|got it")
SENTENCE = "Hope sold nine boats to Virginia."


def fill(page: Page, **texts: str) -> None:
    """Write into the text boxes of these labels."""
    for label, text in texts.items():
        page.get_by_role("textbox", name=label.replace("_", " "), exact=True).first.fill(text)


def send(page: Page) -> None:
    page.get_by_role("button", name="Ask the models").click()
    expect(page.get_by_role("heading", name=OUTCOME)).to_be_focused()


def choose(page: Page, labels: list[str]) -> str:
    """Claim one label after the other, until a model says something else; the label that fooled it."""
    for label in labels:
        page.locator("#create-form").get_by_label(label, exact=True).check()
        send(page)
        if page.get_by_role("heading", name="You fooled").count():
            return label
    raise AssertionError("Each label is what the models say.")


def ask_yes_or_no(page: Page) -> str:
    fill(page, Question="Is there more than one thing in this?")
    return choose(page, ["yes", "no"])


def ask_anything(page: Page) -> str:
    fill(page, Question="Who was Sir Quentin Zzyzx?", The_answer="a heron; an eel")
    send(page)
    return ""


def post(page: Page) -> str:
    fill(page, Statement="Cake 🎂 for all of us, and none for the rest 🙃")
    return choose(page, ["hateful", "not hateful"])


def sum_up(page: Page) -> str:
    story = "The bus was late again. The driver said that the bus was new. Nobody at the stop believed the driver."
    fill(page, Document=f"{story} By noon it had been repaired.", Your_summary="Repairs took until lunch.")
    send(page)
    return ""


def translate(page: Page) -> str:
    fill(page, Source="Lyon", Your_translation="Qqq")
    send(page)
    return ""


def name(page: Page) -> str:
    """Mark two names by keys, write more before them, and see the marks move along."""
    fill(page, Sentence=SENTENCE)
    page.get_by_role("checkbox", name="Hope", exact=True).focus()
    for key in ("1", "End", "ArrowLeft", "1"):
        page.keyboard.press(key)
    listed = page.locator(".labelled-list li")
    expect(listed).to_have_text([re.compile("Hope, person"), re.compile("Virginia, person")])
    fill(page, Sentence=f"Once {SENTENCE}")
    expect(listed).to_have_text([re.compile("Hope, person"), re.compile("Virginia, person")])
    fill(page, Sentence=f"Once {SENTENCE}".replace("Hope", "Hopeful"))
    expect(listed).to_have_text([re.compile("Hopeful, person"), re.compile("Virginia, person")])
    fill(page, Sentence=f"Once {SENTENCE}".replace("Hope", "Grace"))
    expect(listed).to_have_text([re.compile("Virginia, person")])
    fill(page, Sentence=f"Once {SENTENCE}")
    page.get_by_role("checkbox", name="Hope", exact=True).focus()
    page.keyboard.press("1")
    looks_well(page)
    send(page)
    expect(page.locator(".answer-head")).to_contain_text("Virginia (person)")
    return ""


PLAYED: dict[str, Callable[[Page], str]] = {
    "boolq": ask_yes_or_no,
    "qa-extended": ask_anything,
    "hate-emoji": post,
    "summarization": sum_up,
    "translation": translate,
    "ner": name,
}


def vote(page: Page, claimed: str) -> None:
    """Agree: blind with the same answer, else by the key for correct."""
    if page.get_by_text("Is this right?").count():
        page.keyboard.press("1")
    else:
        page.locator("form.vote").get_by_role("button", name=re.compile(rf"^(\d\s*)?{claimed}")).click()


@pytest.mark.parametrize("task", list(PLAYED))
def test_it_is_played_from_the_create_page_to_the_vote(guest: Any, start_task: Callable[[str], str], task: str) -> None:
    start_task(task)
    author, bela = guest("ada"), guest("bela").page
    ada = author.page
    ada.goto(f"/tasks/{task}/create")
    if task == "hate-emoji":
        accept_warning(ada)
    claimed = PLAYED[task](ada)
    expect(ada.get_by_role("heading", name="You fooled")).to_be_visible()
    looks_well(ada)
    example = example_on(ada)
    unfold(ada)
    ada.get_by_label(re.compile("^Why (is|are) your .* right")).fill("So it stands there.")
    ada.keyboard.press("Tab")  # saved when it is left
    expect(ada.locator("#explain").get_by_text("Saved. Thank you.")).to_be_visible()
    bela.goto(f"/tasks/{task}/validate")
    if task == "hate-emoji":
        accept_warning(bela)
    find_in_queue(bela, task, example)
    looks_well(bela)
    vote(bela, claimed)
    expect(bela.locator(".last")).to_be_visible()
    author.forgive("503")  # a machine at its limit: the page waited by itself


def test_names_are_marked_without_scripts(guest: Any) -> None:
    hugo = guest("hugo", java_script_enabled=False)
    page = hugo.page
    page.goto("/tasks/ner/create")
    fill(page, Sentence=SENTENCE)
    page.get_by_role("button", name="Ask the models").click()
    expect(page.locator("#create-form .field-error")).to_contain_text("Mark and label at least one span")
    hugo.forgive("422")
    row = page.get_by_role("group", name="Span 1", exact=True)
    row.get_by_label("Label").select_option("person")
    row.get_by_label("First word").fill("1")
    page.get_by_role("button", name="Ask the models").click()
    expect(page.locator(".answer-head")).to_contain_text("Hope (person)")
