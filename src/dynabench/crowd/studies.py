"""Studies for their owners: drafting, changing, publishing, pausing and stopping them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import ValidationError
from sqlalchemy.orm import Session

from dynabench.crowd import consent, queries
from dynabench.crowd.provider import CrowdProvider, StudyFacts, all_providers
from dynabench.crowd.tables import Study, StudyState
from dynabench.crowd.work import Work
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.errors import validation_message
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState

MOST_STUDIES = 200
"""Studies of one task."""
LONGEST_NAME = 100
SENT_TWICE = timedelta(minutes=1)
"""A draft that is made again with the same values within this time was sent twice, and is made once."""


@dataclass(frozen=True)
class StudyPlan:
    """The settings of a study as an owner gives them; `settings` and `work` are checked by `clean_plan`."""

    name: str
    settings: Mapping[str, Any]
    work: Mapping[str, Any]


def provider_of(study: Study) -> CrowdProvider:
    """Return the provider of a study; `Unavailable` where its plug-in is not installed any more."""
    installed = all_providers().get(study.provider)
    if installed is None:
        raise errors.Unavailable(
            _("The crowd platform %(name)s is not installed on this site.", name=study.provider), retry_after=3600
        )
    return installed


def facts_of(study: Study) -> StudyFacts:
    """Return what the provider is told of a study."""
    return StudyFacts(
        id=study.id,
        name=study.name,
        settings=study.settings,
        key=bytes.fromhex(study.key),
        external_id=study.external_id,
        details=dict(study.details) | {"minutes": study.work.get("minutes", 20)},
    )


def clean_plan(provider: CrowdProvider, plan: StudyPlan) -> StudyPlan:
    """Return a plan with its defaults filled in; raises `Invalid` under `name`, `work.…` and `settings.…`."""
    problems: dict[str, str] = {}
    name = " ".join(plan.name.split())
    if not name or len(name) > LONGEST_NAME:
        problems["name"] = _("Give a name of at most %(most)s characters.", most=LONGEST_NAME)
    cleaned: dict[str, dict[str, Any]] = {}
    for part, model, raw in (("work", Work, plan.work), ("settings", provider.settings_model, plan.settings)):
        try:
            cleaned[part] = model.model_validate(raw).model_dump(mode="json")
        except ValidationError as error:
            for problem in error.errors():
                path = ".".join(str(step) for step in (part, *problem["loc"]))
                problems.setdefault(path, validation_message(problem))
    if problems:
        raise errors.Invalid(problems)
    return StudyPlan(name, cleaned["settings"], cleaned["work"])


def draft_study(
    session: Session, owner: Person | None, task_id: str, number: int, provider_name: str, plan: StudyPlan
) -> Study:
    """Make a study for a round of a task; it recruits nobody before it is published."""
    rounds.require(session, owner, Action.RUN_STUDIES, task_id)
    round_ = rounds.round_of(session, task_id, number)
    if round_.state == RoundState.RELEASED:
        raise errors.Conflict(
            _("Round %(number)s is released. A study needs a round that can still collect.", number=number)
        )
    provider = all_providers().get(provider_name)
    if provider is None:
        raise errors.Invalid({"provider": _("Choose one of the crowd platforms.")})
    cleaned = clean_plan(provider, plan)
    earlier = list_studies(session, owner, task_id)
    for study in earlier:
        values = (study.round_id, study.provider, study.name, study.settings, study.work)
        new_values = (round_.id, provider_name, cleaned.name, cleaned.settings, cleaned.work)
        if values == new_values and study.state == StudyState.DRAFT and study.created_at > now() - SENT_TWICE:
            return study
    if len(earlier) >= MOST_STUDIES:
        raise errors.Conflict(_("A task has at most %(most)s studies.", most=MOST_STUDIES))
    study = Study(
        task_id=task_id,
        round_id=round_.id,
        provider=provider_name,
        name=cleaned.name,
        settings=dict(cleaned.settings),
        work=dict(cleaned.work),
        created_by=owner.id if owner else None,
    )
    session.add(study)
    session.flush()
    rounds.record_act(session, owner, "study.drafted", task=task_id, study=study.id, round=number)
    return study


def owned_study(session: Session, owner: Person | None, task_id: str, study_id: int, *, change: bool = False) -> Study:
    """Return a study of a task for its owner, locked where it is about to `change`; `NotFound` for any other."""
    rounds.require(session, owner, Action.RUN_STUDIES, task_id)
    study = session.get(Study, study_id, with_for_update=change)
    if study is None or study.task_id != task_id:
        raise errors.NotFound(_("This task has no such study."))
    return study


def list_studies(session: Session, owner: Person | None, task_id: str) -> list[Study]:
    """Return the studies of a task, the newest first."""
    rounds.require(session, owner, Action.RUN_STUDIES, task_id)
    return list(session.scalars(queries.studies(task_id)))


def count_states(session: Session, study_ids: list[int]) -> dict[int, dict[str, int]]:
    """Return, for each study, how many participations are in each state."""
    counts: dict[int, dict[str, int]] = {study_id: {} for study_id in study_ids}
    for study_id, state, number in session.execute(queries.state_counts(study_ids)):
        counts[study_id][state] = number
    return counts


def change_study(session: Session, owner: Person | None, task_id: str, study_id: int, plan: StudyPlan) -> Study:
    """Change a study; once it is published the platform holds its settings, so that only a draft can change."""
    study = owned_study(session, owner, task_id, study_id, change=True)
    if study.state != StudyState.DRAFT:
        raise errors.Conflict(_("This study was published. Make another one to change what workers are promised."))
    cleaned = clean_plan(provider_of(study), plan)
    study.name, study.settings, study.work = cleaned.name, dict(cleaned.settings), dict(cleaned.work)
    rounds.record_act(session, owner, "study.changed", task=task_id, study=study.id)
    return study


def delete_draft(session: Session, owner: Person | None, task_id: str, study_id: int) -> None:
    """Delete a study that was never published."""
    study = owned_study(session, owner, task_id, study_id, change=True)
    if study.state != StudyState.DRAFT:
        raise errors.Conflict(_("Only a draft can be deleted. Stop a published study instead."))
    session.delete(study)
    rounds.record_act(session, owner, "study.deleted", task=task_id, study=study_id)


NEXT_STATES: dict[StudyState, frozenset[StudyState]] = {
    StudyState.PUBLISHED: frozenset({StudyState.DRAFT, StudyState.PAUSED}),
    StudyState.PAUSED: frozenset({StudyState.PUBLISHED}),
    StudyState.STOPPED: frozenset({StudyState.PUBLISHED, StudyState.PAUSED}),
}
"""For each state, those from which an owner can lead a study to it."""


def move_study(session: Session, owner: Person | None, task_id: str, study_id: int, to: StudyState) -> Study:
    """Publish, pause or stop a study here; the same again changes nothing.

    A study without account is published here alone: its owner tells the panel. Raises `Conflict` where the study
    cannot go to that state, and where its round is not open or its consent text is missing.
    """
    study = owned_study(session, owner, task_id, study_id, change=True)
    if study.state == to:
        return study
    if StudyState(study.state) not in NEXT_STATES[to]:
        raise errors.Conflict(_("A study that is %(state)s cannot be %(to)s.", state=study.state, to=to.value))
    if to is StudyState.PUBLISHED:
        _require_ready(session, study)
        study.published_at = study.published_at or now()
    if to is StudyState.STOPPED:
        study.stopped_at = now()
    study.state = to
    rounds.record_act(session, owner, f"study.{to.value}", task=task_id, study=study.id)
    return study


def check_ready(session: Session, owner: Person | None, task_id: str, study_id: int) -> None:
    """Raise `Conflict` where a study cannot be published yet."""
    _require_ready(session, owned_study(session, owner, task_id, study_id))


def _require_ready(session: Session, study: Study) -> None:
    if session.get_one(Round, study.round_id).state != RoundState.OPEN:
        raise errors.Conflict(_("Open the round before you publish its study: workers could not write."))
    if consent.newest_text(session, study.task_id) is None:
        raise errors.Conflict(_("Save the consent text before you publish: workers agree to it first."))
