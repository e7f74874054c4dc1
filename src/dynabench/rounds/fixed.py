"""Parts of a config that a new version must leave unchanged."""

from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.rounds import queries
from dynabench.tasks import TaskConfig


def keep_contexts_usable(session: Session, config: TaskConfig) -> None:
    """Raise `Conflict` where the task has contexts, and not with the fields that this version shows."""
    some = session.scalar(queries.any_context(config.id))
    names = {field.name for field in config.context}
    if some is not None and set(some.values) != names:
        raise errors.Conflict(
            _(
                "The task's contexts have the fields %(value)s; this version wants %(value2)s. "
                "Create a task with another id.",
                value=", ".join(sorted(some.values)),
                value2=", ".join(sorted(names)) or "none",
            )
        )


def keep_learner(before: TaskConfig, config: TaskConfig) -> None:
    """Raise `Invalid` for another learner: scores of sets that different ones learnt from cannot be compared."""
    if before.training and config.training and before.training.learner != config.training.learner:
        told = _("Training sets are compared by one learner, which stays as it is. Create a task with another id.")
        raise errors.Invalid({"training.learner": told})
