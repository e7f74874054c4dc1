"""From what a model says to the labels of the data: checked before the model runs, where its labels are known."""

from collections.abc import Mapping, Sequence
from typing import Any

Label = Any


class Labels:
    """Maps a model's labels to those of the data."""

    def __init__(
        self,
        model: Sequence[str],
        references: Sequence[Label],
        classes: Sequence[str] | None,
        mapping: Mapping[str, Label] | None,
    ) -> None:
        """`model` are the labels that it can answer (empty: unknown), `classes` the names of numbered references.

        Raises ValueError for a mapping that lacks a label, gives another kind of label than the data has, and for
        labels that have nothing in common.
        """
        self.mapping = dict(mapping) if mapping is not None else _found(model, references, classes)
        numbered = not any(isinstance(one, str) for one in references)
        known = [one for one in model if self.mapping is not None]
        missing = [one for one in known if self.mapping is not None and one not in self.mapping]
        if missing:
            raise ValueError(
                f"label_mapping lacks {', '.join(missing)}; the model answers {', '.join(model)}, each needs a label"
            )
        said = list(self.mapping.values()) if self.mapping is not None else list(model)
        other = next((one for one in said if isinstance(one, str) == numbered), None)
        if other is not None:
            raise ValueError(_other_kind(other, references, model))
        if said and not set(said) & set(references):
            raise ValueError(
                f"the model answers {_few(said)}, the data has {_few(references)}: nothing in common; "
                f"give label_mapping={{{_sketch(model or said)}}}"
            )

    def __call__(self, label: Label, row: int) -> Label:
        """The data's label. Raises ValueError for one that the mapping lacks."""
        if self.mapping is None:
            return label
        if label not in self.mapping:
            raise ValueError(f"row {row}: the model answered {label!r}, which label_mapping lacks; add it")
        return self.mapping[label]


def _found(model: Sequence[str], references: Sequence[Label], classes: Sequence[str] | None) -> dict[str, Label] | None:
    """The mapping that the labels themselves tell, None where they need none.

    Numbers are found by the data's names of its classes, else LABEL_3 means 3.
    """
    if not model or any(isinstance(one, str) for one in references):
        return None
    names = {name.casefold(): number for number, name in enumerate(classes or ())}
    if names and all(one.casefold() in names for one in model):
        return {one: names[one.casefold()] for one in model}
    if all(one.startswith("LABEL_") and one[6:].isdecimal() for one in model):
        return {one: int(one[6:]) for one in model}
    return None


def _other_kind(said: Label, references: Sequence[Label], model: Sequence[str]) -> str:
    example = model[0] if model else said
    return (
        f"the model answers {said!r}, the data has labels such as {references[0]!r}; "
        f"give label_mapping={{{example!r}: {references[0]!r}, ...}} with each of the model's labels"
    )


def _few(labels: Sequence[Label]) -> str:
    found = list(dict.fromkeys(labels))
    return ", ".join(map(repr, found[:5])) + (", ..." if len(found) > 5 else "")


def _sketch(labels: Sequence[Label]) -> str:
    return ", ".join(f"{one!r}: ..." for one in list(labels)[:3])
