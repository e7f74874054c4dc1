"""Data that a person can have measured, by name: `file:ID` (an upload), `dataset:TASK/NAME`, `hub:OWNER/NAME`.

`SUBJECTS` says where each kind of name is resolved and opened, so that another kind is one entry.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy.orm import Session

from dynabench.datasets import library
from dynabench.insight.data_reports.sources import DataSource, dataset_source, file_source
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.kit.storable import printable
from dynabench.people.accounts.tables import Person
from dynabench.rounds import uploaded_files

UPLOADS = ".measured"
"""Folder of files that wait to be measured, below that of uploads; no task is called so."""
FILE_GONE = _("This file is no longer here. Upload it again.")
Subject = dict[str, Any]
"""Data as a job names them: the `kind`, the `name` that people read, and what the kind needs to open them."""


class SubjectKind(Protocol):
    """A kind of data: its names resolved for a person, its rows opened by the worker."""

    def find(self, session: Session, settings: Settings, viewer: Person | None, name: str) -> Subject:
        """Return the data with this name; a problem for data that the viewer may not have."""

    def check(self, session: Session, viewer: Person, subject: Mapping[str, Any]) -> None:
        """Raise a problem where the viewer may no longer have the data."""

    def open(self, settings: Settings, subject: Mapping[str, Any]) -> DataSource:
        """Return the rows."""


def uploads_folder(settings: Settings, person_id: int) -> Path:
    """Return the folder of a person's files that wait to be measured."""
    return uploaded_files.uploads_folder(settings, UPLOADS, str(person_id))


def file_subject(path: Path, name: str) -> Subject:
    """Return an uploaded file as a job names it."""
    return {"kind": "file", "file": str(path), "name": printable(name)[-100:]}


class UploadedFiles:
    """Files that a person has uploaded; nobody else can name them."""

    def find(self, session: Session, settings: Settings, viewer: Person | None, name: str) -> Subject:
        """Return the person's upload with this id."""
        if viewer is not None:
            try:
                paths = list(uploads_folder(settings, viewer.id).glob(f"{UUID(name)}--*"))
            except ValueError:
                paths = []
            if paths:
                return file_subject(paths[0], uploaded_files.original_name(paths[0]))
        raise errors.Invalid({"data": FILE_GONE})

    def check(self, session: Session, viewer: Person, subject: Mapping[str, Any]) -> None:
        """Do nothing: the report on a file is the person's own."""

    def open(self, settings: Settings, subject: Mapping[str, Any]) -> DataSource:
        """Return the rows of the file, unless it waited too long."""
        path = Path(subject["file"])
        if not path.is_file():
            raise errors.Invalid({"file": FILE_GONE})
        return file_source(path, subject["name"])


class PlatformDatasets:
    """Datasets of tasks whose rows everybody may have, owners of hidden ones included."""

    def find(self, session: Session, settings: Settings, viewer: Person | None, name: str) -> Subject:
        """Return the dataset TASK/NAME. Raises `NotFound` and `Forbidden`."""
        task, _slash, dataset = name.strip().partition("/")
        version = library.readable_version(session, viewer, task, dataset)
        facts = {"digest": version.digest, "rows": version.rows}
        return {"kind": "dataset", "task": task, "dataset": dataset, "name": f"{task}/{dataset}"} | facts

    def check(self, session: Session, viewer: Person, subject: Mapping[str, Any]) -> None:
        """Raise where the dataset is no longer readable by all."""
        library.readable_version(session, viewer, subject["task"], subject["dataset"])

    def open(self, settings: Settings, subject: Mapping[str, Any]) -> DataSource:
        """Return the rows of the version."""
        return dataset_source(settings, subject["name"], subject["digest"], subject["rows"])


SUBJECTS = {
    "file": f"{__name__}:UploadedFiles",
    "dataset": f"{__name__}:PlatformDatasets",
    "hub": "dynabench.open_evaluations.hub_measuring:HubDatasets",
}
"""The class of each kind of name, by the word before the colon."""


def subject_kind(kind: str) -> SubjectKind:
    """Return what resolves and opens a kind of data."""
    module, _colon, name = SUBJECTS[kind].partition(":")
    resolver: SubjectKind = getattr(importlib.import_module(module), name)()
    return resolver


def find_subject(
    session: Session, settings: Settings, viewer: Person | None, named: str, field: str = "data"
) -> Subject:
    """Return the data with a name such as `dataset:sentiment/films`; raises `Invalid` under `field`."""
    kind, _colon, name = named.strip().partition(":")
    try:
        if kind not in SUBJECTS or not name:
            kinds = ", ".join(f"{kind}:…" for kind in SUBJECTS)
            raise errors.Invalid({field: _("Name the data as one of: %(kinds)s.", kinds=kinds)})
        return subject_kind(kind).find(session, settings, viewer, name)
    except errors.Invalid as problem:
        raise errors.Invalid({field: "; ".join(problem.fields.values())}) from None
    except errors.NotFound as problem:
        raise errors.Invalid({field: problem.detail}) from None


def check_subject(session: Session, viewer: Person, subject: Mapping[str, Any]) -> None:
    """Raise a problem where a person may no longer have the data of a job."""
    subject_kind(_kind_of(subject)).check(session, viewer, subject)


def open_subject(settings: Settings, subject: Mapping[str, Any]) -> DataSource:
    """Return the data that a job names."""
    return subject_kind(_kind_of(subject)).open(settings, subject)


def _kind_of(subject: Mapping[str, Any]) -> str:
    return str(subject.get("kind") or ("file" if "file" in subject else "dataset"))
