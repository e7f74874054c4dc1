"""A task with every field type of one value or one list, in all five places: by keyboard alone, checked by another."""

import pytest
from playwright.sync_api import Locator, Page, expect

from dynabench.client import Client
from tests.browser.people import WIDE, example_on, find_in_queue, unfold
from tests.browser.test_keyboard import reach
from tests.browser.test_looks import looks_well
from tests.every_field import CONTEXT, config

pytestmark = [pytest.mark.release, pytest.mark.browser]


@pytest.fixture(scope="module")
def task(admin: Client) -> str:
    """The task with an open round."""
    admin.save_task(config("every-field"))
    assert admin.upload_contexts("every-field", [{"values": CONTEXT}])["created"] == 1
    admin.open_round("every-field", ["sentiment-ngram"])
    return "every-field"


def fill(page: Page, within: Locator, group: str) -> None:
    """Every field of one group by keyboard alone."""

    def field(kind: str) -> Locator:
        return within.locator(f'[data-field="{group}_{kind}"]')

    def press(target: Locator, *keys: str) -> None:
        reach(page, target)
        for key in keys:
            page.keyboard.press(key)

    boxes = field("multi_choice").get_by_role("checkbox")
    press(boxes.nth(0), "Space")
    press(boxes.nth(1), "Space")
    press(field("tree_choice").locator("summary").first, "Enter")
    press(field("tree_choice").get_by_text("Animals"), "Enter")
    press(field("tree_choice").get_by_role("radio", name="Dog"), "Space")
    press(field("slider").get_by_role("slider"), "ArrowRight")
    expect(field("slider").locator("output")).to_have_text("6")
    press(field("sliders").get_by_role("slider", name="Joy"), "End")
    press(field("sliders").get_by_role("slider", name="Fear"), "Space")
    press(field("rating").get_by_role("radio").first, "Space", "ArrowRight", "ArrowRight")
    press(field("ranking").get_by_role("button", name="Move Apples down"), "Enter")
    if group == "ask":  # where the announcement of what was saved may follow at once
        expect(field("ranking").get_by_role("listitem").nth(1)).to_contain_text("Apples")
    else:
        expect(page.locator("#announcer")).to_have_text("Apples is now 2 of 4.")
    press(field("consent").get_by_role("checkbox"), "Space")
    if group != "ask":
        press(field("edit").get_by_role("textbox"), "Control+End")
        page.keyboard.type(" In the rain.")
    press(field("yes_no").get_by_role("radio", name="Yes"), "Space")
    press(field("yes_no").get_by_role("textbox"))
    page.keyboard.type("So it says.")


def test_every_type_by_keyboard_and_checked_by_another(guest, task):
    author, bela = guest("ada"), guest("bela").page
    ada = author.page
    ada.goto(f"/tasks/{task}/create")
    values = ada.locator(".bench-given")
    expect(values.locator("ins").first).to_contain_text("Three")
    expect(values.locator(".value-ranking li").first).to_have_text("Dates")
    expect(values.locator('[dir="rtl"][lang="ar"]')).to_have_count(1)
    form = ada.locator("#create-form")
    reach(ada, form.get_by_label("Statement"))
    ada.keyboard.type("A wonderful and moving lunch.")
    fill(ada, form, "input")
    reach(ada, form.get_by_role("radio", name="positive"))
    ada.keyboard.press("Space")
    fill(ada, form, "answer")
    looks_well(ada)
    ada.set_viewport_size(WIDE)
    ada.keyboard.press("Control+Enter")
    expect(ada.locator("#answer-title")).to_be_focused()
    example = example_on(ada)
    unfold(ada)
    ada.locator("#answer-title").focus()  # `unfold` leaves the focus at the last field, a whole page from the first
    fill(ada, ada.locator("#explain"), "ask")
    ada.keyboard.press("Control+Enter")
    expect(ada.locator("#explain").get_by_text("Saved. Thank you.")).to_be_visible()

    find_in_queue(bela, task, example)
    claim = bela.locator(".item")
    expect(claim.locator(".judged-edit ins")).to_have_count(4)
    expect(claim.locator(".claim")).to_contain_text("Living things › Animals › Dog")
    bela.keyboard.press("2")
    fill(bela, bela.locator("[data-asked]"), "check")
    looks_well(bela)
    bela.set_viewport_size(WIDE)
    bela.keyboard.press("Control+Enter")
    expect(bela.locator(".last")).to_contain_text("incorrect")
