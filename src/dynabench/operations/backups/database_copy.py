"""A database as one SQLite file: a snapshot of one moment, whichever kind it is of, and back into PostgreSQL.

JSON and texts with translations are carried as the text that the database stores, so that they come back as they were.
"""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    Connection,
    MetaData,
    Select,
    Table,
    Text,
    bindparam,
    cast,
    column,
    create_engine,
    insert,
    inspect,
    make_url,
    select,
    text,
    type_coerce,
)
from sqlalchemy import table as plain_table
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine

from dynabench.kit import jobs
from dynabench.kit.db import Database, TranslatedText
from dynabench.kit.errors import Conflict
from dynabench.kit.settings import Settings
from dynabench.operations import migrations
from dynabench.operations.backups.manifest import DATABASE, JOBS

AT_ONCE = 500
ENGINE = "dbos"  # the schema in which the engine of jobs keeps its state on PostgreSQL


@dataclass(frozen=True)
class DatabaseSnapshot:
    """Copies of the database and of the state of jobs, by their names in a backup, at one version."""

    kind: str
    version: str
    files: dict[str, Path]
    sequences: dict[str, int] = field(default_factory=dict)


def take_snapshot(settings: Settings, place: Path) -> DatabaseSnapshot:
    """Copy the database as it is at one moment to files in `place`, while others write.

    On SQLite the state of jobs, a file of its own, is copied first: a job that the database knows to be further than
    that is resumed and finds what it did, while one that is behind would leave steps out.
    """
    database = Database(settings.url)
    try:
        _check_version(database)
        if database.is_sqlite:
            return _snapshot_sqlite(settings, database, place)
        return _snapshot_postgres(database, place)
    finally:
        database.close()


def _check_version(database: Database) -> None:
    database_version = migrations.version(database)
    if database_version != migrations.newest() and (
        database_version or not inspect(database.engine).has_table("people")
    ):
        raise Conflict(
            f"The database is at version {database_version or 'none'}, the code needs {migrations.newest()}: "
            "run `dynabench db upgrade`, or make the backup with the code that the platform runs on."
        )


def copy_online(source: Path, target: Path) -> None:
    """Copy a SQLite database that others write to, by SQLite's online backup.

    In one step: copied in parts it would begin anew whenever another process writes.
    """
    with closing(sqlite3.connect(source, timeout=60)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
        new.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
    target.chmod(0o600)


def _snapshot_sqlite(settings: Settings, database: Database, place: Path) -> DatabaseSnapshot:
    files = {DATABASE: place / "main.sqlite"}
    state = Path(str(make_url(jobs.engine_url(settings)).database))
    if state.exists():
        files[JOBS] = place / "jobs.sqlite"
        copy_online(state, files[JOBS])
    copy_online(Path(str(make_url(settings.url).database)), files[DATABASE])
    return DatabaseSnapshot("sqlite", migrations.version(database) or migrations.newest(), files)


def _snapshot_postgres(database: Database, place: Path) -> DatabaseSnapshot:
    files = {DATABASE: place / "main.sqlite"}
    engine = database.engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    with engine.connect() as source, source.begin():
        source.execute(select(1))  # the snapshot of everything that follows is that of the first statement
        _fill(files[DATABASE], migrations.metadata(), source)
        if inspect(source).has_table("workflow_status", schema=ENGINE):
            files[JOBS] = place / "jobs.sqlite"
            _fill_jobs(files[JOBS], source)
        return DatabaseSnapshot("postgresql", migrations.newest(), files, _sequences(source))


def _fill(target: Path, metadata: MetaData, source: Connection) -> None:
    engine = create_engine(f"sqlite:///{target}")
    try:
        with engine.begin() as copy:
            metadata.create_all(copy)
            copy.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
            copy.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": migrations.newest()})
            for metadata_table in metadata.sorted_tables:
                copy_rows(source, metadata_table, copy, metadata_table)
    finally:
        engine.dispose()
    target.chmod(0o600)


def _fill_jobs(target: Path, source: Connection) -> None:
    url = f"sqlite:///{target}"
    migrate_jobs(url)
    engine = create_engine(url)
    try:
        with engine.begin() as copy:
            _copy_jobs(source, ENGINE, copy, None)
    finally:
        engine.dispose()
    target.chmod(0o600)


def migrate_jobs(url: str) -> None:
    """Make the tables in which the engine of jobs keeps its state, where they are missing."""
    from dbos import DBOS

    DBOS.migrate(url)


def _copy_jobs(source: Connection, source_schema: str | None, copy: Connection, schema: str | None) -> None:
    """Copy the engine's tables; those that only one of the two kinds has are left out."""
    theirs, ours = MetaData(), MetaData()
    theirs.reflect(source, schema=source_schema)
    ours.reflect(copy, schema=schema)
    table_by_name = {item.name: item for item in theirs.tables.values()}
    for item in ours.sorted_tables:
        if item.name != "dbos_migrations" and item.name in table_by_name:
            copy_rows(source, table_by_name[item.name], copy, item)


def _sequences(source: Connection) -> dict[str, int]:
    """The last number that PostgreSQL gave in each table: a number that was given is never given again."""
    last_numbers = {}
    for metadata_table in migrations.metadata().sorted_tables:
        for name in _numbered(source, metadata_table):
            last = source.scalar(text("SELECT pg_sequence_last_value(CAST(:name AS regclass))"), {"name": name})
            if last is not None:
                last_numbers[metadata_table.name] = int(last)
    return last_numbers


def _numbered(connection: Connection, numbered_table: Table) -> list[str]:
    """The sequence that a table's key comes from."""
    keys = [key_column.name for key_column in numbered_table.primary_key.columns]
    ask = text("SELECT pg_get_serial_sequence(:table, :column)")
    sequence_name = (
        connection.scalar(ask, {"table": numbered_table.name, "column": keys[0]}) if len(keys) == 1 else None
    )
    return [sequence_name] if sequence_name else []


def load_postgres(connection: Connection, files: dict[str, Path], sequences: dict[str, int]) -> None:
    """Fill the empty tables of a PostgreSQL database in the transaction of `connection`.

    Foreign keys are dropped and made again, which checks every row: rows that refer to each other have no order.
    """
    metadata = migrations.metadata()
    keys = connection.execute(
        text(
            "SELECT conrelid::regclass::text AS of, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS rule "
            "FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace"
        )
    ).all()
    for key in keys:
        connection.execute(text(f"ALTER TABLE {key.of} DROP CONSTRAINT {key.name}"))
    with _reading(files[DATABASE]) as source:
        for metadata_table in metadata.sorted_tables:
            copy_rows(source, metadata_table, connection, metadata_table)
            for name in _numbered(connection, metadata_table):
                _set_sequence(connection, name, metadata_table, sequences.get(metadata_table.name, 0))
    for key in keys:
        connection.execute(text(f"ALTER TABLE {key.of} ADD CONSTRAINT {key.name} {key.rule}"))
    if JOBS in files:
        with _reading(files[JOBS]) as source:
            _copy_jobs(source, None, connection, ENGINE)


def _set_sequence(connection: Connection, name: str, numbered_table: Table, last: int) -> None:
    [key] = numbered_table.primary_key.columns
    highest = max(connection.scalar(select(key).order_by(key.desc()).limit(1)) or 0, last)
    if highest:
        connection.execute(text("SELECT setval(CAST(:name AS regclass), :last)"), {"name": name, "last": highest})


class _reading:
    """A connection to a SQLite file that is only read."""

    def __init__(self, path: Path) -> None:
        self._engine = create_engine(f"sqlite:///{path}")

    def __enter__(self) -> Connection:
        self._connection = self._engine.connect()
        return self._connection

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._engine.dispose()


def copy_rows(source: Connection, theirs: Table, target: Connection, ours: Table) -> int:
    """Copy the rows of a table in the order of its key, `AT_ONCE` in memory; how many there were.

    The types are those of the PostgreSQL side, which says more: SQLite knows no truth values.
    """
    names = [our_column.name for our_column in ours.columns if our_column.name in theirs.columns]
    typed = theirs if source.dialect.name == "postgresql" else ours
    types: dict[str, TypeEngine[Any]] = {name: typed.columns[name].type for name in names}
    insert_statement = insert(plain_table(ours.name, *(column(name) for name in names), schema=ours.schema)).values(
        {name: _bound(name, types[name], target) for name in names}
    )
    count = 0
    streamed = source.execution_options(stream_results=True, yield_per=AT_ONCE)
    for rows in streamed.execute(_ordered(theirs, types)).mappings().partitions(AT_ONCE):
        target.execute(insert_statement, [{_parameter(name): row[name] for name in names} for row in rows])
        count += len(rows)
    return count


def _ordered(table_to_read: Table, types: dict[str, TypeEngine[Any]]) -> Select[Any]:
    return select(*(_read(table_to_read.columns[name], kind).label(name) for name, kind in types.items())).order_by(
        *table_to_read.primary_key.columns
    )


def _read(value: Any, kind: TypeEngine[Any]) -> Any:
    if isinstance(kind, JSON):
        return cast(type_coerce(value, JSONB()) if isinstance(kind, JSONB) else value, Text)
    return type_coerce(value, Text() if isinstance(kind, TranslatedText) else kind)


def _parameter(name: str) -> str:
    return f"v_{name}"


def _bound(name: str, kind: TypeEngine[Any], target: Connection) -> Any:
    if isinstance(kind, JSON):
        value = bindparam(_parameter(name), type_=Text())
        return cast(value, JSONB) if target.dialect.name == "postgresql" else value
    return bindparam(_parameter(name), type_=Text() if isinstance(kind, TranslatedText) else kind)


def is_empty(connection: Connection, tables: Iterable[Table]) -> bool:
    """Return True if none of these tables has a row; a missing table counts as empty."""
    existing = set(inspect(connection).get_table_names())
    return not any(
        connection.execute(select(text("1")).select_from(item).limit(1)).first()
        for item in tables
        if item.name in existing
    )
