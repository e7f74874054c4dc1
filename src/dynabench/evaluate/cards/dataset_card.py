"""Evaluation of models in a dataset's repository: `train-eval-index` in its card, and `eval.yaml` beside it.

`train-eval-index` was the form of the hub's first evaluation service, and stands in many cards still. `eval.yaml` makes
a dataset a benchmark of the hub today.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dynabench.evaluate.cards.card_text import CardText
from dynabench.evaluate.cards.yaml_edits import TextEdit
from dynabench.evaluate.cards.yaml_text import CardError, dump_yaml, plain_values, read_yaml, same_values

INDEX_KEY = "train-eval-index"
_INDEX_KEYS = ("config", "task", "task_id", "splits", "col_mapping", "metrics")
_TASK_KEYS = ("id", "config", "split", "field_spec", "solvers", "scorers")
_BENCHMARK_KEYS = ("name", "description", "evaluation_framework", "tasks")


@dataclass(frozen=True)
class EvaluationIndex:
    """One way to evaluate models on a dataset; `columns` maps a column such as `answers.text` to its standard name.

    `splits` has the keys `train_split` and `eval_split`; `other` are keys that the format does not name.
    """

    task: str
    config: str | None = None
    task_id: str | None = None
    splits: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    metrics: Sequence[Mapping[str, Any]] = ()
    other: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The entry as the card has it; a dot in a column's name becomes a level, as the hub writes it."""
        values = {
            "config": self.config,
            "task": self.task,
            "task_id": self.task_id,
            "splits": dict(self.splits),
            "col_mapping": _nested(self.columns),
            "metrics": [dict(metric) for metric in self.metrics],
        }
        return {name: value for name, value in values.items() if value not in (None, {}, [])} | dict(self.other)


@dataclass(frozen=True)
class BenchmarkTask:
    """One task of a benchmark: which rows, which fields, and for `inspect-ai` how they are solved and scored."""

    id: str
    config: str | None = None
    split: str = "test"
    fields: Mapping[str, Any] = field(default_factory=dict)
    solvers: Sequence[Mapping[str, Any]] = ()
    scorers: Sequence[Mapping[str, Any]] = ()
    other: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The task as `eval.yaml` has it."""
        values = {
            "id": self.id,
            "config": self.config,
            "split": self.split,
            "field_spec": dict(self.fields),
            "solvers": [dict(item) for item in self.solvers],
            "scorers": [dict(item) for item in self.scorers],
        }
        return {name: value for name, value in values.items() if value not in (None, {}, [])} | dict(self.other)


@dataclass(frozen=True)
class Benchmark:
    """A dataset's `eval.yaml`."""

    name: str
    framework: str
    tasks: Sequence[BenchmarkTask]
    description: str = ""
    other: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The benchmark as `eval.yaml` has it."""
        return {
            "name": self.name,
            **({"description": self.description} if self.description else {}),
            "evaluation_framework": self.framework,
            "tasks": [task.document() for task in self.tasks],
            **self.other,
        }


def read_evaluation_indexes(metadata: Mapping[str, Any]) -> list[EvaluationIndex]:
    """Return the entries of `train-eval-index` in a card's metadata. Raises `CardError` for another shape."""
    entries = metadata.get(INDEX_KEY)
    if entries is None:
        return []
    if isinstance(entries, Mapping):  # some cards have one entry without a list
        entries = [entries]
    if not isinstance(entries, list):
        raise CardError(f"{INDEX_KEY} is not a list.")
    return [_index(entry, f"{INDEX_KEY}, entry {place + 1},") for place, entry in enumerate(entries)]


def merge_evaluation_index(card: CardText, index: EvaluationIndex) -> CardText:
    """Return the card with this entry, in the place of one of the same config, task and task id. Raises `CardError`."""
    present = card.metadata().get(INDEX_KEY)
    if not isinstance(present, list) or not present:
        return card.with_value(INDEX_KEY, [index.document()])
    for place, earlier in enumerate(read_evaluation_indexes({INDEX_KEY: present})):
        if (earlier.config, earlier.task, earlier.task_id) == (index.config, index.task, index.task_id):
            same = same_values(present[place], index.document())
            return card if same else card.with_edits(INDEX_KEY, [TextEdit((INDEX_KEY, place), index.document())])
    return card.with_edits(INDEX_KEY, [TextEdit((INDEX_KEY,), index.document(), "append")])


def read_benchmark(text: str) -> Benchmark:
    """Return the benchmark of an `eval.yaml`. Raises `CardError` for another shape."""
    values = read_yaml(text)
    if not isinstance(values, Mapping):
        raise CardError("eval.yaml is not a mapping of keys to values.")
    tasks = values.get("tasks")
    if not isinstance(tasks, list) or not tasks:
        raise CardError("eval.yaml has no list of tasks.")
    benchmark = Benchmark(
        name=_text(values, "name", "eval.yaml"),
        framework=_text(values, "evaluation_framework", "eval.yaml"),
        description=_text(values, "description", "eval.yaml", optional=True) or "",
        tasks=[_task(task, f"Task {place + 1}") for place, task in enumerate(tasks)],
        other=_other(values, _BENCHMARK_KEYS),
    )
    ids = [task.id for task in benchmark.tasks]
    if len(set(ids)) < len(ids):
        raise CardError("Two tasks of eval.yaml have the same id.")
    return benchmark


def write_benchmark(benchmark: Benchmark) -> str:
    """Return the text of `eval.yaml`."""
    return dump_yaml(benchmark.document())


def _index(entry: Any, where: str) -> EvaluationIndex:
    if not isinstance(entry, Mapping):
        raise CardError(f"{where} is not a mapping.")
    splits, columns = (entry.get(name) or {} for name in ("splits", "col_mapping"))
    if not isinstance(splits, Mapping) or not isinstance(columns, Mapping):
        raise CardError(f"{where} has splits or a col_mapping that is not a mapping.")
    return EvaluationIndex(
        task=_text(entry, "task", where),
        config=_text(entry, "config", where, optional=True),
        task_id=_text(entry, "task_id", where, optional=True),
        splits={str(name): str(value) for name, value in splits.items()},
        columns=dict(_flat(columns, where)),
        metrics=_mappings(entry, "metrics", where),
        other=_other(entry, _INDEX_KEYS),
    )


def _task(entry: Any, where: str) -> BenchmarkTask:
    if not isinstance(entry, Mapping):
        raise CardError(f"{where} is not a mapping.")
    fields = entry.get("field_spec") or {}
    if not isinstance(fields, Mapping):
        raise CardError(f"{where} has a field_spec that is not a mapping.")
    return BenchmarkTask(
        id=_text(entry, "id", where),
        config=_text(entry, "config", where, optional=True),
        split=_text(entry, "split", where, optional=True) or "test",
        fields=dict(fields),
        solvers=_mappings(entry, "solvers", where),
        scorers=_mappings(entry, "scorers", where),
        other=_other(entry, _TASK_KEYS),
    )


def _text(values: Mapping[str, Any], name: str, where: str, optional: bool = False) -> Any:
    value = values.get(name)
    if value is None and optional:
        return None
    if not isinstance(value, str) or not value.strip():
        raise CardError(f"{where} has no {name}." if value is None else f"{where} has a {name} that is not text.")
    return value


def _mappings(values: Mapping[str, Any], name: str, where: str) -> tuple[Mapping[str, Any], ...]:
    items = values.get(name) or []
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise CardError(f"{where} has {name} that are not a list of mappings.")
    return tuple(items)


def _other(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    named_keys = set(names)
    return {str(name): value for name, value in values.items() if name not in named_keys}


def _flat(columns: Mapping[Any, Any], where: str, above: str = "") -> Iterable[tuple[str, str]]:
    for name, value in columns.items():
        if isinstance(value, Mapping):
            yield from _flat(value, where, f"{above}{name}.")
        elif isinstance(value, list):
            raise CardError(f"{where} has a col_mapping with a list.")
        else:
            yield f"{above}{name}", str(plain_values(value))


def _nested(columns: Mapping[str, str]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in columns.items():
        *above, last = name.split(".")
        inner = nested
        for part in above:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise CardError(f"The column {name} is inside of another column.")
        inner[last] = value
    return nested
