"""A study on Prolific from the round's page to the last penny: workers who write and check, decisions, rewards and
bonuses."""

import html
import re
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Example
from dynabench.crowd.tables import Participation, Study
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.pay.tables import Payment, PayScheme
from dynabench.validation.tables import Validation
from tests.browser.people import Guest
from tests.browser.quiz import asking_a_quiz
from tests.browser.test_looks import looks_well
from tests.crowd.prolific_server import TOKEN, Prolific

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(900)]
MANAGE = "/tasks/sentiment/manage"
TEXT = "The queue was long, number {n}, and I would stand in it again."
FATES = {"declined": 7, "early": 6, "failed": 5}
WORKERS = 9
"""What becomes of every so many workers; the others finish."""
VOTES, REWARD, EXAMPLE_PAY, VOTE_PAY = 2, 150, 20, 5
"""The examples that a worker checks, and amounts in pence."""


def wait_until(holds: Callable[[], bool], seconds: float) -> None:
    """Wait for the platform's jobs, and fail with what there is then."""
    begun = time.monotonic()
    while not holds() and time.monotonic() - begun < seconds:
        time.sleep(0.2)
    assert holds()


class WrittenSteps:
    """The ten steps of the how-to page: every word in italics must be on a page of its step."""

    def __init__(self) -> None:
        text = (Path(__file__).parents[2] / "docs/how-to/prolific.md").read_text()
        parts = re.split(r"^## (\d+)\. ", text.partition("\n## From a terminal")[0], flags=re.MULTILINE)[1:]
        self.labels = {
            int(number): [re.sub(r"\s+", " ", label) for label in re.findall(r"\*([^*]+)\*", part)]
            for number, part in zip(parts[::2], parts[1::2], strict=True)
        }
        self.seen: dict[int, str] = dict.fromkeys(self.labels, "")

    def read(self, step: int, page: Page) -> None:
        """Keep the words of a page that the step is on."""
        self.seen[step] += " ".join(html.unescape(page.content()).split())

    def lacking(self) -> list[tuple[int, str]]:
        """Each word in italics that was on no page of its step."""
        return [
            (step, label) for step, labels in self.labels.items() for label in labels if label not in self.seen[step]
        ]


class Visit:
    """A worker's visit without scripts: cookies, and forms with the token of their page."""

    def __init__(self, base: str, entry: str, parameters: dict[str, str]) -> None:
        self.http = httpx2.Client(base_url=base, follow_redirects=True, timeout=60)
        self.entry = entry
        self.page = self.http.get(entry, params=parameters).text

    def close(self) -> None:
        self.http.close()

    def post(self, path: str, **fields: str) -> httpx2.Response:
        token = re.search(r'name="csrf-token" content="([^"]+)"', self.page)[1]
        answer = self.http.post(path, data=fields | {"csrf": token})
        self.page = answer.text
        return answer

    def take_quiz(self, activity: str, passing: bool) -> None:
        """Go through the onboarding; a worker who does not pass it has no other attempt."""
        way = f"/tasks/sentiment/onboarding/{activity}"
        self.page = self.http.get(way).text
        self.post(f"{way}/read", part="instructions")
        self.post(f"{way}/quiz")
        while question := re.search(rf'action="({way}/quiz/[0-9]+/[0-9]+)"', self.page):
            options = re.findall(r'name="option" value="([^"]*)"', self.page)
            self.post(question[1], option=next(text for text in options if text.startswith("right") is passing))
            self.page = self.http.get(way).text

    def write(self, number: int) -> None:
        self.page = self.http.get("/tasks/sentiment/create").text
        fields = {"context_id": re.search(r'name="context_id"[^>]*value="([^"]*)"', self.page)[1]}
        goal = re.search(r'name="answer.label"[^>]*value="([a-z]+)"', self.page)[1]
        answer = self.post(
            "/tasks/sentiment/create", **fields, **{"answer.label": goal, "input.statement": TEXT.format(n=number)}
        )
        assert answer.status_code == 200, answer.text

    def check(self, number: int) -> None:
        """Check as many examples as the study asks for, or as wait; never the one of this worker."""
        self.page = self.http.get("/tasks/sentiment/validate").text
        for _ in range(VOTES):
            form = re.search(r'<form class="vote"[^>]* action="([^"]+)"', self.page)
            if form is None:
                return
            assert html.escape(TEXT.format(n=number)) not in self.page
            blind = 'name="answer.label"' in self.page
            answer = self.post(form[1], **({"answer.label": "positive"} if blind else {"vote": "correct"}))
            assert answer.status_code == 200, answer.text


def test_workers_are_recruited_and_paid(site, guest, admin, prolific):
    owner = guest("adele")
    page = owner.page
    steps = WrittenSteps()
    page.goto(f"{MANAGE}/studies")
    for step in (2, 3, 4):
        steps.read(step, page)
    connect_account(owner)
    steps.read(4, page)
    looks_well(page)
    number = next(
        row["number"] for row in admin.request("GET", "/tasks/sentiment/rounds")["items"] if row["state"] == "open"
    )
    page.goto(f"{MANAGE}/rounds/{number}")
    for step in (1, 5):
        steps.read(step, page)
    set_pay(page)
    page.goto(f"{MANAGE}/rounds/{number}")
    publish_study(page, steps)
    address = page.url.partition("?")[0]
    study = next(iter(prolific.books.studies))
    entry = re.search(r"(/studies/[\w-]+)\?", prolific.books.studies[study]["external_study_url"])[1]

    database = Database(Settings(home=site.home).url)
    with asking_a_quiz(database, "sentiment"):
        sessions = workers_come(site, guest, prolific, steps, study, entry)
    study_id = int(address.rpartition("/")[2])
    decide_on_workers(page, admin, prolific, steps, address, sessions)
    pay_bonuses(page, admin, prolific, database, steps, address, number)
    compare_books(database, prolific, study_id, sessions)
    database.write(forget_schemes, study_id)
    database.close()
    assert len(steps.labels) == 10
    assert steps.lacking() == []


def connect_account(owner: Guest) -> None:
    """Save a consent text and connect the account at the platform, at first with a wrong token."""
    page = owner.page
    text = page.get_by_label("Text that workers agree to")
    text.fill(text.input_value().replace("[CONTACT]", "crowd@example.org"))
    page.get_by_role("button", name="Save consent text").click()
    page.get_by_text("Connect account").first.click()
    page.get_by_label("API token").fill("wrong")
    page.get_by_role("button", name="Connect account").click()
    expect(page.locator("main")).to_contain_text("does not accept this token")
    owner.forgive("crowd-accounts.* 422")
    page.get_by_label("API token").fill(TOKEN)
    page.get_by_role("button", name="Connect account").click()
    expect(page.locator("main")).to_contain_text("Connected: lab@example.org")


def publish_study(page: Page, steps: WrittenSteps) -> None:
    """Recruit workers for the round whose page is open."""
    page.get_by_role("link", name="Recruit workers").click()
    steps.read(5, page)
    page.get_by_role("link", name="Prolific").click()
    steps.read(5, page)
    page.get_by_label("Name that workers see").fill("Fool a sentiment model")
    page.get_by_label("Examples to write").fill("1")
    page.get_by_label("Examples to check").fill(str(VOTES))
    looks_well(page)
    page.get_by_role("button", name="Save as draft").click()
    steps.read(6, page)
    page.get_by_role("button", name="Publish study").click()
    expect(page.locator("main")).to_contain_text("workers can enter")
    looks_well(page)


def set_pay(page: Page) -> None:
    """Set on the round's page what the study's workers earn besides the reward."""
    page.get_by_role("link", name="Pay", exact=True).click()
    page.get_by_label("Currency").fill("GBP")
    page.get_by_label("For each example", exact=True).fill(f"0.{EXAMPLE_PAY}")
    page.get_by_label("For each vote").fill(f"0.0{VOTE_PAY}")
    page.get_by_role("button", name="Save scheme").click()
    expect(page.get_by_text("The scheme was saved.")).to_be_visible()


def forget_schemes(session: Session, study_id: int) -> None:
    """Take the scheme away, so that other tests of this site write for nothing."""
    session.query(PayScheme).filter_by(round_id=session.get_one(Study, study_id).round_id).delete()


def workers_come(site, guest, prolific, steps, study, entry) -> dict[str, str]:
    """Let the workers take part, the last in a browser; returns what became of each submission."""
    sessions = {}
    for worker in range(1, WORKERS):
        fate = next((name for name, every in FATES.items() if worker % every == 0), "finished")
        parameters = prolific.reserve(study)
        code = take_part(Visit(site.base, entry, parameters), worker, fate)
        state = prolific.complete(parameters["SESSION_ID"], code)
        assert state == ("RETURNED" if fate in ("declined", "failed") else "AWAITING REVIEW")
        sessions[parameters["SESSION_ID"]] = fate
    parameters = prolific.reserve(study)
    code = take_part_in_browser(guest().page, steps, entry, parameters)
    assert prolific.complete(parameters["SESSION_ID"], code) == "AWAITING REVIEW"
    sessions[parameters["SESSION_ID"]] = "finished"
    assert Counter(sessions.values()) == {"finished": 6, "early": 1, "failed": 1, "declined": 1}
    return sessions


def take_part(visit: Visit, worker: int, fate: str) -> str:
    """Do what a worker of this fate does; the code that the last page shows."""
    if fate == "declined":
        visit.post(f"{visit.entry}/decline")
    else:
        visit.post(f"{visit.entry}/consent", consent=re.search(r'name="consent" value="(\d+)"', visit.page)[1])
        if fate != "early":
            visit.take_quiz("write", passing=fate == "finished")
        if fate == "finished":
            visit.write(worker)
            visit.take_quiz("check", passing=True)
            visit.check(worker)
        visit.page = visit.http.get(visit.entry).text
        if fate != "failed":
            visit.post(f"{visit.entry}/finish", early="" if fate == "finished" else "yes")
    visit.close()
    return re.search(r"complete\?cc=([A-Z2-9]+)", visit.page)[1]


def take_quiz_in_browser(page: Page) -> None:
    page.get_by_role("button", name="I have read this, go on").click()
    looks_well(page)
    page.get_by_role("button", name="Begin the quiz").click()
    for _ in range(2):
        page.get_by_role("radio", name=re.compile("^right")).check(force=True)
        page.get_by_role("button", name="Answer").click()
        looks_well(page)
        page.get_by_role("link", name=re.compile("Next question|Go on")).click()


def take_part_in_browser(page: Page, steps: WrittenSteps, entry: str, parameters: dict[str, str]) -> str:
    """Write and check as a worker in a browser; the code of the way back."""
    page.goto(f"{entry}?{'&'.join(f'{name}={value}' for name, value in parameters.items())}")
    looks_well(page)
    steps.read(7, page)
    page.get_by_role("button", name="I agree, begin").click()
    expect(page).to_have_url(re.compile(rf"{entry}$"))
    looks_well(page)
    steps.read(7, page)
    page.get_by_role("link", name="Write examples").click()
    take_quiz_in_browser(page)
    page.get_by_role("link", name="Write examples").click()
    page.get_by_label("Statement").fill(TEXT.format(n=0))
    page.get_by_role("radio").first.check(force=True)
    page.get_by_role("button", name="Ask the model").click()
    bar = page.locator(".study-bar")
    expect(bar).to_contain_text("1 of 1 examples", timeout=60_000)
    bar.get_by_role("link", name=f"0 of {VOTES} votes").click()
    take_quiz_in_browser(page)
    page.locator("#main").get_by_role("link", name="Check examples").click()
    for vote in range(1, VOTES + 1):
        expect(page.locator("#desk")).not_to_contain_text(TEXT.format(n=0))
        page.locator("form.vote button.key").first.click()
        expect(bar).to_contain_text(f"{vote} of {VOTES} votes")
        looks_well(page)
    bar.get_by_role("link", name="Finish").click()
    steps.read(7, page)
    page.get_by_role("button", name="Finish and get the code").click()
    looks_well(page)
    return page.get_by_role("link", name="Back to the platform").get_attribute("href").rpartition("=")[2]


def decide_on_workers(page, admin, prolific, steps, address, sessions) -> None:
    """Approve who did the work and reject who stopped early; the platform is told."""
    study_id = int(address.rpartition("/")[2])
    rows = list(admin.pages(f"/tasks/sentiment/studies/{study_id}/participants"))
    assert sorted(row["outcome"] for row in rows if row["outcome"]) == sorted(
        {"finished": "completed", "early": "manual_review"}[fate]
        for fate in sessions.values()
        if fate in ("finished", "early")
    )
    page.goto(address)
    for step in (8, 9):
        steps.read(step, page)
    for row in rows:
        if row["state"] == "finished":
            early = row["outcome"] == "manual_review"
            decision = {"approve": not early, "reason": "No example was written." if early else ""}
            admin.request(
                "POST", f"/tasks/sentiment/studies/{study_id}/participants/{row['id']}/decision", json=decision
            )
    states = {"finished": "APPROVED", "early": "REJECTED", "declined": "RETURNED", "failed": "RETURNED"}
    expected = {session: states[fate] for session, fate in sessions.items()}
    wait_until(lambda: {name: prolific.books.submissions[name]["status"] for name in expected} == expected, 120)


def read_work(session: Session, study_id: int) -> dict[str, tuple[int, int]]:
    """The examples and votes of a study's workers by submission; nobody voted on an example of their own."""
    parts = session.query(Participation).filter_by(study_id=study_id).all()
    names = {part.person_id: part.external_session for part in parts}
    votes = session.execute(select(Validation.person_id, Example.author_id).join(Example)).all()
    assert all(author != person for person, author in votes)
    cast = Counter(names[person] for person, _author in votes if person in names)
    written = Counter(
        names[author] for author in session.scalars(select(Example.author_id).where(Example.author_id.in_(names)))
    )
    return {name: (written[name], cast[name]) for name in names.values()}


def read_ledger(session: Session, study_id: int) -> dict[str, Counter[str]]:
    """The sums of the ledger by submission of a study and state of payment."""
    rows = select(Participation.external_session, Payment.state, Payment.amount).join(
        Payment, Payment.person_id == Participation.person_id
    )
    ledger: dict[str, Counter[str]] = {}
    for name, state, amount in session.execute(rows.where(Participation.study_id == study_id)):
        ledger.setdefault(name, Counter())[state] += amount
    return ledger


def pay_bonuses(page, admin, prolific, database, steps, address, number) -> None:
    """Book, approve and pay what the workers earned by writing and checking."""
    study_id = int(address.rpartition("/")[2])
    work = database.read(read_work, study_id)
    earned = {
        name: EXAMPLE_PAY * examples + VOTE_PAY * votes for name, (examples, votes) in work.items() if examples or votes
    }
    assert sum(votes for _examples, votes in work.values()) >= VOTES * 4  # the first find nothing to check
    page.goto(f"{MANAGE}/payments?round={number}")
    page.get_by_role("button", name="Book earnings now").click()
    due = partial(database.read, read_ledger, study_id)
    wait_until(lambda: {name: sums["due"] for name, sums in due().items() if sums["due"]} == earned, 120)
    people = database.read(lambda session: session.query(Participation.person_id).filter_by(study_id=study_id).all())
    decision = {"act": "approve", "people": [row[0] for row in people]}
    admin.request("POST", f"/tasks/sentiment/rounds/{number}/pay/decisions", json=decision)
    page.goto(f"{MANAGE}/quality")
    steps.read(9, page)
    page.goto(address)
    for step in (9, 10):
        steps.read(step, page)
    page.get_by_role("button", name="Pay approved payments").click()
    wait_until(lambda: {name: prolific.books.paid(name) for name in earned} == earned, 120)
    wait_until(lambda: all(set(sums) == {"paid"} for sums in due().values()), 180)
    assert prolific.books.calls["POST /bulk-bonus-payments/:id/pay/"] == 1
    page.goto(address)
    looks_well(page)


def compare_books(database: Database, prolific: Prolific, study_id: int, sessions: dict[str, str]) -> None:
    """Compare the ledger with the platform's books to the penny, worker by worker."""
    ledger = {name: sums["paid"] for name, sums in database.read(read_ledger, study_id).items()}
    books = {}
    for name in sessions:
        row = prolific.books.submissions[name]
        books[name] = REWARD * (row["status"] == "APPROVED") + sum(row["bonus_payments"])
    assert {name: amount for name, amount in books.items() if amount} == ledger
