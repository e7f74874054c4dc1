"""SQLite and PostgreSQL for tests: what SQLAlchemy compiled for one engine serves those of all other tests.

It keeps compiled statements by engine and by dialect, of which every engine has its own: each test would compile all
its statements anew, which takes longer than running them.
"""

from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from sqlalchemy import Engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

COMPILED: LRUCache[Any, Any] = LRUCache(5000)
"""Statements of all engines; their dialects are part of the keys."""


class Equal:
    """All dialects of a class are equal: their engines say the same to the same server."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        """Let the engine use what others compiled."""
        engine.update_execution_options(compiled_cache=COMPILED)


class Sqlite(Equal, SQLiteDialect_pysqlite):
    """SQLite."""

    supports_statement_cache = True
    _type_memos: ClassVar[Any] = WeakKeyDictionary()


class Postgres(Equal, PGDialect_psycopg):
    """PostgreSQL."""

    supports_statement_cache = True
    _type_memos: ClassVar[Any] = WeakKeyDictionary()


def install() -> None:
    """Let `create_engine` take these from now on."""
    registry.register("sqlite", __name__, "Sqlite")
    registry.register("postgresql.psycopg", __name__, "Postgres")
