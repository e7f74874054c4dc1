"""Writing an archive: file after file, page after page, with flat memory; the same task gives the same bytes."""

import hashlib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

import orjson
from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from dynabench.collection import queries as collected
from dynabench.collection.handout_tables import Seed
from dynabench.datasets import exports, scopes
from dynabench.datasets.archives import contents, layout, records
from dynabench.datasets.archives.layout import ArchiveFile, Manifest
from dynabench.datasets.rows import format_moment
from dynabench.datasets.scopes import ExportScope
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.rounds import queries, service
from dynabench.rounds.plan import parse_plan
from dynabench.rounds.tables import Context, Round

PAGE_ROWS = 1_000
BEGINNING = (1980, 1, 1, 0, 0, 0)  # of every file: an archive tells nothing of when it was written
WriteProgress = Callable[[int, int], object]
"""Called with how many rows are written, of how many."""


@dataclass(frozen=True)
class ArchivePlan:
    """The contents of an archive to write: the task's config versions, its rounds and what is exported of them."""

    task: str
    name: str
    versions: list[tuple[int, str, str]]  # number, text, moment
    rounds: list[dict[str, Any]]
    scope: ExportScope | None
    expected: int
    datasets: dict[str, tuple[dict[str, Any], str]]  # the entry of each by name, and the digest of its rows


def plan_archive(session: Session, task_id: str, *, examples: bool = True) -> ArchivePlan:
    """The plan for a whole task; or, without `examples`, for its newest config, contexts and seeds alone."""
    scope = replace(scopes.export_scope(session, None, task_id, attributions=True), excluded_votes=True)
    config_versions = list(session.scalars(queries.versions(task_id)))
    if not examples:
        config_versions = config_versions[:1]
    versions = [
        (entry.number if examples else 1, entry.source, format_moment(entry.created_at))
        for entry in reversed(config_versions)
    ]
    numbers = {entry.id: entry.number for entry in config_versions}
    rounds = [round_document(entry, numbers) for entry in scope.rounds] if examples else []
    name = service.config_of(session, config_versions[0].id).name
    expected = scopes.expected_rows(session, scope) if examples else 0
    tested = contents.public_datasets(session, task_id) if examples else {}
    return ArchivePlan(task_id, name, versions, rounds, scope if examples else None, expected, tested)


NOT_ARCHIVED = {"opens_at": None, "closes_at": None, "contexts": "all"}
"""Of a round's plan: what holds of one deployment at one time."""


def round_document(round_: Round, numbers: dict[int, int]) -> dict[str, Any]:
    """A round as archives have it; `numbers` has those of the versions by id."""
    planned = parse_plan(round_.plan).model_copy(update=NOT_ARCHIVED)
    return {
        "number": round_.number, "version": numbers[round_.version_id], "state": round_.state,
        "ensemble": round_.fooled_when,
        "arms": round_.arms, "assign": round_.assign, "judge": round_.judge, "plan": planned.document(),
        "targets": [{"model": target.model, "version": target.version} for target in round_.targets],
        "created_at": format_moment(round_.created_at),
        "opened_at": format_moment(round_.opened_at) if round_.opened_at else None,
        "closed_at": format_moment(round_.closed_at) if round_.closed_at else None,
    } | ({} if round_.vote_weight is None else {"vote_weight": round_.vote_weight})  # fmt: skip


class ArchiveWriter:
    """Adds files to the zip file, and remembers what the manifest says of them."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive, self.files = archive, list[ArchiveFile]()

    def add(self, name: str, parts: Iterable[bytes], *, counted: bool = False) -> None:
        """Add a file; of those that are `counted` the manifest says how many lines they have."""
        digest, size, rows = hashlib.sha256(), 0, 0
        info = zipfile.ZipInfo(name, BEGINNING)
        info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o100600 << 16
        with self.archive.open(info, "w", force_zip64=True) as file:
            for part in parts:
                file.write(part)
                digest.update(part)
                size += len(part)
                rows += part.count(b"\n")
        if name != layout.MANIFEST:
            entry = {"name": name, "bytes": size, "sha256": digest.hexdigest(), "rows": rows if counted else None}
            self.files.append(ArchiveFile.model_validate(entry))

    def finish(self, task: str, name: str) -> Manifest:
        """Add the manifest, last of all."""
        manifest = Manifest(format="dynabench-task", version=1, task=task, name=name, files=self.files)
        self.add(layout.MANIFEST, [orjson.dumps(manifest.model_dump(), option=orjson.OPT_INDENT_2) + b"\n"])
        return manifest


def write_archive(
    db: Database, settings: Settings, plan: ArchivePlan, file: IO[bytes], progress: WriteProgress = lambda *_: None
) -> Manifest:
    """Write the archive to a binary file, which need not be able to seek; what its manifest says."""
    digests: set[str] = set()
    with zipfile.ZipFile(file, "w", compresslevel=6) as archive:
        writer = ArchiveWriter(archive)
        writer.add(layout.TASK, [plan.versions[-1][1].encode()])
        for number, source, _ in plan.versions:
            writer.add(layout.config_file(number), [source.encode()])
        versions = ({"number": number, "created_at": at} for number, _, at in plan.versions)
        writer.add(layout.VERSIONS, json_lines(versions), counted=True)
        writer.add(layout.ROUNDS, json_lines(plan.rounds), counted=True)
        writer.add(
            layout.CONTEXTS, contents.collect_references(json_lines(_contexts(db, plan.task)), digests), counted=True
        )
        writer.add(layout.SEEDS, contents.collect_references(json_lines(_seeds(db, plan.task)), digests), counted=True)
        writer.add(
            layout.EXAMPLES, contents.collect_references(_examples(db, settings, plan, progress), digests), counted=True
        )
        for name in layout.RECORDS if plan.scope else ():
            if rows := db.read(_records, settings, plan.task, name):
                writer.add(name, json_lines(rows), counted=True)
        writer.add(layout.DATASETS, json_lines(entry for entry, _ in plan.datasets.values()), counted=True)
        for name, parts in contents.dataset_contents(settings, plan.datasets):
            writer.add(name, contents.collect_references(parts, digests), counted=True)
        for name, content in contents.media_contents(settings, digests):
            writer.add(name, [content])
        return writer.finish(plan.task, plan.name)


def _records(session: Session, settings: Settings, task_id: str, name: str) -> list[dict[str, Any]]:
    return list(records.part_named(name).write_records(records.RecordSource(session, settings, task_id)))


def json_lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Rows as JSON lines."""
    return (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)


def _contexts(db: Database, task_id: str) -> Iterator[dict[str, Any]]:
    def page(after: int) -> Select[Any]:
        columns = (Context.id, Context.values, Context.tag, Context.language, Context.weight, Context.retired_at)
        return (
            select(*columns).where(Context.task_id == task_id, Context.id > after).order_by(Context.id).limit(PAGE_ROWS)
        )

    for row in _pages(db, page):
        retired = row.retired_at is not None
        language = {"language": row.language} if row.language else {}
        yield {"values": row.values, "tag": row.tag, **language, "weight": row.weight, "retired": retired}


def _seeds(db: Database, task_id: str) -> Iterator[dict[str, Any]]:
    def page(after: int) -> Select[Any]:
        columns = (Seed.id, Context.values.label("context"), Seed.input, Seed.answer, Seed.tag)
        statement = select(*columns).join(Context, Context.id == Seed.context_id)
        visible = ~collected.concealed(Seed.made_from.expression)
        return statement.where(Seed.task_id == task_id, Seed.id > after, visible).order_by(Seed.id).limit(PAGE_ROWS)

    for row in _pages(db, page):
        yield {"context": row.context, "input": row.input, "answer": row.answer, "tag": row.tag}


def _pages(db: Database, page: Callable[[int], Select[Any]]) -> Iterator[Any]:
    """The rows of all pages; `page` asks for those above an id."""
    after = 0

    def read(session: Session) -> Sequence[Any]:
        return session.execute(page(after)).all()

    while rows := db.read(read):
        yield from rows
        after = rows[-1].id


def _examples(db: Database, settings: Settings, plan: ArchivePlan, progress: WriteProgress) -> Iterator[bytes]:
    if plan.scope is None:
        return
    written = 0
    for page in exports.read_records(db, settings, plan.scope):
        yield exports.json_lines(page)
        written += len(page)
        progress(written, plan.expected)
