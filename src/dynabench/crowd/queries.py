"""Reading studies and participations."""

from sqlalchemy import Select, func, select

from dynabench.crowd.tables import BonusOrder, ConsentText, CrowdCredentials, Participation, ParticipationState, Study
from dynabench.pay.tables import Payout
from dynabench.people.accounts.tables import Person


def studies(task_id: str) -> Select[Study]:
    """Select the studies of a task, the newest first."""
    return select(Study).where(Study.task_id == task_id).order_by(Study.id.desc())


def study_by_slug(slug: str) -> Select[Study]:
    """Select the study with this name in addresses."""
    return select(Study).where(Study.slug == slug)


def state_counts(study_ids: list[int]) -> Select[int, str, int]:
    """Select the number of participations of studies in each state."""
    counts = select(Participation.study_id, Participation.state, func.count())
    return counts.where(Participation.study_id.in_(study_ids)).group_by(Participation.study_id, Participation.state)


def participation_of(study_id: int, person_id: int) -> Select[Participation]:
    """Select a person's part in a study."""
    return select(Participation).where(Participation.study_id == study_id, Participation.person_id == person_id)


def participation_of_worker(study_id: int, worker_digest: str) -> Select[Participation]:
    """Select the part in a study of the worker whose id has this digest."""
    own = (Participation.study_id == study_id, Participation.worker_digest == worker_digest)
    return select(Participation).where(*own)


def person_of_worker(task_id: str, worker_digest: str) -> Select[Person]:
    """Select the account that a worker has from an earlier study of the task."""
    rows = select(Person).join(Participation, Participation.person_id == Person.id)
    own = (Participation.worker_digest == worker_digest, Person.worker_task == task_id, Person.deleted_at.is_(None))
    return rows.where(*own).order_by(Person.id).limit(1)


def participations(study_id: int, after: int, limit: int, state: str = "") -> Select[Participation, Person]:
    """Select the participations of a study with their people, by id above `after`."""
    rows = select(Participation, Person).join(Person, Person.id == Participation.person_id)
    rows = rows.where(Participation.study_id == study_id, Participation.id > after)
    if state:
        rows = rows.where(Participation.state == state)
    return rows.order_by(Participation.id).limit(limit)


def credentials(task_id: str, provider: str) -> Select[CrowdCredentials]:
    """Select the accounts at a platform that the owners of a task have connected."""
    own = (CrowdCredentials.task_id == task_id, CrowdCredentials.provider == provider)
    return select(CrowdCredentials).where(*own, CrowdCredentials.removed_at.is_(None)).order_by(CrowdCredentials.id)


def tasks_of_account(credentials: CrowdCredentials) -> Select[str]:
    """Select the tasks to which owners have connected the same account at a platform."""
    same = (CrowdCredentials.provider == credentials.provider, CrowdCredentials.name == credentials.name)
    return select(CrowdCredentials.task_id).where(*same, CrowdCredentials.removed_at.is_(None))


def consent_text(id: int) -> Select[ConsentText]:
    """Select one version of a consent text."""
    return select(ConsentText).where(ConsentText.id == id)


def working_study(task_id: str, person_id: int) -> Select[Study]:
    """Select the study of a task in which a worker is at work, the one entered last."""
    rows = select(Study).join(Participation, Participation.study_id == Study.id)
    own = (Study.task_id == task_id, Participation.person_id == person_id)
    rows = rows.where(*own, Participation.state == ParticipationState.WORKING)
    return rows.order_by(Participation.seen_at.desc()).limit(1)


def people_of(study_id: int) -> Select[int]:
    """Select the ids of the people in a study."""
    return select(Participation.person_id).where(Participation.study_id == study_id)


def orders_of(study_id: int) -> Select[BonusOrder]:
    """Select the orders of bonuses of a study, the newest first."""
    return select(BonusOrder).where(BonusOrder.study_id == study_id).order_by(BonusOrder.id.desc()).limit(20)


def undecided(study_id: int, states: list[str]) -> Select[Participation]:
    """Select the participations of a study in states that wait for the owner, in the order of their arrival."""
    own = (Participation.study_id == study_id, Participation.state.in_(states))
    return select(Participation).where(*own).order_by(Participation.id)


def count_outcome(study_id: int, states: list[str], outcome: str) -> Select[int]:
    """Select the number of participations of a study in some states that ended with an outcome."""
    own = (Participation.study_id == study_id, Participation.state.in_(states), Participation.outcome == outcome)
    return select(func.count()).select_from(Participation).where(*own)


def participations_by_digest(study_id: int, digests: list[str]) -> Select[Participation]:
    """Select the participations in a study of workers whose ids have these digests."""
    return select(Participation).where(Participation.study_id == study_id, Participation.worker_digest.in_(digests))


def listed_payouts(study_id: int, payout_ids: list[int]) -> Select[Payout, Participation, Person]:
    """Select payouts with the participations and accounts of their people in a study, in one order."""
    rows = select(Payout, Participation, Person).join(Person, Person.id == Payout.person_id)
    rows = rows.join(Participation, Participation.person_id == Person.id)
    return rows.where(Participation.study_id == study_id, Payout.id.in_(payout_ids)).order_by(Payout.id)
