"""Reading repositories: files with their sizes, the last commits of files, differences, names of authors."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy.orm import Session

from dynabench.hubs import queries
from dynabench.hubs.file_store import LargeFile, read_pointer
from dynabench.hubs.git_store import CommitFacts, GitStore, TreeEntry
from dynabench.hubs.service import HubEntry

DEEPEST_HISTORY = 500
"""Commits that are looked through for the last change of each file of a list."""
MOST_DIFF_BYTES, MOST_DIFF_FILES = 200_000, 100
DELETED = "a deleted account"


@dataclass(frozen=True)
class FileFacts:
    """A file or folder of a list; `large` is set for a large file, whose pointer has `pointer_size` bytes."""

    entry: TreeEntry
    size: int = 0
    large: LargeFile | None = None
    pointer_size: int = 0

    @property
    def path(self) -> str:
        """The path from the root of the repository."""
        return self.entry.path

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.entry.path.rpartition("/")[2]

    @property
    def etag(self) -> str:
        """The name of the content: the SHA-256 of a large file, else the hash of git."""
        return self.large.digest if self.large else self.entry.revision


def file_facts(session: Session, store: GitStore, entry: HubEntry, entries: Iterable[TreeEntry]) -> list[FileFacts]:
    """Return entries with their sizes; a pointer counts only where a commit of the repository brought its file."""
    heads = [(item, None if item.folder else store.blob_head(item.revision)) for item in entries]
    pointers = {item.revision: read_pointer(head.start) for item, head in heads if head and head.size < 256}
    digests = sorted({pointer.digest for pointer in pointers.values() if pointer})
    used: dict[str, int] = {}
    for start in range(0, len(digests), 500):
        part = digests[start : start + 500]
        used |= dict(session.execute(queries.used_files(entry.row.id, part)).all())
    facts = []
    for item, head in heads:
        pointer = pointers.get(item.revision)
        if head is None:
            facts.append(FileFacts(item))
        elif pointer is not None and used.get(pointer.digest) == pointer.size:
            facts.append(FileFacts(item, pointer.size, pointer, head.size))
        else:
            facts.append(FileFacts(item, head.size))
    return facts


def find_file(session: Session, store: GitStore, entry: HubEntry, revision: str, path: str) -> FileFacts | None:
    """Return the file at a path of a commit; None where there is none, or a folder."""
    item = store.find(revision, path)
    return None if item is None or item.folder else file_facts(session, store, entry, [item])[0]


def last_commits(store: GitStore, revision: str, paths: Sequence[str]) -> dict[str, CommitFacts]:
    """Return the commit that changed each path last; the oldest commit looked at for those that are older."""
    waiting = {path: store.find(revision, path) for path in paths}
    result: dict[str, CommitFacts] = {}
    facts = store.facts(revision)
    for _depth in range(DEEPEST_HISTORY):
        if not waiting:
            break
        parent = facts.parents[0] if facts.parents else ""
        for path, item in list(waiting.items()):
            before = store.find(parent, path) if parent else None
            if before != item:
                result[path] = facts
                del waiting[path]
        if not parent:
            break
        facts = store.facts(parent)
    return result | dict.fromkeys(waiting, facts)


def author_names(session: Session, commits: Iterable[CommitFacts]) -> dict[str, str]:
    """Return the names of the authors of commits by the pseudonyms in these."""
    signatures = sorted({commit.signature for commit in commits})
    return {row.signature: row.name for row in session.scalars(queries.namespaces_signed(signatures))}


def person_names(session: Session, person_ids: Iterable[int | None]) -> dict[int, str]:
    """Return the namespaces of people by their ids."""
    ids = sorted({person_id for person_id in person_ids if person_id is not None})
    return {row.person_id: row.name for row in session.scalars(queries.namespaces_of(ids))}


class FileChange(NamedTuple):
    """A change of a file between two commits: hashes before and after, empty where it did not exist."""

    path: str
    before: str
    after: str


def changed_files(store: GitStore, before: str, after: str) -> list[FileChange]:
    """Return the files that differ between two commits (an empty text for none), by path."""
    old = store.files(before) if before else {}
    new = store.files(after)
    paths = sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))
    return [FileChange(path, old.get(path, ""), new.get(path, "")) for path in paths]


def diff_lines(store: GitStore, change: FileChange) -> list[str]:
    """Return a change of a text as the lines of a unified diff; none for files that are no texts or too large."""
    sides = []
    for revision in (change.before, change.after):
        if revision and store.blob_head(revision).size > MOST_DIFF_BYTES:
            return []
        content = store.blob(revision) if revision else b""
        if b"\0" in content:
            return []
        sides.append(content.decode("utf-8", "replace").splitlines())
    names = [f"a/{change.path}" if change.before else "/dev/null", f"b/{change.path}" if change.after else "/dev/null"]
    return list(difflib.unified_diff(sides[0], sides[1], names[0], names[1], lineterm=""))


def diff_text(store: GitStore, before: str, after: str) -> str:
    """Return all changes between two commits as a unified diff, up to a limit."""
    return "".join(_diff_parts(store, changed_files(store, before, after)[:MOST_DIFF_FILES]))


def _diff_parts(store: GitStore, changes: Sequence[FileChange]) -> Iterator[str]:
    for change in changes:
        yield f"diff --git a/{change.path} b/{change.path}\n"
        yield "".join(f"{line}\n" for line in diff_lines(store, change)) or "Binary files differ\n"
