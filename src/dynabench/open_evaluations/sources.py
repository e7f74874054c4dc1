"""Sources of the rows of open evaluations: an uploaded file, a dataset of this platform, of its hub, or of another hub.

A source is named by `KIND:NAME`; `SOURCES` has the function that opens each kind, so that another kind is one entry.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from dynabench.datasets import library, stored
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.hubs import queries as hub_queries
from dynabench.hubs.tables import HubRepository, RepositoryKind
from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.hub_source import open_hub_dataset
from dynabench.open_evaluations.remote_source import REMOTE, REMOTE_PREFIX, open_remote_dataset
from dynabench.open_evaluations.row_source import ClassNames, RowSource
from dynabench.open_evaluations.tables import DatasetFile, OpenEvaluation
from dynabench.open_evaluations.uploaded_rows import read_upload, upload_class_names
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice, Image, LabelledSpans, Spans

OFFERED_REPOSITORIES = 200
"""Names of the hub's datasets that the form suggests."""


@dataclass(frozen=True, kw_only=True)
class UploadSource(RowSource):
    """An uploaded file: rows, words with tags, a zip of such files, or a zip of pictures."""

    path: Path
    name: str
    split: str = ""

    def read_rows(self, settings: Settings) -> Iterator[FileRow]:
        """Yield the rows of the file."""
        yield from read_upload(self.path, self.name, self.split)

    def class_names(self, settings: Settings) -> ClassNames:
        """Return what the file says of its classes."""
        return upload_class_names(self.path, self.name, self.split)


@dataclass(frozen=True, kw_only=True)
class PlatformSource(RowSource):
    """The public rows of a version of a dataset of this platform."""

    digest: str
    public: bool = True

    def read_rows(self, settings: Settings) -> Iterator[FileRow]:
        """Yield the rows, inputs and right answers side by side."""
        for number, row in enumerate(stored.read_rows(settings, self.digest), start=1):
            yield FileRow(number, _flat(row))

    def class_names(self, settings: Settings) -> ClassNames:
        """Return nothing: labels of the platform are texts."""
        return {}


def _flat(row: stored.StoredRow) -> dict[str, Any]:
    """A row's columns: of an answer with several right values the list of them."""
    values: dict[str, Any] = dict(row.inputs)
    for name in dict.fromkeys(name for answer in row.answers for name in answer):
        right = [answer[name] for answer in row.answers if name in answer]
        values[name if name not in values else f"answer.{name}"] = right[0] if len(right) == 1 else right
    return values


def files_folder(settings: Settings) -> Path:
    """Return the folder of uploaded files, which only the operator's account can look into."""
    folder = settings.folder / "open-evaluations" / "files"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def file_path(settings: Settings, file: DatasetFile) -> Path:
    """Return the path of an uploaded file."""
    return files_folder(settings) / file.id


def _open_upload(session: Session, settings: Settings, viewer: Person, name: str, choices: OpenChoices) -> RowSource:
    file = session.get(DatasetFile, name)
    if file is None or not may.may(viewer, Action.SEE_OPEN_EVALUATION, author=file.person_id):
        raise errors.Invalid({"dataset": _("This file is not here, or is another person's. Upload the file again.")})
    path = file_path(settings, file)
    if not path.is_file():
        raise errors.Invalid({"dataset": _("This file was deleted. Upload it again.")})
    title = file.name.removesuffix(".gz").rpartition(".")[0] or file.name
    counted = file.rows if not choices.split else None
    return UploadSource(path=path, name=file.name, title=title, edition=file.digest, rows=counted, split=choices.split)


def open_public(session: Session, settings: Settings, name: str) -> RowSource:
    """Open the dataset `TASK/NAME` of the platform, if everybody may read its rows; raises a problem otherwise."""
    return _open_platform(session, settings, None, name, OpenChoices())


def _open_platform(
    session: Session, settings: Settings, viewer: Person | None, name: str, choices: OpenChoices
) -> RowSource:
    task, _slash, dataset_name = name.partition("/")
    dataset = library.find_dataset(session, viewer, task, dataset_name)
    version = library.readable_version(session, viewer, task, dataset_name)
    config = rounds.newest_config(session, task)
    link = f"/tasks/{task}/datasets/{dataset_name}"
    return PlatformSource(
        digest=version.digest,
        title=dataset.title or dataset.name,
        edition=_("version %(number)s", number=version.number),
        rows=version.rows,
        task=_task_of_config(config),
        columns=_columns_of_config(config),
        link=link,
    )


def _task_of_config(config: TaskConfig) -> str:
    """The open task that a task of the platform is, by the types of its fields; empty for others."""
    answer = config.answer[0]
    inputs = [*config.context, *config.input]
    pictures = sum(isinstance(item, Image) for item in inputs)
    others = len(inputs) - pictures
    if isinstance(answer, Spans):
        return "question-answering"
    if isinstance(answer, LabelledSpans):
        return "token-classification"
    if pictures:
        return "visual-question-answering" if others else "image-classification"
    if isinstance(answer, Choice):
        return {1: "text-classification", 2: "natural-language-inference"}.get(others, "")
    return config.id if config.id in ("translation", "summarization") else ""


def _columns_of_config(config: TaskConfig) -> dict[str, str]:
    """The columns of a dataset's rows by role, where the order of the task's fields says it."""
    kind = _task_of_config(config)
    inputs = [item.name for item in (*config.context, *config.input)]
    columns = {"label": config.answer[0].name, "answers": config.answer[0].name, "tags": config.answer[0].name}
    if kind == "text-classification":
        return {"text": inputs[0], "label": columns["label"]}
    if kind == "natural-language-inference":
        return {"premise": inputs[0], "hypothesis": inputs[1], "label": columns["label"]}
    if kind == "token-classification":
        return {"tokens": inputs[0], "tags": columns["tags"]}
    return {}


Opener = Callable[[Session, Settings, Person, str, OpenChoices], RowSource]
SOURCES: dict[str, Opener] = {
    "file": _open_upload, "dataset": _open_platform, "hub": open_hub_dataset, REMOTE: open_remote_dataset,
}  # fmt: skip
"""The function that opens a source, by the word before the colon."""


def open_source(session: Session, settings: Settings, viewer: Person, choices: OpenChoices) -> RowSource:
    """Open the dataset of the choices for a person; raises `Invalid` or another problem that says what to do."""
    kind, _colon, name = choices.dataset.partition(":")
    if kind not in SOURCES or not name:
        raise errors.Invalid({"dataset": _("Choose a dataset first: upload a file, or take one of this platform.")})
    return SOURCES[kind](session, settings, viewer, name, choices)


def require_rows(session: Session, settings: Settings, viewer: Person, evaluation: OpenEvaluation) -> None:
    """Refuse the rows of an evaluation to a person who may no longer read its dataset. Raises `Forbidden`.

    An uploaded file is its author's, also after it was deleted; a dataset of a hub elsewhere is everybody's.
    """
    if evaluation.source.startswith(("file:", REMOTE_PREFIX)):
        return
    try:
        open_source(session, settings, viewer, OpenChoices.parse(evaluation.choices))
    except errors.Problem:
        message = _("The dataset of this evaluation is gone, or closed to you now. Scores stay; rows are not shown.")
        raise errors.Forbidden(message) from None


@dataclass(frozen=True)
class OfferedDataset:
    """A dataset of this platform that a person can choose."""

    reference: str
    title: str
    task: str
    rows: int


def offered_datasets(session: Session, viewer: Person | None) -> list[OfferedDataset]:
    """Return the datasets whose rows everybody may read and that an open evaluation can use, by task and name."""
    offered = []
    rows: list[tuple[Dataset, DatasetVersion | None]] = [
        (dataset, version) for dataset, version in session.execute(library.list_datasets(library.DatasetFilter()))
    ]
    for dataset, version in rows:
        if version is None or not version.rows or not Disclosure.of(viewer, dataset).rows:
            continue
        reference = f"dataset:{dataset.task_id}/{dataset.name}"
        offered.append(OfferedDataset(reference, dataset.title or dataset.name, dataset.task_id, version.rows))
    return offered


def offered_repositories(session: Session, viewer: Person) -> list[str]:
    """Return the names of the hub's datasets that a person may read, those that changed last first."""
    statement = hub_queries.listed_repositories(viewer, RepositoryKind.DATASET).order_by(
        HubRepository.changed_at.desc(), HubRepository.id.desc()
    )
    rows = session.execute(statement.limit(OFFERED_REPOSITORIES)).all()
    return [f"{namespace.name}/{repository.name}" for repository, namespace in rows]
