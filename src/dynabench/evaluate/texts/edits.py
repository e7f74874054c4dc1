"""Counts of substitutions, deletions and insertions between a reference and a prediction."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dynabench.evaluate.columns import Column, Floats, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Rows, Sums


class Edits(NamedTuple):
    """One shortest alignment: units that agree, and edits that turn the reference into the prediction."""

    hits: int
    substitutions: int
    deletions: int
    insertions: int

    @property
    def errors(self) -> int:
        """The edit distance."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def length(self) -> int:
        """Units of the reference."""
        return self.hits + self.substitutions + self.deletions


Count = Callable[[str, str], Edits]
KINDS = ("substitutions", "deletions", "insertions", "hits")


def edit_counts(reference: Sequence[Any], prediction: Sequence[Any]) -> Edits:
    """Return the edits between two sequences of hashable units (Levenshtein 1966; each edit costs 1)."""
    from rapidfuzz.distance import Levenshtein

    if reference == prediction:
        return Edits(len(reference), 0, 0, 0)
    tags = [step.tag for step in Levenshtein.editops(reference, prediction)]
    deletions = tags.count("delete")
    substitutions = tags.count("replace")
    hits = len(reference) - deletions - substitutions
    return Edits(hits, substitutions, deletions, len(tags) - deletions - substitutions)


def word_errors(reference: str, prediction: str) -> Edits:
    """The edits between the words of two texts; words are what white space separates."""
    return edit_counts(reference.split(), prediction.split())


def character_errors(reference: str, prediction: str) -> Edits:
    """The edits between the characters of two texts, without white space at their ends."""
    return edit_counts(reference.strip(), prediction.strip())


def error_state(predictions: list[str], references: list[str], count: Count, concatenate: bool) -> Sums | Rows:
    """Edits of each row, (n, 4); or the texts themselves where all rows are to be aligned as one."""
    if concatenate:
        return Rows((np.array(references, object), np.array(predictions, object)))
    pairs = zip(references, predictions, strict=True)
    return Sums(np.array([count(true, predicted) for true, predicted in pairs], np.int64).reshape(-1, 4))


def error_rate(total: Any, name: str, count: Count, between: str) -> dict[str, Floats]:
    """The error rate under `name` and the number of each edit, from a total of `error_state`, shape (...,).

    Nothing can be divided by an empty reference: each unit inserted there counts as one whole error, as in jiwer.
    """
    sums = _joined(total, count, between) if isinstance(total, tuple) else total
    hits, substitutions, deletions, insertions = np.moveaxis(sums[..., :4], -1, 0)
    errors = substitutions + deletions + insertions
    return {
        name: ratio(errors, np.maximum(hits + substitutions + deletions, 1)),
        "substitutions": substitutions,
        "deletions": deletions,
        "insertions": insertions,
        "hits": hits,
    }


class ErrorRate(Metric):
    """Edits for each unit of the references; `count` counts edits of units, `between` joins texts."""

    columns: ClassVar[Mapping[str, Column]] = {"predictions": Texts(), "references": Texts()}
    count: Count
    between: ClassVar[str]

    def update(self, predictions: list[str], references: list[str], *, concatenate_texts: bool = False) -> Sums | Rows:
        """Hits, substitutions, deletions and insertions of each row."""
        return error_state(predictions, references, self.count, concatenate_texts)

    def formula(self, total: Any) -> dict[str, Floats]:
        """Errors / units of the references."""
        return error_rate(total, self.card.outputs[0].name, self.count, self.between)

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """The rate, and counts as whole numbers."""
        scores = super().result(state, **options)
        return {key: int(value) if key in KINDS else value for key, value in scores.items()}

    def compatible(self, result: dict[str, Any]) -> float:
        """The bare rate."""
        rate: float = result[self.card.outputs[0].name]
        return rate


def _joined(texts: tuple[Any, ...], count: Count, between: str) -> Floats:
    """The edits between all references and all predictions, each as one text; (..., n) becomes (..., 4)."""
    references, predictions = texts
    if references.ndim > 1:
        return np.stack([_joined(pair, count, between) for pair in zip(references, predictions, strict=True)])
    whole = [between.join(text.strip() for text in column) for column in (references, predictions)]
    return np.array(count(*whole), float)
