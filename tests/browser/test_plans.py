"""The owner's way with rounds: a few contexts, a goal and a limit, people who meet it, and a clone that goes on."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from benchmarks.running import operate
from tests.browser.test_looks import looks_well
from tests.browser.test_owner import CONFIG, owner

pytestmark = [pytest.mark.release, pytest.mark.browser]
TASK = "harvest"


def prepare(home) -> None:
    """A task with thirty contexts, made at the command line."""
    config, rows = home / f"{TASK}.yaml", home / f"{TASK}.jsonl"
    config.write_text(CONFIG.replace("TASK", TASK), encoding="utf-8")
    lines = [{"premise": f"Field {n} gave {n + 2} sacks of wheat.", "tag": "wheat"} for n in range(30)]
    rows.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    operate(home, "task", "create", str(config))
    operate(home, "context", "upload", TASK, str(rows))


def draft(page: Page) -> None:
    page.goto(f"/tasks/{TASK}/manage/rounds")
    page.get_by_role("checkbox", name=re.compile("^nli-minilm")).check()
    page.get_by_role("button", name="Save as draft").click()
    expect(page.get_by_role("heading", name=re.compile("^Round 1"))).to_contain_text("draft")


def choose(page: Page) -> None:
    """Ten at random, and one that is found by its words."""
    page.get_by_role("link", name="Choose contexts").click()
    expect(page.get_by_role("heading", name="None chosen")).to_be_visible()
    page.get_by_role("button", name="Add 10 at random").click()
    expect(page.get_by_role("heading", name="10 contexts are chosen")).to_be_visible()
    page.get_by_label("Words", exact=True).fill("31 SACKS")
    page.get_by_role("button", name="Search").click()
    role = page.get_by_role("region", name="Contexts of the task")
    expect(role.get_by_role("checkbox")).to_have_count(1)


def plan(page: Page) -> None:
    """Without sense first, which is said beside the field and keeps what was written; then a goal and a limit."""
    page.goto(f"/tasks/{TASK}/manage/rounds/1/plan")
    page.get_by_label("Close automatically").fill("2020-01-01T10:00")
    page.get_by_label("Per day").fill("1")
    page.get_by_label("Examples", exact=True).fill("5")
    page.get_by_role("button", name="Save plan").click()
    expect(page.get_by_text("Choose a time in the future")).to_be_visible()
    expect(page.get_by_label("Per day")).to_have_value("1")
    page.get_by_label("Close automatically").fill("")
    page.get_by_role("button", name="Save plan").click()
    expect(page.get_by_text("The plan was saved.")).to_be_visible()
    plan = page.get_by_role("region", name="Plan")
    expect(plan).to_contain_text("1 a day per person")
    page.get_by_role("button", name="Undo").click()
    expect(plan).not_to_contain_text("1 a day per person")
    page.goto(f"/tasks/{TASK}/manage/rounds/1/plan")
    page.get_by_label("Per day").fill("1")
    page.get_by_label("Examples", exact=True).fill("5")
    page.get_by_role("button", name="Save plan").click()
    page.get_by_role("button", name="Open round 1").click()
    expect(page.get_by_role("heading", name=re.compile("^Round 1"))).to_contain_text("open")


def meet_the_limit(page: Page) -> None:
    """One example, and no more today; the sandbox stays open."""
    page.goto(f"/tasks/{TASK}/create")
    expect(page.locator("#standing")).to_contain_text("1 left today")
    expect(page.get_by_role("list", name="Goals of the round")).to_contain_text("0 of 5 examples")
    page.get_by_role("textbox", name="Hypothesis").fill("Somebody counted the sacks.")
    page.locator("#create-form").get_by_label("neutral").check()
    page.get_by_role("button", name="Ask the models").click()
    expect(page.locator("#answer-title")).to_be_visible()
    expect(page.locator("#standing")).to_contain_text("0 left today")
    page.reload()
    expect(page.get_by_text("You have finished for today")).to_be_visible()
    expect(page.get_by_text("It resets at 00:00 UTC.")).to_be_visible()


def clone(page: Page) -> None:
    page.goto(f"/tasks/{TASK}/manage/rounds/1")
    expect(page.get_by_role("list", name="Goals of the round")).to_contain_text("1 of 5 examples")
    page.get_by_text("Clone this round…").click()
    page.get_by_role("checkbox", name="goals", exact=True).uncheck()
    page.get_by_role("button", name="Clone round 1").click()
    expect(page.get_by_role("heading", name=re.compile("^Round 2"))).to_contain_text("draft")
    plan = page.get_by_role("region", name="Plan")
    expect(plan).to_contain_text("10 chosen contexts")
    expect(plan).to_contain_text("1 a day per person")
    expect(plan).not_to_contain_text("of 5 examples")


def retire(page: Page) -> None:
    """Take a context out of use on the list, and back."""
    page.goto(f"/tasks/{TASK}/manage/contexts")
    page.get_by_role("checkbox", name=re.compile("^Context")).first.check()
    page.get_by_role("button", name="Retire").click()
    expect(page.get_by_text("1 context retired.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("1 context handed out again.")).to_be_visible()


def test_an_owner_plans_a_round_and_an_annotator_meets_its_limit(guest, site):
    prepare(site.home)
    come = owner(guest, site, "olga")
    draft(come.page)
    choose(come.page)
    plan(come.page)
    come.forgive("422")
    ada = guest("ada").page
    meet_the_limit(ada)
    looks_well(ada)
    clone(come.page)
    retire(come.page)
