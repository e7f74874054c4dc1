"""Submitted models that become targets once they pass their check: of a draft, of a new draft, or preselected.

The choice is `round` in a submission's `source`: the number of a draft, `new`, or `next`; nothing for none.
"""

from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.registry import queries as registry_queries
from dynabench.benchmark.registry.tables import Submission
from dynabench.kit import errors
from dynabench.kit.language import _, joined
from dynabench.models import check_report, validity
from dynabench.models.protocol import ModelCard
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import service as notices
from dynabench.rounds import queries, service
from dynabench.rounds.service import ModelVersion
from dynabench.rounds.tables import Round, RoundState

NEW, NEXT = "new", "next"


def draft_numbers(session: Session, person: Person, task_id: str) -> list[int] | None:
    """The numbers of a task's drafts, newest first, for those who may draft rounds; None for others."""
    if not may.may_in(session, person, Action.DRAFT_ROUND, task_id):
        return None
    return [entry.number for entry in session.scalars(queries.rounds(task_id)) if entry.state == RoundState.DRAFT]


def clean_choice(session: Session, person: Person, task_id: str, text: str, wrong: dict[str, str]) -> str:
    """Return the choice as it is stored; an invalid one goes to `wrong`.

    Raises `Forbidden` for those who may not draft rounds.
    """
    if not text:
        return ""
    service.require(session, person, Action.DRAFT_ROUND, task_id)
    numbers = draft_numbers(session, person, task_id) or []
    if text not in (NEW, NEXT, *map(str, numbers)):
        wrong["round"] = _("This is no draft of a round. Choose another.")
    return text


def add_chosen_target(session: Session, submission: Submission, card: ModelCard) -> None:
    """Make a model that has just passed its check the target that its submitter chose.

    Where that is no longer possible, the submitter is told why, and the submission stays as it is.
    """
    choice = str(submission.source.get("round", ""))
    person = session.get(Person, submission.person_id) if submission.person_id else None
    if choice in ("", NEXT) or person is None:
        return
    try:
        with session.begin_nested():
            round_ = _add_target(session, person, submission.task_id, choice, card)
    except errors.Problem as problem:
        text = _("%(name)s is no target: %(reason)s", name=submission.name, reason=problem.detail)
        notices.notify_person(session, person.id, "submission", text[:500], link=f"/tasks/{submission.task_id}")
    else:
        submission.source = submission.source | {"target_of": round_.number}


def _add_target(session: Session, person: Person, task_id: str, choice: str, card: ModelCard) -> Round:
    if choice != NEW:
        config = service.config_of(session, service.round_of(session, task_id, int(choice)).version_id)
        _require_fit(config, card)
        return service.add_target(session, person, task_id, int(choice), card)
    config = service.newest_config(session, task_id)
    _require_fit(config, card)
    judges = [entry.judge for entry in session.scalars(queries.rounds(task_id)) if entry.judge]
    judge = ModelVersion(judges[0]["model"], judges[0]["version"]) if judges else None
    judged = config.fooled.judged_by == "model"
    return service.draft_round(session, person, task_id, [card], judge=judge if judged else None)


def _require_fit(config: Any, card: ModelCard) -> None:
    if problems := validity.target_problems(config, card):
        raise errors.Conflict(joined(" ", map(check_report.in_words, problems.values())))


def preselected_targets(session: Session, task_id: str) -> list[str]:
    """The models that owners chose for the next round and that no round was drafted after, as NAME@VERSION."""
    newest = session.scalars(queries.rounds(task_id).limit(1)).first()
    ready = session.scalars(registry_queries.ready_submissions(task_id, newest.created_at if newest else None))
    chosen = [entry for entry in ready if entry.source.get("round") == NEXT]
    return list(dict.fromkeys(f"{entry.model}@{entry.version}" for entry in chosen))
