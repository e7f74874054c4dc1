"""An owner sets pay, an annotator writes for it, and the owner pays, in a browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from benchmarks.running import operate
from tests.browser.people import ask_the_models, something_fooling

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TASK = "nli"


def set_pay(page: Page, number: int) -> None:
    """Set the scheme of a round on its form."""
    page.goto(f"/tasks/{TASK}/manage/rounds/{number}")
    page.get_by_role("link", name="Pay", exact=True).click()
    page.get_by_label("Currency").fill("EUR")
    page.get_by_label("For each example", exact=True).fill("0.40")
    page.get_by_label("For each vote").fill("0.10")
    page.get_by_role("button", name="Save scheme").click()
    expect(page.get_by_text("The scheme was saved.")).to_be_visible()


def pay_out(page: Page, number: int, name: str) -> None:
    """Book, approve and mark as paid what a person earned."""
    page.goto(f"/tasks/{TASK}/manage/payments?round={number}")
    page.get_by_role("button", name="Book earnings now").click()
    choice = page.get_by_role("checkbox", name=f"Choose {name}")
    for _ in range(60):
        if choice.count() and choice.is_enabled():
            break
        page.wait_for_timeout(500)  # the worker books it
        page.reload()
    choice.check()
    page.get_by_role("button", name="Approve due payments").click()
    expect(page.get_by_text(re.compile("payment.? approved"))).to_be_visible()
    page.get_by_role("checkbox", name=f"Choose {name}").check()
    page.get_by_text("Mark as paid by hand…").click()
    page.get_by_label("Reference of the transfer").fill("SEPA 42")
    page.get_by_role("button", name="Mark approved payments as paid").click()
    expect(page.get_by_text("1 person was marked as paid.")).to_be_visible()


def test_an_owner_pays_an_annotator_who_sees_what_they_earned(guest, site, admin, visitor):
    number = int(admin.task(TASK)["round"]["number"])
    come = guest("paula")
    operate(site.home, "user", "promote", "paula", "--admin")
    set_pay(come.page, number)
    pia = guest("pia").page
    pia.goto(f"/tasks/{TASK}/create")
    expect(pia.locator(".pay-line")).to_contain_text("Pay so far: 0.00 EUR")
    ask_the_models(pia, TASK, something_fooling(pia, visitor, TASK))
    expect(pia.get_by_role("heading", name=re.compile("You fooled"))).to_be_visible()
    pia.goto("/pay")
    expect(pia.get_by_text("0.40 EUR").first).to_be_visible()
    pay_out(come.page, number, "pia")
    pia.reload()
    expect(pia.locator(".pay-counts")).to_contain_text("0.40 EUR paid")
    pia.goto("/inbox")
    expect(pia.get_by_text("You were paid 0.40 EUR")).to_be_visible()
