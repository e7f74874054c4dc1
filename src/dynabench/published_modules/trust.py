"""Trust in published modules: exactly one commit of one repository, with the digest of its files, for one user.

It is kept in a file of the user's folder. A branch that moves names another commit, which is not trusted.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from dynabench.published_modules.repositories import COMMIT, ModuleFiles


class UntrustedModule(ValueError):
    """The code of a module that the caller does not trust; the message says how to read and to trust it."""


@dataclass(frozen=True)
class TrustedModule:
    """A commit that the user trusts; `digest` is that of the files which the user could read."""

    repository: str
    revision: str
    digest: str
    at: str


def trust_file() -> Path:
    """Return the file in the user's folder that holds the trusted modules."""
    start = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(start).expanduser() / "dynabench" / "trusted-modules.json"


def trusted_modules() -> list[TrustedModule]:
    """Return all that the user trusts. Raises ValueError for a file that cannot be read."""
    path = trust_file()
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        return [TrustedModule(**entry) for entry in entries]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{path} cannot be read ({error}); mend or delete it: nothing is trusted until then") from None


def add_trust(files: ModuleFiles) -> TrustedModule:
    """Trust one commit of a module, and nothing else."""
    trusted = TrustedModule(
        files.repository, files.revision, files.digest, datetime.now(UTC).isoformat(timespec="seconds")
    )
    with _locked():
        others = [entry for entry in trusted_modules() if not _same(entry, files.repository, files.revision)]
        _write([*others, trusted])
    return trusted


def remove_trust(repository: str, revision: str = "") -> int:
    """Trust a commit of a module no more, or none of its commits; return how many there were."""
    with _locked():
        before = trusted_modules()
        remaining = [entry for entry in before if not _same(entry, repository, revision or entry.revision)]
        if len(remaining) < len(before):
            _write(remaining)
    return len(before) - len(remaining)


def check_trust(repository: str, revision: str, trust: bool | str | None, pinned: bool) -> str | None:
    """Return the digest that the files of a commit must have; None where the caller trusts the commit by argument.

    Raises `UntrustedModule`.
    """
    if trust is True and not pinned:
        raise UntrustedModule(
            f"trust=True needs a full commit as revision, since branches and tags move: revision={revision!r}"
        )
    if isinstance(trust, str) and trust != revision:
        wrong = "" if COMMIT.fullmatch(trust) else " (give all 40 digits of the commit)"
        raise UntrustedModule(f"you trust {trust!r:.60} of {repository}, and this is {revision}{wrong}")
    if trust is True or isinstance(trust, str):
        return None
    for entry in trusted_modules():
        if _same(entry, repository, revision):
            return entry.digest
    older = [entry.revision[:10] for entry in trusted_modules() if entry.repository.lower() == repository.lower()]
    hint = f" You trust {', '.join(older)} of it, which is other code." if older else ""
    raise UntrustedModule(
        f"{repository} at {revision} is code of another person, and you have not trusted it.{hint} Read it "
        f"(`dynabench module show {repository}@{revision}`), then run `dynabench module trust "
        f"{repository}@{revision}`, or pass trust={revision!r}"
    )


def check_digest(files: ModuleFiles, digest: str | None) -> None:
    """Refuse files that are not those which the user trusted. Raises `UntrustedModule`."""
    if digest is not None and files.digest != digest:
        raise UntrustedModule(
            f"the files of {files.repository} at {files.revision} are not those that you trusted; the hub gives "
            "other files for this commit now"
        )


def _same(entry: TrustedModule, repository: str, revision: str) -> bool:
    return entry.repository.lower() == repository.lower() and entry.revision == revision


def _write(entries: list[TrustedModule]) -> None:
    path = trust_file()
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
        json.dump([asdict(entry) for entry in entries], file, indent=2)
    Path(file.name).replace(path)


@contextmanager
def _locked() -> Iterator[None]:
    """Let one process at a time change the file."""
    import fcntl

    path = trust_file()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
