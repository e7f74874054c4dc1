"""The changes in the texts that an annotator began with."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import FormData

from dynabench.collection.schemas import ExampleIn
from dynabench.collection.writing_facts import MOST_CHARACTERS, WritingIn
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Field, Text
from dynabench.tasks.words import DiffPiece, word_differences


@dataclass(frozen=True)
class FieldChange:
    """The change in one field of the text that an annotator began with."""

    label: str
    pieces: tuple[DiffPiece, ...]
    words: int

    @property
    def changed(self) -> bool:
        """True if any word changed."""
        return self.words > 0


def changes(fields: Iterable[Field], before: Mapping[str, Any], after: Mapping[str, Any]) -> list[FieldChange]:
    """Return the change of each text field that did not begin empty."""
    return [
        _change(field.label, str(before[field.name]), str(after.get(field.name, "")))
        for field in fields
        if isinstance(field, Text) and before.get(field.name)
    ]


def _change(label: str, before: str, after: str) -> FieldChange:
    pieces = word_differences(before, after)
    words = {kind: sum(len(piece.text.split()) for piece in pieces if piece.kind == kind) for kind in ("out", "in")}
    return FieldChange(label, pieces, max(max(words.values()), int(before != after)))


@dataclass(frozen=True)
class Posted:
    """A form of one try: raw values by field, the key of the try.

    `handout_id` is 0 in the sandbox, where `begun` holds what the fields began with: nothing but a picture hangs on it.
    `suggestion_id` is the suggestion that was used, if any.
    """

    context_id: int
    key: str
    sandbox: bool
    input: dict[str, Any]
    answer: dict[str, Any]
    handout_id: int = 0
    begun: dict[str, str] = field(default_factory=dict)
    suggestion_id: int = 0
    active_seconds: float | None = None
    writing: WritingIn = field(default_factory=WritingIn)

    def draft(self, sandbox: bool) -> ExampleIn:
        """The draft that the form stands for."""
        return ExampleIn(
            context_id=self.context_id,
            input=self.input,
            answer=self.answer,
            handout=None if sandbox else self.handout_id or None,
            sandbox=sandbox,
            suggestion=None if sandbox else self.suggestion_id or None,
            active_seconds=self.active_seconds,
            writing=self.writing,
        )


def posted(config: TaskConfig, form: FormData | list[tuple[str, Any]], context_id: str = "") -> Posted:
    """Read a form with `context_id` (unless given), `handout`, `key`, `sandbox`, `input.<field>`, `answer.<field>`."""
    items = form if isinstance(form, list) else form.multi_items()
    pairs = [(name, value) for name, value in items if isinstance(value, str)]
    plain = dict(pairs)
    number, key = context_id or plain.get("context_id", ""), plain.get("key", "")
    handout, suggestion = (plain.get(name, "") or "0" for name in ("handout", "suggestion"))
    if not all(_is_id(text) for text in (number, handout, suggestion)) or int(number) < 1:
        raise errors.Invalid({"context_id": _("Reload the page and ask for a context.")})
    if len(key) > 100 or not (key.isascii() and key.isprintable()):
        raise errors.Invalid({"key": _("Reload the page.")})
    return Posted(
        context_id=int(number),
        key=key,
        sandbox=plain.get("sandbox") == "true",
        input=config.form("input", pairs),
        answer=config.form("answer", pairs),
        handout_id=int(handout),
        suggestion_id=int(suggestion),
        active_seconds=read_seconds(plain.get("active", "")),
        writing=read_writing(plain),
        begun={field_.name: begun for field_ in config.input if (begun := plain.get(f"begun.{field_.name}", ""))},
    )


def read_seconds(text: str) -> float | None:
    """Return the whole seconds that a page measured, None for anything else."""
    return float(text) if text.isascii() and text.isdecimal() and len(text) <= 7 else None


def read_writing(plain: Mapping[str, str]) -> WritingIn:
    """Return what a page claims of how the text was written; a count that is none counts as unknown.

    The box of the declaration says whether it was shown: an empty box means that no model wrote the text.
    """
    counts = {}
    for name in ("typed", "pasted"):
        number = read_seconds(plain.get(name, ""))
        counts[name] = None if number is None else min(int(number), MOST_CHARACTERS)
    declares = "model_written" in plain if "declares" in plain else None
    return WritingIn(typed=counts["typed"], pasted=counts["pasted"], model_written=declares)


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 15
