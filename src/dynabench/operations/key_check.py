"""A check, before a process starts, that the home folder holds the keys with which the database was filled."""

import hmac

from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from dynabench.kit.db import Database, now
from dynabench.kit.errors import Conflict
from dynabench.kit.security import keyed
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person, SecretFingerprint

RESTORING = ".restoring"
"""The folder in the home in which a restore collects everything before any of it takes its place."""


def check_keys(settings: Settings) -> None:
    """Raise `Conflict` where a fresh secret or signing key would be made beside old rows; else make what is missing.

    The secret is made here, before anybody can register: a database with accounts and no secret has then lost it.
    """
    check_restored(settings)
    database = Database(settings.url)
    try:
        database.read(check_keys_of, settings)
        if not database.read(_recorded_fingerprint):  # a start waits for nobody who writes, once the secret is noted
            database.write(note_secret, settings)
    finally:
        database.close()


def check_restored(settings: Settings) -> None:
    """Raise `Conflict` while a backup is being restored into the home folder, or where that was interrupted."""
    if (settings.folder / RESTORING).exists():
        raise Conflict(
            f"A backup is being restored into {settings.folder}, or was until it was interrupted. Wait until it has "
            "ended, or run `dynabench restore` again."
        )


def check_keys_of(session: Session, settings: Settings) -> None:
    """Raise `Conflict` where the home folder's keys are not those of the rows in this session; makes nothing."""
    from dynabench.benchmark.evaluations import records  # what it needs takes longer to load than most commands take

    check_secret(session, settings)
    records.check_key(session, settings)


def check_secret(session: Session, settings: Settings) -> None:
    """Raise `Conflict` where the secret is missing or not the one that keyed the pseudonyms; makes nothing."""
    if has_secret(settings):
        _compare(session, settings)
        return
    registered = select(func.count()).select_from(Person).where(Person.imported_as.is_(None))
    people = session.scalar(registered)
    if people or _recorded_fingerprint(session):
        rows = f"The database has {people} accounts" if people else "The database was filled with a secret"
        raise Conflict(
            f"{rows}, but there is no {settings.secret_file}. A new secret would change all pseudonyms. Put the file "
            "of a backup in its place (`dynabench restore` does), set DYNABENCH_SECRET to the old secret, or "
            "DYNABENCH_HOME to the folder in which the platform keeps its state."
        )


def has_secret(settings: Settings) -> bool:
    """Tell whether there is a secret, so that none would be made at first use."""
    return bool(settings.secret) or settings.secret_file.exists()


def note_secret(session: Session, settings: Settings) -> None:
    """Write down, once, which secret the rows are keyed with; `Conflict` where another process noted another one.

    The fingerprint does not give the secret away. It lies in the database, so that a mistyped `DYNABENCH_SECRET`, or
    the home folder of another platform, cannot change all pseudonyms without a word.
    """
    if not _recorded_fingerprint(session):
        write = (postgresql if session.get_bind().dialect.name == "postgresql" else sqlite).insert(SecretFingerprint)
        row = {"id": 1, "fingerprint": fingerprint(settings), "noted_at": now()}
        session.execute(write.values(row).on_conflict_do_nothing(index_elements=["id"]))
    _compare(session, settings)


def accept_secret(session: Session, settings: Settings) -> None:
    """Take the secret of these settings for that of the platform from now on; raises `Conflict` where there is none."""
    if not has_secret(settings):
        raise Conflict(
            f"There is no {settings.secret_file}. Set DYNABENCH_SECRET to the secret that is to be accepted."
        )
    session.merge(SecretFingerprint(id=1, fingerprint=fingerprint(settings), noted_at=now()))


def fingerprint(settings: Settings) -> str:
    """Return the fingerprint of the secret that the database keeps."""
    return keyed(settings.key, "fingerprint", "secret").hex()


def _recorded_fingerprint(session: Session) -> str:
    return session.scalar(select(SecretFingerprint.fingerprint).where(SecretFingerprint.id == 1)) or ""


def _compare(session: Session, settings: Settings) -> None:
    recorded = _recorded_fingerprint(session)
    if recorded and not hmac.compare_digest(recorded, fingerprint(settings)):
        source = "DYNABENCH_SECRET" if settings.secret else str(settings.secret_file)
        raise Conflict(
            f"The secret in {source} is not the one with which this platform ran before. Another secret changes all "
            "pseudonyms. Put the old one back, or set DYNABENCH_HOME to the folder in which the platform keeps its "
            "state; if you mean to change it, run `dynabench db accept-secret`."
        )
