"""The history that comes with the demo: archives of rows and files, added to a database under new ids.

An archive is made by `python -m experiments.demo_history build`. It holds the rows of one task's rounds with all that
belongs to them, in files named after their tables, and the files that the rows name. Counters, the search index,
signatures and the files of releases are made anew here, so that they follow from this deployment's rows and keys.
"""

import hashlib
import json
import shutil
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import LargeBinary, Table, insert, select, update
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import records
from dynabench.benchmark.releases import release_steps
from dynabench.benchmark.releases.tables import Release, ReleaseState
from dynabench.collection.handout_tables import Seed
from dynabench.collection.tables import Example
from dynabench.kit.db import Database, Utc, now
from dynabench.kit.settings import Settings
from dynabench.models import catalog
from dynabench.operations import migrations
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Context, DemoMark, RoundState, TaskVersion
from dynabench.validation import rebuild

ARCHIVES = Path(str(files("dynabench.operations"))) / "demo_archives"
FORMAT, VERSION = "dynabench-demo", 1
TABLES = (
    "people", "roles", "task_versions", "rounds", "targets", "handouts", "examples", "predictions", "explanations",
    "retractions", "validations", "undos", "verdict_events", "near_bands", "released_examples", "datasets",
    "dataset_versions", "twins", "releases", "submissions", "evaluations", "shards", "scores", "records", "measured",
)  # fmt: skip
"""The tables of an archive, each after those that it refers to."""
LATER = {("datasets", "version_id"): "dataset_versions", ("handouts", "made_from"): "examples"}
"""Columns without a foreign key whose row is added later, and the table that it is in."""
MATCHED: dict[str, Any] = {"contexts": Context, "seeds": Seed}
"""Tables whose rows come with the shipped task, and are found by their digests."""
MARKED = {"people": "person", "rounds": "round", "datasets": "dataset", "submissions": "submission"}
"""Tables whose rows are marked as the demo's, and the kind of mark."""
BATCH = 500
LATEST = timedelta(hours=2)
"""How long before the loading the last event of a history is dated."""
Row = dict[str, Any]


@dataclass(frozen=True)
class DemoArchive:
    """The unpacked content of an archive, by the names of its files."""

    contents: Mapping[str, bytes]

    @cached_property
    def manifest(self) -> Row:
        """Format, task, the last moment of its rows, and the shipped models that it was made with."""
        document: Row = json.loads(self.contents["manifest.json"])
        return document

    @cached_property
    def tables(self) -> dict[str, list[Row]]:
        """The rows of each table, with moments and bytes as the columns hold them."""
        return {name: list(self._rows(migrations.metadata().tables[name])) for name in (*MATCHED, *TABLES)}

    @property
    def configs(self) -> list[str]:
        """The configs that the rounds were collected with, oldest first."""
        return [row["source"] for row in sorted(self.tables["task_versions"], key=lambda row: int(row["number"]))]

    def _rows(self, table: Table) -> Iterator[Row]:
        moments = [column.name for column in table.columns if isinstance(column.type, Utc)]
        packed = [column.name for column in table.columns if isinstance(column.type, LargeBinary)]
        for line in self.contents.get(f"rows/{table.name}.jsonl", b"").splitlines():
            row = json.loads(line)
            for column in moments:
                if row.get(column):
                    row[column] = datetime.fromisoformat(row[column])
            for column in packed:
                if row.get(column):
                    start, length = row[column]
                    row[column] = self.contents["blobs.bin"][start : start + length]
            yield row

    def names(self, folder: str) -> list[str]:
        """Return the names of the files below a folder."""
        return [name for name in self.contents if name.startswith(f"{folder}/")]

    def write(self, name: str, target: Path) -> None:
        """Write a file to its place, whole or not at all."""
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        part.write_bytes(self.contents[name])
        part.replace(target)


def archive_path(task: str) -> Path | None:
    """Return the archive of a task's history, None where it has none."""
    path = ARCHIVES / f"{task}.zip"
    return path if path.is_file() else None


def read_archive(task: str) -> DemoArchive | None:
    """Unpack the history of a task, None where it has none; its rows are parsed before a transaction begins."""
    path = archive_path(task)
    if path is None:
        return None
    with zipfile.ZipFile(path) as file:
        archive = DemoArchive({name: file.read(name) for name in file.namelist()})
    return archive if archive.tables else None


def install_files(settings: Settings, archive: DemoArchive) -> None:
    """Write the models and the rows of datasets to their places, where they are not yet; their names follow from their
    content."""
    by_model: dict[str, list[str]] = defaultdict(list)
    for name in (*archive.names("models"), *archive.manifest["links"]):
        by_model[PurePosixPath(name).parts[1]].append(name)
    present = {folder.name for folder in catalog.subfolders(settings.folder / "models")}
    for model in by_model.keys() - present - _broken_models(archive):
        target = settings.folder / "models" / model
        part = target.with_name(f".{model}")
        shutil.rmtree(part, ignore_errors=True)
        for name in by_model[model]:
            place = part / PurePosixPath(name).relative_to(f"models/{model}")
            if name in archive.contents:
                archive.write(name, place)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(catalog.BUILTIN / archive.manifest["links"][name][0], place)
        part.rename(target)
    for name in archive.names("datasets"):
        if not (settings.folder / name).exists():
            archive.write(name, settings.folder / name)


def _broken_models(archive: DemoArchive) -> set[str]:
    """The models that share a file with a shipped one whose file is another by now: their scores stay, they do not."""
    broken = set()
    for name, (origin, digest) in archive.manifest["links"].items():
        path = catalog.BUILTIN / origin
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            broken.add(PurePosixPath(name).parts[1])
    return broken


@dataclass
class HistoryLoader:
    """Adds one archive in one transaction, so that nobody meets half of a history, nor does a crash leave it."""

    session: Session
    settings: Settings
    archive: DemoArchive
    task: str
    ids: dict[str, dict[Any, Any]] = field(default_factory=lambda: defaultdict(dict))

    def load(self) -> None:
        """Add all rows, and the answers of evaluations; the files of releases are written later."""
        age = now() - LATEST - datetime.fromisoformat(self.archive.manifest["latest"])
        shift = timedelta(days=age.days)
        self._match()
        for name in TABLES:
            table = migrations.metadata().tables[name]
            rows = [_moved(row, table, shift) for row in self.archive.tables[name]]
            self._add(table, rows)
        self._set_later_columns()
        self._copy_evaluations()
        self._sign(shift)
        for round_id in self.ids["rounds"].values():
            self._count(round_id)
        self._count_contexts()
        self._mark()

    def _match(self) -> None:
        """Find the contexts and seeds of the archive among those of the task, by their digests."""
        for name, entity in MATCHED.items():
            present: dict[str, int] = dict(
                self.session.execute(select(entity.digest, entity.id).where(entity.task_id == self.task)).all()
            )
            for row in self.archive.tables[name]:
                if row["digest"] in present:
                    self.ids[name][row["id"]] = present[row["digest"]]

    def _add(self, table: Table, rows: Sequence[Row]) -> None:
        """Add the rows of a table under new ids; those that refer to rows that are not here are left out."""
        if table.name == "people":
            rows = self._absent_people(rows)
        if table.name == "task_versions":
            self._match_versions(rows)
            return
        if table.name == "rounds":
            rows = [row for row in rows if row["state"] != RoundState.OPEN or self._is_served(row)]
        waiting = list(rows)
        while waiting:  # rows that refer to rows of the same table come after these
            ready, waiting = _partition(waiting, table)
            mapped = [values for row in ready if (values := self._mapped(table, row)) is not None]
            for first in range(0, len(mapped), BATCH):
                self._insert(table, mapped[first : first + BATCH])

    def _insert(self, table: Table, rows: list[Row]) -> None:
        keys = list(table.primary_key)
        numbered = len(keys) == 1 and not keys[0].foreign_keys and keys[0].name == "id"
        if not numbered:
            self.session.execute(insert(table), [_table_values(row, table) for row in rows])
            return
        statement = insert(table).returning(keys[0], sort_by_parameter_order=True)
        new_ids = self.session.scalars(statement, [_table_values(row, table, without="id") for row in rows]).all()
        self.ids[table.name] |= dict(zip((row["id"] for row in rows), new_ids, strict=True))

    def _mapped(self, table: Table, row: Row) -> Row | None:
        """The row with the ids of this database; None where it refers to something that is not here."""
        values = dict(row)
        for column in table.columns:
            for key in column.foreign_keys:
                name, old = key.column.table.name, values.get(column.name)
                if old is None or name == "tasks":
                    continue
                if old not in self.ids[name]:
                    return None
                values[column.name] = self.ids[name][old]
        for owner, column_name in LATER:
            if owner == table.name:
                values[column_name] = None
        if table.name == "handouts":
            values["seed_id"] = self.ids["seeds"].get(values.get("seed_id"))
        if table.name == "releases":
            values |= {"state": ReleaseState.WRITING, "manifest": {}, "digest": ""}
        return values

    def _absent_people(self, rows: Sequence[Row]) -> list[Row]:
        names = [row["imported_as"] for row in rows]
        present = select(Person.imported_as, Person.id).where(Person.imported_as.in_(names))
        ids_by_name = dict(self.session.execute(present).all())
        self.ids["people"] |= {
            row["id"]: ids_by_name[row["imported_as"]] for row in rows if row["imported_as"] in ids_by_name
        }
        return [row | {"public_profile": True} for row in rows if row["imported_as"] not in ids_by_name]

    def _match_versions(self, rows: Sequence[Row]) -> None:
        """Find the configs that the rounds were collected with, which the task has been saved with before."""
        versions = {
            version.source: version
            for version in self.session.scalars(select(TaskVersion).where(TaskVersion.task_id == self.task))
        }
        for row in rows:
            versions[row["source"]].created_at = row["created_at"]
            self.ids["task_versions"][row["id"]] = versions[row["source"]].id

    def _is_served(self, row: Row) -> bool:
        """Return True if the targets of an open round are those that the package has now."""
        shipped = {(entry.name, entry.version) for entry in catalog.find([catalog.BUILTIN])}
        targets = self.archive.tables["targets"]
        return all((t["model"], t["version"]) in shipped for t in targets if t["round_id"] == row["id"])

    def _set_later_columns(self) -> None:
        for (name, column), target in LATER.items():
            table = migrations.metadata().tables[name]
            for row in self.archive.tables[name]:
                if row.get(column) in self.ids[target] and row["id"] in self.ids[name]:
                    statement = update(table).where(table.c.id == self.ids[name][row["id"]])
                    self.session.execute(statement.values({column: self.ids[target][row[column]]}))

    def _copy_evaluations(self) -> None:
        for name in self.archive.names("evaluations"):
            _, old, file_name = PurePosixPath(name).parts
            if (new := self.ids["evaluations"].get(int(old))) is not None:
                self.archive.write(name, self.settings.folder / "evaluations" / str(new) / file_name)

    def _sign(self, shift: timedelta) -> None:
        """Sign the records with this deployment's key."""
        table = migrations.metadata().tables["records"]
        for new in self.ids["evaluations"].values():
            record = self.session.execute(select(table.c.document).where(table.c.evaluation_id == new)).one_or_none()
            if record is None:
                continue
            document = record.document | {"evaluation": new, "key": records.public_keys(self.settings)[0]}
            for name in ("answered_at", "made_at"):
                document[name] = (datetime.fromisoformat(document[name]) + shift).isoformat()
            values = {"document": document, "signature": records.sign_document(self.settings, document)}
            self.session.execute(update(table).where(table.c.evaluation_id == new).values(values))

    def _count(self, round_id: int) -> None:
        self.session.flush()
        self.session.expire_all()
        examples = list(self.session.scalars(select(Example).where(Example.round_id == round_id).order_by(Example.id)))
        rebuild.count_written(self.session, examples)

    def _count_contexts(self) -> None:
        ids = sorted(self.ids["contexts"].values())
        if ids:
            rebuild.count_contexts(self.session, ids[0], ids[-1], lambda more: None)

    def _mark(self) -> None:
        marks = [
            {"kind": kind, "key": str(new)}
            for name, kind in MARKED.items()
            for old, new in self.ids[name].items()
            if name != "submissions" or old not in self.archive.manifest["shipped_submissions"]
        ]
        present = {(mark.kind, mark.key) for mark in self.session.scalars(select(DemoMark))}
        fresh = [mark for mark in marks if (mark["kind"], mark["key"]) not in present]
        if fresh:
            self.session.execute(insert(DemoMark), fresh)


def load_history(session: Session, settings: Settings, task: str, archive: DemoArchive) -> None:
    """Add the history of a task that has its configs and contexts, and no rounds yet; see `HistoryLoader`."""
    HistoryLoader(session, settings, archive, task).load()


def write_releases(db: Database, settings: Settings) -> None:
    """Write the files of the demo's releases that have none yet, under this deployment's pseudonyms and marks."""
    for release_id in db.read(_unwritten_releases):
        manifest = release_steps.write_files(db, settings, release_id)
        db.write(_finish_release, release_id, manifest)


def _unwritten_releases(session: Session) -> list[int]:
    demo_rounds = select(DemoMark.key).where(DemoMark.kind == "round")
    ids = [int(key) for key in session.scalars(demo_rounds)]
    statement = select(Release.id).where(Release.round_id.in_(ids), Release.state == ReleaseState.WRITING)
    return list(session.scalars(statement.where(Release.job_id.is_(None)).order_by(Release.id)))


def _finish_release(session: Session, release_id: int, manifest: Any) -> None:
    release = session.get_one(Release, release_id, with_for_update=True)
    release.manifest, release.digest = manifest.model_dump(mode="json"), manifest.digest
    release.state = ReleaseState.READY


def _moved(row: Row, table: Table, shift: timedelta) -> Row:
    return row | {
        column.name: row[column.name] + shift
        for column in table.columns
        if isinstance(column.type, Utc) and row.get(column.name) is not None
    }


def _partition(rows: list[Row], table: Table) -> tuple[list[Row], list[Row]]:
    """Rows that refer to no row of the list, and the others."""
    own = [column.name for column in table.columns for key in column.foreign_keys if key.column.table is table]
    if not own:
        return rows, []
    names = {row["id"] for row in rows}
    ready = [row for row in rows if not any(row.get(column) in names for column in own)]
    return ready, [row for row in rows if any(row.get(column) in names for column in own)]


def _table_values(row: Row, table: Table, without: str = "") -> Row:
    """Return the row by column; a column that is younger than the archive is left to its default, where it has one."""
    return {
        column.name: row.get(column.name)
        for column in table.columns
        if column.name != without and (column.name in row or column.default is None)
    }
