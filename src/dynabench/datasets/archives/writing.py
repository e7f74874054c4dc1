"""Writing an archive: file after file, page after page, with flat memory; the same task gives the same bytes."""

import hashlib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import orjson
from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from dynabench.collection import queries as collected
from dynabench.collection.tables import Seed
from dynabench.datasets import exports, scopes
from dynabench.datasets.archives import datasets, files, layout
from dynabench.datasets.archives.layout import File, Manifest
from dynabench.datasets.rows import moment
from dynabench.datasets.scopes import Scope
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.rounds import queries, service
from dynabench.rounds.plan import parse
from dynabench.rounds.tables import Context, Round

PAGE = 1_000
BEGINNING = (1980, 1, 1, 0, 0, 0)  # of every file: an archive tells nothing of when it was written
Told = Callable[[int, int], object]
"""Called with how many rows are written, of how many."""


@dataclass(frozen=True)
class Plan:
    """The contents of an archive to write: the task's config versions, its rounds and what is exported of them."""

    task: str
    name: str
    versions: list[tuple[int, str, str]]  # number, text, moment
    rounds: list[dict[str, Any]]
    scope: Scope | None
    expected: int
    datasets: dict[str, tuple[dict[str, Any], str]]  # what is told of each by name, and the digest of its rows


def plan(session: Session, task_id: str, *, examples: bool = True) -> Plan:
    """The plan for a whole task; or, without `examples`, for its newest config, contexts and seeds alone."""
    scope = scopes.scope(session, None, task_id, attributions=True)
    found = list(session.scalars(queries.versions(task_id)))
    if not examples:
        found = found[:1]
    kept = [(each.number if examples else 1, each.source, moment(each.created_at)) for each in reversed(found)]
    numbers = {each.id: each.number for each in found}
    rounds = [round_document(each, numbers) for each in scope.rounds] if examples else []
    name = service.config_of(session, found[0].id).name
    expected = scopes.expected(session, scope) if examples else 0
    tested = datasets.public(session, task_id) if examples else {}
    return Plan(task_id, name, kept, rounds, scope if examples else None, expected, tested)


HERE_ALONE = {"opens_at": None, "closes_at": None, "contexts": "all"}
"""Of a round's plan: what holds of one deployment at one time."""


def round_document(of: Round, numbers: dict[int, int]) -> dict[str, Any]:
    """A round as archives have it; `numbers` has those of the versions by id."""
    planned = parse(of.plan).model_copy(update=HERE_ALONE)
    return {
        "number": of.number, "version": numbers[of.version_id], "state": of.state, "ensemble": of.fooled_when,
        "arms": of.arms, "assign": of.assign, "judge": of.judge, "plan": planned.document(),
        "targets": [{"model": each.model, "version": each.version} for each in of.targets],
        "created_at": moment(of.created_at), "opened_at": moment(of.opened_at) if of.opened_at else None,
        "closed_at": moment(of.closed_at) if of.closed_at else None,
    }  # fmt: skip


class Writer:
    """Adds files to the zip file, and remembers what the manifest says of them."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive, self.files = archive, list[File]()

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
            made = {"name": name, "bytes": size, "sha256": digest.hexdigest(), "rows": rows if counted else None}
            self.files.append(File.model_validate(made))

    def finish(self, task: str, name: str) -> Manifest:
        """Add the manifest, last of all."""
        made = Manifest(format="dynabench-task", version=1, task=task, name=name, files=self.files)
        self.add(layout.MANIFEST, [orjson.dumps(made.model_dump(), option=orjson.OPT_INDENT_2) + b"\n"])
        return made


def write(db: Database, settings: Settings, what: Plan, file: IO[bytes], told: Told = lambda *_: None) -> Manifest:
    """Write the archive to a binary file, which need not be able to seek; what its manifest says."""
    shown: set[str] = set()
    with zipfile.ZipFile(file, "w", compresslevel=6) as archive:
        writer = Writer(archive)
        writer.add(layout.TASK, [what.versions[-1][1].encode()])
        for number, source, _ in what.versions:
            writer.add(layout.config_file(number), [source.encode()])
        versions = ({"number": number, "created_at": at} for number, _, at in what.versions)
        writer.add(layout.VERSIONS, lines(versions), counted=True)
        writer.add(layout.ROUNDS, lines(what.rounds), counted=True)
        writer.add(layout.CONTEXTS, files.noted(lines(_contexts(db, what.task)), shown), counted=True)
        writer.add(layout.SEEDS, files.noted(lines(_seeds(db, what.task)), shown), counted=True)
        writer.add(layout.EXAMPLES, files.noted(_examples(db, settings, what, told), shown), counted=True)
        writer.add(layout.DATASETS, lines(told for told, _ in what.datasets.values()), counted=True)
        for name, parts in datasets.contents(settings, what.datasets):
            writer.add(name, files.noted(parts, shown), counted=True)
        for name, content in files.contents(settings, shown):
            writer.add(name, [content])
        return writer.finish(what.task, what.name)


def lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Rows as JSON lines."""
    return (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)


def _contexts(db: Database, task_id: str) -> Iterator[dict[str, Any]]:
    def page(after: int) -> Select[Any]:
        columns = (Context.id, Context.values, Context.tag, Context.weight, Context.retired_at)
        return select(*columns).where(Context.task_id == task_id, Context.id > after).order_by(Context.id).limit(PAGE)

    for row in _pages(db, page):
        retired = row.retired_at is not None
        yield {"values": row.values, "tag": row.tag, "weight": row.weight, "retired": retired}


def _seeds(db: Database, task_id: str) -> Iterator[dict[str, Any]]:
    def page(after: int) -> Select[Any]:
        columns = (Seed.id, Context.values.label("context"), Seed.input, Seed.answer, Seed.tag)
        found = select(*columns).join(Context, Context.id == Seed.context_id)
        shown = ~collected.concealed(Seed.made_from.expression)
        return found.where(Seed.task_id == task_id, Seed.id > after, shown).order_by(Seed.id).limit(PAGE)

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


def _examples(db: Database, settings: Settings, what: Plan, told: Told) -> Iterator[bytes]:
    if what.scope is None:
        return
    written = 0
    for page in exports.records(db, settings, what.scope):
        yield exports.lines(page)
        written += len(page)
        told(written, what.expected)
