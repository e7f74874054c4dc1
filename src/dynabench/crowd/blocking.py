"""Workers whom an owner shuts out of all further work of the account at a platform."""

from sqlalchemy.orm import Session

from dynabench.crowd import accounts, entry, lifecycle, studies
from dynabench.crowd.provider import WorkerBlocking
from dynabench.crowd.tables import Participation
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds.people import clean_reason


def block_worker(
    database: Database,
    settings: Settings,
    owner: Person | None,
    task_id: str,
    study_id: int,
    participation_id: int,
    reason: str,
) -> None:
    """Block the worker of a participation at the platform. Calls the platform, and may be repeated.

    Raises `Conflict` where the platform blocks nobody, and `Invalid` without a reason.
    """
    text = clean_reason(reason)
    worker = database.read(_worker, settings.key, owner, task_id, study_id, participation_id)
    call = database.read(lifecycle.read_call, settings.key, study_id)
    with accounts.connected(settings, call.provider, call.secrets) as account:
        if account is None or not isinstance(call.provider, WorkerBlocking):
            raise errors.Conflict(_("This platform blocks no workers from here."))
        call.provider.block_worker(account, worker, text)
    act = {"task": task_id, "study": study_id, "participation": participation_id, "reason": text}
    database.write(lambda session: rounds.record_act(session, owner, "participation.blocked", **act))


def _worker(
    session: Session, key: bytes, owner: Person | None, task_id: str, study_id: int, participation_id: int
) -> str:
    study = studies.owned_study(session, owner, task_id, study_id)
    part = session.get(Participation, participation_id)
    if part is None or part.study_id != study.id:
        raise errors.NotFound(_("This study has no such participant."))
    return entry.worker_id(key, part)
