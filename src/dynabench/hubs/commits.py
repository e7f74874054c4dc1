"""Commits: operations are read line by line, applied to the files of a branch, and become a commit in one step.

Files are on the disk before the row of the branch names the commit. The row is changed only where it still names the
commit that was begun with, so that of two commits at the same moment neither loses the other.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import delete, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.hubs import discussions, names, queries, service
from dynabench.hubs.card import README, card_summary, card_tags, card_words, read_card
from dynabench.hubs.file_store import LargeFile, pointer_text
from dynabench.hubs.git_store import GitStore, blob_of, commit_of, tree_of
from dynabench.hubs.problems import CommitOverdue, EntryMissing, RevisionMissing
from dynabench.hubs.service import MAIN, HubEntry
from dynabench.hubs.tables import HubFileUse, HubRepository, HubTag, HubUpload, ReferenceKind
from dynabench.kit import errors
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.kit.storable import UNSTORABLE
from dynabench.media.store import DIGEST
from dynabench.people import may
from dynabench.people.accounts.service import record_act
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action

MOST_REGULAR = 10 * 2**20
"""Bytes of a file that git itself keeps; larger ones are large files."""
LONGEST_LINE = MOST_REGULAR * 4 // 3 + 4096
MOST_FILES, MOST_OPERATIONS = 100_000, 25_000
LONGEST_TITLE, LONGEST_MESSAGE = 200, 10_000
TRIES = 8
BROKEN = _("A line of this commit is no operation.")


@dataclass
class CommitRequest:
    """The operations of one commit as they were sent; `files` has hashes of git, `large` the digests of large files."""

    title: str = ""
    body: str = ""
    parent: str = ""
    files: dict[str, str] = field(default_factory=dict)
    large: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    removed_files: list[str] = field(default_factory=list)
    removed_folders: list[str] = field(default_factory=list)
    new_bytes: int = 0

    @property
    def message(self) -> str:
        """The message of the commit."""
        return f"{self.title}\n\n{self.body}".strip()

    @property
    def count(self) -> int:
        """The number of operations."""
        return len(self.files) + len(self.large) + len(self.removed_files) + len(self.removed_folders)


@dataclass(frozen=True)
class CommitOutcome:
    """A commit that has landed; `number` is that of the pull request it opened, 0 without one."""

    revision: str
    number: int = 0


class CommitReader:
    """Reads the lines of a commit as they come; contents go to the disk at once, so that memory is bounded."""

    def __init__(self, store: GitStore) -> None:
        self.store, self.request = store, CommitRequest()
        self._rest = b""

    def feed(self, part: bytes) -> None:
        """Read the lines that end in a part."""
        *lines, self._rest = (self._rest + part).split(b"\n")
        for line in lines:
            self._read(line)
        if len(self._rest) > LONGEST_LINE:
            raise errors.TooLarge(_("A file in a commit has at most 10 MiB. Send larger ones as large files."))

    def end(self) -> CommitRequest:
        """Return the request once all has come."""
        self._read(self._rest)
        if not self.request.title:
            raise errors.Invalid({"summary": _("A commit needs a summary.")})
        return self.request

    def _read(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            document = json.loads(line)
            key, value = document["key"], document["value"]
            if not isinstance(value, dict):
                raise TypeError
            self._apply(key, value)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise errors.Invalid({"body": BROKEN}) from None
        if self.request.count > MOST_OPERATIONS:
            raise errors.Invalid({"body": _("A commit has at most %(most)s operations.", most=MOST_OPERATIONS)})

    def _apply(self, key: str, value: Mapping[str, Any]) -> None:
        request = self.request
        if key == "header":
            request.title = _text(value["summary"], LONGEST_TITLE).replace("\n", " ")
            request.body = _text(value.get("description") or "", LONGEST_MESSAGE)
            request.parent = str(value.get("parentCommit") or "")
        elif key == "file":
            self._add_file(names.check_path(value["path"]), value)
        elif key == "lfsFile":
            path, digest = names.check_path(value["path"]), value["oid"]
            if not DIGEST.fullmatch(digest):
                raise ValueError
            request.large[path] = digest
            if value.get("size") is not None:
                request.sizes[digest] = int(value["size"])
        elif key == "deletedFile":
            request.removed_files.append(names.check_path(value["path"]))
        elif key in ("deletedFolder", "deletedEntry"):
            request.removed_folders.append(names.check_path(value["path"].rstrip("/")))
        else:
            raise ValueError(key)

    def _add_file(self, path: str, value: Mapping[str, Any]) -> None:
        text = value["content"]
        try:
            content = text.encode() if value.get("encoding") == "utf-8" else base64.b64decode(text, validate=True)
        except binascii.Error:
            raise errors.Invalid({"body": BROKEN}) from None
        if len(content) > MOST_REGULAR:
            raise errors.TooLarge(_("A file in a commit has at most 10 MiB. Send larger ones as large files."))
        item = blob_of(content)
        self.request.new_bytes += self.store.write([item])
        self.request.files[path] = item.id.decode()


def _text(value: object, most: int) -> str:
    if not isinstance(value, str):
        raise TypeError
    return UNSTORABLE.sub("", value).strip()[:most]


@dataclass(frozen=True)
class _Branch:
    """The branch that a commit goes to, and where it is."""

    kind: ReferenceKind
    name: str
    head: str


def commit_changes(
    db: Database,
    settings: Settings,
    person: Person,
    entry: HubEntry,
    revision: str,
    request: CommitRequest,
    *,
    proposes: bool = False,
) -> CommitOutcome:
    """Put a commit on a branch, or on a new pull request where it `proposes`.

    A request that changes nothing makes no commit, so that one that is repeated is harmless. Raises `CommitOverdue`
    where the branch is not at the parent that the request names.
    """
    for _try in range(TRIES):
        branch = db.read(_find_branch, person, entry, revision, proposes)
        if request.parent and request.parent != branch.head:
            raise CommitOverdue
        try:
            outcome = _commit_once(db, settings, person, entry, branch, request, proposes)
        except IntegrityError:  # a file was swept away, or a pull request took the number
            continue
        if outcome is not None:
            return outcome
        if request.parent:
            raise CommitOverdue
    raise errors.Unavailable(_("Too many commits to this branch at the same time."), retry_after=2)


def require_writer(session: Session, person: Person, entry: HubEntry, revision: str, proposes: bool) -> None:
    """Refuse a person who may not commit to a branch; everybody may propose a change with a pull request.

    Raises `RevisionMissing` where there is no such branch.
    """
    if proposes:
        may.refuse_unless(may.may(person, Action.PROPOSE_CHANGE))
        return
    reference = service.find_reference(session, entry, revision)
    if not revision.startswith("refs/pr/"):
        service.require_owner(person, entry)
    if reference is None or reference.kind == ReferenceKind.TAG:
        raise RevisionMissing
    if reference.kind == ReferenceKind.PULL:
        discussions.require_branch(session, person, entry, revision)


def _find_branch(session: Session, person: Person, entry: HubEntry, revision: str, proposes: bool) -> _Branch:
    reference = service.find_reference(session, entry, revision)
    if reference is None or reference.kind == ReferenceKind.TAG:
        raise RevisionMissing
    branch = _Branch(ReferenceKind(reference.kind), reference.name, reference.revision)
    if proposes:
        if branch.name != MAIN:
            raise errors.Invalid({"revision": _("A pull request begins at the branch main.")})
        may.refuse_unless(may.may(person, Action.PROPOSE_CHANGE))
    elif branch.kind == ReferenceKind.PULL:
        discussions.require_branch(session, person, entry, branch.name)
    else:
        service.require_owner(person, entry)
    return branch


def _commit_once(
    db: Database,
    settings: Settings,
    person: Person,
    entry: HubEntry,
    branch: _Branch,
    request: CommitRequest,
    proposes: bool,
) -> CommitOutcome | None:
    """Commit on the present head; None where the branch has moved meanwhile."""
    store = GitStore.of(settings, entry.row.folder)
    large = db.read(_known_files, person, entry, request)
    pointers = {path: blob_of(pointer_text(large[digest])) for path, digest in request.large.items()}
    files = store.files(branch.head)
    changed = _changed(files, request) | {path: item.id.decode() for path, item in pointers.items()}
    result = {path: revision for path, revision in (files | changed).items() if revision}
    if result == files and not proposes:
        return CommitOutcome(branch.head)
    _check_files(files, result)
    root, trees = tree_of(result)
    signature = db.write(service.claim_namespace, settings, person).signature
    commit = commit_of(root, (branch.head,), signature, request.message, now())
    size = request.new_bytes + store.write([*pointers.values(), *trees, commit])
    after = commit.id.decode()
    readme = store.blob(result[README]) if README in result else b""
    uses = {request.large[path] for path in pointers}

    def advance(session: Session) -> CommitOutcome | None:
        service.require_room(session, settings, person.id, size)
        if proposes:
            _use_files(session, entry, person, uses)
            number = discussions.open_with_commit(session, person, entry, branch.head, after, request)
            return CommitOutcome(after, number)
        move = queries.move_reference(entry.row.id, branch.kind, branch.name, branch.head, after)
        if session.execute(move).rowcount != 1:  # type: ignore[attr-defined]
            return None
        _use_files(session, entry, person, uses)
        if branch.kind == ReferenceKind.PULL:
            discussions.record_commit(session, person, entry, branch.name, after, request.title)
        _follow_head(session, entry, branch.name, after, size, readme)
        return CommitOutcome(after)

    outcome = db.write(advance)
    if outcome is not None:
        request.new_bytes = 0
        store.mirror_references(db.read(service.full_references, entry.row.id))
    return outcome


def squash_branch(
    db: Database, settings: Settings, person: Person, entry: HubEntry, revision: str, message: str
) -> CommitOutcome:
    """Put one commit with the files of a branch in its place (owner); what it had before is pruned later."""
    service.require_owner(person, entry)
    store = GitStore.of(settings, entry.row.folder)
    signature = db.write(service.claim_namespace, settings, person).signature
    for _try in range(TRIES):
        branch = db.read(_find_branch, person, entry, revision, False)
        commit = commit_of(store.commit(branch.head).tree.decode(), (), signature, message, now())
        after, size = commit.id.decode(), store.write([commit])

        def advance(session: Session, branch: _Branch = branch, after: str = after, size: int = size) -> bool:
            move = queries.move_reference(entry.row.id, branch.kind, branch.name, branch.head, after)
            if session.execute(move).rowcount != 1:  # type: ignore[attr-defined]
                return False
            row = session.get_one(HubRepository, entry.row.id, with_for_update=True)
            row.git_bytes, row.changed_at = row.git_bytes + size, now()
            if branch.name == MAIN:
                row.head = after
            subject = {"repository": f"{row.kind} {entry.full_name}", "branch": branch.name}
            record_act(session, person.id, "repository.squash", subject)
            return True

        if db.write(advance):
            store.mirror_references(db.read(service.full_references, entry.row.id))
            return CommitOutcome(after)
    raise errors.Unavailable(_("Too many commits to this branch at the same time."), retry_after=2)


def _known_files(session: Session, person: Person, entry: HubEntry, request: CommitRequest) -> dict[str, LargeFile]:
    """The large files of a request that the person may use. Raises `Invalid` for others, and for sizes that lie."""
    digests = sorted(set(request.large.values()))
    sizes: dict[str, int] = {}
    for start in range(0, len(digests), 500):
        part = digests[start : start + 500]
        for statement in (
            queries.readable_files(person, part),
            queries.used_files(entry.row.id, part),
            queries.uploaded_files(entry.row.id, person.id, part),
        ):
            sizes |= dict(session.execute(statement).all())
    if missing := [digest for digest in digests if digest not in sizes]:
        raise errors.Invalid({"oid": _("Send the large file %(digest)s before the commit.", digest=missing[0])})
    if wrong := [digest for digest, size in request.sizes.items() if digest in sizes and sizes[digest] != size]:
        raise errors.Invalid({"size": _("The large file %(digest)s has another size.", digest=wrong[0])})
    return {digest: LargeFile(digest, size) for digest, size in sizes.items()}


def _changed(files: Mapping[str, str], request: CommitRequest) -> dict[str, str]:
    """Return the hashes of changed files by path; empty for those that are deleted."""
    gone: dict[str, str] = {}
    for path in request.removed_files:
        if path not in files:
            raise EntryMissing
        gone[path] = ""
    for folder in request.removed_folders:
        inside = [path for path in files if path.startswith(f"{folder}/") or path == folder]
        if not inside:
            raise EntryMissing
        gone |= dict.fromkeys(inside, "")
    return gone | request.files


def _check_files(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    if len(after) > MOST_FILES:
        raise errors.Invalid({"body": _("A repository has at most %(most)s files.", most=MOST_FILES)})
    names.check_collisions(after, after.keys() - before.keys())


def _use_files(session: Session, entry: HubEntry, person: Person, digests: set[str]) -> None:
    present = {digest for digest, _size in session.execute(queries.used_files(entry.row.id, digests))}
    rows = [
        {"repository_id": entry.row.id, "digest": digest, "person_id": person.id}
        for digest in sorted(digests - present)
    ]
    if rows:
        session.execute(insert(HubFileUse), rows)
    mine = (HubUpload.repository_id == entry.row.id, HubUpload.person_id == person.id)
    session.execute(delete(HubUpload).where(*mine, HubUpload.digest.in_(digests)))


def _follow_head(session: Session, entry: HubEntry, branch: str, revision: str, size: int, readme: bytes) -> None:
    """Keep the card, the tags and the words of a repository as its branch main has them."""
    row = session.get_one(HubRepository, entry.row.id, with_for_update=True)
    row.git_bytes += size
    row.changed_at = now()
    if branch == MAIN:
        follow_card(session, row, entry.full_name, revision, readme)


def follow_card(session: Session, row: HubRepository, full_name: str, revision: str, readme: bytes) -> None:
    """Note the commit of the branch main and what its README.md says of the repository."""
    card = read_card(readme)
    tags = card_tags(card.metadata, row.kind)
    row.head, row.card, row.summary = revision, card.metadata, card_summary(card)
    row.words = card_words(full_name, card, tags)
    session.execute(delete(HubTag).where(HubTag.repository_id == row.id))
    if tags:
        session.execute(insert(HubTag), [{"repository_id": row.id, "tag": tag} for tag in tags])
