"""Files on their way to a dataset: what they look like under a layout, and starting to read them."""

from pathlib import Path

from sqlalchemy.orm import Session

from dynabench.datasets import library
from dynabench.datasets.intake import building
from dynabench.datasets.intake.layout import Layout, answer_options
from dynabench.datasets.intake.rows import RowReader
from dynabench.datasets.schemas import DatasetIn, DatasetSettings, Row, SampleOut, SampleRow, VersionIn
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.intake import reader, sources
from dynabench.intake.mapping import preview_rows, value_at
from dynabench.intake.rows import BadRow
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


def preview_dataset(path: Path, config: TaskConfig, layout: Layout | None = None) -> SampleOut:
    """The beginning of a file that waits, under a layout or the one that it looks like. Raises `Invalid` under
    `file` where nothing of it can be read."""
    name = uploaded_files.original_name(path)
    with sources.open_source(path, name, first=True) as files:
        if not files:
            raise errors.Invalid({"file": _("The zip file contains no data files.")})
        beginning = preview_rows(reader.read_rows(*files[0]))
        chosen = layout or building.guess_layout(beginning, *files[0], config)
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
        texts = {_value_text(item) for item in items if isinstance(item, str | int | float)}
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


def _value_text(raw: object) -> str:
    return UNSTORABLE.sub("\ufffd", str(raw))[:100]


def _sample_row(item: StoredRow | BadRow, number: int) -> SampleRow:
    if isinstance(item, BadRow):
        return SampleRow(row=item.number, error=UNSTORABLE.sub("\ufffd", item.message))
    row = Row(
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
        request = sources.HubRequest(body.hub.dataset, body.hub.config, body.hub.split, body.hub.revision)
        payload |= {"hub": vars(request), "name": request.dataset}
    else:
        path = uploaded_files.find_named_upload(settings, dataset.task_id, body.file)
        name = uploaded_files.original_name(path)
        payload |= {"file": str(uploaded_files.claim_named_upload(settings, path)), "name": name}
    version.job_id = jobs.enqueue(session, library.READ_KIND, payload, person.id if person else None).id
    return version
