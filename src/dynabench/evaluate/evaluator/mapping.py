"""Mapping from a model's labels to those of the data, checked before the model runs where its labels are known."""

from collections.abc import Mapping, Sequence
from typing import Any

Label = Any


class LabelMapping:
    """A mapping from a model's labels to those of the data."""

    def __init__(
        self,
        model: Sequence[str],
        references: Sequence[Label],
        classes: Sequence[str] | None,
        mapping: Mapping[str, Label] | None,
    ) -> None:
        """Take or infer the mapping. `model` are the labels that the model can answer (empty: unknown), `classes`
        the names of numbered references.

        Raises ValueError for a mapping that lacks a label, gives another kind of label than the data has, and for
        labels that have nothing in common.
        """
        self.mapping = dict(mapping) if mapping is not None else _infer_mapping(model, references, classes)
        numbered = not any(isinstance(item, str) for item in references)
        model_labels = [item for item in model if self.mapping is not None]
        missing = [item for item in model_labels if self.mapping is not None and item not in self.mapping]
        if missing:
            raise ValueError(
                f"label_mapping lacks {', '.join(missing)}; the model answers {', '.join(model)}, each needs a label"
            )
        answers = list(self.mapping.values()) if self.mapping is not None else list(model)
        other = next((item for item in answers if isinstance(item, str) == numbered), None)
        if other is not None:
            raise ValueError(_other_kind(other, references, model))
        if answers and not set(answers) & set(references):
            raise ValueError(
                f"the model answers {_few(answers)}, the data has {_few(references)}: nothing in common; "
                f"give label_mapping={{{_sketch(model or answers)}}}"
            )

    def __call__(self, label: Label, row: int) -> Label:
        """Return the data's label of an answer. Raises ValueError for one that the mapping lacks."""
        if self.mapping is None:
            return label
        if label not in self.mapping:
            raise ValueError(f"row {row}: the model answered {label!r}, which label_mapping lacks; add it")
        return self.mapping[label]


def _infer_mapping(
    model: Sequence[str], references: Sequence[Label], classes: Sequence[str] | None
) -> dict[str, Label] | None:
    """The mapping that the labels themselves tell, None where they need none.

    Numbers are found by the data's names of its classes, else LABEL_3 means 3.
    """
    if not model or any(isinstance(label, str) for label in references):
        return None
    names = {name.casefold(): number for number, name in enumerate(classes or ())}
    if names and all(label.casefold() in names for label in model):
        return {label: names[label.casefold()] for label in model}
    if all(label.startswith("LABEL_") and label[6:].isdecimal() for label in model):
        return {label: int(label[6:]) for label in model}
    return None


def _other_kind(answer: Label, references: Sequence[Label], model: Sequence[str]) -> str:
    example = model[0] if model else answer
    return (
        f"the model answers {answer!r}, the data has labels such as {references[0]!r}; "
        f"give label_mapping={{{example!r}: {references[0]!r}, ...}} with each of the model's labels"
    )


def _few(labels: Sequence[Label]) -> str:
    distinct = list(dict.fromkeys(labels))
    return ", ".join(map(repr, distinct[:5])) + (", ..." if len(distinct) > 5 else "")


def _sketch(labels: Sequence[Label]) -> str:
    return ", ".join(f"{label!r}: ..." for label in list(labels)[:3])
