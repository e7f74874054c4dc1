"""One git repository on the disk: read through dulwich, and written so that a killed process leaves nothing broken.

Branches are rows of the database; `packed-refs` repeats them for people who open the folder with git.
"""

import os
import shutil
import uuid
import zlib
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from dulwich.object_store import DiskObjectStore
from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree

from dynabench.kit.errors import NotFound
from dynabench.kit.language import _
from dynabench.kit.settings import Settings, sync_folder

FILE_MODE, FOLDER_MODE = 0o100644, 0o040000
PRUNED = "pruned"
HEAD_BYTES = 256
"""Bytes of a file that are read with its size: enough for the pointer of a large file."""
CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n[gc]\n\tauto = 0\n"


class TreeEntry(NamedTuple):
    """A file or folder at a commit: its full path and its hash."""

    path: str
    revision: str
    folder: bool


class BlobHead(NamedTuple):
    """The size and the first bytes of a file."""

    size: int
    start: bytes


class CommitFacts(NamedTuple):
    """A commit as pages and the API show it."""

    revision: str
    parents: tuple[str, ...]
    signature: str
    at: datetime
    message: str

    @property
    def title(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]

    @property
    def body(self) -> str:
        """The message without its first line."""
        return self.message.partition("\n")[2].strip()


class GitStore:
    """The objects of one repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.objects = folder / "objects"
        self._store = DiskObjectStore(self.objects)

    @classmethod
    def of(cls, settings: Settings, name: str) -> "GitStore":
        """The store in the folder of this name below the home folder."""
        return cls(settings.folder / "repositories" / "git" / name)

    def create(self) -> None:
        """Make an empty bare repository."""
        for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
            (self.folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        (self.folder / "HEAD").write_text("ref: refs/heads/main\n")
        (self.folder / "config").write_text(CONFIG)

    def remove(self) -> None:
        """Delete the repository from the disk."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, objects: Iterable[ShaFile]) -> int:
        """Store objects durably, each complete or not at all; returns the bytes that are new on the disk."""
        folders, size = set(), 0
        for item in objects:
            path = self.object_path(item.id.decode())
            with suppress(FileNotFoundError):
                os.utime(path)  # it is needed again, and young enough to be left by `prune`
                continue
            if not path.parent.exists():
                path.parent.mkdir(exist_ok=True, mode=0o700)
                folders.add(self.objects)
            content = item.as_legacy_object()
            fresh = path.with_name(f"tmp_obj_{uuid.uuid4().hex}")
            with fresh.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
            folders.add(path.parent)
            size += len(content)
        for folder in folders:
            sync_folder(folder)
        return size

    def object_path(self, revision: str) -> Path:
        """Return the path of an object by its hash."""
        return self.objects / revision[:2] / revision[2:]

    def is_packed(self, revision: str) -> bool:
        """Return whether a person packed an object with git, so that it has no file of its own."""
        return self._store.contains_packed(ObjectID(revision.encode()))

    def blob_head(self, revision: str) -> BlobHead:
        """Return the size and the first bytes of a file without reading all of it."""
        try:
            with self.object_path(revision).open("rb") as file:
                start = zlib.decompressobj().decompress(file.read(4096), HEAD_BYTES + 32)
        except FileNotFoundError:  # somebody packed the repository with git
            content = self.blob(revision)
            return BlobHead(len(content), content[:HEAD_BYTES])
        header, _nul, content = start.partition(b"\0")
        return BlobHead(int(header.split()[1]), content[:HEAD_BYTES])

    def blob(self, revision: str) -> bytes:
        """Return the content of a file."""
        item = self._object(revision)
        if not isinstance(item, Blob):
            raise NotFound(_("There is no such file."))
        return item.data

    def _object(self, revision: str) -> ShaFile:
        try:
            return self._store[ObjectID(revision.encode())]
        except (KeyError, FileNotFoundError):
            raise NotFound(_("There is no such object in this repository.")) from None

    def tree(self, revision: str) -> Tree:
        """Return a folder by its hash."""
        item = self._object(revision)
        if not isinstance(item, Tree):
            raise NotFound(_("There is no such folder."))
        return item

    def has_commit(self, revision: str) -> bool:
        """Return whether a hash is that of a commit."""
        try:
            return isinstance(self._object(revision), Commit)
        except NotFound:
            return False

    def find_commit(self, start: str) -> str:
        """Return the one commit whose hash begins so; an empty text where there is none, or several."""
        names = [f"{path.parent.name}{path.name}" for path in self.objects.glob(f"{start[:2]}/{start[2:]}*")]
        commits = [name for name in names if self.has_commit(name)]
        return commits[0] if len(commits) == 1 else ""

    def commit(self, revision: str) -> Commit:
        """Return a commit by its hash."""
        item = self._object(revision)
        if not isinstance(item, Commit):
            raise NotFound(_("There is no such commit."))
        return item

    def facts(self, revision: str) -> CommitFacts:
        """Return what is shown of a commit."""
        item = self.commit(revision)
        return CommitFacts(
            revision,
            tuple(parent.decode() for parent in item.parents),
            item.author.decode("utf-8", "replace").partition(" <")[0],
            datetime.fromtimestamp(item.commit_time, UTC),
            item.message.decode("utf-8", "replace").strip(),
        )

    def find(self, revision: str, path: str) -> TreeEntry | None:
        """Return the file or folder at a path of a commit; None where there is none."""
        entry = TreeEntry("", self.commit(revision).tree.decode(), True)
        for part in path.split("/") if path else ():
            if not entry.folder:
                return None
            try:
                mode, found_id = self.tree(entry.revision)[part.encode()]
            except (KeyError, UnicodeEncodeError):
                return None
            entry = TreeEntry(f"{entry.path}/{part}".lstrip("/"), found_id.decode(), mode == FOLDER_MODE)
        return entry

    def entries(self, folder: TreeEntry, recursive: bool = False) -> Iterator[TreeEntry]:
        """Yield the entries of a folder in git's order; `recursive` with those of all folders below."""
        for name, mode, entry_id in self.tree(folder.revision).iteritems():
            path = f"{folder.path}/{name.decode('utf-8', 'replace')}".lstrip("/")
            entry = TreeEntry(path, entry_id.decode(), mode == FOLDER_MODE)
            yield entry
            if recursive and entry.folder:
                yield from self.entries(entry, True)

    def files(self, revision: str) -> dict[str, str]:
        """Return the hashes of all files of a commit by path."""
        root = TreeEntry("", self.commit(revision).tree.decode(), True)
        return {entry.path: entry.revision for entry in self.entries(root, True) if not entry.folder}

    def history(self, revision: str) -> Iterator[CommitFacts]:
        """Yield a commit and its ancestors, the newest first."""
        waiting = OrderedDict({revision: self.facts(revision)})
        seen = {revision}
        while waiting:
            newest = max(waiting.values(), key=lambda facts: facts.at)  # the first of several equal ones
            del waiting[newest.revision]
            yield newest
            for parent in newest.parents:
                if parent not in seen:
                    seen.add(parent)
                    waiting[parent] = self.facts(parent)

    def reachable(self, revisions: Iterable[str]) -> Iterator[str]:
        """Yield the hashes of all objects that commits reach: the commits, their ancestors, folders and files."""
        seen: set[str] = set()
        waiting = list(revisions)
        while waiting:
            revision = waiting.pop()
            if revision in seen:
                continue
            seen.add(revision)
            yield revision
            item = self._object(revision)
            if isinstance(item, Commit):
                waiting += [item.tree.decode(), *(parent.decode() for parent in item.parents)]
            elif isinstance(item, Tree):
                for _name, mode, entry_id in item.iteritems():
                    if mode == FOLDER_MODE:
                        waiting.append(entry_id.decode())
                    elif (blob := entry_id.decode()) not in seen:
                        seen.add(blob)
                        yield blob

    def prune(self, reached: Collection[str], before: float) -> int:
        """Delete objects that are not among those reached and that nobody wrote since a moment; returns their bytes.

        An object is moved aside first: one that a commit has touched in this instant comes back.
        """
        lost = 0
        for path in sorted(self.objects.glob("??/*")):
            if path.parent.name + path.name in reached or path.stat().st_mtime >= before:
                continue
            aside = path.with_name(f"tmp_obj_{uuid.uuid4().hex}")
            path.rename(aside)
            if aside.stat().st_mtime >= before:
                aside.rename(path)
                continue
            lost += aside.stat().st_size
            aside.unlink()
        return lost

    def changed_at(self) -> float:
        """Return when a branch or tag changed last, in seconds of the epoch."""
        return _written_at(self.folder / "packed-refs")

    def pruned_at(self) -> float:
        """Return when `mark_pruned` was called last, in seconds of the epoch."""
        return _written_at(self.folder / PRUNED)

    def mark_pruned(self) -> None:
        """Note that this repository is being pruned."""
        (self.folder / PRUNED).touch()

    def mirror_references(self, references: Mapping[str, str]) -> None:
        """Write the branches and tags of the database where git looks for them, by full name, in one step."""
        lines = ["# pack-refs with: peeled fully-peeled sorted \n"]
        lines += [f"{references[name]} {name}\n" for name in sorted(references)]
        fresh = self.folder / f"packed-refs.{uuid.uuid4().hex}"
        fresh.write_text("".join(lines))
        fresh.replace(self.folder / "packed-refs")


def _written_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def tree_of(files: Mapping[str, str]) -> tuple[str, list[Tree]]:
    """Return the hash of the root folder with these files (hashes by path), and the objects of all folders."""
    root: dict[str, object] = {}
    for path, revision in files.items():
        *folders, name = path.split("/")
        place = root
        for folder in folders:
            place = place.setdefault(folder, {})  # type: ignore[assignment]
        place[name] = revision
    trees: list[Tree] = []
    return _tree(root, trees), trees


def _tree(folder: Mapping[str, object], trees: list[Tree]) -> str:
    tree = Tree()
    for name, item in folder.items():
        if isinstance(item, str):
            tree.add(name.encode(), FILE_MODE, ObjectID(item.encode()))
        else:
            tree.add(name.encode(), FOLDER_MODE, ObjectID(_tree(item, trees).encode()))  # type: ignore[arg-type]
    trees.append(tree)
    return tree.id.decode()


def commit_of(tree: str, parents: Iterable[str], signature: str, message: str, at: datetime) -> Commit:
    """Return a commit; its author and committer are the pseudonym `signature`."""
    item = Commit()
    item.tree = ObjectID(tree.encode())
    item.parents = [ObjectID(parent.encode()) for parent in parents]
    item.author = item.committer = f"{signature} <{signature}@hub.invalid>".encode()
    item.author_time = item.commit_time = int(at.timestamp())
    item.author_timezone = item.commit_timezone = 0
    item.encoding = b"UTF-8"
    item.message = message.encode()
    return item


def blob_of(content: bytes) -> Blob:
    """Return a file as an object."""
    return Blob.from_string(content)
