"""The check that a model answered the question: a model that did not is broken, not fooled."""

from collections.abc import Mapping, Sequence

from dynabench.errors import Unavailable
from dynabench.language import _
from dynabench.tasks.fields.base import Field, Values


def require_answers(prediction: Values, fields: Sequence[Field]) -> None:
    """Raise `Unavailable` where the prediction lacks one of these fields or holds an invalid value."""
    for field in fields:
        if not isinstance(prediction, Mapping) or field.name not in prediction:
            raise _without(field)
        if not field.is_answer(prediction[field.name]):
            raise Unavailable(
                _(
                    "The model's “%(name)s” %(no_answer)s. Tell the owner of the task.",
                    name=field.name,
                    no_answer=field.no_answer,
                )
            )
        if prediction[field.name] is None and field.required:
            raise _without(field)


def _without(field: Field) -> Unavailable:
    return Unavailable(_("The model's answer has no “%(name)s”. Tell the owner of the task.", name=field.name))
