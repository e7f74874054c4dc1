"""Groups, labelled spans and comparisons from the first word to the vote, without a mouse; and without scripts."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from dynabench.client import ApiError, Client
from tests.browser.people import PHONE, WIDE, draw_over, example_on, find_in_queue, unfold
from tests.browser.test_keyboard import reach
from tests.browser.test_looks import looks_well

pytestmark = [pytest.mark.release, pytest.mark.browser]

TASK = "report-desk"
CONTEXT = {
    "report": "On Monday Ada Lovelace opened the New York bridge.\nBob Moss, who lives in Oslo, missed it.",
    "summary_short": "A bridge was opened.",
    "summary_long": "Ada Lovelace opened a bridge in New York on Monday, and Bob Moss missed it.",
    "source": {"paper": "The Morning Post", "page": 3},
}


@pytest.fixture(scope="module")
def owner(admin: Client) -> Client:
    """The owner of the task, as a program."""
    admin.save_task((Path(__file__).parent / "compound.yaml").read_text(encoding="utf-8"))
    admin.upload_contexts(TASK, [{"values": CONTEXT}])
    admin.open_round(TASK, ["sentiment-ngram"])
    return admin


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def name_the_people(page: Page) -> None:
    """Two of them, the second with a role of its own; a third row comes and goes."""
    reach(page, page.locator("#input-people-0-name"))
    page.keyboard.type("Ada Lovelace")
    press(page, "Tab", "Space")  # official
    reach(page, page.get_by_role("button", name="Add another"))
    press(page, "Enter")
    expect(page.locator("#announcer")).to_have_text("Added: Person in the report 2")
    page.keyboard.type("Bob Moss")
    press(page, "Tab", "ArrowLeft")  # round to the last of the roles: other
    which = page.locator(".group-row").nth(1).get_by_label("Which role")
    expect(which).to_be_visible()
    expect(page.locator(".group-row").first.get_by_label("Which role")).to_be_hidden()
    reach(page, page.get_by_role("button", name="Add another"))
    press(page, "Enter")
    page.keyboard.type("Nobody")
    reach(page, page.get_by_role("button", name="Remove Person in the report 3"))
    press(page, "Enter")
    expect(page.locator(".group-row")).to_have_count(2)


def mark_the_names(page: Page) -> None:
    """Three names, one of which is taken away again."""
    press(page, "a")
    expect(page.get_by_role("checkbox", name="On", exact=True)).to_be_focused()
    press(page, "ArrowRight", "3", "ArrowRight", "Shift+ArrowRight", "1")
    expect(page.locator("#announcer")).to_have_text("Ada Lovelace, Person")
    expect(page.get_by_role("checkbox", name="Lovelace, Person")).to_be_focused()
    press(page, "ArrowRight", "2")
    expect(page.locator(".labelled-list li")).to_have_count(3)
    press(page, "Delete")
    expect(page.locator("#announcer")).to_have_text("Removed: opened, Place")
    press(page, "ArrowRight", "ArrowRight", "Shift+ArrowRight", "2")
    expect(page.locator(".labelled-list")).to_contain_text("New York, Place")


def write(page: Page) -> str:
    """A remark with everything that the task asks for; the output that was chosen."""
    reach(page, page.get_by_role("textbox", name="Your remark"))
    page.keyboard.type("Nobody will miss the terrible old bridge.")
    name_the_people(page)
    reach(page, page.get_by_role("radio", name="positive"))
    press(page, "Space")
    mark_the_names(page)
    reach(page, page.get_by_role("button", name="Ask the models"))
    press(page, "2")
    chosen = page.locator('input[name="answer.better"]:checked')
    expect(chosen).to_have_count(1)
    value = chosen.input_value()
    press(page, "Enter")
    return value


def mend(page: Page) -> None:
    """Show errors beside the inner field, and keep all else."""
    which = page.locator(".group-row").nth(1).get_by_label("Which role")
    expect(which).to_be_focused()
    expect(page.locator("#input-people-1-which-error")).to_have_text("This field is required.")
    expect(page.locator(".labelled-list li")).to_have_count(3)
    page.keyboard.type("poet")
    press(page, "Control+Enter")
    expect(page.locator("#answer-title")).to_be_focused()


def explain(page: Page) -> None:
    unfold(page)
    reach(page, page.locator("#ask-reasons-0-reason"))
    page.keyboard.type("It says nobody and miss.")
    press(page, "Control+Enter")
    expect(page.locator("#explain").get_by_text("Saved. Thank you.")).to_be_visible()


def correct(page: Page) -> None:
    """A vote against it with what would be right: again a group, a comparison and marks."""
    expect(page.locator(".item .labelled-tag")).to_have_text(["(Date)", "(Person)", "(Place)"])
    expect(page.locator(".item")).to_contain_text("poet")
    press(page, "2")
    expect(page.locator("#validation-fix-what-1")).to_be_focused()
    press(page, "Space")
    reach(page, page.get_by_role("radio", name="Output 1 is best"))
    press(page, "Space")
    reach(page, page.locator("#validation-missed .span-check").first)
    press(page, "End", *["ArrowLeft"] * 4, "1")  # over a full stop and a comma, which are words here
    expect(page.locator("#validation-missed + .labelled-list, #validation-missed .labelled-list")).to_contain_text(
        "Oslo"
    )
    looks_well(page)
    press(page, "Control+Enter")
    expect(page.locator(".last")).to_contain_text("incorrect")


def _stored(owner: Client, example: str) -> dict[str, Any]:
    result: dict[str, Any] = owner.example(int(example))
    return result


def test_a_task_of_groups_spans_and_comparisons_is_played_by_keyboard(guest, owner):
    ada = guest("ada")
    page = ada.page
    page.goto(f"/tasks/{TASK}/create?worker_id=beef42")
    chosen = write(page)
    mend(page)
    ada.forgive("422")
    looks_well(page)
    page.set_viewport_size(WIDE)
    explain(page)
    stored = _stored(owner, example_on(page))
    assert stored["input"]["people"] == [
        {"name": "Ada Lovelace", "role": "official"},
        {"name": "Bob Moss", "role": "other", "which": "poet"},
    ]
    marks = [(span["text"], span["label"]) for span in stored["answer"]["entities"]]
    assert marks == [("Monday", "date"), ("Ada Lovelace", "person"), ("New York", "place")]
    assert stored["answer"]["better"]["choice"] == chosen == stored["answer"]["better"]["order"][1]
    assert stored["explanation"] == {"reasons": [{"reason": "It says nobody and miss."}]}
    validator = guest("bela")
    find_in_queue(validator.page, TASK, str(stored["id"]))
    assert "beef42" not in validator.page.content()
    correct(validator.page)
    looks_well(validator.page)
    validator.forgive("422")
    [vote] = owner.request("GET", f"/tasks/{TASK}/rounds/1/links")["items"]
    assert (vote["id"], vote["link"]) == (stored["id"], {"worker": "beef42"})


def test_labels_are_drawn_with_a_finger_or_a_mouse(guest, owner):
    page = guest("carla", viewport=PHONE, has_touch=True).page
    page.goto(f"/tasks/{TASK}/create")
    labels = page.locator("#answer-entities .span-word")
    page.get_by_role("radio", name="Place").click()
    draw_over(page, *(labels.filter(has_text=word).first for word in ("New", "York")))
    expect(page.locator(".labelled-list")).to_have_text("New York, Place Remove")
    labels.filter(has_text="York").first.tap()
    expect(page.locator(".labelled-list li")).to_have_count(0)


def test_everything_can_be_sent_without_scripts(guest, owner):
    page = guest("dora", java_script_enabled=False).page
    page.goto(f"/tasks/{TASK}/create")
    page.get_by_label("Your remark").fill("A fine bridge, if you do not have to cross it.")
    page.locator("#input-people-0-name").fill("Ada Lovelace")
    page.get_by_role("group", name="Person in the report 1").get_by_role("radio", name="resident").check()
    page.get_by_role("radio", name="negative").check()
    row = page.get_by_role("group", name="Span 2", exact=True)
    row.get_by_label("Label").select_option("Person")
    row.get_by_label("First word").fill("3")
    row.get_by_label("Last word").fill("4")
    page.get_by_role("radio", name="Tie").check()
    page.get_by_role("button", name="Ask the models").click()
    expect(page.locator("#answer-title")).to_be_visible()
    [created] = [example for example in owner.examples(TASK, mine=False) if example["author"] == "dora"]
    assert created["input"]["people"] == [{"name": "Ada Lovelace", "role": "resident"}]
    assert [span["text"] for span in created["answer"]["entities"]] == ["Ada Lovelace"]
    assert created["answer"]["better"]["choice"] == "tie"


def test_a_link_that_the_task_cannot_take_is_refused(guest, owner):
    person = guest("emil")
    answer = person.page.goto(f"/tasks/{TASK}/create?worker_id=<script>")
    assert answer.status == 422
    expect(person.page.locator("main")).to_contain_text("Open the link again as you were given it")
    person.forgive("422")
    with pytest.raises(ApiError), Client(person.base) as stranger:
        stranger.request("GET", f"/tasks/{TASK}/rounds/1/links")
