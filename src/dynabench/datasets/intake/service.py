"""Files on their way to a dataset: what they look like under a layout, and starting to read them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from dynabench.datasets import library, stored
from dynabench.datasets.intake import cases
from dynabench.datasets.intake.cases import SkippedCases
from dynabench.datasets.intake.layout import FileLayout, answer_options, guess_from_rows
from dynabench.datasets.intake.rows import ReadItem, RowReader
from dynabench.datasets.schemas import DatasetIn, DatasetRow, DatasetSettings, SampleOut, SampleRow, VersionIn
from dynabench.datasets.stored import StoredRow, WrittenRows
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.intake import reader, sources
from dynabench.intake.mapping import FilePreview, preview_rows, value_at
from dynabench.intake.rows import BadRow, shorten_values
from dynabench.kit import errors, jobs
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.kit.storable import UNSTORABLE
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.rounds import uploaded_files
from dynabench.tasks import TaskConfig

PREVIEW_ROWS = 8  # rows of a preview
MOST_VALUES = 30  # values of the answer that can be given a meaning on the page


def preview_dataset(path: Path, config: TaskConfig, layout: FileLayout | None = None) -> SampleOut:
    """The beginning of a file that waits, under a layout or the one that it looks like. Raises `Invalid` under
    `file` where nothing of it can be read."""
    name = uploaded_files.original_name(path)
    with sources.open_source(path, name, first=True) as files:
        if not files:
            raise errors.Invalid({"file": _("The zip file contains no data files.")})
        beginning = preview_rows(reader.read_rows(*files[0]))
        chosen = layout or guess_layout(beginning, *files[0], config)
    preview = SampleOut(
        file=path.name.partition("--")[0], name=name, columns=beginning.columns, layout=chosen, rows=[],
    )  # fmt: skip
    try:
        chosen.check(config)
    except errors.Invalid as problem:
        preview.problems = problem.fields
    if answer_options(config) and chosen.form == "columns":
        column = chosen.fields.get(config.fields("answer")[0].name, "")
        raw = [value_at(values, column) for values in beginning.values]
        items = [item for value in raw for item in (value if isinstance(value, list) else [value])]
        texts = {UNSTORABLE.sub("\ufffd", str(item))[:100] for item in items if isinstance(item, str | int | float)}
        preview.values = sorted(texts)[:MOST_VALUES]
    translator = RowReader(chosen, config)
    for line in beginning.rows:
        for item in translator.rows(line):
            if isinstance(item, StoredRow | BadRow):
                preview.rows.append(_sample_row(item, translator.count))
            else:
                preview.notes[item.text] = preview.notes.get(item.text, 0) + item.times
            if len(preview.rows) == PREVIEW_ROWS:
                return preview
    return preview


def _sample_row(item: StoredRow | BadRow, number: int) -> SampleRow:
    if isinstance(item, BadRow):
        return SampleRow(row=item.number, error=UNSTORABLE.sub("\ufffd", item.message))
    row = DatasetRow(
        uid=item.uid, inputs=dict(item.inputs), answers=[dict(answer) for answer in item.answers], tags=list(item.tags)
    )
    return SampleRow(row=number, stored=row)


def start_dataset(session: Session, person: Person | None, settings: Settings, task: str, body: DatasetIn) -> Dataset:
    """Make a dataset and read its first version in the background (owners)."""
    settled = {name: getattr(body, name) for name in DatasetSettings.model_fields}
    dataset = library.add_dataset(session, person, task, body.name, DatasetSettings(**settled))
    start_version(session, person, settings, dataset, body)
    return dataset


def start_version(
    session: Session, person: Person | None, settings: Settings, dataset: Dataset, body: VersionIn
) -> DatasetVersion:
    """Read a new version of a dataset in the background; for callers that have made sure of the owner."""
    if disclosure.is_hidden_for_good(dataset):
        raise errors.Conflict(_("The hidden part of a release cannot change. Add another dataset."))
    version = library.draft_version(session, person, dataset)
    payload = {"task": dataset.task_id, "version": version.id, "tolerance": body.tolerance}
    payload["layout"] = body.layout.model_dump() if body.layout else None
    if body.hub:
        request = sources.HubRequest(**body.hub.model_dump())
        payload |= {"hub": vars(request), "name": request.dataset}
    else:
        path = uploaded_files.find_named_upload(settings, dataset.task_id, body.file)
        name = uploaded_files.original_name(path)
        payload |= {"file": str(uploaded_files.claim_named_upload(settings, path)), "name": name}
    version.job_id = jobs.enqueue(session, library.READ_KIND, payload, person.id if person else None).id
    return version


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


def guess_layout(preview: FilePreview, path: Path, name: str, config: TaskConfig) -> FileLayout:
    """Return the layout that a file looks like. Raises `Invalid` under `file` where none of its rows can be read."""
    rows = preview.require_rows().values
    class_names = reader.read_class_names(path) if reader.kind_of_file(name) == ".parquet" else {}
    layout = guess_from_rows(rows, config, class_names)
    return (
        layout.model_copy(update={"values": cases.guess_meanings(config, rows)})
        if layout.form == "checklist"
        else layout
    )


def build_version(
    settings: Settings,
    config: TaskConfig,
    files: Files,
    layout: FileLayout | None,
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
                        "More than %(most_refused)s rows were refused. Check the first ones.",
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
