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
from dynabench.datasets.intake import checklist
from dynabench.datasets.intake.cases import Note
from dynabench.datasets.intake.layout import Layout, guess
from dynabench.datasets.intake.rows import Found, Translator
from dynabench.datasets.stored import Stored, Written
from dynabench.intake import parquet_rows, reader
from dynabench.intake.bad_rows import BadRow, shorten_values
from dynabench.intake.columns import FilePreview, preview_rows
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.tasks import TaskConfig

BATCH = 5_000  # rows that are looked at together
FEW = 0.01  # of the rows may be refused, unless the owner says otherwise
MOST_REFUSED = 100_000  # rows that are named; a file with more of them is read no further
MOST_TAGS = 1_000  # different ones
Tolerance = Literal["none", "few", "any"]
Files = Sequence[tuple[Path, str]]


@dataclass
class Told:
    """The progress of a reading: `bytes` of `of` bytes are read. `notes` counts what was left out on purpose."""

    rows: int = 0
    refused: int = 0
    bytes: int = 0
    of: int = 0
    notes: Counter[str] = field(default_factory=Counter)


class Seen:
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
    layout = guess(rows, config, _class_names(path, name))
    return layout.model_copy(update={"values": checklist.guess(config, rows)}) if layout.form == "checklist" else layout


def _class_names(path: Path, name: str) -> dict[str, list[str]]:
    return parquet_rows.read_class_names(path) if reader.kind_of_file(name) == ".parquet" else {}


def build(
    settings: Settings,
    config: TaskConfig,
    files: Files,
    layout: Layout | None,
    tolerance: Tolerance,
    refuse: Callable[[list[BadRow]], object],
    progress: Callable[[Told], object],
) -> tuple[Written, Told]:
    """Read, check and store the rows of files (paths with their names).

    `refuse` is given refused rows, some at a time. Raises `Invalid` under `file`, `rows` or `field.*` where the
    version fails: then nothing is stored.
    """
    told = Told(of=sum(path.stat().st_size for path, _ in files))
    if layout is None:
        layout = guess_layout(preview_rows(reader.read_rows(*files[0])), *files[0], config)
    layout.check(config)
    rows = standing(batches(_found(files, Translator(layout, config), told)), told, tolerance, refuse, progress)
    return stored.write(settings, rows), told


def _found(files: Files, translator: Translator, told: Told) -> Iterator[Found]:
    """Yield the rows, bad rows and notes from the lines of all files, numbered through."""
    before = 0
    for path, name in files:

        def at(position: int, before: int = before) -> None:
            told.bytes = before + position

        for line in reader.read_rows(path, name, at):
            for one in translator.rows(line):
                if type(one) is BadRow and len(files) > 1:
                    one = BadRow(one.number, f"{name}: {one.message}", one.values)
                yield one
        before += path.stat().st_size
        told.bytes = before


def batches(found: Iterator[Found]) -> Iterator[list[Found]]:
    """Yield the items found, in lists of at most `BATCH` that are processed together."""
    while batch := list(islice(found, BATCH)):
        yield batch


def standing(
    batches: Iterable[list[Found]],
    told: Told,
    tolerance: Tolerance,
    refuse: Callable[[list[BadRow]], object],
    progress: Callable[[Told], object],
) -> Iterator[Stored]:
    """The rows that stand; at the end `Invalid` where too many do not."""
    seen, tags = Seen(), set[str]()
    for batch in batches:
        good = [one for one in batch if type(one) is Stored]
        bad = [one for one in batch if type(one) is BadRow]
        for one in batch if len(good) + len(bad) < len(batch) else ():
            if isinstance(one, Note):
                told.notes[one.text] += one.times
        again = seen.repeated([one.uid for one in good])
        if again.any():
            counted = [one for one in batch if type(one) is not Note]
            numbers = {id(one): told.rows + told.refused + place for place, one in enumerate(counted, start=1)}
            bad += [_twice(good[at], numbers[id(good[at])]) for at in np.flatnonzero(again)]
            good = [one for one, twice in zip(good, again, strict=True) if not twice]
        for one in good:
            if one.tags:
                tags.update(one.tags)
        told.rows += len(good)
        told.refused += len(bad)
        if bad:
            refuse(sorted(bad, key=lambda one: one.number))
        progress(told)
        _check_tags(tags)
        if told.refused > MOST_REFUSED:
            raise errors.Invalid(
                {
                    "rows": _(
                        "More than %(most_refused)s rows were refused. Look at the first of them.",
                        most_refused=f"{MOST_REFUSED:,}",
                    )
                }
            )
        yield from good
    judge(told, tolerance)


def _twice(row: Stored, number: int) -> BadRow:
    values = shorten_values({"uid": row.uid, **row.inputs})
    return BadRow(number, f"uid: {row.uid!r} came before in this file.", values)


def _check_tags(tags: set[str]) -> None:
    if len(tags) > MOST_TAGS:
        raise errors.Invalid(
            {
                "tags": _(
                    "There are more than %(most_tags)s different tags. Choose a coarser column.",
                    most_tags=f"{MOST_TAGS:,}",
                )
            }
        )


def judge(told: Told, tolerance: Tolerance) -> None:
    """Raises `Invalid` where a version may not stand on what was read."""
    total = told.rows + told.refused
    if not told.rows:
        raise errors.Invalid({"rows": _("No row of the file can be used.") if total else _("The file has no rows.")})
    most = {"none": 0.0, "few": FEW, "any": 1.0}[tolerance]
    if told.refused > most * total:
        allowed = "none may be" if tolerance == "none" else "1% may be"
        raise errors.Invalid(
            {
                "rows": _(
                    "%(refused)s of %(total)s rows were refused, and %(allowed)s.",
                    refused=f"{told.refused:,}",
                    total=f"{total:,}",
                    allowed=allowed,
                )
            }
        )
