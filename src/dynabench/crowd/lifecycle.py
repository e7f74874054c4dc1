"""Studies at their platform: created, published, paused, stopped, and compared with what the platform says.

Each act is recorded before its call, and calls can be repeated: an act that was interrupted is finished by the next
comparison of the study with its platform.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from dynabench.crowd import accounts, studies
from dynabench.crowd.provider import Arrival, CrowdAccount, CrowdProvider, ExternalStudy, StudyFacts
from dynabench.crowd.tables import Study, StudyState
from dynabench.kit import errors
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person

UNCONFIRMED = "unconfirmed"
"""The name, in a study's details, of an act that its platform has not confirmed: `state`, `before`, and `at`."""
INTERRUPTED_AFTER = timedelta(minutes=2)
"""Time after which an act that is not confirmed counts as interrupted: longer than its calls may take."""


@dataclass(frozen=True)
class StudyCall:
    """The values that calls of a study need, read in one transaction."""

    provider: CrowdProvider
    facts: StudyFacts
    secrets: dict[str, str] | None


def read_call(session: Session, key: bytes, study_id: int) -> StudyCall:
    """Return what the calls of a study need."""
    study = session.get_one(Study, study_id)
    return StudyCall(
        studies.provider_of(study), studies.facts_of(study), accounts.secrets_of_study(session, key, study)
    )


def confirm_arrival(database: Database, settings: Settings, study_id: int, arrival: Arrival) -> None:
    """Ask the platform of a study whether a worker's arrival is as its parameters say. Raises what it refuses."""
    call = database.read(read_call, settings.key, study_id)
    with accounts.connected(settings, call.provider, call.secrets) as account:
        call.provider.confirm(account, call.facts, arrival)


def _keep(session: Session, study_id: int, external: ExternalStudy, *, confirms: bool = False) -> None:
    study = session.get_one(Study, study_id, with_for_update=True)
    study.external_id = external.id
    details = dict(study.details) | dict(external.details)
    if confirms:
        details.pop(UNCONFIRMED, None)
    study.details = details


def _move(session: Session, owner: Person | None, task_id: str, study_id: int, to: StudyState) -> None:
    study = studies.owned_study(session, owner, task_id, study_id, change=True)
    act = {"state": to.value, "before": study.state, "at": now().isoformat()}
    if (earlier := study.details.get(UNCONFIRMED)) and earlier["state"] == to:  # the same act again
        act["before"] = earlier["before"]
    studies.move_study(session, owner, task_id, study_id, to)
    study.details = dict(study.details) | {UNCONFIRMED: act}


def lead_study(
    database: Database,
    settings: Settings,
    owner: Person | None,
    task_id: str,
    study_id: int,
    to: StudyState,
    entry: str,
) -> None:
    """Publish, pause or stop a study here and at its platform; `entry` is its address here. Blocks on the platform.

    Where the platform refuses, the study has its earlier state again and the refusal is raised.
    """
    call = database.read(read_call, settings.key, study_id)
    if call.secrets is None:
        database.write(studies.move_study, owner, task_id, study_id, to)
        return
    with accounts.connected(settings, call.provider, call.secrets) as account:
        if to is StudyState.PUBLISHED and not call.facts.external_id:
            database.read(studies.check_ready, owner, task_id, study_id)
            database.write(_keep, study_id, call.provider.create_study(account, call.facts, entry))
            call = database.read(read_call, settings.key, study_id)
        database.write(_move, owner, task_id, study_id, to)
        try:
            _finish(database, call, study_id, to, account)
        except errors.Problem:
            database.write(_restore, study_id)
            raise


def _finish(database: Database, call: StudyCall, study_id: int, to: StudyState, account: CrowdAccount | None) -> None:
    external = _act(call.provider, to)(account, call.facts)
    database.write(lambda session: _keep(session, study_id, external, confirms=True))


def finish_interrupted_act(database: Database, settings: Settings, study_id: int) -> bool:
    """Do an act again that was recorded here and that the platform has not confirmed; return whether there was one.

    Blocks on the platform. Where it refuses, the study has its earlier state again.
    """
    state = database.read(_interrupted, study_id)
    if state is None:
        return False
    call = database.read(read_call, settings.key, study_id)
    with accounts.connected(settings, call.provider, call.secrets) as account:
        if account is None:
            return False
        try:
            _finish(database, call, study_id, state, account)
        except errors.Conflict:
            database.write(_restore, study_id)
    return True


def _interrupted(session: Session, study_id: int) -> StudyState | None:
    study = session.get_one(Study, study_id)
    act = study.details.get(UNCONFIRMED)
    if not act or act["state"] != study.state or now() - datetime.fromisoformat(act["at"]) < INTERRUPTED_AFTER:
        return None
    return StudyState(study.state)


Act = Callable[[CrowdAccount | None, StudyFacts], ExternalStudy]


def _act(provider: CrowdProvider, to: StudyState) -> Act:
    acts: dict[StudyState, Act] = {
        StudyState.PUBLISHED: provider.publish,
        StudyState.PAUSED: provider.pause,
        StudyState.STOPPED: provider.stop,
    }
    return acts[to]


def _restore(session: Session, study_id: int) -> None:
    study = session.get_one(Study, study_id, with_for_update=True)
    details = dict(study.details)
    act = details.pop(UNCONFIRMED, None)
    if act and study.state == act["state"]:
        study.stopped_at = None if study.state == StudyState.STOPPED else study.stopped_at
        study.state, study.details = act["before"], details
