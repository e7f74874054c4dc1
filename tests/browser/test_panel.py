"""A study with a generic panel from the round's page to the last cent: workers, codes, decisions, bonuses."""

import csv
import io
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from dynabench.kit.csv_tables import BOM, unguarded
from tests.browser.people import Guest, follow
from tests.browser.test_looks import looks_well
from tests.crowd.panel_server import Panel
from tests.web.gallery import PATIENCE

pytestmark = [pytest.mark.release, pytest.mark.browser, pytest.mark.timeout(600)]  # many workers on a loaded machine
TASK, OWNER = "panel", "adele"
MANAGE = f"/tasks/{TASK}/manage"
REWARD = 150
CONFIG = f"""
id: {TASK}
name: Film reviews
instructions: {{en: {{create: Write one sentence about a film that the model reads wrongly.}}}}
input: [{{name: statement, type: text, label: Your sentence}}]
answer: [{{name: label, type: choice, options: [positive, negative, neutral]}}]
validate: {{votes: 1}}
onboarding:
  activities: [write]
  screening:
    - name: english
      question: How well do you read English?
      options: [Well, Not at all]
      accept: [Well]
  questions:
    - name: label
      question: Who decides which label is right?
      options: [People, The model]
      right: People
  drawn: 1
  pass_mark: 1
  attempts: 1
"""
FATES = ("finished", "finished", "declined", "failed", "early", "screened", "finished", "early", "pretends")
"""The ends of the workers, in the order in which they come; one only types a code that another one passed on."""
CODES = {"completed": "DONE42", "no_consent": "NOTHANKS"}


@pytest.fixture(scope="module")
def panel() -> Iterator[Panel]:
    server = Panel(REWARD)
    yield server
    server.close()


@pytest.fixture(scope="module")
def number(admin) -> int:
    """The number of the task's open round."""
    admin.save_task(CONFIG)
    admin.upload_contexts(TASK, [{"values": {}}])
    admin.open_round(TASK, ["sentiment-ngram"])
    return int(admin.task(TASK)["round"]["number"])


@contextmanager
def arriving(site, chromium, address: str) -> Iterator[Page]:
    """A worker's own browser at an address; what its console says fails the test."""
    worker = Guest(chromium, site.base)
    worker.page.goto(address)
    yield worker.page
    worker.context.close()
    assert worker.console_errors == []


def rows_of(page: Page, name: str) -> list[dict[str, str]]:
    """Return the rows of the CSV file that a link of the page leads to."""
    with page.expect_download() as download:
        page.get_by_role("link", name=name, exact=True).click()
    text = download.value.path().read_text(encoding="utf-8").removeprefix(BOM)
    return [{key: unguarded(cell) for key, cell in row.items()} for row in csv.DictReader(io.StringIO(text))]


def reload_until(page: Page, holds: Callable[[], bool], seconds: float = 60) -> None:
    """Reload a page until the platform's jobs have done what is expected."""
    begun = time.monotonic()
    while not holds() and time.monotonic() - begun < seconds:
        page.wait_for_timeout(300)
        page.reload()
    assert holds()


def set_pay(page: Page, number: int) -> None:
    page.goto(f"{MANAGE}/rounds/{number}/pay")
    page.get_by_label("Currency").fill("EUR")
    page.get_by_label("For each example", exact=True).fill("0.25")
    page.get_by_label("For each vote").fill("0.10")
    page.get_by_role("button", name="Save scheme").click()
    expect(page.get_by_text("The scheme was saved.")).to_be_visible()


def create_study(page: Page, number: int, panel: Panel, name: str, *, signed: bool = False) -> str:
    """Create and publish a study from the round's page; returns the address for the panel."""
    page.goto(f"{MANAGE}/rounds/{number}")
    page.get_by_role("link", name="Recruit workers").click()
    page.get_by_label("Name that workers see").fill(name)
    page.get_by_label("Examples to write").fill("1")
    page.get_by_label("Examples to check").fill("1")
    page.get_by_label("Parameter with the participant's id").fill("pid")
    page.get_by_label("Reward in pence or cents").fill(str(REWARD))
    page.get_by_label("Currency of the reward").fill("EUR")
    page.get_by_text("Fixed completion codes").click()
    page.get_by_text("Addresses to return to").click()
    for outcome, code in CODES.items():
        page.locator(f"[name='settings.codes.{outcome}']").fill(code)
        redirect = f"{panel.address}/done?pid={{worker}}&code={{code}}&how={{outcome}}"
        page.locator(f"[name='settings.redirects.{outcome}']").fill(redirect)
    page.get_by_label("Require signed addresses").set_checked(signed)
    looks_well(page)
    page.get_by_role("button", name="Save as draft").click()
    page.get_by_role("button", name="Publish study").click()
    expect(page.locator("main")).to_contain_text("workers can enter")
    looks_well(page)
    return page.get_by_role("group", name="Address for the platform").inner_text()


def save_consent(page: Page) -> None:
    page.goto(f"{MANAGE}/studies")
    text = page.get_by_label("Text that workers agree to")
    text.fill(text.input_value().replace("[CONTACT]", "crowd@example.org"))
    page.get_by_role("button", name="Save consent text").click()


def be_screened(page: Page, level: str) -> None:
    page.get_by_role("link", name="Write examples").first.click()
    page.get_by_role("radio", name=level).check(force=True)
    page.get_by_role("button", name="Go on").click()


def take_quiz(page: Page, answer: str) -> None:
    page.get_by_role("button", name="I have read this, go on").click()
    page.get_by_role("button", name="Begin the quiz").click()
    page.get_by_role("radio", name=answer).check(force=True)
    page.get_by_role("button", name="Answer").click()
    page.get_by_role("link", name=re.compile("Back to your study|Go on")).click()


def write_and_check(page: Page, number: int) -> None:
    """Write one example, and check one of another worker if there is any."""
    page.get_by_role("link", name="Write examples").first.click()
    page.get_by_label("Your sentence").fill(f"I waited {number + 2} years for this film and would wait again.")
    page.get_by_label("positive").check()
    page.get_by_role("button", name="Ask the model").click()
    expect(page.locator(".study-bar")).to_contain_text("1 of 1 examples", timeout=PATIENCE)
    page.locator(".study-bar").get_by_role("link", name=re.compile("Finish|Your study")).click()
    check = page.locator(".study-steps").get_by_role("link", name="Check examples")
    if check.count():
        check.click()
        page.locator("form.vote").get_by_role("button", name=re.compile("Correct")).click()
        expect(page.locator(".study-bar")).to_contain_text("1 of 1 votes")
        page.locator(".study-bar").get_by_role("link", name="Finish").click()


def end_part(page: Page, panel: Panel, name: str) -> None:
    """Go back to the panel: by the link where the study has one, else with the code that its page shows."""
    back = page.get_by_role("link", name="Back to the platform")
    code = page.get_by_role("group", name="Completion code").inner_text()
    if back.count():
        back.click()
    else:
        page.goto(f"{panel.address}/code?pid={name}")
        page.get_by_label("Completion code").fill(f" {code.lower()} ")
        page.get_by_role("button", name="Submit code").click()
    expect(page.locator("main")).to_contain_text("being reviewed")
    assert panel.parts[name].code.strip().upper() == code


def take_part(page: Page, panel: Panel, name: str, number: int, fate: str) -> None:
    """Come from the panel, take part as far as the fate goes, and return."""
    first = FATES.index(fate) == number
    page.get_by_role("link", name="Start the study").click()
    if fate == "pretends":
        page.goto(f"{panel.address}/code?pid={name}")
        page.get_by_label("Completion code").fill(CODES["completed"])
        page.get_by_role("button", name="Submit code").click()
        return
    if first:
        looks_well(page)
    page.get_by_role("button", name="I do not agree" if fate == "declined" else "I agree, begin").click()
    if fate == "early":
        page.get_by_text("Stop before the end").click()
        page.get_by_role("button", name="Stop here").click()
    elif fate != "declined":
        be_screened(page, "Not at all" if fate == "screened" else "Well")
        if fate != "screened":
            take_quiz(page, "The model" if fate == "failed" else "People")
        if fate == "finished":
            write_and_check(page, number)
            page.get_by_role("button", name="Finish and get the code").click()
    if first:
        looks_well(page)
        page.set_viewport_size({"width": 1280, "height": 900})
    end_part(page, panel, name)
    if first and fate == "finished":
        returns(page, name)


def returns(page: Page, name: str) -> None:
    """Go back by the browser's button, and into a second tab: both show the end with the code."""
    page.go_back()
    expect(page.locator("main")).to_contain_text("Thank you, you have finished")
    tab = page.context.new_page()
    tab.goto(page.url)
    expect(tab.locator("main")).to_contain_text(CODES["completed"])
    tab.close()


def workers_come(site, chromium, panel: Panel) -> dict[str, str]:
    """Let all come one after the other; returns the fate of each by its id at the panel."""
    fates = {}
    for number, fate in enumerate(FATES):
        name = f"P-{number:02}"
        fates[name] = fate
        with arriving(site, chromium, panel.join(name)) as page:
            take_part(page, panel, name, number, fate)
    return fates


def decide_with_the_list(page: Page, study: str, panel: Panel, nonsense: str) -> None:
    """Reject one by hand, compare the codes with the panel's list, approve those that match, reject the others."""
    page.goto(study)
    looks_well(page)
    row = page.locator("tr", has_text=nonsense)
    row.locator("summary").click()
    row.get_by_label("Reason that the worker reads").fill("The sentence is not about a film.")
    row.get_by_role("button", name="Reject").click()
    page.get_by_role("link", name="Compare with the panel's list").click()
    page.get_by_label("The panel's list").fill(panel.codes_csv() + "P-99,submitted,DONE42\n")
    page.get_by_role("button", name="Compare").click()
    result = page.get_by_role("region", name="Result").first
    expect(result).to_contain_text("right code")
    expect(page.locator("tr", has_text="P-99")).to_contain_text("never entered")
    expect(page.locator("tr", has_text="P-08")).to_contain_text("has not finished here")
    assert page.locator("input[name=participants]:checked").count() == 2
    looks_well(page)
    page.get_by_role("button", name="Approve those ticked").click()
    expect(page.locator("main")).to_contain_text("2 participants were approved")
    page.get_by_role("link", name="Compare with the panel's list").click()
    page.get_by_label("The panel's list").fill(panel.codes_csv())
    page.get_by_role("button", name="Compare").click()
    assert page.locator("input[name=participants]:checked").count() == 0
    for box in page.locator("input[name=participants]").all():
        box.check()
    page.get_by_text("Reject those ticked…").click()
    page.get_by_label("Reason that the worker reads").fill("No example was written.")
    page.get_by_role("button", name="Reject those ticked").click()
    expect(page.locator("main")).to_contain_text("2 participants were rejected")


def approve_payments(page: Page, number: int, held: str, working: int) -> None:
    """Book what was earned, hold the payments of the worker who was rejected, and approve all others."""
    place = f"{MANAGE}/payments?round={number}"
    page.goto(place)
    page.get_by_role("button", name="Book earnings now").click()
    page.goto(place)
    boxes = page.locator("input[name=people]:enabled")
    reload_until(page, lambda: boxes.count() >= working)
    page.get_by_role("checkbox", name=f"Choose {held}").check()
    page.get_by_text("Hold payments…").click()
    page.get_by_label("Reason, which the people read").fill("The sentence is not about a film.")
    page.get_by_role("button", name="Hold payments").click()
    page.get_by_role("checkbox", name="Everybody").check()
    page.get_by_role("button", name="Approve due payments").click()
    expect(page.get_by_text(re.compile("payments? approved"))).to_be_visible()


def pay_a_list(page: Page, study: str, panel: Panel, reference: str) -> list[str]:
    """Make a payment list, pay it at the panel, and record what the panel paid; returns whom it refused."""
    page.goto(study)
    follow(page.get_by_role("button", name="Make a payment list"), "**/bonuses/*")
    looks_well(page)
    refused = panel.pay(rows_of(page, "CSV"))
    for name in refused:
        page.get_by_role("checkbox", name=f"Paid: {name}").uncheck()
    page.get_by_label("The panel's reference").fill(reference)
    page.get_by_role("button", name="Record as paid").click()
    expect(page.locator("main")).to_contain_text("The list was recorded.")
    looks_well(page)
    return refused


def paid_by_ledger(page: Page, number: int, workers: dict[str, str]) -> dict[str, int]:
    """Return what the ledger says that each worker of the panel was paid, in cents."""
    page.goto(f"{MANAGE}/payments?round={number}")
    sums: dict[str, int] = {}
    for row in rows_of(page, "Ledger as CSV"):
        if row["state"] == "paid":
            name = workers[row["name"]]
            sums[name] = sums.get(name, 0) + int(Decimal(row["amount"]) * 100)
    return sums


def test_workers_come_from_a_panel_and_are_paid(site, guest, chromium, panel, number):
    page = guest(OWNER).page
    save_consent(page)
    set_pay(page, number)
    panel.study = create_study(page, number, panel, "Fool a film critic")
    study = page.url.partition("?")[0]
    fates = workers_come(site, chromium, panel)
    nonsense = "P-01"
    decide_with_the_list(page, study, panel, nonsense)
    participants = rows_of(page, "CSV")
    workers = {row["participant"]: row["worker"] for row in participants}
    assert {row["worker"]: row["outcome"] for row in participants if row["outcome"]} == {
        name: {"finished": "completed", "early": "manual_review"}[fate]
        for name, fate in fates.items()
        if fate in ("finished", "early")
    }
    panel.decide(participants)
    approved = [name for name, fate in fates.items() if fate == "finished" and name != nonsense]
    assert [name for name, part in panel.parts.items() if part.status == "approved"] == approved
    assert Counter(part.reason for part in panel.parts.values() if part.status == "rejected") == {
        "The sentence is not about a film.": 1,
        "No example was written.": 2,
    }
    names = {worker: participant for participant, worker in workers.items()}
    approve_payments(page, number, names[nonsense], working=3)
    panel.closed = {approved[0]}
    assert pay_a_list(page, study, panel, "Bulk 2026-1") == [approved[0]]
    panel.closed = set()
    page.goto(f"{MANAGE}/payments?round={number}")
    page.get_by_role("checkbox", name="Everybody").check()
    page.get_by_role("button", name="Try failed payments again").click()
    assert pay_a_list(page, study, panel, "Bulk 2026-2") == []
    begun = time.monotonic()
    while paid_by_ledger(page, number, workers) != panel.paid() and time.monotonic() - begun < 60:
        page.wait_for_timeout(300)  # a job enters the rewards
    assert paid_by_ledger(page, number, workers) == panel.paid()
    assert set(panel.paid()) == set(approved)
    assert sum(panel.paid().values()) >= 2 * (REWARD + 25)


def test_wrong_turns_from_a_panel_have_a_page_each(guest, panel, number):
    owner = guest(OWNER)
    save_consent(owner.page)
    address = create_study(owner.page, number, panel, "For signed addresses", signed=True)
    study = owner.page.url.partition("?")[0]
    owner.page.get_by_text("Sign the addresses").click()
    looks_well(owner.page)
    owner.page.get_by_label("Ids of participants").fill("S-01\nS-02\n")
    with owner.page.expect_download() as download:
        owner.page.get_by_role("button", name="Download entry links").click()
    file = download.value.path().read_text(encoding="utf-8-sig")
    links = {row["worker"]: row["address"] for row in csv.DictReader(io.StringIO(file))}
    worker = guest()
    forged = links["S-01"].replace("S-01", "S-03")
    turns = {forged: "was changed", address: "was changed", address.partition("?")[0] + "?sig=x": "lacks your id"}
    for turn, words in turns.items():
        worker.page.goto(turn)
        expect(worker.page.locator("main")).to_contain_text(words)
        looks_well(worker.page)
    worker.page.goto(links["S-01"])
    expect(worker.page.get_by_role("button", name="I agree, begin")).to_be_visible()
    owner.page.goto(study)
    owner.page.get_by_role("button", name="Stop study").click()
    worker.page.goto(links["S-01"])
    expect(worker.page.get_by_role("button", name="I agree, begin")).to_be_visible()
    late = guest()
    late.page.goto(links["S-02"])
    expect(late.page.locator("main")).to_contain_text("This study is over")
    looks_well(late.page)
    for visitor in (worker, late):
        visitor.forgive("Failed to load resource|status of 4")
