"""Files on their way to a dataset: what they look like under a layout, and starting to read them."""

from pathlib import Path

from sqlalchemy.orm import Session

from dynabench.datasets import library, waiting
from dynabench.datasets.imports import hub
from dynabench.datasets.intake import building
from dynabench.datasets.intake.layout import Layout, answer_options
from dynabench.datasets.intake.rows import Translator
from dynabench.datasets.library_schemas import DatasetIn, Row, SampleOut, SampleRow, Settled, VersionIn
from dynabench.datasets.stored import Stored
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.intake import reader, sources
from dynabench.intake.bad_rows import BadRow
from dynabench.intake.columns import preview_rows
from dynabench.intake.mapping import value_at
from dynabench.kit import errors, jobs
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.kit.storable import UNSTORABLE
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.tasks import TaskConfig

SHOWN = 8  # rows of a preview
VALUES = 30  # values of the answer that can be given a meaning on the page


def sample(path: Path, config: TaskConfig, layout: Layout | None = None) -> SampleOut:
    """The beginning of a file that waits, under a layout or the one that it looks like. Raises `Invalid` under
    `file` where nothing of it can be read."""
    name = waiting.named(path)
    with sources.open_source(path, name, first=True) as files:
        if not files:
            raise errors.Invalid({"file": _("There are no data files in it.")})
        beginning = preview_rows(reader.read_rows(*files[0]))
        chosen = layout or building.guess_layout(beginning, *files[0], config)
    found = SampleOut(
        file=path.name.partition("--")[0], name=name, columns=beginning.columns, layout=chosen, rows=[],
    )  # fmt: skip
    try:
        chosen.check(config)
    except errors.Invalid as problem:
        found.problems = problem.fields
    if answer_options(config) and chosen.form == "columns":
        column = chosen.fields.get(config.fields("answer")[0].name, "")
        raw = [value_at(values, column) for values in beginning.values]
        found.values = sorted({_said(one) for each in raw for one in (each if isinstance(each, list) else [each])
                               if isinstance(one, str | int | float)})[:VALUES]  # fmt: skip
    translator = Translator(chosen, config)
    for line in beginning.rows:
        for one in translator.rows(line):
            if isinstance(one, Stored | BadRow):
                found.rows.append(_shown(one, translator.count))
            else:
                found.notes[one.text] = found.notes.get(one.text, 0) + one.times
            if len(found.rows) == SHOWN:
                return found
    return found


def _said(raw: object) -> str:
    return UNSTORABLE.sub("\ufffd", str(raw))[:100]


def _shown(one: Stored | BadRow, number: int) -> SampleRow:
    if isinstance(one, BadRow):
        return SampleRow(row=one.number, error=UNSTORABLE.sub("\ufffd", one.message))
    row = Row(uid=one.uid, inputs=dict(one.inputs), answers=[dict(each) for each in one.answers], tags=list(one.tags))
    return SampleRow(row=number, stored=row)


def start(session: Session, person: Person | None, settings: Settings, task: str, body: DatasetIn) -> Dataset:
    """Make a dataset and read its first version in the background (owners)."""
    settled = {name: getattr(body, name) for name in Settled.model_fields}
    found = library.add(session, person, task, body.name, Settled(**settled))
    renew(session, person, settings, found, body)
    return found


def renew(
    session: Session, person: Person | None, settings: Settings, dataset: Dataset, body: VersionIn
) -> DatasetVersion:
    """Read a new version of a dataset in the background; for callers that have made sure of the owner."""
    if disclosure.is_hidden_for_good(dataset):
        raise errors.Conflict(_("The hidden part of a release stays as it is. Add another dataset."))
    version = library.draft(session, person, dataset)
    payload = {"task": dataset.task_id, "version": version.id, "tolerance": body.tolerance}
    payload["layout"] = body.layout.model_dump() if body.layout else None
    if body.hub:
        wanted = hub.Wanted(body.hub.dataset, body.hub.config, body.hub.split, body.hub.revision)
        payload |= {"hub": vars(wanted), "name": wanted.dataset}
    else:
        path = waiting.find(settings, dataset.task_id, body.file)
        name = waiting.named(path)
        payload |= {"file": str(waiting.take(settings, path)), "name": name}
    version.job_id = jobs.enqueue(session, library.READ, payload, person.id if person else None).id
    return version
