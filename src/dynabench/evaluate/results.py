"""Results as lines of text, as charts, and in a JSON file."""

import json
import math
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from dynabench import __version__
from dynabench.evaluate.card import Card, Output
from dynabench.evaluate.columns import Labels, Numbers
from dynabench.evaluate.labels import encode_labels
from dynabench.evaluate.module import Module
from dynabench.evaluate.values import to_plain
from dynabench.kit.language import Amount, _

MAX_LINES = 60
EXTRA_KEYS = ("interval", "per_example")


@dataclass(frozen=True)
class ResultLine:
    """One number or text of a result. `low` and `high` are its interval, `output` the card's entry of its key."""

    name: str
    value: Any
    low: float | None = None
    high: float | None = None
    output: Output | None = None

    @property
    def text(self) -> str:
        """The value in short form."""
        return format_value(self.value)

    @property
    def scale(self) -> tuple[float, float] | None:
        """The range of the metric, where it has two ends; else None."""
        if self.output is None or self.output.low is None or self.output.high is None:
            return None
        return (self.output.low, self.output.high)

    def at(self, value: float) -> float:
        """Return the position of a value on the scale, 0 to 100."""
        low, high = self.scale or (0.0, 1.0)
        return round(100 * min(max((value - low) / (high - low), 0.0), 1.0), 2)


def range_text(output: Output) -> str:
    """Return the range and the better direction of an output as text."""
    low, high = ("" if end is None else f"{end:g}" for end in (output.low, output.high))
    span = (
        f"{low} to {high}" if low and high else f"{low} or more" if low else f"{high} or less" if high else "any number"
    )
    return f"{span}, {output.better} is better" if output.better else span


def format_value(value: Any) -> str:
    """Return a number with four significant digits, whole numbers whole, None as a dash."""
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or (value == int(value) and abs(value) < 1e6):
        return f"{int(value):,}"
    if abs(value) >= 1e6 or (value and abs(value) < 1e-4):
        return f"{value:.3e}"
    return f"{value:,.{max(4 - 1 - math.floor(math.log10(abs(value))), 1) if abs(value) < 1 else 3}f}"


def result_lines(card: Card, result: Mapping[str, Any]) -> list[ResultLine]:
    """Return the numbers of a result in the card's order; parts of lists and dictionaries are lines of their own.

    Without the parts that `result_tables` shows; at most `MAX_LINES`, and a last line for the rest.
    """
    outputs = {output.name: output for output in card.outputs}
    intervals = result.get("interval", {})
    excluded = {*EXTRA_KEYS, *(key for key, value in result.items() if _is_rows(value) or _is_row(value))}
    first = [output.name for output in card.outputs if output.name in result]
    keys = [key for key in dict.fromkeys([*first, *result]) if key not in excluded]
    rows = [line for key in keys for line in _lines_of(key, result[key], intervals.get(key), outputs.get(key))]
    if len(rows) > MAX_LINES:
        rows[MAX_LINES:] = [ResultLine(f"and {len(rows) - MAX_LINES:,} more", "in the JSON")]
    return rows


@dataclass(frozen=True)
class ResultTable:
    """A part of a result that is a table: a matrix, rows with the same keys, or one row for each of several keys."""

    name: str
    columns: list[str]
    rows: list[list[str]]


def result_tables(result: Mapping[str, Any]) -> list[ResultTable]:
    """Return the parts of a result that are better shown as tables, at most `MAX_LINES` rows each."""
    row_tables = [
        ResultTable(key, *_table(value)) for key, value in result.items() if key not in EXTRA_KEYS and _is_rows(value)
    ]
    named = {key: value for key, value in result.items() if key not in EXTRA_KEYS and _is_row(value)}
    for keys in dict.fromkeys(tuple(value) for value in named.values()):
        rows = [[key, *map(format_value, value.values())] for key, value in named.items() if tuple(value) == keys]
        row_tables.append(ResultTable("", ["", *map(str, keys)], rows[:MAX_LINES]))
    return row_tables


def _is_row(value: Any) -> bool:
    """A dictionary of a few numbers or texts."""
    return isinstance(value, Mapping) and 1 < len(value) <= 12 and all(map(_is_plain, value.values()))


def _is_rows(value: Any) -> bool:
    """A list of at least one such dictionary with the same keys, or of at least two lists of as many numbers."""
    if not isinstance(value, list) or not value:
        return False
    if isinstance(value[0], Mapping):
        return all(_is_row(row) and row.keys() == value[0].keys() for row in value)
    return len(value) > 1 and all(
        isinstance(row, list) and len(row) == len(value[0]) and row and all(map(_is_plain, row)) for row in value
    )


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _table(value: list[Any]) -> tuple[list[str], list[list[str]]]:
    keyed = isinstance(value[0], Mapping)
    columns = ["", *(map(str, value[0]) if keyed else map(str, range(len(value[0]))))]
    rows = [[str(at), *map(format_value, row.values() if keyed else row)] for at, row in enumerate(value[:MAX_LINES])]
    return columns, rows


def _lines_of(name: str, value: Any, interval: Any, output: Output | None) -> Iterator[ResultLine]:
    low, high = (interval["low"], interval["high"]) if interval else (None, None)
    if isinstance(value, Mapping):
        for key, part in value.items():
            inner = {"low": _part(low, key), "high": _part(high, key)} if interval else None
            yield from _lines_of(f"{name} · {key}", part, inner, output)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for at, part in enumerate(value):
            inner = {"low": _part(low, at), "high": _part(high, at)} if interval else None
            yield from _lines_of(f"{name} [{at}]", part, inner, output)
    else:
        yield ResultLine(name, value, _number(low), _number(high), output)


def _part(bounds: Any, key: Any) -> Any:
    try:
        return bounds[key]
    except (KeyError, IndexError, TypeError):
        return None


def _number(bound: Any) -> float | None:
    return float(bound) if isinstance(bound, int | float) else None


CLASSES = 20  # beyond which a matrix cannot be read
SCORES = 8  # rows from which a histogram says something


@dataclass(frozen=True)
class ResultChart:
    """A chart: `title` states the finding; `spec` is Vega-Lite; `columns` and `rows` hold the same as a table."""

    title: str
    spec: dict[str, Any]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def chart_of_result(
    module: type[Module], columns: Mapping[str, Any], per_example: Mapping[str, Any]
) -> ResultChart | None:
    """Return a confusion matrix of classes, a reliability diagram of probabilities, or a histogram of scores by row.

    None where none of them fits, or the columns are not those that the module takes.
    """
    try:
        return _confusion(module, columns) or _reliability(module, columns) or _histogram(per_example)
    except (ValueError, TypeError, ImportError):
        return None


def _confusion(module: type[Module], columns: Mapping[str, Any]) -> ResultChart | None:
    kinds = module.columns
    if not all(isinstance(kinds.get(name), Labels) for name in ("predictions", "references")):
        return None
    clean = Labels()
    true, predicted = (clean.clean(columns[name], name) for name in ("references", "predictions"))
    labels, (rows, places) = encode_labels(true, predicted)
    size = len(labels)
    if not 2 <= size <= CLASSES:
        return None
    from dynabench.evaluate.visualization import confusion_heat_map

    counts = np.bincount(rows * size + places, minlength=size * size).reshape(size, size)
    names = [str(label) for label in labels]
    table = [[name, *(f"{count:,}" for count in row)] for name, row in zip(names, counts.tolist(), strict=True)]
    head = [_("Reference"), *(_("predicted as %(name)s", name=name) for name in names)]
    return ResultChart(_confusion_title(counts, names), confusion_heat_map(counts, names), head, table)


def _confusion_title(counts: Any, names: Sequence[str]) -> str:
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    if not wrong.any():
        return _("No row is predicted as another class")
    row, place = divmod(int(wrong.argmax()), len(names))
    mistaken, total = int(wrong[row, place]), int(counts[row].sum())
    return _(
        "%(true)s is most often confused: predicted as %(said)s in %(taken)s of %(total)s rows",
        true=names[row], said=names[place], taken=Amount(mistaken), total=Amount(total),
    )  # fmt: skip


def _reliability(module: type[Module], columns: Mapping[str, Any]) -> ResultChart | None:
    kinds = module.columns
    name = next((column_name for column_name in ("predictions", "prediction_scores") if column_name in kinds), "")
    if not isinstance(kinds.get(name), Numbers) or not isinstance(kinds.get("references"), Labels):
        return None
    sure = Numbers().clean(columns[name], name)
    right = np.asarray(Labels().clean(columns["references"], "references"))
    if sure.min() < 0 or sure.max() > 1 or right.dtype.kind != "i" or not np.isin(right, (0, 1)).all():
        return None
    from dynabench.evaluate.visualization import reliability_diagram

    place = np.minimum(sure * 10, 9).astype(int)
    rows = [
        [
            _span(bin_number / 10, (bin_number + 1) / 10, ".1f"),
            Amount(right[place == bin_number].mean(), ".1%"),
            Amount(sum(place == bin_number)),
        ]
        for bin_number in np.unique(place)
    ]
    title = _(
        "Mean confidence in class 1 is %(sure)s; %(share)s of the rows belong to it",
        sure=Amount(sure.mean(), ".0%"), share=Amount(right.mean(), ".0%"),
    )  # fmt: skip
    return ResultChart(title, reliability_diagram(sure, right), [_("Confidence"), _("Class 1"), _("Rows")], rows)


def _span(low: float, high: float, spec: str) -> str:
    return _("%(low)s to %(high)s", low=Amount(low, spec), high=Amount(high, spec))


def _histogram(per_example: Mapping[str, Any]) -> ResultChart | None:
    for name, scores in per_example.items():
        numbers = [score for score in scores if isinstance(score, int | float)] if isinstance(scores, list) else []
        if len(numbers) >= SCORES and len(numbers) == len(scores) and len(set(numbers)) > 2:
            from dynabench.evaluate.visualization import scores_histogram

            middle, low, high = median(numbers), min(numbers), max(numbers)
            title = _(
                "The median of %(name)s is %(middle)s; values range from %(low)s to %(high)s",
                name=name, middle=f"{middle:.3g}", low=f"{low:.3g}", high=f"{high:.3g}",
            )  # fmt: skip
            table = [[str(row), f"{score:.4g}"] for row, score in enumerate(numbers[:200])]
            return ResultChart(title, scores_histogram(numbers, name), [_("Row"), name], table)
    return None


def save(path_or_file: str | Path, **data: Any) -> Path:
    """Write `data` as JSON to the file; into a folder, as a new file named after the time. Returns its path.

    A path with an ending is a file, unless a folder is there.

    Beside `data` stand `_timestamp` (ISO 8601, UTC), `_git_commit_hash` (null outside a checkout),
    `_evaluate_version`, `_python_version` and `_interpreter_path`.
    """
    now = datetime.now(UTC)
    path = Path(path_or_file)
    if path.is_dir() or not path.suffix:
        path.mkdir(parents=True, exist_ok=True)
        path = path / f"result-{now:%Y_%m_%d-%H_%M_%S}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        **to_plain(data),
        "_timestamp": now.isoformat(),
        "_git_commit_hash": _commit(),
        "_evaluate_version": __version__,
        "_python_version": sys.version,
        "_interpreter_path": sys.executable,
    }
    path.write_text(json.dumps(record, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return path


def _commit() -> str | None:
    try:
        process = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return process.stdout.strip() if process.returncode == 0 else None
