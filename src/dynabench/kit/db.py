"""The database: one engine, short transactions, the same behaviour on SQLite and PostgreSQL.

Services are functions whose first argument is a session. They never commit: `Database.read` and
`Database.write` open the session, run the function, and end the transaction.
"""

import json
import sqlite3
import threading
from collections import deque, namedtuple
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from datetime import UTC, datetime
from functools import cache
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

from anyio import to_thread
from sqlalchemy import (
    JSON,
    BigInteger,
    Connection,
    DateTime,
    Dialect,
    Engine,
    Executable,
    Float,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    bindparam,
    create_engine,
    delete,
    event,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import DeclarativeBase, Session, sessionmaker

from dynabench.kit.errors import Unavailable
from dynabench.kit.language import _, phrase_document, restored

P = ParamSpec("P")
T = TypeVar("T")

Json = JSON().with_variant(JSONB(), "postgresql")
Key = BigInteger().with_variant(Integer(), "sqlite")  # SQLite numbers rows itself for INTEGER alone
_PHRASE = "\x1f"
"""A control character, with which no text of a person or a program begins that gets into a reason."""


class Utc(TypeDecorator[datetime]):
    """A moment, stored and returned in UTC; SQLite has no time zones of its own."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Store in UTC."""
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return with its time zone."""
        return value if value is None or value.tzinfo else value.replace(tzinfo=UTC)


class TranslatedText(TypeDecorator[str]):
    """A text that people read, which is still said in their language when it comes back: a `Phrase` stays one.

    Texts without a translation are stored as they are, and so were all before.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Store a phrase as JSON."""
        record = phrase_document(value) if value is not None else None
        return _PHRASE + json.dumps(record, ensure_ascii=False, default=str) if record else value

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Return it as it was."""
        return restored(json.loads(value.removeprefix(_PHRASE))) if value and value.startswith(_PHRASE) else value


class Base(DeclarativeBase):
    """All tables; constraint names are fixed so that migrations can name them on both databases."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar = {dict[str, Any]: Json, list[Any]: Json, datetime: Utc}


def now() -> datetime:
    """This moment in UTC."""
    return datetime.now(UTC)


def _sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def configure(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # the begin hook below decides, not the driver
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            "busy_timeout=10000",
            "cache_size=-32000",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        # A transaction that will write takes the write lock at once: upgrading later can fail with SQLITE_BUSY.
        # Said to the driver itself: most requests begin three, and past it each would cost as much as a short read.
        writes = connection.get_execution_options().get("writes")
        connection.connection.driver_connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")


PACKED = {"packed": True}
"""Execution options of a statement that reads packed bytes: PostgreSQL would send them as text, which is slow."""


def _postgres(engine: Engine) -> None:
    @event.listens_for(engine, "before_cursor_execute")
    def choose(_: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool) -> None:
        if context is not None and context.execution_options.get("packed"):
            cursor.format = 1  # psycopg's name for binary results


@cache  # putting the statement together takes longer than running it
def upsert(table: Table, dialect: str) -> Executable:
    """A statement that writes whole rows, over those with the same primary key."""
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    others = {column.name: insert.excluded[column.name] for column in table.columns if not column.primary_key}
    statement: Executable = insert.on_conflict_do_update(index_elements=list(table.primary_key), set_=others)
    return statement


KeyedRows = Mapping[tuple[Any, ...], tuple[Any, ...]]
"""Rows of a table: their primary keys, and their other columns in the table's order."""


def replace_rows(session: Session, table: Table, before: KeyedRows, after: KeyedRows) -> None:
    """Turn the rows `before` of a table into the rows `after`; those that are equal are not written.

    Rows are written in the order of their keys.
    """
    connection = session.connection()
    keys = [column.name for column in table.primary_key]
    columns = [*keys, *(column.name for column in table.columns if not column.primary_key)]
    changed = [
        dict(zip(columns, (*key, *after[key]), strict=True)) for key in sorted(after) if before.get(key) != after[key]
    ]
    if changed:
        connection.execute(upsert(table, connection.dialect.name), changed)
    if surplus := sorted(before.keys() - after.keys()):
        statement = delete(table).where(*(table.c[name] == bindparam(f"this_{name}") for name in keys))
        names = [f"this_{name}" for name in keys]
        connection.execute(statement, [dict(zip(names, key, strict=True)) for key in surplus])


def lock_until_commit(session: Session, lock: int) -> None:
    """Let transactions that ask for the same lock run one after the other.

    On SQLite a transaction that writes is alone anyway.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(lock)))


class PreparedStatement:
    """A statement that is compiled once for each database and then run by the driver itself.

    SQLAlchemy takes five times as long to pass a short statement on as the driver takes to run it, and what one request
    in two needs is worth saving that. Types, parameters and errors are those of SQLAlchemy. `statement` may depend on
    the name of the dialect; an `insert` names the `columns` that it is given.
    """

    def __init__(self, statement: Executable | Callable[[str], Executable], columns: Sequence[str] = ()) -> None:
        self.statement, self.columns = statement, list(columns) or None
        self._compiled: dict[str, _Compiled] = {}

    def run(self, session: Session | Connection, values: Mapping[str, Any]) -> list[Any]:
        """Return the rows as named tuples, none of a statement that returns nothing."""
        connection = session if isinstance(session, Connection) else _connection_of(session)
        dialect = connection.dialect
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            statement = self.statement(dialect.name) if callable(self.statement) else self.statement
            compiled = self._compiled[dialect.name] = _Compiled(statement, dialect, self.columns)
        driver: Any = connection.connection.driver_connection
        try:
            cursor = driver.execute(compiled.sql, compiled.parameters(values))
            return compiled.rows(cursor.fetchall()) if compiled.returns_rows else []
        except dialect.loaded_dbapi.Error as error:
            raise DBAPIError.instance(compiled.sql, None, error, dialect.loaded_dbapi.Error, dialect=dialect) from error

    def first(self, session: Session | Connection, values: Mapping[str, Any]) -> Any:
        """Return the first row, None if there is none."""
        return next(iter(self.run(session, values)), None)


def _connection_of(session: Session) -> Connection:
    """Return the connection of a session's transaction; SQLAlchemy looks it up anew, which takes longer than a read."""
    transaction = session.get_transaction()
    cached: tuple[object, Connection] | None = session.info.get("connection")
    if cached is None or cached[0] is not transaction:
        connection = session.connection()
        cached = session.info["connection"] = (session.get_transaction(), connection)
    return cached[1]


class _Compiled:
    """The text of a statement for one dialect, and what turns values into parameters and results into rows."""

    def __init__(self, statement: Any, dialect: Dialect, columns: list[str] | None) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=columns)
        self.sql = str(compiled)
        self._order: list[str] | None = compiled.positiontup
        self._constants = {name: value for name, value in compiled.params.items() if value is not None}
        binds = {name: bind.type.dialect_impl(dialect) for bind, name in compiled.bind_names.items()}
        self._binders = [(name, binder) for name, kind in binds.items() if (binder := kind.bind_processor(dialect))]
        results = list(statement.exported_columns) if statement.is_select or compiled.effective_returning else []
        self.returns_rows = bool(results)
        self._row: Any = namedtuple("Row", [column.key for column in results])  # type: ignore[misc]
        kinds = [column.type.dialect_impl(dialect) for column in results]
        readers = [
            (index, kind.result_processor(dialect, None))
            for index, kind in enumerate(kinds)
            if not isinstance(kind, Float)  # drivers return these as they are
        ]
        self._readers = [(index, reader) for index, reader in readers if reader]

    def parameters(self, values: Mapping[str, Any]) -> Any:
        """Return the parameters in the driver's form."""
        bound = {**self._constants, **values}
        for name, binder in self._binders:
            bound[name] = binder(bound[name])
        return bound if self._order is None else [bound[name] for name in self._order]

    def rows(self, driver_rows: list[Any]) -> list[Any]:
        """Return rows of the driver as named tuples."""
        rows = []
        for values in driver_rows:
            cells = list(values)
            for index, reader in self._readers:
                cells[index] = reader(cells[index])
            rows.append(self._row._make(cells))
        return rows


TOGETHER = 64
"""Writes that one transaction of SQLite takes at most."""


# A new connection to SQLite reads the schema and prepares every statement anew, which takes longer than most reads. As
# many are kept as a crowd uses at once; the one used last comes first, as it holds the pages of the file read most.
SQLITE_POOL: dict[str, Any] = {"pool_size": 24, "max_overflow": 26, "pool_use_lifo": True}
POSTGRES_POOL: dict[str, Any] = {"pool_size": 10, "max_overflow": 20, "pool_pre_ping": True}


class _Write:
    """A function that waits for its turn to write, in the language of its caller, and its end."""

    def __init__(self, function: Callable[[Session], Any]) -> None:
        self.function, self.context = function, copy_context()
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None

    def perform(self, session: Session) -> None:
        self.result = self.context.run(self.function, session)


class Database:
    """Runs functions in transactions, in threads, for async callers and for plain ones."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        self.engine = create_engine(url, **(SQLITE_POOL if self.is_sqlite else POSTGRES_POOL))
        (_sqlite if self.is_sqlite else _postgres)(self.engine)
        self._reads = sessionmaker(self.engine, expire_on_commit=False)
        self._writes = sessionmaker(self.engine.execution_options(writes=True), expire_on_commit=False)
        # SQLite has one writer; a queue in the process is fairer and quicker than its polling.
        self._turn = threading.Lock()
        self._waiting: deque[_Write] = deque()
        self._probe: Connection | None = None

    def read(self, function: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function(session, ...)` in a transaction that is rolled back."""
        with self._reads() as session:
            return function(session, *args, **kwargs)

    def write(self, function: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function(session, ...)` in a transaction and commit it; an exception rolls it back.

        Writes to SQLite that wait for each other share a transaction, each in a savepoint of its own: a commit waits
        for the disk longer than most of them take. None returns before the commit.
        """
        if not self.is_sqlite:
            with self._writes.begin() as session:
                return function(session, *args, **kwargs)
        write = _Write(lambda session: function(session, *args, **kwargs))
        self._waiting.append(write)
        with self._turn:
            while not write.done:
                self._write_together([self._waiting.popleft() for _ in range(min(len(self._waiting), TOGETHER))])
        if write.error is not None:
            raise write.error
        result: T = write.result
        return result

    def _write_together(self, writes: list[_Write]) -> None:
        try:
            if len(writes) == 1:
                with self._writes.begin() as session:
                    writes[0].perform(session)
            else:
                with self._writes.kw["bind"].begin() as connection:
                    for write in writes:
                        self._write_in_savepoint(connection, write)
        except BaseException as error:  # also a commit that failed: nothing was written
            for write in writes:
                write.error = write.error or error
        finally:
            for write in writes:
                write.done = True

    def _write_in_savepoint(self, connection: Connection, write: _Write) -> None:
        try:
            with self._writes(bind=connection, join_transaction_mode="create_savepoint") as session, session.begin():
                write.perform(session)
        except BaseException as error:
            write.error = error
            if not connection.connection.driver_connection.in_transaction:  # type: ignore[union-attr]
                raise  # a full disk has ended the whole transaction

    async def aread(self, function: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`read` in a worker thread."""
        return await to_thread.run_sync(lambda: self.read(function, *args, **kwargs))

    async def afirst(self, statement: PreparedStatement, values: Mapping[str, Any]) -> Any:
        """Return the first row of one indexed read, None if there is none, without a session.

        SQLite answers sooner than a thread would begin. Where another process holds the whole database, a thread waits.
        """

        def read() -> Any:
            with self.engine.connect() as connection:
                return statement.first(connection, values)

        if self.is_sqlite:
            if self._probe is None:
                self._probe = self.engine.connect()
                self._probe.connection.driver_connection.execute("PRAGMA busy_timeout=0")  # type: ignore[union-attr]
            with suppress(OperationalError):
                return statement.first(self._probe, values)
        return await to_thread.run_sync(read)

    async def awrite(self, function: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`write` in a worker thread; raises `Unavailable` where another process holds the database for too long."""
        try:
            return await to_thread.run_sync(lambda: self.write(function, *args, **kwargs))
        except (OperationalError, sqlite3.OperationalError) as error:
            if not self.is_sqlite or "database is locked" not in str(error):
                raise
            raise Unavailable(_("The site is too busy to answer right now."), retry_after=2) from error

    def close(self) -> None:
        """Close all connections."""
        if self._probe is not None:
            self._probe.invalidate()
            self._probe.close()
        self.engine.dispose()
