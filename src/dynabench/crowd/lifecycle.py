"""Studies at their platform: created, published, paused, stopped, and compared with what the platform says.

Each act is recorded before its call, and calls can be repeated: an interrupted act is done again by its button, and the
reconciliation shows where the two sides differ.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.crowd import accounts, studies
from dynabench.crowd.provider import CrowdAccount, CrowdProvider, ExternalStudy, StudyFacts
from dynabench.crowd.tables import Study, StudyState
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person


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


def _keep(session: Session, study_id: int, external: ExternalStudy) -> None:
    study = session.get_one(Study, study_id, with_for_update=True)
    study.external_id = external.id
    study.details = dict(study.details) | dict(external.details)


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
    before = database.read(_state, owner, task_id, study_id)
    call = database.read(read_call, settings.key, study_id)
    if call.secrets is None:
        database.write(studies.move_study, owner, task_id, study_id, to)
        return
    with accounts.connected(settings, call.provider, call.secrets) as account:
        if to is StudyState.PUBLISHED and not call.facts.external_id:
            database.read(studies.check_ready, owner, task_id, study_id)
            database.write(_keep, study_id, call.provider.create_study(account, call.facts, entry))
            call = database.read(read_call, settings.key, study_id)
        database.write(studies.move_study, owner, task_id, study_id, to)
        try:
            database.write(_keep, study_id, _act(call.provider, to)(account, call.facts))
        except errors.Problem:
            database.write(_restore, study_id, to, before)
            raise


Act = Callable[[CrowdAccount | None, StudyFacts], ExternalStudy]


def _act(provider: CrowdProvider, to: StudyState) -> Act:
    acts: dict[StudyState, Act] = {
        StudyState.PUBLISHED: provider.publish,
        StudyState.PAUSED: provider.pause,
        StudyState.STOPPED: provider.stop,
    }
    return acts[to]


def _state(session: Session, owner: Person | None, task_id: str, study_id: int) -> StudyState:
    return StudyState(studies.owned_study(session, owner, task_id, study_id).state)


def _restore(session: Session, study_id: int, to: StudyState, before: StudyState) -> None:
    study = session.get_one(Study, study_id, with_for_update=True)
    if study.state == to:
        study.state = before
        study.stopped_at = None if to is StudyState.STOPPED else study.stopped_at
