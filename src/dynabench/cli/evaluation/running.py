"""An evaluation: a model asked once, or predictions that are there, and what the chosen metrics say of them."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.progress import Progress

from dynabench.cli.evaluation import models, rows
from dynabench.evaluate import loading
from dynabench.evaluate.errors import OptionChoiceError
from dynabench.evaluate.inputs import module_options
from dynabench.evaluate.module import Module

Columns = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Chosen:
    """A metric with its options, as `--metric f1:average=macro` says."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    unnamed: type[Module] | None = None  # a task's own metric that no name finds

    @classmethod
    def of(cls, metric: str | Module) -> "Chosen":
        """The metric of this name, or the one that is given itself."""
        return cls(metric) if isinstance(metric, str) else cls(metric.name, unnamed=type(metric))

    @property
    def title(self) -> str:
        """The name, with the options that are set."""
        return " ".join([self.name, *(f"{name}={value}" for name, value in self.options.items())])

    @property
    def kind(self) -> type[Module]:
        """The module's class."""
        return self.unnamed or loading.find_module(self.name)

    def module(self) -> Module:
        """The module, ready to compute."""
        return self.kind(None, **self.options)


@dataclass(frozen=True)
class Run:
    """The request for one run of `dynabench evaluate`: data, metrics, and a model or predictions."""

    data: str
    metrics: Sequence[Chosen] = ()
    model: str = ""
    task: str = ""
    predictions: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    subset: str | None = None
    split: str | None = None
    label_mapping: Mapping[str, str] = field(default_factory=dict)
    batch_size: int = 32
    checkpoint: Path | None = None
    level: float | None = None
    by: str = ""


@dataclass(frozen=True)
class Score:
    """The result of one metric on all rows, or on the rows with one `value` of the column `by`.

    `error` says why where the metric has no result.
    """

    metric: Chosen
    rows: int
    result: Mapping[str, Any]
    value: str | None = None
    error: str = ""


@dataclass(frozen=True)
class Found:
    """All scores of a run, how long the model took, and the columns of the first metric for pictures."""

    run: Run
    rows: int
    scores: Sequence[Score]
    timing: Mapping[str, Any]
    columns: Columns

    def document(self) -> dict[str, Any]:
        """The same as JSON."""
        run = self.run
        asked = {"data": run.data, "model": run.model, "task": run.task, "split": run.split, "by": run.by}
        scores = [
            {"metric": each.metric.name, "options": dict(each.metric.options), "rows": each.rows}
            | ({run.by: each.value} if each.value is not None else {})
            | ({"error": each.error} if each.error else {"result": dict(each.result)})
            for each in self.scores
        ]
        return {
            **{name: value for name, value in asked.items() if value},
            "rows": self.rows,
            "scores": scores,
            **({"timing": dict(self.timing)} if self.timing else {}),
        }


def metric_of(text: str) -> Chosen:
    """`f1:average=macro,pos_label=1`. Raises ValueError for a module or an option that is not there."""
    name, _, rest = text.partition(":")
    if Path(text).suffix == ".py":  # a path may hold a colon
        name, rest = text, ""
    known = module_options(loading.find_module(name))
    chosen = {}
    for part in re.split(r",(?=\w+=)", rest) if rest else []:
        key, equals, value = part.partition("=")
        if key not in known or not equals:
            raise ValueError(f"{name} has no option {key!r}; its options are {', '.join(known) or 'none'}")
        try:
            chosen[key] = known[key].read(value)
        except ValueError as error:
            raise ValueError(f"{name}: {key} {error}") from None
    return Chosen(name, chosen)


def pairs(texts: Sequence[str], where: str) -> dict[str, str]:
    """`NAME=VALUE` texts as a dictionary. Raises ValueError for one without `=`."""
    wrong = [text for text in texts if "=" not in text]
    if wrong:
        raise ValueError(f"{where}: {wrong[0]!r} is not of the form NAME=VALUE")
    return dict(text.split("=", 1) for text in texts)


def run(asked: Run, progress: Progress) -> Found:
    """Do it. Raises ValueError for what cannot be done, with what to mend."""
    if not asked.metrics and not asked.model:
        raise ValueError("say which --metric; `dynabench evaluate list` has all")
    if asked.model:
        answered = models.answers(asked, progress)
        data, timing, metrics, columns = answered.data, answered.timing, answered.metrics, answered.columns
    else:
        data, timing, metrics = _read(asked), {}, asked.metrics
        columns = [rows.given(each.kind, data, asked.columns) for each in metrics]
    parts = list(_parts(data, asked.by))
    bar = progress.add_task("Computing", total=len(parts) * len(metrics))
    scores = []
    for metric, column in zip(metrics, columns, strict=True):
        for value, chosen in parts:
            scores.append(_score(metric, column, value, chosen, asked.level))
            progress.advance(bar)
    return Found(asked, len(data), scores, timing, columns[0])


def _read(asked: Run) -> rows.Data:
    data = rows.read(Path(asked.data))
    return data if asked.predictions is None else rows.beside(data, rows.read(asked.predictions))


def _parts(data: rows.Data, by: str) -> Iterator[tuple[str | None, list[int] | None]]:
    """All rows, then those of each value of the column `by`."""
    yield None, None
    if not by:
        return
    if by not in data.columns:
        raise ValueError(f"--by: {by!r} is no column of the data, which has {', '.join(data.columns)}")
    places: dict[str, list[int]] = {}
    for row, value in enumerate(data.columns[by]):
        places.setdefault(str(value), []).append(row)
    if len(places) > 100:
        raise ValueError(f"--by: {by} has {len(places):,} values; choose a column with at most 100")
    yield from sorted(places.items())


def _typed(metric: Chosen, error: ValueError) -> str:
    """Return the metric options to type instead where other options avoid the error, else an empty text.

    Options that are set already are kept beside them.
    """
    if not isinstance(error, OptionChoiceError):
        return ""
    kept = [{**metric.options, **choice} for choice in error.choices]
    said = [",".join(f"{name}={_as_typed(value)}" for name, value in each.items()) for each in kept]
    return "\nType one of these:" + "".join(f"\n  --metric {shlex.quote(f'{metric.name}:{each}')}" for each in said)


def _as_typed(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list | tuple) else str(value)


def _score(metric: Chosen, columns: Columns, value: str | None, chosen: list[int] | None, level: float | None) -> Score:
    module = metric.module()
    known = {*module.columns, *module.optional}
    taken: dict[str, Any] = {name: column for name, column in columns.items() if name in known}
    beside = {name: value for name, value in columns.items() if name in module.options_known()}
    if chosen is not None:
        taken = {name: [column[row] for row in chosen] for name, column in taken.items()}
    n = max((len(column) for column in taken.values()), default=0)
    asked: dict[str, Any] = {"interval": level} if level is not None and hasattr(module, "formula") and n > 1 else {}
    try:
        return Score(metric, n, module.compute(**{**taken, **beside, **asked}), value)
    except ValueError as error:
        if chosen is None:
            raise ValueError(f"{metric.name}: {error}{_typed(metric, error)}") from None
        return Score(metric, n, {}, value, str(error))
