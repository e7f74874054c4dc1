"""A dispute that an expert settles, and a decision about a person that an appeal reverses, in a browser."""

import pytest
from playwright.sync_api import expect

from benchmarks.running import operate
from tests.browser.test_looks import looks_well

pytestmark = [pytest.mark.browser, pytest.mark.release]

TASK = "disputed-feelings"
CONFIG = f"""id: {TASK}
name: Disputed feelings
input: [{{name: statement, type: text, max_length: 300}}]
answer: {{name: label, type: choice, options: [positive, neutral, negative]}}
validate: {{mode: judge, votes: 2, adjudicate_up_to: 2, also_not_fooled: true}}
"""
TEXT = "If you enjoy queueing, you will love this museum."


def test_a_dispute_is_settled_and_a_ban_is_appealed(guest, admin, site):
    admin.save_task(CONFIG)
    admin.open_round(TASK, ["sentiment-ngram"])
    ada, pat, mia, mona, adele = (guest(name).page for name in ("ada", "pat", "mia", "mona", "adele"))
    operate(site.home, "user", "promote", "mona", "--owner", TASK)
    ada.goto(f"/tasks/{TASK}/create")
    ada.locator("#create-form").get_by_label("negative").check()
    ada.get_by_role("textbox", name="Statement").fill(TEXT)
    ada.get_by_role("button", name="Ask the model").click()
    expect(ada.locator("#answer-title")).to_be_visible()
    for validator, key in ((pat, "2"), (mia, "1")):
        validator.goto(f"/tasks/{TASK}/validate")
        expect(validator.get_by_text(TEXT).first).to_be_visible()
        validator.keyboard.press(key)
        expect(validator.locator(".last")).to_be_visible()

    adele.goto(f"/tasks/{TASK}/manage/quality")
    adele.get_by_role("link", name="Disputed examples").click()
    expect(adele.get_by_text(TEXT)).to_be_visible()
    looks_well(adele)
    adele.get_by_label("Reason").fill("It mocks the museum.")
    adele.get_by_role("button", name="Correct", exact=True).click()
    expect(adele.get_by_text("Nothing to decide")).to_be_visible()
    expect(adele.get_by_text("It mocks the museum.")).to_be_visible()
    looks_well(adele)

    adele.goto(f"/tasks/{TASK}/manage/people")
    person = next(row for row in admin.pages(f"/tasks/{TASK}/validators") if row["name"] == "pat")["id"]
    admin.request("POST", f"/tasks/{TASK}/bans", json={"person": person, "reason": "Votes at random."})
    pat.goto("/settings/privacy")
    pat.get_by_role("link", name="Decisions about you").click()
    expect(pat.get_by_text("Votes at random.", exact=True)).to_be_visible()
    looks_well(pat)
    pat.get_by_label("Your answer").fill("I read every example; this one is ambiguous.")
    pat.get_by_role("button", name="Appeal").click()
    expect(pat.get_by_text("waits for an answer").first).to_be_visible()

    adele.goto(f"/tasks/{TASK}/appeals")
    expect(adele.get_by_text("You made this decision, so another expert, moderator or owner answers")).to_be_visible()
    mona.goto(f"/tasks/{TASK}/manage/quality")
    mona.get_by_role("link", name="Appeals").click()
    looks_well(mona)
    mona.get_by_label("Answer").fill("You are right, we are sorry.")
    mona.get_by_role("button", name="Grant and reverse").click()
    expect(mona.get_by_text("No appeals")).to_be_visible()
    pat.goto("/me/decisions")
    expect(pat.get_by_text("You are right, we are sorry.")).to_be_visible()
    pat.goto(f"/tasks/{TASK}/validate")
    expect(pat.locator("#desk")).to_be_visible()
