"""A task with every field type of one value or one list, in all five places: by keyboard alone, checked by another."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.running import operate
from dynabench.client import Client
from tests.browser.people import PASSWORD, WIDE, example_on, find_in_queue
from tests.browser.test_keyboard import reach
from tests.browser.test_looks import looks_well

pytestmark = pytest.mark.browser

FRUIT = [{"value": "a", "label": "Apples", "description": "Red or green."}, {"value": "b", "label": "Bananas"}]
FRUIT += [{"value": "c", "label": "Cherries"}, {"value": "d", "label": "Dates"}]
TREE = [
    {"value": "living", "label": "Living things", "children": [
        {"value": "animal", "label": "Animals", "children": ["Dog", "Cat"]}, "Plant"]},
    {"value": "stone", "label": "Stones"},
]  # fmt: skip
KINDS: dict[str, dict[str, Any]] = {
    "multi_choice": {"options": FRUIT, "min": 1, "max": 3},
    "tree_choice": {"options": TREE},
    "slider": {"low": "cold", "high": "hot", "max": 10},
    "sliders": {"options": [{"value": "joy", "label": "Joy"}, {"value": "fear", "label": "Fear"}], "max": 5},
    "rating": {"low": "poor", "high": "excellent"},
    "ranking": {"options": FRUIT, "first": "what you like best"},
    "consent": {"statement": "What you write here is published under CC-BY 4.0.", "label": "I agree"},
    "edit": {"of": "report"},
    "yes_no": {"reason": "required"},
    "text": {"language": "ar", "required": False},
    "comment": {},
}
GIVEN = {
    "report": "Two hikers eat lunch on a bridge.",
    "context_multi_choice": ["a", "c"], "context_tree_choice": "Cat", "context_slider": 7,
    "context_sliders": {"joy": 4, "fear": 1}, "context_rating": 5, "context_ranking": ["d", "a", "c", "b"],
    "context_consent": True, "context_edit": "Three hikers eat lunch under a bridge.",
    "context_yes_no": {"value": True, "reason": "They sit."}, "context_text": "خبز وماء",
    "context_comment": "From a walk.",
}  # fmt: skip


def some(group: str, *but: str, **more: Any) -> list[dict[str, Any]]:
    """A field of each type for one part of the config."""
    title = group.capitalize()
    made = []
    for kind, keys in KINDS.items():
        label = f"{title}: {keys.get('label', kind.replace('_', ' '))}"
        made.append({"name": f"{group}_{kind}", "type": kind, **more, **keys, "label": label})
    return [field for field in made if field["type"] not in but]


def config(task: str, mode: str = "judge") -> str:
    """The task in JSON, which is YAML."""
    label = {"name": "label", "type": "choice", "options": ["positive", "neutral", "negative"]}
    told = {
        "id": task, "name": "Every kind of field",
        "context": [{"name": "report", "type": "text", "language": "en"}, *some("context")],
        "input": [{"name": "statement", "type": "text"}, *some("input")],
        "answer": [label, *some("answer", "text", "comment")],
        "fooled": {"fields": ["label"]},
        "ask": some("ask"),
        "validate": {"mode": mode, "votes": 1, "also_not_fooled": True, "ask": some("check", when="incorrect")},
    }  # fmt: skip
    return json.dumps(told, ensure_ascii=False)


@pytest.fixture(scope="module")
def task(site: Any) -> Iterator[str]:
    """The task with an open round."""
    with Client(site.base) as owner:
        owner.register("fields-owner", "fields-owner@example.org", PASSWORD)
        operate(site.home, "user", "promote", "fields-owner", "--admin")
        owner.log_in("fields-owner", PASSWORD)
        owner.save_task(config("every-field"))
        assert owner.upload_contexts("every-field", [{"values": GIVEN}])["created"] == 1
        owner.open_round("every-field", ["sentiment-ngram"])
        yield "every-field"


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
    expect(page.locator("#announcer")).to_have_text("Apples is now 2 of 4.")
    press(field("consent").get_by_role("checkbox"), "Space")
    if group != "ask":
        press(field("edit").get_by_role("textbox"), "Control+End")
        page.keyboard.type(" In the rain.")
    press(field("yes_no").get_by_role("radio", name="Yes"), "Space")
    press(field("yes_no").get_by_role("textbox"))
    page.keyboard.type("So it says.")


def test_every_type_by_keyboard_and_checked_by_another(guest, task):
    ada, bela = guest("ada").page, guest("bela").page
    ada.goto(f"/tasks/{task}/create")
    given = ada.locator(".bench-given")
    expect(given.locator("ins").first).to_contain_text("Three")
    expect(given.locator(".value-ranking li").first).to_have_text("Dates")
    expect(given.locator('[dir="rtl"][lang="ar"]')).to_have_count(1)
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
    fill(ada, ada.locator("#explain"), "ask")
    ada.keyboard.press("Control+Enter")
    expect(ada.get_by_text("Saved. Thank you.")).to_be_focused()

    find_in_queue(bela, task, example)
    claim = bela.locator(".item")
    expect(claim.locator(".judged-edit ins")).to_have_count(3)
    expect(claim.locator(".claim")).to_contain_text("Living things › Animals › Dog")
    looks_well(bela)
    bela.set_viewport_size(WIDE)
    bela.keyboard.press("2")
    fill(bela, bela.locator("[data-asked]"), "check")
    looks_well(bela)
    bela.set_viewport_size(WIDE)
    bela.keyboard.press("Control+Enter")
    expect(bela.locator(".last")).to_contain_text("you say it is not correct")
