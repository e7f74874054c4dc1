"""The model's labels and the task's: the same by name, by name whatever the case, or as `options.labels` says."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from dynabench.kit.errors import Invalid


def matched(own: Sequence[str], wanted: Sequence[str], said: Mapping[str, str]) -> list[int]:
    """For each of the model's labels the number of the task's label that it means, shape (len(own),).

    Raises `Invalid` with both sides when one of either has no counterpart.
    """
    folded = {_fold(label): number for number, label in enumerate(wanted)}
    exact = {label: number for number, label in enumerate(wanted)}
    found = [_meant(label, exact, folded, said) for label in own]
    strangers = [label for label, number in zip(own, found, strict=True) if number is None]
    missing = [label for number, label in enumerate(wanted) if number not in found]
    unknown = [name for name in said if name not in own]
    if strangers or missing or unknown:
        raise Invalid({"options.labels": _told(own, wanted, strangers, missing, unknown)})
    return [number for number in found if number is not None]


def gathered(logits: Tensor, meant: Sequence[int], count: int) -> Tensor:
    """Logits (B, count) of the task's labels from those of the model's (B, len(meant)).

    Where several of the model's labels mean one of the task's, their probabilities add up.
    """
    if list(meant) == list(range(count)):
        return logits
    columns = []
    for label in range(count):
        places = [place for place, number in enumerate(meant) if number == label]
        columns.append(torch.logsumexp(logits[:, places], -1) if len(places) > 1 else logits[:, places[0]])
    return torch.stack(columns, -1)


def _meant(label: str, exact: Mapping[str, int], folded: Mapping[str, int], said: Mapping[str, str]) -> int | None:
    if label in said:
        return exact.get(said[label])
    return exact.get(label, folded.get(_fold(label)))


def _fold(label: str) -> str:
    return label.strip().casefold().replace("_", " ").replace("-", " ")


def _told(
    own: Sequence[str], wanted: Sequence[str], strangers: Sequence[str], missing: Sequence[str], unknown: Sequence[str]
) -> str:
    parts = [f"The model's labels are {_listed(own)}, the task's {_listed(wanted)}"]
    if strangers:
        parts.append(f"{_listed(strangers)} of the model's mean none of the task's")
    if missing:
        parts.append(f"{_listed(missing)} of the task's are meant by none of the model's")
    if unknown:
        parts.append(f"{_listed(unknown)}, which options.labels names, are none of the model's")
    example = f"{{{(strangers or own or ['LABEL_0'])[0]}: {(missing or wanted or ['label'])[0]}}}"
    return f"{'; '.join(parts)}. Say which means which, as in labels: {example}."


def _listed(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:12])
    return f"{shown} and {len(labels) - 12} more" if len(labels) > 12 else shown or "none"
