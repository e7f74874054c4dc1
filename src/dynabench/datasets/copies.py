"""Perturbed copies of one row: its texts changed, its answers kept true."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from dynabench.adversaries.perturbations import EditedText, Span, Transformation, generator
from dynabench.datasets.stored import Stored
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Spans, Text

COPIES = 2
"""Copies of each row on each axis where nothing else is said: every copy costs a model's answer."""
MOST_COPIES = 30


@dataclass(frozen=True)
class Fields:
    """The fields whose values may change in copies of a task's rows.

    `lengths` gives the most code points of each text field that models get. `marks` gives, for each answer
    field with spans, the text field that it marks. `written` has the answer fields that are free text.
    """

    lengths: Mapping[str, int]
    marks: Mapping[str, str]
    written: frozenset[str]

    @classmethod
    def of(cls, config: TaskConfig) -> "Fields":
        """By a task's config."""
        texts = [field for field in (*config.context, *config.input) if isinstance(field, Text)]
        return cls(
            {field.name: field.max_length for field in texts},
            {field.name: field.of for field in config.answer if isinstance(field, Spans)},
            frozenset(field.name for field in config.answer if isinstance(field, Text)),
        )

    def texts(self, row: Stored) -> dict[str, str]:
        """The row's texts by field; a picture sent as text is none."""
        found = {name: row.inputs.get(name) for name in self.lengths}
        return {name: text for name, text in found.items() if isinstance(text, str) and not text.startswith("data:")}

    def marked(self, row: Stored) -> dict[str, list[Span]]:
        """The spans of each text field that some acceptable answer marks."""
        spans: dict[str, list[Span]] = {}
        for answer in row.answers:
            for name, of in self.marks.items():
                spans.setdefault(of, []).extend((each["start"], each["end"]) for each in answer.get(name) or ())
        return spans


def copies(
    row: Stored, fields: Fields, chosen: Sequence[Transformation], seed: int, most: int = COPIES
) -> Iterator[Stored]:
    """Up to `most` copies of a row, each by another transformation, drawn by the seed and the row's uid alone.

    A span's text in a copy is what the changed text has at its place. A copy that would be too long for its field, or
    whose answer one cannot be sure of, is not made.
    """
    texts, marked = fields.texts(row), fields.marked(row)
    written = any(answer.get(name) for answer in row.answers for name in fields.written)
    made = 0
    for one in _shuffled(chosen, generator(seed, row.uid, "order")):
        if made == most:
            return
        if one.axis == "fairness" and written:
            continue  # what was written in answer may speak of those whose names and words would be changed
        locked = marked if one.axis == "robustness" else {}
        edited = one.apply(texts, generator(seed, row.uid, one.name), locked)
        if edited and (copy := _copy(row, fields, one.name, edited)) is not None:
            made += 1
            yield copy


def _shuffled(chosen: Sequence[Transformation], rng: Random) -> Iterator[Transformation]:
    """All of them in the order of `rng.sample(chosen, len(chosen))`, drawn as they are asked for: few are."""
    pool = list(chosen)
    for left in range(len(pool), 0, -1):
        at = rng.randrange(left)
        yield pool[at]
        pool[at] = pool[left - 1]


def _copy(row: Stored, fields: Fields, transformation: str, edited: Mapping[str, EditedText]) -> Stored | None:
    if any(len(each.text) > fields.lengths[name] for name, each in edited.items()):
        return None
    answers = tuple(_answer(answer, fields, edited) for answer in row.answers)
    if any(answer is None for answer in answers):
        return None
    return Stored(
        uid=f"{row.uid}#{transformation}",
        inputs={**row.inputs, **{name: each.text for name, each in edited.items()}},
        answers=tuple(answer for answer in answers if answer is not None),
        tags=row.tags,
        of=row.uid,
        transformation=transformation,
    )


def _answer(answer: Mapping[str, Any], fields: Fields, edited: Mapping[str, EditedText]) -> dict[str, Any] | None:
    """The answer with its spans where they are now; None where an edit reaches across a border of one."""
    new = dict(answer)
    for name, of in fields.marks.items():
        if of not in edited or not answer.get(name):
            continue
        moved = [edited[of].span(each["start"], each["end"]) for each in answer[name]]
        if any(span is None for span in moved):
            return None
        new[name] = [{"start": s[0], "end": s[1], "text": edited[of].text[s[0] : s[1]]} for s in moved if s]
    return new
