"""A check, before a process starts, that the home folder holds the keys with which the database was filled."""

import hmac

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.accounts.tables import Person
from dynabench.db import Database
from dynabench.errors import Conflict
from dynabench.scoring import records
from dynabench.secret_file import write_new
from dynabench.security import keyed
from dynabench.settings import Settings

FINGERPRINT = "secret.fingerprint"
"""The file in the home by which the next start knows the secret of the one before."""
RESTORING = ".restoring"
"""The folder in the home in which a restore collects everything before any of it takes its place."""


def check_keys(settings: Settings) -> None:
    """Raise `Conflict` where a fresh secret or signing key would be made beside old rows; else make what is missing.

    The secret is made here, before anybody can register: a database with accounts and no secret has then lost it.
    """
    if (settings.folder / RESTORING).exists():
        raise Conflict(
            f"A backup is being restored into {settings.folder}, or was until it was interrupted. Wait until it has "
            "ended, or run `dynabench restore` again."
        )
    database = Database(settings.url)
    try:
        database.read(check_keys_of, settings)
    finally:
        database.close()
    check_fingerprint(settings)


def check_fingerprint(settings: Settings) -> None:
    """Raise `Conflict` where the secret is another one than at the start before; write its fingerprint at the first.

    The fingerprint does not give the secret away, and lies in the home folder: a mistyped `DYNABENCH_SECRET` would
    otherwise change all pseudonyms without a word.
    """
    path = settings.folder / FINGERPRINT
    fingerprint = keyed(settings.key, "fingerprint", "secret").hex().encode()
    if not path.exists():
        write_new(path, fingerprint)
    if not hmac.compare_digest(path.read_bytes().strip(), fingerprint):
        source = "DYNABENCH_SECRET" if settings.secret else str(settings.secret_file)
        raise Conflict(
            f"The secret in {source} is not the one with which this platform ran before. Another secret changes all "
            f"pseudonyms. Put the old one back; if you mean to change it, delete {path}."
        )


def check_keys_of(session: Session, settings: Settings) -> None:
    """Raise `Conflict` where the home folder's keys are not those of the rows in this session; makes nothing."""
    if not settings.secret and not settings.secret_file.exists():
        registered = select(func.count()).select_from(Person).where(Person.imported_as.is_(None))
        if people := session.scalar(registered):
            raise Conflict(
                f"The database has {people} accounts, but there is no {settings.secret_file}. A new secret would "
                "change all pseudonyms. Put the file of a backup in its place (`dynabench restore` does), set "
                "DYNABENCH_SECRET to the old secret, or DYNABENCH_HOME to the folder in which the platform keeps its "
                "state."
            )
    records.check_key(session, settings)
