"""Files that people upload for evaluation, until they are checked: below `uploads/`; and tokens of endpoints.

A file lies under the uploader's number and is found by its random id, so that only the uploader can submit
it. Tokens are stored where `models.backends.served.tokens` looks for them, never in the database or in a
model's folder.
"""

import hashlib
import re
import shutil
import uuid
from collections.abc import AsyncIterable
from pathlib import Path
from uuid import UUID

from anyio import to_thread

from dynabench.intake import reader
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models import archives
from dynabench.models.backends.served import endpoint
from dynabench.rounds import waiting

FOLDER = ".submissions"  # no task is called so
TOKEN = re.compile(r"[\x21-\x7e]{1,500}")


async def store_upload(settings: Settings, person: int, name: str, parts: AsyncIterable[bytes]) -> str:
    """Store a model's zip file, or a file of predictions or of rows to learn from, under a new id, which is returned.

    Raises `Invalid` under `file` for another kind of file, and for what is no whole zip file.
    """
    archive = name.lower().endswith(".zip")
    if not archive and not name.lower().endswith(".txt"):
        reader.kind_of_file(name)
    path = await waiting.receive(waiting.folder(settings, FOLDER, str(person)), name, parts)
    if archive:
        await to_thread.run_sync(_look, path)
    return path.name.partition("--")[0]


def _look(path: Path) -> None:
    try:
        with path.open("rb") as file:
            archives.check_zip_end(file)
    except ValueError as error:
        path.unlink(missing_ok=True)
        message = _("This archive cannot be read: %(error)s. `dynabench model pack` makes one.", error=error)
        raise errors.Invalid({"file": message}) from None


def find_upload(settings: Settings, person: int, id: str, field: str = "file") -> Path:
    """The waiting file with this id; `Invalid` under `field` where it was thrown away or never was theirs."""
    try:
        place = settings.folder / "uploads" / FOLDER / str(person)
        matches = list(place.glob(f"{UUID(id)}--*"))
    except ValueError:
        matches = []
    if not matches:
        raise errors.Invalid({field: _("This file is not here any more. Send it again.")})
    return matches[0]


def take_upload(settings: Settings, path: Path) -> str:
    """Move a waiting file to where it stays until its submission is ready or withdrawn; its new name there."""
    return waiting.take(settings, path).name


def taken_path(settings: Settings, name: str) -> Path:
    """Return the path of a file that was taken."""
    return settings.folder / "uploads" / name


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def store_token(settings: Settings, host: str, secret: str) -> str:
    """Keep an endpoint's token for one host; the name by which a model finds it. Raises `Invalid` under `token`."""
    if not TOKEN.fullmatch(secret):
        raise errors.Invalid({"token": _("A token is up to 500 printable characters without a space.")})
    name = f"SUBMITTED_{uuid.uuid4().hex.upper()}"
    endpoint.keep_token(settings.folder, name, host, secret)
    return name


def file_names(source: dict[str, object]) -> set[str]:
    """The files that a submission was sent with, by their names where they were taken."""
    files = source.get("files")
    stored_names = [source.get("file"), *(files.values() if isinstance(files, dict) else [])]
    return {name for name in stored_names if isinstance(name, str) and name}


def delete_uploads(settings: Settings, person: int) -> None:
    """Throw away what somebody sent and has not entered."""
    shutil.rmtree(settings.folder / "uploads" / FOLDER / str(person), ignore_errors=True)


def delete_files(settings: Settings, source: dict[str, object], token: bool = False) -> None:
    """Throw away what was sent, and the `token` too once nothing calls the endpoint any more."""
    for name in file_names(source):
        taken_path(settings, name).unlink(missing_ok=True)
    if token and isinstance(source.get("token"), str):
        endpoint.drop_token(settings.folder, str(source["token"]))
