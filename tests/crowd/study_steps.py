"""Steps of an owner that every crowd platform shares: leading a study, its jobs, and a bonus that was approved."""

from dynabench.crowd import bonuses, lifecycle, studies
from dynabench.crowd import jobs as crowd_jobs
from dynabench.crowd.tables import Participation
from dynabench.kit.jobs import Job
from dynabench.pay import ledger
from dynabench.pay.tables import PaymentKind, PaymentState


def lead(database, settings, study, to):
    """Bring a study of the task to another state, as its owner does."""
    lifecycle.lead_study(database, settings, None, "nli", study.id, to, f"https://bench.example/studies/{study.slug}")


def part_of(database, external_session):
    """Return the participation that the platform names so."""
    return database.read(
        lambda session: session.query(Participation).filter_by(external_session=external_session).one()
    )


def run_jobs(database, settings, kind):
    """Carry out the queued jobs of a kind as the worker does."""
    rows = database.read(lambda session: [(job.id, job.payload) for job in session.query(Job).filter_by(kind=kind)])
    for id, payload in rows:
        if kind == "decide_participation":
            crowd_jobs.send_decision(database, settings, payload)
        elif kind == "pay_bonuses":
            bonuses.advance_order(database, settings, payload["order"])
        database.write(lambda session, id=id: session.query(Job).filter_by(id=id).delete())


def approve_bonus(database, external_session, money, key):
    """Book a bonus for a worker and approve it."""
    part = part_of(database, external_session)

    def write(session):
        round_id = session.get(studies.Study, part.study_id).round_id
        payment = ledger.book(session, round_id, part.person_id, PaymentKind.BONUS, money, "A good example", key)
        payment.state = PaymentState.APPROVED

    database.write(write)
