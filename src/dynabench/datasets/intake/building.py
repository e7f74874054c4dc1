"""From files to a stored version: in the process of a command, or as a step of a durable job."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dynabench.datasets import stored
from dynabench.datasets.intake import cases
from dynabench.datasets.intake.cases import SkippedCases
from dynabench.datasets.intake.layout import Layout, guess_from_rows
from dynabench.datasets.intake.rows import ReadItem, RowReader
from dynabench.datasets.stored import StoredRow, WrittenRows
from dynabench.intake import reader
from dynabench.intake.mapping import FilePreview, preview_rows
from dynabench.intake.rows import BadRow, shorten_values
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.tasks import TaskConfig

BATCH_ROWS = 5_000  # rows that are looked at together
FEW = 0.01  # of the rows may be refused, unless the owner says otherwise
MOST_REFUSED = 100_000  # rows that are named; a file with more of them is read no further
MOST_TAGS = 1_000  # different ones
Tolerance = Literal["none", "few", "any"]
Files = Sequence[tuple[Path, str]]


@dataclass
class ReadingProgress:
    """The progress of a reading: `bytes` of `of` bytes are read. `notes` counts what was left out on purpose."""

    rows: int = 0
    refused: int = 0
    bytes: int = 0
    of: int = 0
    notes: Counter[str] = field(default_factory=Counter)


class SeenIds:
    """Ids that came before, as sorted runs of 64-bit hashes: a set of a million texts would take half the memory.

    The hash has a secret of the process, so that nobody can make two ids collide; by chance two of a million do so
    once in thirty million files, and the second would be refused.
    """

    def __init__(self) -> None:
        self.runs: list[NDArray[np.int64]] = []

    def repeated(self, uids: Sequence[str]) -> NDArray[np.bool_]:
        """Return which ids came before, in `uids` or in an earlier call; shape (len(uids),)."""
        hashes = np.fromiter(map(hash, uids), np.int64, len(uids))
        new, places = np.unique(hashes, return_index=True)
        again = np.ones(len(uids), bool)
        again[places] = False
        for run in self.runs:
            at = np.minimum(np.searchsorted(run, new), len(run) - 1)
            again[places[run[at] == new]] = True
        self.runs.append(new)
        while len(self.runs) > 1 and 2 * len(self.runs[-1]) > len(self.runs[-2]):
            self.runs[-2:] = [np.union1d(*self.runs[-2:])]
        return again


def guess_layout(preview: FilePreview, path: Path, name: str, config: TaskConfig) -> Layout:
    """Return the layout that a file looks like. Raises `Invalid` under `file` where none of its rows can be read."""
    rows = preview.require_rows().values
    layout = guess_from_rows(rows, config, _class_names(path, name))
    return (
        layout.model_copy(update={"values": cases.guess_meanings(config, rows)})
        if layout.form == "checklist"
        else layout
    )


def _class_names(path: Path, name: str) -> dict[str, list[str]]:
    return reader.read_class_names(path) if reader.kind_of_file(name) == ".parquet" else {}


def build_version(
    settings: Settings,
    config: TaskConfig,
    files: Files,
    layout: Layout | None,
    tolerance: Tolerance,
    refuse: Callable[[list[BadRow]], object],
    progress: Callable[[ReadingProgress], object],
) -> tuple[WrittenRows, ReadingProgress]:
    """Read, check and store the rows of files (paths with their names).

    `refuse` is given refused rows, some at a time. Raises `Invalid` under `file`, `rows` or `field.*` where the
    version fails: then nothing is stored.
    """
    reading = ReadingProgress(of=sum(path.stat().st_size for path, _ in files))
    if layout is None:
        layout = guess_layout(preview_rows(reader.read_rows(*files[0])), *files[0], config)
    layout.check(config)
    rows = accept_rows(
        split_batches(_read_items(files, RowReader(layout, config), reading)), reading, tolerance, refuse, progress
    )
    return stored.write_rows(settings, rows), reading


def _read_items(files: Files, translator: RowReader, reading: ReadingProgress) -> Iterator[ReadItem]:
    """Yield the rows, bad rows and notes from the lines of all files, numbered through."""
    before = 0
    for path, name in files:

        def at(position: int, before: int = before) -> None:
            reading.bytes = before + position

        for line in reader.read_rows(path, name, at):
            for item in translator.rows(line):
                if type(item) is BadRow and len(files) > 1:
                    item = BadRow(item.number, f"{name}: {item.message}", item.values)
                yield item
        before += path.stat().st_size
        reading.bytes = before


def split_batches(items: Iterator[ReadItem]) -> Iterator[list[ReadItem]]:
    """Yield the items found, in lists of at most `BATCH` that are processed together."""
    while batch := list(islice(items, BATCH_ROWS)):
        yield batch


def accept_rows(
    batches: Iterable[list[ReadItem]],
    reading: ReadingProgress,
    tolerance: Tolerance,
    refuse: Callable[[list[BadRow]], object],
    progress: Callable[[ReadingProgress], object],
) -> Iterator[StoredRow]:
    """The rows that stand; at the end `Invalid` where too many do not."""
    seen, tags = SeenIds(), set[str]()
    for batch in batches:
        good = [item for item in batch if type(item) is StoredRow]
        bad = [item for item in batch if type(item) is BadRow]
        for item in batch if len(good) + len(bad) < len(batch) else ():
            if isinstance(item, SkippedCases):
                reading.notes[item.text] += item.times
        again = seen.repeated([item.uid for item in good])
        if again.any():
            counted = [item for item in batch if type(item) is not SkippedCases]
            numbers = {id(item): reading.rows + reading.refused + place for place, item in enumerate(counted, start=1)}
            bad += [_repeated_row(good[at], numbers[id(good[at])]) for at in np.flatnonzero(again)]
            good = [item for item, twice in zip(good, again, strict=True) if not twice]
        for item in good:
            if item.tags:
                tags.update(item.tags)
        reading.rows += len(good)
        reading.refused += len(bad)
        if bad:
            refuse(sorted(bad, key=lambda item: item.number))
        progress(reading)
        _check_tags(tags)
        if reading.refused > MOST_REFUSED:
            raise errors.Invalid(
                {
                    "rows": _(
                        "More than %(most_refused)s rows were refused. Look at the first ones.",
                        most_refused=f"{MOST_REFUSED:,}",
                    )
                }
            )
        yield from good
    require_enough_rows(reading, tolerance)


def _repeated_row(row: StoredRow, number: int) -> BadRow:
    values = shorten_values({"uid": row.uid, **row.inputs})
    return BadRow(number, f"uid: {row.uid!r} came before in this file.", values)


def _check_tags(tags: set[str]) -> None:
    if len(tags) > MOST_TAGS:
        raise errors.Invalid(
            {
                "tags": _(
                    "There are more than %(most_tags)s different tags. Choose a column with fewer values.",
                    most_tags=f"{MOST_TAGS:,}",
                )
            }
        )


def require_enough_rows(reading: ReadingProgress, tolerance: Tolerance) -> None:
    """Raises `Invalid` where a version may not stand on what was read."""
    total = reading.rows + reading.refused
    if not reading.rows:
        raise errors.Invalid({"rows": _("No row of the file can be used.") if total else _("The file has no rows.")})
    most = {"none": 0.0, "few": FEW, "any": 1.0}[tolerance]
    if reading.refused > most * total:
        allowed = "none may be" if tolerance == "none" else "1% may be"
        raise errors.Invalid(
            {
                "rows": _(
                    "%(refused)s of %(total)s rows were refused, and %(allowed)s.",
                    refused=f"{reading.refused:,}",
                    total=f"{total:,}",
                    allowed=allowed,
                )
            }
        )
