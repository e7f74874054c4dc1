"""`dynabench db`: bring the database up to date, check it, count it anew, copy it."""

import os
import shutil
import sqlite3
import subprocess
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import make_url

from dynabench.cli.operator import AsJson, bar, bars, database, say
from dynabench.kit.db import Database
from dynabench.kit.errors import Conflict, Problem
from dynabench.kit.settings import get_settings

app = typer.Typer(help="Upgrade, check and rebuild the database.", no_args_is_help=True)


@app.command()
def upgrade(as_json: AsJson = False) -> None:
    """Upgrade the database to the version of the code, in one transaction."""
    from dynabench.operations import migrations

    version = migrations.upgrade(get_settings())
    say(as_json, {"version": version}, f"The database is at version {version}.")


@app.command()
def check(
    files: Annotated[
        bool, typer.Option("--files", help="Also compare rows with their files, records with keys.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check the database's version, tables and (on SQLite) pages; exit status 1 if something is wrong."""
    from dynabench.operations import migrations

    with database(any_version=True) as db:
        problems = []
        version, newest = migrations.version(db), migrations.newest()
        if version != newest:
            problems.append(
                f"It is at version {version or 'none'}, the code needs {newest}: run `dynabench db upgrade`."
            )
        else:
            problems += [f"It differs from the code: {difference}" for difference in migrations.differences(db)]
        problems += _damage(db) if db.is_sqlite else []
        problems += _wrong_files(db, as_json) if files else []
    sound = f"Version {version}, sound{', with all files' if files else ''}."
    say(as_json, {"version": version, "problems": problems}, "\n".join(problems) or sound)
    if problems:
        raise typer.Exit(1)


def _wrong_files(db: Database, as_json: bool) -> list[str]:
    from dynabench.operations.backups.file_check import check_files

    with bar("Checking files", as_json) as progress:
        return db.read(check_files, get_settings(), progress)


@app.command()
def rebuild(as_json: AsJson = False) -> None:
    """Rebuild what follows from the ledger: standings, tallies, the search index, lost scores of rows, badges.

    The platform may run meanwhile, and the command may be interrupted and run again at any time.
    """
    from dynabench.benchmark.evaluations.score_computation import restore_row_scores
    from dynabench.recognition.badges.service import rebuild_badges
    from dynabench.validation.rebuild import rebuild_all

    with database() as db, bars(as_json) as progress:
        examples, rounds = rebuild_all(db, progress)
        evaluations = restore_row_scores(db, get_settings(), partial(progress, "Checking scores of rows"))
        badges = rebuild_badges(db)
    text = f"Counted {examples:,} examples of {rounds} rounds anew."
    if evaluations:
        text += f" Scored the rows of {evaluations} evaluations anew."
    if badges:
        text += f" Awarded {badges} badges that were missing."
    say(as_json, {"examples": examples, "rounds": rounds, "evaluations": evaluations, "badges": badges}, text)


@app.command("accept-secret")
def accept_secret(as_json: AsJson = False) -> None:
    """Accept the secret of these settings as the platform's new one: all pseudonyms change."""
    from dynabench.operations import key_check

    with database(any_secret=True) as db:
        db.write(key_check.accept_secret, get_settings())
    say(as_json, {"accepted": True}, "The platform starts with this secret from now on. Everybody logs in again.")


def _damage(db: Database) -> list[str]:
    with db.engine.connect() as connection:
        damages = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check") if row[0] != "ok"]
        orphans = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    return damages + [f"Row {row[1]} of {row[0]} points to a row of {row[2]} that is not there." for row in orphans]


@app.command()
def backup(
    file: Annotated[Path | None, typer.Argument(help="The file to write; by default in `backups` in the home.")] = None,
    as_json: AsJson = False,
) -> None:
    """Copy only the database into one file (PostgreSQL: by `pg_dump`); `dynabench backup` saves everything."""
    settings = get_settings()
    with database(any_version=True) as db:
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.{'sqlite' if db.is_sqlite else 'dump'}"
        target = file or settings.folder / "backups" / name
        if target.exists():
            raise Conflict(f"{target} exists; name another file.")
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".partial")
        partial.touch(mode=0o600)
        if db.is_sqlite:
            _copy_sqlite(db, partial)
        else:
            _dump_postgres(settings.url, partial)
        partial.replace(target)  # a copy that stands under its name is a whole one
    size = target.stat().st_size
    say(as_json, {"file": str(target), "bytes": size}, f"Wrote {target} ({size / 1e6:.1f} MB).")


def _copy_sqlite(db: Database, target: Path) -> None:
    raw = db.engine.raw_connection()
    copy = sqlite3.connect(target)
    try:
        assert isinstance(raw.driver_connection, sqlite3.Connection)
        raw.driver_connection.backup(copy)
    finally:
        copy.close()
        raw.close()


def _dump_postgres(url: str, target: Path) -> None:
    program = shutil.which("pg_dump")
    if program is None:
        raise Problem("`pg_dump` is not on this machine. Install PostgreSQL's client programs and try again.")
    parts = make_url(url)
    address = parts.set(drivername="postgresql", password=None).render_as_string()
    # The password goes through the environment: everybody on the machine can read the list of processes.
    secret = {"PGPASSWORD": str(parts.password)} if parts.password else {}
    done = subprocess.run(
        [program, "--format=custom", f"--file={target}", "--no-password", f"--dbname={address}"],
        env=os.environ | secret,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        target.unlink(missing_ok=True)
        raise Problem(f"pg_dump failed: {done.stderr.strip()}")
