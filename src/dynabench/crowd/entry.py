"""The arrival of a worker: from the platform's address to an account, a participation and consent."""

from dataclasses import dataclass

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.crowd import consent, queries
from dynabench.crowd.provider import Arrival
from dynabench.crowd.tables import ConsentText, Participation, ParticipationState, Study, StudyState
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.sealing import seal, unseal
from dynabench.kit.security import digest, keyed
from dynabench.people.accounts import service as accounts
from dynabench.people.accounts.tables import Person
from dynabench.people.accounts.worker_access import register_worker
from dynabench.rounds.tables import Round, RoundPerson, RoundState

SEALED_FOR = "crowd worker"


@dataclass(frozen=True)
class EnteredWorker:
    """A worker who was let into a study: the new session's cookie and the participation's state."""

    cookie: str
    state: ParticipationState


def find_study(session: Session, slug: str) -> Study:
    """Return the study with this name in addresses; raises `NotFound`."""
    study = session.scalar(queries.study_by_slug(slug))
    if study is None:
        raise errors.NotFound(_("This study does not exist. Open it again from the platform's page."))
    return study


def digest_worker(key: bytes, study: Study, worker: str) -> str:
    """Return the digest by which a worker's id is found again within a task and a platform."""
    return keyed(key, "crowd worker", f"{study.task_id}\0{study.provider}\0{worker}").hex()


def worker_id(key: bytes, participation: Participation) -> str:
    """Return the platform's id of a worker, for owners and the platform; empty where the deployment's key changed."""
    return (unseal(key, SEALED_FOR, participation.worker_sealed) or b"").decode()


def enter_study(
    session: Session, key: bytes, slug: str, arrival: Arrival, user_agent: str = "", replaces: str | None = None
) -> EnteredWorker:
    """Let a worker into a study whose claims are confirmed, as often as the worker comes.

    The first time makes an account (or takes the one of an earlier study of the task) and a participation. A worker who
    has a part in the study comes back to it, whatever the study's state; a new worker enters a published one alone.
    """
    participation = admit_worker(session, key, find_study(session, slug), arrival)
    cookie = log_in(session, participation.person_id, user_agent, replaces)
    return EnteredWorker(cookie, ParticipationState(participation.state))


def log_in(session: Session, person_id: int, user_agent: str, replaces: str | None) -> str:
    """Return the cookie of a worker's session: that of their browser, so that other tabs go on, or a new one."""
    login = accounts.person_of_session(session, digest(replaces)) if replaces else None
    if replaces and login is not None and login[0].id == person_id:
        return replaces
    return accounts.start_session(session, person_id, replaces, user_agent=user_agent)


def admit_worker(session: Session, key: bytes, study: Study, arrival: Arrival) -> Participation:
    """Return a worker's part in a study, made now for a new worker of an open study."""
    worker_digest = digest_worker(key, study, arrival.identity or arrival.worker)
    participation = session.scalar(queries.participation_of_worker(study.id, worker_digest))
    if participation is None:
        _require_open(session, study)
        participation = _begin(session, key, study, arrival, worker_digest)
    participation.seen_at = now()
    return participation


def _require_open(session: Session, study: Study) -> None:
    if study.state == StudyState.PAUSED:
        raise errors.Conflict(_("This study is paused. Open it again later from the platform's page."))
    if study.state != StudyState.PUBLISHED or session.get_one(Round, study.round_id).state != RoundState.OPEN:
        raise errors.Conflict(_("This study is over: it takes no further workers. Return your place on the platform."))


def _begin(session: Session, key: bytes, study: Study, arrival: Arrival, worker_digest: str) -> Participation:
    participation = Participation(
        study_id=study.id,
        worker_digest=worker_digest,
        worker_sealed=seal(key, SEALED_FOR, arrival.worker.encode()),
        external_session=arrival.session,
    )
    try:
        with session.begin_nested():
            person = session.scalar(queries.person_of_worker(study.task_id, worker_digest))
            participation.person_id = (person or register_worker(session, study.task_id, "study")).id
            session.add(participation)
            session.flush()
    except IntegrityError:  # a second window of the same worker was faster
        earlier = session.scalar(queries.participation_of_worker(study.id, worker_digest))
        if earlier is None:
            raise
        return earlier
    if session.get(RoundPerson, (study.round_id, participation.person_id)) is None:  # a round for invited people
        session.add(RoundPerson(round_id=study.round_id, person_id=participation.person_id))
    return participation


def own_participation(session: Session, person: Person | None, slug: str) -> tuple[Study, Participation]:
    """Return a worker's own part in a study; `Forbidden` for everybody else, with what to do."""
    study = find_study(session, slug)
    participation = session.scalar(queries.participation_of(study.id, person.id)) if person else None
    if participation is None:
        raise errors.Forbidden(
            _("You have not entered this study yet, or your browser refuses cookies. Open it from the platform's page.")
        )
    return study, participation


def offered_consent(session: Session, study: Study, participation: Participation) -> ConsentText | None:
    """Return the consent text that a worker agreed to, or is asked to agree to."""
    if participation.consent_id is not None:
        return session.scalar(queries.consent_text(participation.consent_id))
    return consent.newest_text(session, study.task_id)


def give_consent(session: Session, person: Person | None, slug: str, consent_id: int) -> Participation:
    """Record that a worker agreed to the text that was shown; once given it stays with that version."""
    study, participation = own_participation(session, person, slug)
    if participation.consent_id is not None:
        return participation
    text = session.scalar(queries.consent_text(consent_id))
    if text is None or text.task_id != study.task_id:
        raise errors.Conflict(_("The consent text has changed. Read the new one and agree to it."))
    if participation.state not in (ParticipationState.ARRIVED, ParticipationState.DECLINED):
        raise errors.Conflict(_("Your part in this study has ended."))
    participation.consent_id, participation.consented_at = text.id, now()
    participation.state, participation.outcome = ParticipationState.WORKING, ""
    return participation
