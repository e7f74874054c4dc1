"""The owner's story: from a YAML file and a CSV of contexts over invited people to a closed round and its export."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from benchmarks.running import operate
from tests.browser.people import PASSWORD, PHONE, arrived, find_in_queue, follow
from tests.browser.test_looks import looks_well

pytestmark = pytest.mark.browser

CONFIG = """id: TASK
name: Weather reports
description: Does the sentence follow from the report?
context: [{name: premise, type: text}]
input: [{name: hypothesis, type: text, max_length: 300}]
answer:
  name: label
  type: choice
  goal: chosen
  options: [entailment, neutral, contradiction]
validate: {mode: judge, votes: 1, adjudicate_up_to: 3, also_not_fooled: true}
"""
SHEET = (
    "no,Report text,Region\n"
    "1,It rained all night and the river rose.,north\n"
    "2,,north\n"
    "3,The wind took two roofs and a bicycle.,coast\n"
    "4,It rained all night and the river rose.,south\n"
)


def owner(guest, site, name, **options):
    """Somebody who may create tasks."""
    come = guest(name, **options)
    if name not in site.admins:
        operate(site.home, "user", "promote", name, "--admin")
        site.admins.add(name)
    come.page.goto("/")
    return come


def create_task(page: Page, task: str) -> None:
    """From a file, once it was mended in the editor."""
    page.goto("/tasks/new")
    page.get_by_label("Config (YAML)").fill(CONFIG.replace("TASK", task).replace("type: choice", "type: wish"))
    page.get_by_role("button", name="Create task").click()
    expect(page.get_by_role("heading", name="to correct")).to_be_visible()
    expect(page.get_by_role("link", name="line 8")).to_be_visible()
    file = {"name": "weather.yaml", "mimeType": "application/yaml", "buffer": CONFIG.replace("TASK", task).encode()}
    page.get_by_label("Or a file").set_input_files(file)
    page.get_by_role("button", name="Create task").click()
    expect(page.get_by_role("heading", name="need attention")).to_be_visible()


def add_contexts(page: Page) -> None:
    """From a CSV whose columns have names of their own; a bad row comes back."""
    page.get_by_role("link", name="Add contexts").click()
    file = {"name": "reports.csv", "mimeType": "text/csv", "buffer": SHEET.encode()}
    page.get_by_label("Add contexts from a file").set_input_files(file)
    page.get_by_role("button", name="Preview").click()
    arrived(page.get_by_label("Premise"))
    page.get_by_label("Premise").select_option("Report text")
    expect(page.get_by_role("heading", name="1 row would be skipped")).to_be_visible()
    page.get_by_label("Tag (optional)", exact=True).select_option("Region")
    expect(page.locator("#preview")).to_contain_text("coast")  # nothing is asked for any more
    page.get_by_role("button", name="Import the whole file").click()
    expect(page.get_by_role("heading", name="2 contexts added")).to_be_visible()
    expect(page.get_by_text("1 row already existed.")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download all as CSV").click()
    assert "2,,north" in download.value.path().read_text()
    page.get_by_role("link", name="Open the contexts").click()
    expect(page.get_by_text("2 contexts")).to_be_visible()


def open_round(page: Page) -> None:
    follow(page.get_by_role("navigation", name="Console").get_by_role("link", name="Collect"), "**/manage/rounds")
    page.get_by_role("checkbox", name=re.compile("^nli-minilm")).check()
    expect(page.get_by_role("checkbox", name=re.compile("^sentiment-minilm"))).to_have_count(0)
    page.get_by_role("button", name="Open immediately").click()
    expect(page.get_by_role("heading", name=re.compile("^Round 1"))).to_contain_text("open")


def invite(page: Page) -> str:
    """The address of a link for annotators."""
    rail = page.get_by_role("navigation", name="Console")
    follow(rail.get_by_role("link", name="Review"), "**/manage/examples")
    follow(rail.get_by_role("link", name="People"), "**/manage/people")
    page.get_by_label("Number of people").fill("2")
    page.get_by_role("button", name="Create link").click()
    expect(page.get_by_text("Copy the link now")).to_be_visible()
    return page.locator(".callout code").inner_text()


def accept(page: Page, link: str, name: str) -> None:
    """Come by the link without an account, make one, come back, accept."""
    page.goto(link)
    follow(page.get_by_role("link", name="Create an account"), "**/register?**")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Email", exact=True).fill(f"{name}@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", name="Join Weather reports as an annotator")).to_be_visible()
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_role("heading", name="Weather reports", level=1)).to_be_visible()


SECTIONS = [
    "",
    "/rounds",
    "/rounds/1",
    "/rounds/1/plan",
    "/rounds/1/contexts",
    "/contexts",
    "/examples",
    "/figures",
    "/figures?view=day",
    "/moderation",
]
SECTIONS += [
    "/people",
    "/validators",
    "/rounds/1/finish",
    "/rounds/1/finish?step=split",
    "/rounds/1/finish?step=next",
    "/data",
    "/config",
    "/config/versions/1",
    "/log",
]
HYPOTHESIS = "The neighbours own a parrot that whistles."


def write_example(page: Page) -> str:
    """Write an example from the task's page; its number."""
    follow(page.get_by_role("navigation", name="Task").get_by_role("link", name="Play"), "**/create")
    page.get_by_role("textbox", name="Hypothesis").fill(HYPOTHESIS)
    page.locator("#create-form").get_by_label("neutral").check()
    page.get_by_role("button", name="Ask the models").click()
    expect(page.locator("#answer-title")).to_be_visible()
    return (page.locator("#explain form").first.get_attribute("action") or "").split("/")[2]


def vote(page: Page, task: str, example: str) -> None:
    """Find the example right."""
    find_in_queue(page, task, example)
    page.locator("form.vote").get_by_role("button", name=re.compile("Correct")).click()
    expect(page.locator(".last")).to_contain_text("correct")


def export(page: Page, kind: str) -> Path:
    """The file that the data section gives for the round."""
    page.get_by_label("Format").select_option(kind)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    return download.value.path()


def check_export(page: Page, task: str, names: list[str]) -> None:
    """One row with context, text, prediction and vote, in both formats; people only as pseudonyms."""
    follow(page.get_by_role("link", name="Download its data"), "**/manage/data*")
    text = export(page, "jsonl").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    assert [row["input"] for row in rows] == [{"hypothesis": HYPOTHESIS}]
    row = rows[0]
    assert (row["task"], row["round"], row["answer"], row["verdict"]) == (task, 1, {"label": "neutral"}, "correct")
    assert row["context"]["values"]["premise"] in SHEET
    assert [prediction["model"] for prediction in row["predictions"]] == ["nli-minilm"]
    assert [validation["vote"] for validation in row["validations"]] == ["correct"]
    assert row["validations"][0]["validator"] != row["author"]
    assert not [name for name in names if name in text]
    dict_reader = list(csv.DictReader(export(page, "csv").read_text(encoding="utf-8-sig").splitlines()))
    assert [item["uid"] for item in dict_reader] == [row["uid"]]


def close_round(page: Page, task: str) -> None:
    page.goto(f"/tasks/{task}")
    follow(page.get_by_role("link", name="Manage"), "**/manage")
    expect(page.get_by_role("region", name="Examples today")).to_contain_text("1")
    follow(page.get_by_role("navigation", name="Console").get_by_role("link", name="Collect"), "**/manage/rounds")
    follow(page.get_by_role("table").get_by_role("link", name="Round 1"), "**/manage/rounds/1")
    page.get_by_role("link", name="Finish round…").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("later: only close the round").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Round 1 closes: writing stops at once.")).to_be_visible()
    page.get_by_role("button", name="Finish round").click()
    expect(page.get_by_role("heading", name=re.compile("^Round 1"))).to_contain_text("closed")
    expect(page.get_by_text("All votes are in")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_from_a_yaml_and_a_csv_to_a_closed_round_and_its_export(guest, site, scripts):
    task = "weather" if scripts else "weather-plain"
    come = owner(guest, site, "olga", java_script_enabled=scripts)
    olga = come.page
    create_task(olga, task)
    come.forgive("422")
    if scripts:
        add_contexts(olga)
    else:
        add_contexts_without_scripts(olga)
    open_round(olga)
    link = invite(olga)
    names = [f"piet-{task}", f"quinn-{task}"]
    piet, quinn = (guest(java_script_enabled=scripts).page for _ in names)
    for page, name in zip((piet, quinn), names, strict=True):
        accept(page, link, name)
    vote(quinn, task, write_example(piet))
    close_round(olga, task)
    check_export(olga, task, [*names, "olga", "example.org"])
    follow(olga.get_by_role("navigation", name="Console").get_by_role("link", name="Setup"), "**/manage/settings")
    follow(olga.get_by_role("navigation", name="Console").get_by_role("link", name="Log"), "**/manage/log")
    for act in ("task.invite", "task.join", "round.opened", "round.closed"):
        expect(olga.get_by_role("table")).to_contain_text(act)


def add_contexts_without_scripts(page: Page) -> None:
    page.get_by_role("link", name="Add contexts").click()
    file = {"name": "reports.csv", "mimeType": "text/csv", "buffer": SHEET.encode()}
    page.get_by_label("Add contexts from a file").set_input_files(file)
    page.get_by_role("button", name="Preview").click()
    page.get_by_label("Premise").select_option("Report text")
    page.get_by_role("button", name="Update preview").click()
    expect(page.get_by_role("heading", name="1 row would be skipped")).to_be_visible()
    page.get_by_role("button", name="Import the whole file").click()
    done, again = page.get_by_role("heading", name="contexts added"), page.get_by_role("link", name="Reload")
    for _ in range(60):
        expect(done.or_(again)).to_be_visible()
        if done.count():
            break
        page.wait_for_timeout(250)
        again.click()
    expect(page.get_by_role("heading", name="2 contexts added")).to_be_visible()


def sections_look_well(page: Page, sections: list[str]) -> None:
    for section in sections:
        page.goto(f"/tasks/nli/manage{section}")
        page.locator("main details").evaluate_all("all => all.forEach((each) => { each.open = true })")
        looks_well(page)


BRIEFLY = ["", "/rounds/1", "/examples", "/figures?view=day", "/people", "/config"]
"""Sections that have all parts of the console's pages between them."""


@pytest.mark.release
def test_all_other_sections_of_the_console_look_well(guest, site):
    sections_look_well(owner(guest, site, "olga").page, [section for section in SECTIONS if section not in BRIEFLY])


@pytest.mark.release
def test_the_console_the_new_task_page_and_a_file_on_its_way_in_look_well(guest, site):
    page = owner(guest, site, "olga").page
    sections_look_well(page, BRIEFLY)
    page.goto("/tasks/new")
    looks_well(page)
    page.goto("/tasks/nli/manage/contexts")
    file = {"name": "reports.csv", "mimeType": "text/csv", "buffer": SHEET.encode()}
    page.get_by_label("Add contexts from a file").set_input_files(file)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="Map columns")).to_be_visible()
    looks_well(page)


@pytest.mark.slow
def test_a_line_is_found_in_the_editor_and_what_is_typed_is_checked_at_once(guest, site):
    page = owner(guest, site, "olga").page
    page.goto("/tasks/nli/manage/config")
    text = page.get_by_label("Config (YAML)")
    text.fill(text.input_value().replace("type: choice", "type: wish", 1))
    page.get_by_role("link", name=re.compile(r"line \d+")).first.click()
    expect(text).to_be_focused()
    picked = text.evaluate("area => area.value.slice(area.selectionStart, area.selectionEnd)")
    assert picked.strip() == "type: wish"
    text.fill(text.input_value().replace("type: wish", "type: choice", 1))
    expect(page.get_by_role("heading", name="Preview for annotators")).to_be_visible()


def test_the_console_on_a_phone_leads_from_section_to_section(guest, site):
    page = owner(guest, site, "olga", viewport=PHONE, has_touch=True, is_mobile=True).page
    page.goto("/tasks/nli/manage/log")
    rail = page.get_by_role("navigation", name="Console")
    expect(rail.get_by_role("link", name="Log")).to_be_in_viewport()
    rail.get_by_role("link", name="Config").tap()
    expect(page.get_by_label("Config (YAML)")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


def keep_a_draft(page: Page) -> Page:
    """Save a draft that is not right yet, close the tab, and open the draft in another one, which is returned."""
    page.goto("/tasks/new?template_of=nli&name=Formed")
    page.locator("#b-input-0-card > summary").click()
    page.locator("#b-input-0-label").fill("Half a sentence")
    page.keyboard.press("Tab")
    text = page.get_by_label("Config (YAML)")
    expect(text).to_have_value(re.compile("label: Half a sentence"))
    text.fill(text.input_value().replace("votes: ", "votes: many"))
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("The draft was saved.")).to_be_visible()
    later = page.context.new_page()
    page.close()
    later.goto("/tasks/new")
    expect(later.get_by_label("Config (YAML)")).not_to_have_value(re.compile("Half a sentence"))
    later.get_by_role("region", name="Your drafts").get_by_role("link", name="Formed").click()
    expect(later.get_by_label("Config (YAML)")).to_have_value(re.compile("label: Half a sentence[^$]*votes: many"))
    expect(later.get_by_role("heading", name="to correct")).to_be_visible()
    later.get_by_role("button", name="Delete the draft Formed").click()
    expect(later.get_by_text("The draft was deleted.")).to_be_visible()
    expect(later.get_by_role("region", name="Your drafts")).to_have_count(0)
    return later


@pytest.mark.slow
def test_the_form_and_the_yaml_of_a_config_stay_in_step(guest, site):
    page = keep_a_draft(owner(guest, site, "fiona").page)
    page.goto("/tasks/new?template_of=nli&name=Formed")
    text = page.get_by_label("Config (YAML)")
    begun = text.input_value()
    page.locator("#b-input-0-card > summary").click()
    page.locator("#b-input-0-label").fill("Your own sentence")
    page.keyboard.press("Tab")
    expect(text).to_have_value(re.compile("label: Your own sentence"))
    expect(page.locator("#check")).to_contain_text("Your own sentence")
    expect(page.locator("#b-input-0-card")).to_have_attribute("open", "")
    page.locator("#b-context-type").select_option("spans")
    page.locator("#b-context-add").click()
    expect(page.locator("#b-context-1-card-remove")).to_be_visible()
    page.locator("#b-context-1-card-up").press("Enter")
    expect(page.locator("#b-context-0-card-down")).to_be_focused()
    page.get_by_role("button", name="Remove spans").click()
    expect(page.locator("#b-context-1-card-remove")).to_have_count(0)
    for _ in range(4):
        page.get_by_role("button", name="Undo", exact=True).click()
    expect(text).to_have_value(begun)
    text.fill(begun.replace("votes: ", "votes: many"))
    expect(page.locator(".field").filter(has=page.locator("#b-validate-votes"))).to_contain_text("whole number")
    expect(page.locator("#b-validate-votes")).to_have_value(re.compile("many"))
