"""A study whose web process and worker die by kill -9 in every step, from its publication to the last penny.

The workers and the owner repeat what was not answered. At the end nothing that was acknowledged is lost, nothing counts
twice, and the ledger equals the platform's books.
"""

import random
import re
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import httpx2
import pytest
from sqlalchemy import func, select

from dynabench.collection.tables import Example, Standing, Tally
from dynabench.crowd import accounts, consent, studies
from dynabench.crowd.lifecycle import UNCONFIRMED
from dynabench.crowd.studies import StudyPlan
from dynabench.crowd.tables import BonusOrder, BonusOrderState, CrowdCredentials, CrowdEvent, Participation, Study
from dynabench.onboarding.tables import QuizAnswer, QuizAttempt
from dynabench.pay import service as pay
from dynabench.pay.scheme import parse_scheme
from dynabench.pay.tables import Payment, PaymentKind, PaymentState
from dynabench.people.accounts.tables import Person
from dynabench.validation.rebuild import rebuild_all
from dynabench.validation.tables import Validation
from tests.collection.conftest import rule_host
from tests.conftest import PASSWORD
from tests.crash import study_world
from tests.crash.deployment import Deployment, Sent, Storm, Tab
from tests.crash.study_world import StudyWorld, take_part
from tests.crash.test_kill import snapshot
from tests.crowd.prolific_server import TOKEN, Prolific
from tests.jobs.conftest import until

pytestmark = [pytest.mark.release, pytest.mark.timeout(600)]
SEED = 11
SECRET = "hook-secret"
REWARD, EARNED = 150, 60
"""Pence that the platform pays on approval, and that the scheme pays for an example that fooled and two votes."""
SCHEME = {"currency": "GBP", "per_example": "0.20", "per_vote": "0.05", "per_fooling": "0.30"}
FATES = ("approved", "compared", "rejected", "reported", "failed", "declined")
"""Workers by what becomes of them: approved by the owner, or by the platform, of which a comparison or an event tells,
rejected by the owner, and two that end with codes of their own."""
WORKED = FATES[:3]
SUBMISSIONS = r"/studies/[a-f0-9]{24}/submissions/"
TRANSITION = r"/submissions/[a-f0-9]{24}/transition/"


@pytest.fixture
def furnish():
    return study_world.open_round


@pytest.fixture
def world(settings, database, furnished, tmp_path) -> Iterator[StudyWorld]:
    prolific = Prolific()
    with rule_host() as rules:
        deployment = Deployment(settings, rules.url, prolific, tmp_path / "processes.log")
        headers = {"Authorization": f"Bearer {furnished[1].token}"}
        with httpx2.Client(base_url=deployment.base, headers=headers, timeout=60) as owner:
            yield StudyWorld(deployment, prolific, database, settings, owner)
        prolific.close()
        deployment.close()


def publish(world: StudyWorld) -> str:
    """Draft a study and publish it, while the web process dies in its calls; the address of entry."""

    def write(session):
        consent.save_text(session, None, "nli", "We keep your texts. Write to crowd@example.org.")
        secrets = {"token": TOKEN, "webhook_secret": SECRET}
        accounts.connect_account(session, None, "nli", world.settings.key, "prolific", "lab", secrets)
        pay.save_scheme(session, None, "nli", 1, parse_scheme(SCHEME))
        plan = StudyPlan("Fool a model", {"reward": REWARD, "places": 10}, {"examples": 1, "votes": study_world.VOTES})
        return studies.draft_study(session, None, "nli", 1, "prolific", plan).id

    world.study = world.database.write(write)

    def ask():
        world.api("POST", f"/tasks/nli/studies/{world.study}/state", {"state": "published"})

    for path in ("POST /studies/", r"/studies/[a-f0-9]{24}/transition/"):
        world.kill_web_in_call(path, ask)
    ask()
    [study] = world.prolific.books.studies.values()
    assert study["status"] == "ACTIVE"
    assert UNCONFIRMED not in world.database.read(lambda session: session.get_one(Study, world.study).details)
    return re.search(r"(/studies/[\w-]+)\?", study["external_study_url"])[1]


def compare_work(world: StudyWorld) -> None:
    """Compare what is recorded with what the workers did, each once."""

    def read(session):
        parts = session.execute(select(Participation.external_session, Participation.state)).all()
        workers = session.scalar(select(func.count()).where(Person.worker_task == "nli"))
        keys = session.scalars(select(Example.key)).all()
        votes = session.execute(
            select(Validation.example_id, Validation.person_id, Example.author_id).join(Example)
        ).all()
        attempts = session.execute(select(QuizAttempt.person_id, QuizAttempt.activity)).all()
        answers = session.scalar(select(func.count()).select_from(QuizAnswer))
        return dict(map(tuple, parts)), workers, sorted(keys), votes, attempts, answers

    parts, workers, keys, votes, attempts, answers = world.database.read(read)
    states = dict.fromkeys(FATES, "finished") | {"failed": "failed_quiz", "declined": "declined"}
    assert parts == {world.sessions[fate]: state for fate, state in states.items()}
    assert workers == len(FATES)
    assert keys == sorted(world.keys.values())
    assert all(author != person for _example, person, author in votes), "nobody checks an example of their own"
    assert Counter(Counter(person for _example, person, _author in votes).values()) == {study_world.VOTES: len(WORKED)}
    assert len({row[:2] for row in map(tuple, votes)}) == len(votes)
    assert Counter(Counter(map(tuple, attempts)).values()) == {1: 2 * len(WORKED) + 1}
    assert answers == 2 * len(attempts)


def compare_figures(world: StudyWorld) -> None:
    """Count all figures anew: they stay as they are."""

    def read(session):
        return snapshot(session, Standing), snapshot(session, Tally)

    before = world.database.read(read)
    rebuild_all(world.database)
    assert world.database.read(read) == before


def settle_submissions(world: StudyWorld, storm: Storm) -> None:
    """Let the platform approve two workers and the owner decide about two, while web process and worker die."""
    books = world.prolific.books.submissions
    books[world.sessions["compared"]]["status"] = books[world.sessions["reported"]]["status"] = "APPROVED"
    headers, body = world.prolific.event(SECRET, world.sessions["reported"], id="reported")
    account = world.database.read(lambda session: session.query(CrowdCredentials).one().id)

    def report():
        address = f"{world.deployment.base}/api/v1/crowd/prolific/{account}/events"
        assert httpx2.post(address, content=body, headers=headers, timeout=60).status_code == 204

    storm.insist(report)
    world.kill_worker_in_call(SUBMISSIONS, lambda: world.deployment.start("worker"))
    world.deployment.start("worker")
    until(lambda: world.part("compared").state == "approved")
    for fate in ("approved", "rejected"):
        decision = {"approve": fate == "approved", "reason": "The text was copied."}
        address = f"/tasks/nli/studies/{world.study}/participants/{world.part(fate).id}/decision"

        def decide(address=address, decision=decision):
            world.api("POST", address, decision)

        world.kill_worker_in_call(TRANSITION, lambda decide=decide: storm.insist(decide))
        world.deployment.start("worker")
        until(lambda fate=fate: world.part(fate).synced_state == fate)
    assert world.database.read(lambda session: session.query(CrowdEvent).count()) == 1


def sums(world: StudyWorld) -> dict[tuple[str, str], int]:
    """The ledger's sums by kind of payment (rewards, and all that the scheme pays) and state."""

    def read(session):
        return session.execute(select(Payment.kind, Payment.state, Payment.amount)).all()

    result: Counter[tuple[str, str]] = Counter()
    for kind, state, amount in world.database.read(read):
        result["reward" if kind == PaymentKind.BASE else "work", state] += amount
    return dict(result)


def book_earnings(world: StudyWorld, storm: Storm) -> None:
    """Book what was earned while the worker dies at random moments, and approve it."""
    for _ in range(storm.kills):
        storm.insist(lambda: world.api("POST", "/tasks/nli/rounds/1/pay/booking"))
        threading.Event().wait(storm.rng.uniform(0, 1))
        world.deployment.kill("worker")
        world.deployment.start("worker")
    work = ("work", PaymentState.DUE)
    until(lambda: sums(world).get(work) == EARNED * len(WORKED))
    storm.insist(lambda: world.api("POST", "/tasks/nli/rounds/1/pay/decisions", {"act": "approve"}))
    assert sums(world) == {
        ("work", PaymentState.APPROVED): EARNED * len(WORKED),
        ("reward", PaymentState.PAID): REWARD * 3,
    }


def pay_bonuses(world: StudyWorld, storm: Storm) -> None:
    """Pay the bonuses while the worker dies in each call; of the payment that never arrived the owner decides."""
    tab = Tab(world.deployment.base)
    tab.be_answered(Sent("GET", "/login"))
    tab.be_answered(Sent("POST", "/login", {"username": "root", "password": PASSWORD}))
    pages = f"/tasks/nli/manage/studies/{world.study}/bonuses"

    def act(way: str = "") -> None:
        tab.steps = iter([Sent("POST", f"{pages}{way}")])
        storm.play([tab])

    def order():
        return world.database.read(lambda session: session.query(BonusOrder).order_by(BonusOrder.id.desc()).first())

    world.kill_worker_in_call("POST /submissions/bonus-payments/", act)
    world.kill_in_call("worker", "/bulk-bonus-payments/.*", False, lambda: world.deployment.start("worker"))
    assert order().state == BonusOrderState.SENT
    passed = timedelta(minutes=31)

    def let_time_pass(session):
        [sent] = session.query(BonusOrder)
        sent.asked_at, sent.created_at = sent.asked_at - passed, sent.created_at - passed

    world.database.write(let_time_pass)
    world.deployment.start("worker")
    until(lambda: order().state == BonusOrderState.UNDECIDED)
    act(f"/{order().id}/unpaid")
    storm.insist(lambda: world.api("POST", "/tasks/nli/rounds/1/pay/decisions", {"act": "retry"}))
    world.kill_in_call("worker", "/bulk-bonus-payments/.*", True, act)
    world.deployment.start("worker")
    until(lambda: order().state == BonusOrderState.PAID)
    assert world.prolific.books.calls["POST /bulk-bonus-payments/:id/pay/"] == 1


def compare_books(world: StudyWorld) -> None:
    """Compare the ledger with the platform's books, worker by worker."""
    paid = select(Participation.external_session, func.sum(Payment.amount))
    paid = paid.join(Payment, Payment.person_id == Participation.person_id).where(Payment.state == PaymentState.PAID)
    ledger = world.database.read(
        lambda session: dict(map(tuple, session.execute(paid.group_by(Participation.external_session))))
    )
    books = {
        name: REWARD * (row["status"] == "APPROVED") + sum(row["bonus_payments"])
        for name, row in world.prolific.books.submissions.items()
    }
    assert {name: amount for name, amount in books.items() if amount} == ledger
    assert sums(world) == {("work", PaymentState.PAID): EARNED * 3, ("reward", PaymentState.PAID): REWARD * 3}
    statuses = {fate: world.prolific.books.submissions[session]["status"] for fate, session in world.sessions.items()}
    ends = dict.fromkeys(FATES, "APPROVED")
    assert statuses == ends | {"rejected": "REJECTED", "failed": "RETURNED", "declined": "RETURNED"}


def test_a_study_survives_kill_9_in_every_step(world, request):
    kills = max(1, request.config.getoption("crashes") // 10)  # of the web process in each step
    storm = Storm(world.deployment, random.Random(SEED), kills)
    world.deployment.start("web")
    entry = publish(world)
    tabs = [Tab(world.deployment.base) for _ in FATES]
    for tab, fate in zip(tabs, FATES, strict=True):
        tab.steps = take_part(world, tab, entry, fate)
    storm.play(tabs)
    compare_work(world)
    settle_submissions(world, storm)
    book_earnings(world, storm)
    pay_bonuses(world, storm)
    compare_books(world)
    compare_figures(world)
    print(f"seed {SEED}: {storm.cut_off} requests cut off, {storm.unread} answers never read")
