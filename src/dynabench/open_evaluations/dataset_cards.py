"""Hints in the card of a dataset: the task, columns, split and names of classes of an evaluation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dynabench.evaluate.cards import CardError
from dynabench.evaluate.cards.dataset_card import EvaluationIndex, read_evaluation_indexes
from dynabench.intake.sources import read_front_matter
from dynabench.open_evaluations.kinds import OPEN_TASKS, find_hub_task
from dynabench.open_evaluations.row_source import ClassNames


@dataclass(frozen=True)
class DatasetHints:
    """The hints of a card for one config; all are empty where it gives none. `columns` are by role."""

    task: str = ""
    split: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    classes: ClassNames = field(default_factory=dict)


def read_hints(card: str, config: str = "") -> DatasetHints:
    """Return what a card says of a config, by `train-eval-index` first, then by tasks and `dataset_info`."""
    metadata = read_front_matter(card)
    classes = dict(_classes(metadata.get("dataset_info"), config))
    if index := _find_index(metadata, config):
        task = find_hub_task([name for name in (index.task_id, index.task) if name])
        return DatasetHints(task, index.splits.get("eval_split", ""), _columns_by_role(task, index.columns), classes)
    names = [*_texts(metadata.get("task_ids")), *_texts(metadata.get("task_categories"))]
    return DatasetHints(find_hub_task(names), classes=classes)


def _find_index(metadata: Mapping[str, Any], config: str) -> EvaluationIndex | None:
    try:
        indexes = read_evaluation_indexes(metadata)
    except CardError:
        return None
    return next((index for index in indexes if (index.config or "") in ("", "default", config)), None)


def _columns_by_role(task: str, columns: Mapping[str, str]) -> dict[str, str]:
    """The columns of `col_mapping` by the role whose usual names have their standard name."""
    roles = OPEN_TASKS[task].roles if task else ()
    by_role: dict[str, str] = {}
    for column, standard in columns.items():
        role = next((role for role in roles if standard in role.known_names), None)
        if role is not None:
            by_role.setdefault(role.name, column)
    return by_role


def _texts(value: Any) -> list[str]:
    return [str(item) for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]


def _classes(info: Any, config: str) -> Iterator[tuple[str, Sequence[str]]]:
    """The classes of columns in `dataset_info`, a mapping or a list with one for each config."""
    entries = [entry for entry in (info if isinstance(info, list) else [info]) if isinstance(entry, Mapping)]
    chosen = next((entry for entry in entries if entry.get("config_name") == config), entries[0] if entries else {})
    features = chosen.get("features")
    for feature in features if isinstance(features, list) else ():
        if isinstance(feature, Mapping) and (names := _class_names(feature)):
            yield str(feature.get("name", "")), names


def _class_names(feature: Mapping[str, Any]) -> list[str]:
    """The names of a column's classes; `sequence` and `list` hold them one level deeper."""
    for key in ("dtype", "sequence", "list"):
        inner = feature.get(key)
        if not isinstance(inner, Mapping):
            continue
        label = inner.get("class_label")
        names = label.get("names") if isinstance(label, Mapping) else None
        if isinstance(names, Mapping):
            return [
                str(names[number]) for number in sorted(names, key=lambda key: int(key) if str(key).isdigit() else 0)
            ]
        if isinstance(names, list):
            return [str(name) for name in names]
        if inner_names := _class_names(inner):
            return inner_names
    return []
