"""A study on Prolific from the round's page to the last penny: twenty workers, decisions, rewards and bonuses."""

import html
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.crowd.tables import Participation, Study
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.pay import ledger
from dynabench.pay.money import Money
from dynabench.pay.tables import Payment, PaymentKind, PaymentState
from dynabench.rounds.tables import Round, RoundState, TaskVersion
from tests.browser.test_looks import looks_well
from tests.crowd.prolific_server import TOKEN

pytestmark = [pytest.mark.slow, pytest.mark.browser]
MANAGE = "/tasks/sentiment/manage"
QUIZ = """
onboarding:
  activities: [write]
  questions:
    - name: label
      question: Who decides which label is right?
      options: [right people, the model]
      right: right people
    - name: plain
      question: May a text be nonsense?
      options: ["yes", "right, it may not"]
      right: "right, it may not"
  drawn: 2
  pass_mark: 2
  attempts: 1
"""
TEXT = "The queue was long, number {n}, and I would stand in it again."


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


@contextmanager
def asking_a_quiz(database: Database, task: str) -> Iterator[None]:
    """Let the open round of a task ask for a quiz while the block runs."""

    def change(session: Session) -> tuple[int, int]:
        current = session.query(Round).filter_by(task_id=task, state=RoundState.OPEN).one()
        before, newest = (
            current.version_id,
            session.query(func.max(TaskVersion.number)).filter_by(task_id=task).scalar(),
        )
        text = session.get_one(TaskVersion, before).source + QUIZ
        version = TaskVersion(task_id=task, number=newest + 1, source=text)
        session.add(version)
        session.flush()
        current.version_id = version.id
        return current.id, before

    def restore(session: Session) -> None:
        session.get_one(Round, round_id).version_id = before

    round_id, before = database.write(change)
    try:
        yield
    finally:
        database.write(restore)


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

    def take_quiz(self, passing: bool) -> None:
        """Go through the onboarding; a worker who does not pass it has no other attempt."""
        way = "/tasks/sentiment/onboarding/write"
        self.page = self.http.get("/tasks/sentiment/create").text
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


def test_twenty_workers_are_recruited_and_paid(site, guest, admin, prolific):
    owner = guest("adele")
    page = owner.page
    steps = WrittenSteps()
    page.goto(f"{MANAGE}/studies")
    for step in (2, 3, 4):
        steps.read(step, page)
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
    steps.read(4, page)
    looks_well(page)
    number = next(
        row["number"] for row in admin.request("GET", "/tasks/sentiment/rounds")["items"] if row["state"] == "open"
    )
    page.goto(f"{MANAGE}/rounds/{number}")
    for step in (1, 5):
        steps.read(step, page)
    page.get_by_role("link", name="Recruit workers").click()
    steps.read(5, page)
    page.get_by_role("link", name="Prolific").click()
    steps.read(5, page)
    page.get_by_label("Name that workers see").fill("Fool a sentiment model")
    page.get_by_label("Examples to write").fill("1")
    looks_well(page)
    page.get_by_role("button", name="Save as draft").click()
    steps.read(6, page)
    page.get_by_role("button", name="Publish study").click()
    expect(page.locator("main")).to_contain_text("workers can enter")
    looks_well(page)
    address = page.url.partition("?")[0]
    study = next(iter(prolific.books.studies))
    entry = re.search(r"(/studies/[\w-]+)\?", prolific.books.studies[study]["external_study_url"])[1]

    database = Database(Settings(home=site.home).url)
    with asking_a_quiz(database, "sentiment"):
        sessions = workers_come(site, guest, prolific, steps, study, entry)
    pay_workers(page, admin, prolific, database, steps, address, sessions)
    database.close()
    assert len(steps.labels) == 10
    assert steps.lacking() == []


def workers_come(site, guest, prolific, steps, study, entry) -> dict[str, str]:
    """Let twenty workers take part, the first in a browser; returns what became of each, the first one foremost."""
    ada = guest()
    first = prolific.reserve(study)
    ada.page.goto(f"{entry}?{'&'.join(f'{name}={value}' for name, value in first.items())}")
    looks_well(ada.page)
    steps.read(7, ada.page)
    ada.page.get_by_role("button", name="I agree, begin").click()
    expect(ada.page).to_have_url(re.compile(rf"{entry}$"))
    looks_well(ada.page)
    steps.read(7, ada.page)
    ada.page.get_by_role("link", name="Write examples").click()
    ada.page.get_by_role("button", name="I have read this, go on").click()
    looks_well(ada.page)
    ada.page.get_by_role("button", name="Begin the quiz").click()
    for _ in range(2):
        ada.page.get_by_role("radio", name=re.compile("^right")).check(force=True)
        ada.page.get_by_role("button", name="Answer").click()
        looks_well(ada.page)
        ada.page.get_by_role("link", name=re.compile("Next question|Go on")).click()
    ada.page.get_by_role("link", name="Write examples").click()
    ada.page.get_by_label("Statement").fill(TEXT.format(n=0))
    ada.page.get_by_role("radio").first.check(force=True)
    ada.page.get_by_role("button", name="Ask the model").click()
    expect(ada.page.locator(".study-bar")).to_contain_text("1 of 1", timeout=60_000)
    ada.page.locator(".study-bar").get_by_role("link", name="Finish").click()
    steps.read(7, ada.page)
    ada.page.get_by_role("button", name="Finish and get the code").click()
    looks_well(ada.page)
    way_back = ada.page.get_by_role("link", name="Back to the platform").get_attribute("href")
    prolific.complete(first["SESSION_ID"], way_back.rpartition("=")[2])

    sessions = {first["SESSION_ID"]: "finished"}
    for worker in range(1, 20):
        parameters = prolific.reserve(study)
        visit = Visit(site.base, entry, parameters)
        fate = (
            "declined"
            if worker % 7 == 0
            else "early"
            if worker % 6 == 0
            else "failed"
            if worker % 5 == 0
            else "finished"
        )
        if fate == "declined":
            visit.post(f"{entry}/decline")
        else:
            visit.post(f"{entry}/consent", consent=re.search(r'name="consent" value="(\d+)"', visit.page)[1])
            if fate != "early":
                visit.take_quiz(passing=fate == "finished")
            if fate == "finished":
                visit.write(worker)
            visit.page = visit.http.get(entry).text
            if fate != "failed":
                visit.post(f"{entry}/finish", early="" if fate == "finished" else "yes")
        code = re.search(r"complete\?cc=([A-Z2-9]+)", visit.page)[1]
        state = prolific.complete(parameters["SESSION_ID"], code)
        assert state == ("RETURNED" if fate in ("declined", "failed") else "AWAITING REVIEW")
        sessions[parameters["SESSION_ID"]] = fate
        visit.close()
    assert Counter(sessions.values()) == {"finished": 12, "early": 3, "failed": 3, "declined": 2}
    return sessions


def read_ledger(database: Database, round_id: int) -> list[tuple[int, str]]:
    """The amounts and states of a round's payments."""
    rows = select(Payment.amount, Payment.state).where(Payment.round_id == round_id)
    return database.read(lambda session: [tuple(row) for row in session.execute(rows)])


def pay_workers(page, admin, prolific, database, steps, address, sessions) -> None:
    """Decide about all workers and pay two bonuses; the ledger then equals the platform's books."""
    first = next(iter(sessions))
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
    wait_until(lambda: {name: row["status"] for name, row in prolific.books.submissions.items()} == expected, 120)

    def reward(session):
        part = session.query(Participation).filter_by(external_session=first).one()
        round_id = session.query(Payment).filter_by(person_id=part.person_id).first().round_id
        for pence, key in ((40, "journey-a"), (35, "journey-b")):
            payment = ledger.book(
                session, round_id, part.person_id, PaymentKind.BONUS, Money(pence, "GBP"), "A good example", key
            )
            payment.state = PaymentState.APPROVED

    round_id = database.read(lambda session: session.get_one(Study, study_id).round_id)
    ledger_of_round = partial(read_ledger, database, round_id)
    wait_until(lambda: bool(ledger_of_round()), 60)
    database.write(reward)
    page.goto(address)
    steps.read(10, page)
    page.get_by_role("button", name="Pay approved payments").click()
    wait_until(lambda: prolific.books.paid(first) == 75, 120)

    approved = [row for row in prolific.books.submissions.values() if row["status"] == "APPROVED"]
    books = 150 * len(approved) + sum(sum(row["bonus_payments"]) for row in prolific.books.submissions.values())
    wait_until(lambda: sum(row[0] for row in ledger_of_round() if row[1] == PaymentState.PAID) == books, 180)
    assert prolific.books.calls["POST /bulk-bonus-payments/:id/pay/"] == 1
    page.goto(address)
    looks_well(page)
