"""A study at a local Prolific, workers who finish it, and the jobs of its owner."""

import re

import pytest

from dynabench.crowd import accounts, bonuses, consent, lifecycle, studies
from dynabench.crowd import jobs as crowd_jobs
from dynabench.crowd.studies import StudyPlan
from dynabench.crowd.tables import Participation, StudyState
from dynabench.kit.jobs import Job
from dynabench.pay import ledger
from dynabench.pay.money import Money
from dynabench.pay.tables import PaymentKind, PaymentState
from tests.crowd.conftest import CONSENT, OpenStudy, write_example
from tests.crowd.prolific_server import TOKEN, Prolific

SECRET = "hook-secret"


@pytest.fixture
def prolific():
    server = Prolific()
    yield server
    server.close()


@pytest.fixture
def settings(settings, prolific):
    return settings.model_copy(
        update={"crowd_urls": {"prolific": prolific.address}, "crowd_hosts": prolific.address.partition("//")[2]}
    )


@pytest.fixture
def study(owner, database, settings, prolific):
    """A study of one example, published at Prolific."""
    name, secrets = accounts.check_credentials(settings, "prolific", {"token": TOKEN, "webhook_secret": SECRET})

    def write(session):
        consent.save_text(session, None, "nli", CONSENT)
        accounts.connect_account(session, None, "nli", settings.key, "prolific", name, secrets)
        plan = StudyPlan("Fool a model", {"reward": 150, "places": 5}, {"examples": 1})
        return studies.draft_study(session, None, "nli", 1, "prolific", plan)

    opened = database.write(lambda session: (lambda row: OpenStudy(row.id, row.slug))(write(session)))
    lead(database, settings, opened, StudyState.PUBLISHED)
    return opened


def lead(database, settings, study, to):
    lifecycle.lead_study(database, settings, None, "nli", study.id, to, f"https://bench.example/studies/{study.slug}")


def external(prolific):
    return next(iter(prolific.books.studies))


def finished(prolific, study, browser, name=None):
    """A worker who did the work and followed the address of completion; the platform's id of the submission."""
    parameters = prolific.reserve(external(prolific), name)
    page = browser()
    assert page.get(study.page, params=parameters).status_code == 303
    version = re.search(r'name="consent" value="(\d+)"', page.get(study.page).text)[1]
    page.submit(f"{study.page}/consent", page=study.page, consent=version)
    write_example(page)
    assert page.submit(f"{study.page}/finish", page=study.page).status_code == 303
    code = re.search(r"submissions/complete\?cc=([A-Z2-9]+)", page.get(study.page).text)[1]
    assert prolific.complete(parameters["SESSION_ID"], code) == "AWAITING REVIEW"
    return parameters["SESSION_ID"], page


def part_of(database, session_id):
    return database.read(lambda session: session.query(Participation).filter_by(external_session=session_id).one())


def run_jobs(database, settings, kind):
    """Carry out the queued jobs of a kind as the worker does."""
    rows = database.read(lambda session: [(job.id, job.payload) for job in session.query(Job).filter_by(kind=kind)])
    for id, payload in rows:
        if kind == "decide_participation":
            crowd_jobs.send_decision(database, settings, payload)
        elif kind == "pay_bonuses":
            bonuses.advance_order(database, settings, payload["order"])
        database.write(lambda session, id=id: session.query(Job).filter_by(id=id).delete())


def approve_bonus(database, session_id, pence, key):
    """Book a bonus for a worker and approve it."""
    part = part_of(database, session_id)

    def write(session):
        payment = ledger.book(
            session, 1, part.person_id, PaymentKind.BONUS, Money(pence, "GBP"), "For a good example", key
        )
        payment.state = PaymentState.APPROVED

    round_id = database.read(lambda session: session.get(studies.Study, part.study_id).round_id)
    assert round_id == 1 or round_id
    database.write(write)
