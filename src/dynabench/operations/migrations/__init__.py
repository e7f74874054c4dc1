"""The database's schema over time, by Alembic; the versions are in `versions/`."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import JSON, Connection, MetaData, inspect, text

from dynabench.kit.db import Base, Database, TranslatedText, Utc
from dynabench.kit.errors import Conflict
from dynabench.kit.settings import Settings

# Alembic is imported where it is needed: `serve` on a current database starts sooner without it.
if TYPE_CHECKING:
    from alembic.autogenerate.api import AutogenContext
    from alembic.config import Config

FOLDER = Path(__file__).parent
LAST_OLDER_CODE = "1588244b"
"""The last commit that upgrades databases older than the first migration."""


def _render(kind: str, item: object, _: "AutogenContext") -> str | Literal[False]:
    """Migrations name the column types that are stored, not our own names for them, which may change."""
    if kind != "type":
        return False
    if isinstance(item, Utc):
        return "sa.DateTime(timezone=True)"
    if isinstance(item, TranslatedText):
        return "sa.Text()"
    return 'sa.JSON().with_variant(postgresql.JSONB(), "postgresql")' if isinstance(item, JSON) else False


OPTIONS: dict[str, Any] = {"compare_type": True, "render_as_batch": True, "render_item": _render}


def metadata() -> MetaData:
    """All tables of the platform, whichever of their modules are imported by now."""
    import dynabench.announcements.service
    import dynabench.benchmark.evaluations.tables
    import dynabench.benchmark.leaderboards.tables
    import dynabench.benchmark.registry.tables
    import dynabench.benchmark.releases.tables
    import dynabench.collection.assisting.service
    import dynabench.collection.chat.tables
    import dynabench.collection.drawing.service
    import dynabench.collection.handout_tables
    import dynabench.collection.near_duplicates
    import dynabench.collection.tables
    import dynabench.collection.writing_facts
    import dynabench.communities.classes.tables
    import dynabench.communities.competitions.tables
    import dynabench.communities.credits.tables
    import dynabench.communities.inspiration.tables
    import dynabench.communities.teams.tables
    import dynabench.crowd.tables
    import dynabench.cycle.tables
    import dynabench.datasets.tables
    import dynabench.hubs.tables
    import dynabench.insight.data_measurements.tables
    import dynabench.kit.jobs
    import dynabench.media.tables
    import dynabench.onboarding.tables
    import dynabench.open_evaluations.tables
    import dynabench.pay.tables
    import dynabench.people.accounts.tables
    import dynabench.people.contributions
    import dynabench.people.notices.tables
    import dynabench.quality.signals.tables
    import dynabench.quality.tables
    import dynabench.recognition.badges.tables
    import dynabench.rounds.tables
    import dynabench.validation.tables  # noqa: F401

    return Base.metadata


def config(connection: Connection | None = None) -> "Config":
    """Alembic's configuration, without a file."""
    from alembic.config import Config

    result = Config()
    result.set_main_option("script_location", str(FOLDER))
    result.attributes["connection"] = connection
    return result


def versions() -> list[str]:
    """The versions that the code knows, in their order: files in `versions/` are numbered."""
    return sorted(path.name.partition("_")[0] for path in (FOLDER / "versions").glob("[0-9]*.py"))


def newest() -> str:
    """The version that the code needs."""
    return versions()[-1]


def version(db: Database) -> str:
    """The version that the database has; empty for an empty database."""
    with db.engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return ""
        return connection.scalar(text("SELECT version_num FROM alembic_version")) or ""


def upgrade(settings: Settings) -> str:
    """Bring the database to the newest version and return it; quick where it already is."""
    db = Database(settings.url)
    try:
        if version(db) != newest():
            run(db, "head")
        return newest()
    finally:
        db.close()


def _check_version(current: str) -> None:
    supported = versions()
    if current and current < supported[0]:
        raise Conflict(
            f"The database is at version {current}, and this code upgrades from {supported[0]} on: run `dynabench db "
            f"upgrade` with the code of commit {LAST_OLDER_CODE} first, then again with this one."
        )
    if current and current not in supported:
        raise Conflict(
            f"The database is at version {current}, and this code knows {supported[-1]}. Install a newer Dynabench."
        )


def run(db: Database, target: str) -> None:
    """Upgrade to a version in one transaction, or not at all; refuse a database older than the first migration."""
    from alembic import command

    _check_version(version(db))
    engine = db.engine.execution_options(writes=True)
    with engine.connect() as connection:
        # Batch operations copy tables and drop the old ones, which must not cascade into other tables. SQLite heeds
        # this only outside of transactions, so the driver's own connection is told.
        raw: Any = connection.connection.dbapi_connection if db.is_sqlite else None
        if raw is not None:
            raw.execute("PRAGMA foreign_keys=OFF")
        try:
            with connection.begin():
                if not db.is_sqlite:  # SQLite's write lock is taken already; here the second of two upgrades waits
                    connection.execute(text("SELECT pg_advisory_xact_lock(7267418)"))
                command.upgrade(config(connection), target)
        finally:
            if raw is not None:
                raw.execute("PRAGMA foreign_keys=ON")


def differences(db: Database) -> list[object]:
    """Return the differences between the tables in the code and those in the database, in both directions.

    Indexes over expressions are compared on PostgreSQL only: those of SQLite cannot be reflected, and the
    warning about that is ignored.
    """
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    with db.engine.connect() as connection, warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*expression-based index")
        context = MigrationContext.configure(connection, opts=OPTIONS)
        return list(compare_metadata(context, metadata()))
