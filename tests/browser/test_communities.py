"""A class of thirty and a competition of teams, played in Chromium on the real platform."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from dynabench.client import Client
from dynabench.kit.db import now
from tests.browser.people import PASSWORD, follow
from tests.browser.test_looks import looks_well

pytestmark = [pytest.mark.release, pytest.mark.browser]
CONFIG = """
id: %s
name: Sentences
input: [{name: statement, type: text, label: Your sentence}]
answer: [{name: label, type: choice, options: [positive, negative, neutral]}]
"""
SIZE = 30
TEAMS = ("Otters", "Herons")


def open_task(admin, task, **plan):
    admin.save_task(CONFIG % task)
    admin.upload_contexts(task, [{"values": {}}])
    admin.open_round(task, ["sentiment-ngram"], **plan)


def write(page, task, text):
    """Write one example on the create page and wait for the answer."""
    page.goto(f"/tasks/{task}/create")
    page.get_by_label("Your sentence").fill(text)
    page.get_by_label("positive").check()
    page.get_by_role("button", name="Ask the models").click()
    expect(page.locator("#result")).to_contain_text(re.compile("model", re.I))


def test_a_class_of_thirty_joins_writes_comes_back_and_is_reset(guest, admin, site):
    open_task(admin, "lesson")
    teacher = guest("theodora").page
    teacher.goto("/classes")
    teacher.get_by_label("Name of the class").fill("Semantics 2")
    teacher.get_by_label("Task").select_option("lesson")
    teacher.get_by_label("Examples").fill("1")
    sent = []
    teacher.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    teacher.get_by_role("button", name="Create class").dblclick()
    teacher.wait_for_url("**/classes/*")
    assert [address for address in sent if address.endswith("/classes")] == [teacher.url.rpartition("/")[0]], "once"
    looks_well(teacher)
    code = teacher.locator(".class-code-text").inner_text()
    with Client(site.base) as program:  # most of the class; the last one joins on the page
        for number in range(SIZE - 1):
            student = {"code": code, "name": f"Student {number:02}", "agree": True}
            assert program.request("POST", "/classes/join", json=student)["code"]
    visitor = guest()
    page = visitor.page
    page.goto("/class")
    page.get_by_label("Join code").fill(code)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Your name in this class").fill(f"Student {SIZE - 1:02}")
    page.get_by_label("I agree to the").check()
    page.get_by_role("button", name="Join the class").click()
    expect(page.get_by_role("heading", name="You joined the class")).to_be_visible()
    personal = page.locator(".class-code-text").inner_text()
    follow(page.get_by_role("link", name="I have written it down"), "**/classes/*")
    write(page, "lesson", "Nobody ever said that this was bad.")
    visitor.context.close()
    again = guest().page
    again.goto("/class")
    again.get_by_label("Your personal code").fill(personal.upper())
    again.locator("form", has=again.get_by_label("Your personal code")).get_by_role("button").click()
    expect(again.get_by_role("heading", name="Your work")).to_be_visible()
    expect(again.get_by_role("row", name=re.compile("Student 29"))).to_contain_text("100 %")
    again.context.close()  # the reset logs this browser out
    teacher.reload()
    expect(teacher.locator("#class-board tbody tr")).to_have_count(SIZE)
    looks_well(teacher)
    with teacher.expect_download() as download:
        teacher.get_by_role("link", name="Grades (CSV)").click()
    assert "Student 29" in download.value.path().read_text()
    teacher.get_by_text("Reset or delete").click()
    teacher.get_by_label("Type the name of the class").fill("Semantics 2")
    teacher.get_by_role("button", name="Reset the class").click()
    expect(teacher.locator("#class-board")).to_contain_text("No students yet", timeout=120_000)


def test_teams_enter_write_within_the_budget_and_are_ranked(guest, admin, site):
    open_task(admin, "cup")
    owner = guest("adele").page
    owner.goto("/tasks/cup/manage/competitions")
    owner.get_by_label("Name").fill("Sentence cup")
    owner.get_by_label("Round").fill("1")
    owner.get_by_label("Examples a team").fill("1")
    owner.get_by_label("Start (UTC)").fill(f"{now() - timedelta(hours=1):%Y-%m-%dT%H:%M}")
    follow(owner.get_by_role("button", name="Create competition"), "**/competitions/*")
    address = owner.url.removeprefix(site.base)
    for number, name in enumerate(TEAMS):
        captain = guest(f"captain-{name.lower()}").page
        captain.goto("/teams")
        captain.get_by_label("Name of the team").fill(name)
        follow(captain.get_by_role("button", name="Create team"), "**/teams/*")
        captain.goto(address)
        captain.get_by_role("button", name="Enter the team").click()
        expect(captain.get_by_text(f"You write for {name}.")).to_be_visible()
        write(captain, "cup", f"The {name} found nothing bad in it, {number} times.")
        captain.goto(address)
        expect(captain.get_by_text("0 examples of its budget are left.")).to_be_visible()
        looks_well(captain)
    owner.reload()
    expect(owner.locator("main tbody tr")).to_have_count(len(TEAMS))
    assert PASSWORD not in owner.content()
