"""The context that a draft was written for, the text it began with, and the example it was made from."""

from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection.tables import Example
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds.tables import Context, Round
from dynabench.tasks import TaskConfig


def context_of(session: Session, task_id: str, context_id: int) -> Context:
    """Return the context, or `NotFound` where the task has no such one."""
    context = session.get(Context, context_id)
    if context is None or context.task_id != task_id:
        raise errors.NotFound(
            _("Task %(task_id)s has no context %(context_id)s.", task_id=repr(task_id), context_id=context_id)
        )
    return context


def edit_distance(config: TaskConfig, start: str, initial: dict[str, Any], written: dict[str, Any]) -> int:
    """Return the edit distance between the text and the one that it began with.

    Raise `Invalid` where a seed or an own example was not changed.
    """
    changed = config.edit_distance(initial, written)
    if not changed and start in ("seed", "perturb"):
        raise errors.Invalid(
            {f"input.{config.input[0].name}": _("Change the text: it is still the one you started with.")}
        )
    return changed


def check_origin(session: Session, person: Person, task_id: str, made_from: int | None) -> None:
    """Refuse an example as the origin of a draft where it is of another task or another author's. Raises `Invalid`."""
    if made_from is None:
        return
    origin = session.get(Example, made_from)
    round_ = session.get(Round, origin.round_id) if origin else None
    if origin is None or round_ is None or round_.task_id != task_id:
        raise errors.Invalid({"made_from": _("There is no such example of this task.")})
    if origin.author_id != person.id and not may.may_in(session, person, Action.READ_EXAMPLE, task_id):
        raise errors.Invalid({"made_from": _("There is no such example of this task.")})  # nor is it told that there is
