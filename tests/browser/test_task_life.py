"""A task's life: proposed with live problems, accepted, edited, announced, packed up, brought in under another name."""

import re

import pytest
from playwright.sync_api import Page, expect

from benchmarks.running import operate
from tests.browser.test_looks import looks_well

pytestmark = pytest.mark.browser


def write(page: Page, old: str, new: str) -> None:
    """Change something in the editor as somebody who types would."""
    editor = page.get_by_label("Config (YAML)")
    text = editor.input_value()
    assert old in text
    editor.fill(text.replace(old, new, 1))


def test_from_a_proposal_to_an_archive_and_back(guest, site, tmp_path):
    task = "irony"
    ada, root = guest("ada").page, guest("rosa")
    operate(site.home, "user", "promote", "rosa", "--admin")
    ada.goto("/tasks/new")
    ada.get_by_role("navigation", name="Start from").get_by_role("link", name="Sentiment").click()
    write(ada, "id: my-sentiment", f"id: {task}")
    write(ada, "goal: chosen", "goal: chossen")
    wrong = ada.get_by_role("heading", name="1 thing to mend")
    expect(wrong).to_be_visible()
    looks_well(ada)
    write(ada, "goal: chossen", "goal: ")
    editor = ada.get_by_label("Config (YAML)")
    at = editor.input_value().index("goal: ") + len("goal: ")
    editor.evaluate("(area, at) => { area.focus(); area.setSelectionRange(at, at); }", at)
    editor.press("Control+ ")
    expect(ada.get_by_role("option", name="assigned")).to_be_visible()
    editor.press("ArrowDown")
    editor.press("Enter")
    expect(ada.get_by_role("heading", name="What annotators would see")).to_be_visible()
    ada.get_by_label("Why should there be this task?").fill("Nobody measures irony.")
    ada.get_by_role("button", name="Propose the task").click()
    expect(ada.get_by_text("waits for an admin")).to_be_visible()
    looks_well(ada)

    root.page.goto("/admin")
    looks_well(root.page)
    root.page.get_by_role("link", name=task).click()
    looks_well(root.page)
    root.page.get_by_role("button", name="Refuse").click()
    expect(root.page.get_by_text("Say why")).to_be_visible()
    root.page.get_by_role("button", name="Accept").click()
    expect(root.page.get_by_role("cell", name="accepted")).to_be_visible()

    ada.goto(f"/tasks/{task}/manage/config")
    write(ada, "votes: ", "votes: 3 # was ")
    expect(ada.get_by_role("heading", name="What saving it does")).to_be_visible()
    ada.get_by_role("button", name="Save as version 2").click()
    expect(ada.get_by_text("Saved as version 2.")).to_be_visible()
    ada.get_by_role("link", name="what changed").click()
    expect(ada.get_by_role("region", name="What changed")).to_contain_text("votes: 3")
    looks_well(ada)
    ada.goto(f"/tasks/{task}/manage/config/versions/1")
    ada.get_by_role("button", name="Restore it").click()
    expect(ada.get_by_text("Saved as version 3.")).to_be_visible()
    ada.goto(f"/tasks/{task}/manage/settings")
    looks_well(ada)

    ada.goto(f"/tasks/{task}/manage/announcements")
    ada.get_by_label("What do you announce?").fill("We start on **Monday**.")
    looks_well(ada)
    ada.get_by_role("button", name="Announce it").click()
    root.page.goto(f"/tasks/{task}")
    expect(root.page.get_by_text("We start on Monday.")).to_be_visible()
    looks_well(root.page)
    root.page.get_by_role("button", name="Put the announcement away").click()
    expect(root.page.get_by_text("We start on Monday.")).to_have_count(0)

    ada.goto(f"/tasks/{task}/manage/archives")
    looks_well(ada)
    ada.get_by_role("button", name="Write an archive").click()
    expect(ada.get_by_role("heading", name="The archive is ready")).to_be_visible(timeout=60_000)
    looks_well(ada)
    with ada.expect_download() as fetched:
        ada.get_by_role("link", name="Download").click()
    archive = tmp_path / "irony.zip"
    fetched.value.save_as(archive)
    root.page.goto("/archives")
    root.page.get_by_label("Archive (zip)").set_input_files(archive)
    root.page.get_by_label("Name of the new task").fill("irony-2")
    looks_well(root.page)
    root.page.get_by_role("button", name="Make the task").click()
    expect(root.page.get_by_role("heading", name="The task irony-2 is there")).to_be_visible(timeout=60_000)
    root.page.get_by_role("link", name="To the task").click()
    expect(root.page).to_have_url(re.compile("/tasks/irony-2/manage"))
