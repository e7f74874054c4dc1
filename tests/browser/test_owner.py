"""The owner's story: from a YAML file and a CSV of contexts to an open round, somebody's example, and its end."""

import re

import pytest
from playwright.sync_api import Page, expect

from benchmarks.running import operate
from tests.browser.people import PHONE
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
validate: {mode: judge, votes: 2, adjudicate_up_to: 5}
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
    operate(site.home, "user", "promote", name, "--admin")
    come.page.goto("/")
    return come


def create_task(page: Page, task: str) -> None:
    """From a file, once it was mended in the editor."""
    page.goto("/tasks/new")
    page.get_by_label("Config (YAML)").fill(CONFIG.replace("TASK", task).replace("type: choice", "type: wish"))
    page.get_by_role("button", name="Create the task").click()
    expect(page.get_by_role("heading", name="to mend")).to_be_visible()
    expect(page.get_by_role("link", name="line 8")).to_be_visible()
    file = {"name": "weather.yaml", "mimeType": "application/yaml", "buffer": CONFIG.replace("TASK", task).encode()}
    page.get_by_label("Or a file").set_input_files(file)
    page.get_by_role("button", name="Create the task").click()
    expect(page.get_by_role("heading", name="need your attention")).to_be_visible()


def add_contexts(page: Page) -> None:
    """From a CSV whose columns have names of their own; a bad row comes back."""
    page.get_by_role("link", name="Add some").click()
    file = {"name": "reports.csv", "mimeType": "text/csv", "buffer": SHEET.encode()}
    page.get_by_label("Add contexts from a file").set_input_files(file)
    page.get_by_role("button", name="Look at it").click()
    page.get_by_label("Premise").select_option("Report text")
    page.get_by_label("Tag (optional)").select_option("Region")
    expect(page.get_by_role("heading", name="1 would be left out")).to_be_visible()
    expect(page.locator("#preview")).to_contain_text("coast")  # nothing is asked for any more
    page.get_by_role("button", name="Import the whole file").click()
    expect(page.get_by_role("heading", name="2 contexts added")).to_be_visible()
    expect(page.get_by_text("1 row was known already.")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download all as CSV").click()
    assert "2,,north" in download.value.path().read_text()
    page.get_by_role("link", name="To the contexts").click()
    expect(page.get_by_text("2 contexts")).to_be_visible()


def open_round(page: Page) -> None:
    page.get_by_role("navigation", name="Console").get_by_role("link", name="Rounds").click()
    page.get_by_role("checkbox", name=re.compile("^nli-minilm")).check()
    expect(page.get_by_role("checkbox", name=re.compile("^sentiment-minilm"))).to_be_disabled()
    page.get_by_role("button", name="Open it now").click()
    expect(page.get_by_role("heading", name=re.compile("^Round 1"))).to_contain_text("open")


def write_example(page: Page, task: str) -> None:
    page.goto(f"/tasks/{task}/create")
    page.get_by_role("textbox", name="Hypothesis").fill("The neighbours own a parrot that whistles.")
    page.locator("#create-form").get_by_label("neutral").check()
    page.get_by_role("button", name="Ask the models").click()
    expect(page.locator("#answer-title")).to_be_visible()


def close_round(page: Page, task: str) -> None:
    page.goto(f"/tasks/{task}")
    page.get_by_role("link", name="Manage").click()
    expect(page.get_by_role("region", name="Examples today")).to_contain_text("1")
    page.get_by_role("navigation", name="Console").get_by_role("link", name="Rounds").click()
    page.get_by_role("table").get_by_role("link", name="Round 1").click()
    page.get_by_text("Close this round…").click()
    page.get_by_role("button", name="Yes, close round 1").click()
    expect(page.get_by_role("heading", name=re.compile("^Round 1"))).to_contain_text("closed")
    page.get_by_role("navigation", name="Console").get_by_role("link", name="Log").click()
    expect(page.get_by_role("table")).to_contain_text("round.closed")


@pytest.mark.parametrize("scripts", [True, False])
def test_from_a_yaml_and_a_csv_to_a_closed_round(guest, site, scripts):
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
    write_example(guest("piet", java_script_enabled=scripts).page, task)
    close_round(olga, task)


def add_contexts_without_scripts(page: Page) -> None:
    page.get_by_role("link", name="Add some").click()
    file = {"name": "reports.csv", "mimeType": "text/csv", "buffer": SHEET.encode()}
    page.get_by_label("Add contexts from a file").set_input_files(file)
    page.get_by_role("button", name="Look at it").click()
    page.get_by_label("Premise").select_option("Report text")
    page.get_by_role("button", name="Show the rows like this").click()
    expect(page.get_by_role("heading", name="1 would be left out")).to_be_visible()
    page.get_by_role("button", name="Import the whole file").click()
    for _ in range(60):
        if page.get_by_role("heading", name="contexts added").count():
            break
        page.get_by_role("link", name="Reload").click()
        page.wait_for_timeout(250)
    expect(page.get_by_role("heading", name="2 contexts added")).to_be_visible()


@pytest.mark.parametrize("section", ["", "/rounds", "/rounds/1", "/contexts", "/config", "/config/versions/1", "/log"])
def test_the_console_looks_well(guest, site, section):
    page = owner(guest, site, "olga").page
    page.goto(f"/tasks/nli/manage{section}")
    for details in page.locator("main details").all():
        details.evaluate("each => { each.open = true }")
    looks_well(page)


def test_the_new_task_page_and_a_file_on_its_way_in_look_well(guest, site):
    page = owner(guest, site, "olga").page
    page.goto("/tasks/new")
    looks_well(page)
    page.goto("/tasks/nli/manage/contexts")
    file = {"name": "reports.csv", "mimeType": "text/csv", "buffer": SHEET.encode()}
    page.get_by_label("Add contexts from a file").set_input_files(file)
    page.get_by_role("button", name="Look at it").click()
    expect(page.get_by_role("heading", name="Which column is what?")).to_be_visible()
    looks_well(page)


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
    expect(page.get_by_role("heading", name="What annotators would see")).to_be_visible()


def test_the_console_on_a_phone_leads_from_section_to_section(guest, site):
    page = owner(guest, site, "olga", viewport=PHONE, has_touch=True, is_mobile=True).page
    page.goto("/tasks/nli/manage/log")
    rail = page.get_by_role("navigation", name="Console")
    expect(rail.get_by_role("link", name="Log")).to_be_in_viewport()
    rail.get_by_role("link", name="Config").tap()
    expect(page.get_by_label("Config (YAML)")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
