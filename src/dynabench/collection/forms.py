"""What the pages' forms post, as drafts."""

from dataclasses import dataclass
from typing import Any

from starlette.datastructures import FormData

from dynabench import errors
from dynabench.collection.schemas import ExampleIn
from dynabench.tasks import TaskConfig


@dataclass(frozen=True)
class Posted:
    """A form of one try: raw values by field, the key of the try."""

    context_id: int
    key: str
    sandbox: bool
    input: dict[str, Any]
    answer: dict[str, Any]

    def draft(self, sandbox: bool) -> ExampleIn:
        """The draft that the form stands for."""
        return ExampleIn(context_id=self.context_id, input=self.input, answer=self.answer, sandbox=sandbox)


def posted(config: TaskConfig, form: FormData, context_id: str = "") -> Posted:
    """Read a form with `context_id` (unless given), `key`, `sandbox`, `input.<field>` and `answer.<field>`."""
    pairs = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    plain = dict(pairs)
    number, key = context_id or plain.get("context_id", ""), plain.get("key", "")
    if not (number.isascii() and number.isdecimal()) or len(number) > 15 or int(number) < 1:
        raise errors.Invalid({"context_id": "Reload the page and ask for a context."})
    if len(key) > 100 or not (key.isascii() and key.isprintable()):
        raise errors.Invalid({"key": "Reload the page."})
    return Posted(
        context_id=int(number),
        key=key,
        sandbox=plain.get("sandbox") == "true",
        input=config.form("input", pairs),
        answer=config.form("answer", pairs),
    )
