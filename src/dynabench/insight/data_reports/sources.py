"""Data that can be measured: files, folders and public datasets, as rows of texts with a label, a split and a group."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from dynabench.datasets import stored
from dynabench.insight.data_measurements.sample import words
from dynabench.intake import reader, sources
from dynabench.intake.mapping import value_at
from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _, joined
from dynabench.kit.settings import Settings

PEEKED = 500
"""Rows from which the columns are guessed."""
MOST_LABELS = 50
"""Values of a column that may still be labels."""
LABEL_NAMES = ("label", "labels", "gold_label", "answer", "class", "category", "target", "sentiment", "intent", "y")
SPLIT_NAMES = ("split", "partition", "subset")
TAG_NAMES = ("tags", "tag")
FEW_WORDS = 3.0
"""Mean number of words from which on a column is text."""
PIECE = 1024**2
Progress = Callable[[int, int], object]


class DataRow(NamedTuple):
    """A row as it is measured: texts in the order of the text columns; the others are empty where there are none."""

    texts: tuple[str, ...]
    label: str = ""
    split: str = ""
    group: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataColumns:
    """The columns that are measured, by name; `a.b` is the member `b` of the object `a`."""

    texts: tuple[str, ...]
    label: str = ""
    split: str = ""
    group: str = ""
    tags: str = ""

    def document(self) -> dict[str, Any]:
        """Return the columns for JSON."""
        return {**asdict(self), "texts": list(self.texts)}

    def row(self, values: Mapping[str, Any], split: str = "") -> DataRow:
        """Return the measured part of a row; `split` is that of its file, where no column has it."""
        texts = tuple([_text(value_at(values, name)) for name in self.texts])
        tags = value_at(values, self.tags) if self.tags else None
        listed = tags if isinstance(tags, list) else str(tags).split(",") if tags not in (None, "") else []
        return DataRow(
            texts,
            _short_text(value_at(values, self.label)) if self.label else "",
            _short_text(value_at(values, self.split)) if self.split else split,
            _short_text(value_at(values, self.group)) if self.group else "",
            tuple(str(tag).strip() for tag in listed if str(tag).strip()),
        )


@dataclass(frozen=True)
class DataSource:
    """Data under a `name`: `digest` is that of its content, `rows` yields (row, split of its file)."""

    name: str
    digest: str
    rows: Callable[[Progress], Iterator[tuple[FileRow, str]]] = field(repr=False)


@dataclass(frozen=True)
class ChosenColumns:
    """Columns that a person chose; those without a choice are guessed. `label` "-" means no label."""

    texts: tuple[str, ...] = ()
    label: str = ""
    split: str = ""
    group: str = ""


def file_source(path: Path, name: str = "") -> DataSource:
    """Return the data of a file, a zip or a folder. Raises `Invalid` for other kinds."""
    name = name or path.name
    if path.is_dir():
        files = _files_by_split(path)
        return DataSource(name, _digest(file for file, _split in files), lambda tell: _read_files(files, tell))
    if not path.is_file():
        raise errors.Invalid({"file": _("There is no file or folder %(path)s.", path=str(path))})
    sources.kind_of_source(name)

    def rows(tell: Progress) -> Iterator[tuple[FileRow, str]]:
        if sources.kind_of_source(name) != sources.ZIP:
            yield from _read_files([(path, "")], tell, name)
            return
        for split in ("train", "validation", "test", ""):
            try:
                with sources.open_source(path, name, split) as opened:
                    yield from _read_files([(file, split) for file, _name in opened], tell)
            except errors.Invalid as problem:
                if "split" not in problem.fields:
                    raise
                continue
            if not split:
                return

    return DataSource(name, _digest([path]), rows)


def dataset_source(settings: Settings, name: str, digest: str, count: int) -> DataSource:
    """Return the rows of a dataset's version; the caller has made sure that the viewer may have them."""

    def rows(tell: Progress) -> Iterator[tuple[FileRow, str]]:
        for number, row in enumerate(stored.read_rows(settings, digest), start=1):
            answer = dict(row.answers[0]) if row.answers else {}
            yield FileRow(number, {**row.inputs, **answer, "tags": list(row.tags)}), ""
            if number % reader.PROGRESS_ROWS == 0:
                tell(number, count)

    return DataSource(name, digest, rows)


def choose_columns(source: DataSource, chosen: ChosenColumns) -> DataColumns:
    """Return the columns to measure: those chosen, else guessed from the first rows.

    Raises `Invalid` where a chosen column is in none of these rows, or no column has text.
    """
    first_rows = [row for row, _split in islice(source.rows(lambda done, total: None), PEEKED)]
    rows = [row.values for row in first_rows if row.values]
    names = list(dict.fromkeys(name for values in rows for name in column_names(values)))
    if not names:
        raise errors.Invalid({"file": _no_rows(first_rows)})
    if any("\0" in name for name in names):
        raise errors.Invalid({"file": _("The header has NUL characters. Save this file as UTF-8 and upload it again.")})
    for part, name in (
        ("texts", chosen.texts),
        ("label", chosen.label),
        ("split", chosen.split),
        ("group", chosen.group),
    ):
        for column in (name,) if isinstance(name, str) else name:
            if column not in ("", "-") and column not in names:
                raise errors.Invalid(
                    {
                        part: _(
                            "There is no column %(name)s. Choose from: %(names)s.", name=column, names=", ".join(names)
                        )
                    }
                )
    values = {name: [value_at(row, name) for row in rows] for name in names}
    split = chosen.split or next((name for name in names if name.lower() in SPLIT_NAMES), "")
    tags = next((name for name in names if name.lower() in TAG_NAMES), "")
    label = "" if chosen.label == "-" else chosen.label or _guess_label(values, {split, tags, *chosen.texts})
    texts = chosen.texts or _guess_texts(values, {split, tags, label, chosen.group})
    if not texts:
        raise errors.Invalid({"texts": _("No column has text. Choose the columns to measure.")})
    return DataColumns(tuple(texts), label, split, chosen.group, tags if tags != label else "")


def _no_rows(first_rows: Sequence[FileRow]) -> str:
    """Say that no row can be read, with the reason of the first one that has a reason."""
    message = _("This file has no rows that can be read.")
    refused = next((row for row in first_rows if row.error), None)
    if refused is None:
        return message
    return joined(" ", (message, _("Line %(number)s: %(error)s", number=refused.number, error=refused.error)))


def column_names(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a row's columns; those of an object are named by its members."""
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from (f"{name}.{member}" for member in value)
        else:
            yield name


def _guess_label(values: Mapping[str, Sequence[Any]], used: set[str]) -> str:
    def fits(name: str) -> bool:
        kinds = {_short_text(value) for value in values[name] if value is not None}
        return name not in used and 0 < len(kinds) <= MOST_LABELS and not any(isinstance(v, list) for v in values[name])

    by_name = [name for usual_name in LABEL_NAMES for name in values if name.rpartition(".")[2].lower() == usual_name]
    return next(filter(fits, by_name), "")


def _guess_texts(values: Mapping[str, Sequence[Any]], used: set[str]) -> list[str]:
    texts = []
    for name, column in values.items():
        held = [value for value in column if isinstance(value, str) and value.strip()]
        if name in used or not held or len(held) * 2 < len(column):
            continue
        mean = sum(len(words(text)) for text in held) / len(held)
        repeated = Counter(held).most_common(1)[0][1]
        if mean >= FEW_WORDS and (repeated * 2 < len(held) or len(held) < 4):
            texts.append(name)
    return texts


def _files_by_split(folder: Path) -> list[tuple[Path, str]]:
    files: dict[Path, str] = {}
    for split in ("train", "validation", "test", ""):
        try:
            for path in sources.local_files(folder, "", split):
                files.setdefault(path, split)
        except errors.Invalid as problem:
            if "split" not in problem.fields or not split:
                raise
    return list(files.items())


def _read_files(files: Sequence[tuple[Path, str]], tell: Progress, name: str = "") -> Iterator[tuple[FileRow, str]]:
    total, before = sum(path.stat().st_size for path, _split in files), 0
    for path, split in files:

        def advance(at: int, before: int = before) -> None:
            tell(before + at, total)

        for row in reader.read_rows(path, name or path.name, advance):
            yield row, split
        before += path.stat().st_size


def _digest(paths: Any) -> str:
    whole = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            whole.update("".join(path.suffixes[-2:]).lower().encode())
            while piece := file.read(PIECE):
                whole.update(piece)
    return whole.hexdigest()


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value)
    return "" if value is None else str(value)


def _short_text(value: Any) -> str:
    return "" if value is None else str(value)[:100]
