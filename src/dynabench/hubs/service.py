"""Repositories: created, found, renamed, deleted; their branches and tags. All runs in the caller's session."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.hubs import names, queries
from dynabench.hubs.git_store import GitStore, blob_of, commit_of, tree_of
from dynabench.hubs.problems import QuotaReached, RepositoryExists, RepositoryMissing, RevisionMissing
from dynabench.hubs.tables import (
    HubDiscussion,
    HubDiscussionEvent,
    HubFileUse,
    HubNamespace,
    HubReference,
    HubRepository,
    HubUpload,
    ReferenceKind,
    RepositoryFlag,
    RepositoryKind,
)
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.disk import require_disk_room
from dynabench.kit.language import _
from dynabench.kit.security import pseudonym
from dynabench.kit.settings import Settings
from dynabench.people import may
from dynabench.people.accounts.service import record_act
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import shows_repository
from dynabench.people.may import Action

MAIN = "main"
MOST_REPOSITORIES, MOST_REFERENCES = 1000, 1000
MIB = 2**20
LARGE_ENDINGS = tuple(
    (
        "7z arrow bin bz2 ckpt ftz gz h5 joblib model msgpack npy npz onnx parquet pb pickle pkl pt pth rar safetensors"
        " tar tflite tgz wasm xz zip zst"
    ).split()
)
"""Endings of files that are kept as large files whatever their size."""
ATTRIBUTES = b"".join(f"*.{end} filter=lfs diff=lfs merge=lfs -text\n".encode() for end in LARGE_ENDINGS)
"""The first file of each repository: the endings of files that git clients keep as large files."""


@dataclass(frozen=True)
class HubEntry:
    """A repository with its namespace."""

    row: HubRepository
    namespace: str

    @property
    def full_name(self) -> str:
        """The name with its namespace."""
        return f"{self.namespace}/{self.row.name}"

    @property
    def kind(self) -> RepositoryKind:
        """The kind of the repository."""
        return RepositoryKind(self.row.kind)


def claim_namespace(session: Session, settings: Settings, person: Person) -> HubNamespace:
    """Return the namespace of a person, made at the first call of the name that is shown of the person."""
    namespace = session.get(HubNamespace, person.id)
    if namespace is not None:
        return namespace
    choices = [name for name in (person.pseudonym, person.username) if names.NAMESPACE.fullmatch(name or "")]
    for name in [*choices, f"{person.username.strip('._-')[:30] or 'member'}-{person.id}"]:
        in_use = session.scalar(queries.name_taken(name, person.id)) is not None
        if in_use or name.lower() in names.RESERVED or "--" in name or ".." in name:
            continue
        namespace = HubNamespace(person_id=person.id, name=name, signature=pseudonym(settings.key, "person", person.id))
        try:
            with session.begin_nested():
                session.add(namespace)
            return namespace
        except IntegrityError:  # another request claimed it at the same moment
            if existing := session.get(HubNamespace, person.id, populate_existing=True):
                return existing
    raise errors.Conflict(_("No name is free for your repositories. Choose a pseudonym in your settings."))


def find_entry(session: Session, viewer: Person | None, kind: str, namespace: str, name: str) -> HubEntry:
    """Return the repository with a full name. Raises `RepositoryMissing`, also for private ones of others."""
    match = session.execute(queries.repository_named(kind, namespace, name)).first()
    if match is None or not shows_repository(viewer, match[0]):
        raise RepositoryMissing
    return HubEntry(match[0], match[1].name)


def managed_entry(session: Session, person: Person, kind: str, namespace: str, name: str) -> HubEntry:
    """Return a repository that a person owns or administers. Raises `Forbidden` or `RepositoryMissing`."""
    entry = find_entry(session, person, kind, namespace, name)
    require_owner(person, entry)
    return entry


def require_owner(person: Person, entry: HubEntry) -> None:
    """Refuse a person who may not change a repository."""
    may.refuse_unless(may.may(person, Action.CHANGE_REPOSITORY, author=entry.row.owner_id))


def create_repository(
    session: Session, settings: Settings, person: Person, kind: RepositoryKind, name: str, *, private: bool = False
) -> HubEntry:
    """Make a repository with a first commit in the person's namespace. Raises `RepositoryExists`."""
    names.check_repository_name(name)
    session.get_one(Person, person.id, with_for_update=True)  # counted one at a time
    namespace = claim_namespace(session, settings, person)
    if session.execute(queries.repository_named(kind, namespace.name, name)).first() is not None:
        message = _("You already created this repository.")
        raise RepositoryExists(message, address=f"{namespace.name}/{name}")
    count = len(session.scalars(select(HubRepository.id).where(HubRepository.owner_id == person.id)).all())
    if count >= MOST_REPOSITORIES:
        raise errors.Conflict(_("You have %(most)s repositories. Delete one first.", most=MOST_REPOSITORIES))
    row = HubRepository(kind=kind, owner_id=person.id, name=name, private=private, folder=uuid.uuid4().hex, head="")
    row.words = f"{namespace.name}/{name}".lower()
    store = GitStore.of(settings, row.folder)
    store.create()
    attributes = blob_of(ATTRIBUTES)
    root, trees = tree_of({".gitattributes": attributes.id.decode()})
    commit = commit_of(root, (), namespace.signature, "initial commit", now())
    row.git_bytes = store.write([attributes, *trees, commit])
    row.head = commit.id.decode()
    store.mirror_references({"refs/heads/main": row.head})
    session.add(row)
    session.flush()
    main = HubReference(repository_id=row.id, kind=ReferenceKind.BRANCH, name=MAIN, revision=row.head)
    session.add(main)
    record_act(session, person.id, "repository.create", {"repository": f"{kind} {namespace.name}/{name}"})
    return HubEntry(row, namespace.name)


def delete_repository(session: Session, person: Person, entry: HubEntry) -> str:
    """Delete a repository with its history (owner); returns its folder, which the caller removes after the commit."""
    require_owner(person, entry)
    session.execute(delete(HubRepository).where(HubRepository.id == entry.row.id))
    record_act(session, person.id, "repository.delete", {"repository": f"{entry.kind} {entry.full_name}"})
    return entry.row.folder


def rename_repository(session: Session, settings: Settings, person: Person, entry: HubEntry, name: str) -> HubEntry:
    """Give a repository another name in the same namespace (owner). Raises `RepositoryExists`."""
    require_owner(person, entry)
    names.check_repository_name(name)
    row = session.get_one(HubRepository, entry.row.id, with_for_update=True)
    other = session.execute(queries.repository_named(row.kind, entry.namespace, name)).first()
    if other is not None and other[0].id != row.id:
        full_name = f"{entry.namespace}/{name}"
        message = _("A %(kind)s repository called %(name)s already exists.", kind=row.kind, name=full_name)
        raise RepositoryExists(message, address=full_name)
    row.words = row.words.replace(entry.full_name.lower(), f"{entry.namespace}/{name}".lower(), 1)
    row.name = name
    session.flush()
    record_act(session, person.id, "repository.rename", {"repository": f"{row.kind} {entry.full_name}", "name": name})
    return HubEntry(row, entry.namespace)


def set_private(session: Session, person: Person, entry: HubEntry, private: bool) -> None:
    """Make a repository private or public (owner)."""
    require_owner(person, entry)
    row = session.get_one(HubRepository, entry.row.id, with_for_update=True)
    row.private = private
    subject = {"repository": f"{row.kind} {entry.full_name}", "private": private}
    record_act(session, person.id, "repository.visibility", subject)


def require_room(session: Session, settings: Settings, person_id: int, size: int) -> None:
    """Refuse `size` further bytes of a person where their storage on the hub, or the disk, is full.

    Raises `QuotaReached` or `NoRoom`.
    """
    stored = sum(session.scalar(statement) or 0 for statement in queries.stored_bytes(person_id))
    if stored + size > settings.hub_mb_per_person * MIB:
        raise QuotaReached(
            _(
                "Your repositories may take %(most)s MiB and take %(used)s MiB now. Delete repositories that you do not"
                " need.",
                most=settings.hub_mb_per_person,
                used=stored // MIB,
            )
        )
    require_disk_room(settings, size)


def resolve_revision(session: Session, settings: Settings, entry: HubEntry, revision: str) -> str:
    """Return the commit that a branch, a tag, `refs/...` or a hash names. Raises `RevisionMissing`."""
    reference = find_reference(session, entry, revision)
    if reference is not None:
        return reference.revision
    store = GitStore.of(settings, entry.row.folder)
    if names.REVISION.fullmatch(revision) and store.has_commit(revision):
        return revision
    if names.SHORT_REVISION.fullmatch(revision) and (commit := store.find_commit(revision)):
        return commit
    raise RevisionMissing


def find_reference(session: Session, entry: HubEntry, revision: str) -> HubReference | None:
    """Return the branch, the pull request's branch or the tag with a name, in this order; None where there is none."""
    plain = revision.removeprefix("refs/heads/").removeprefix("refs/tags/")
    kinds = (ReferenceKind.PULL,) if plain.startswith("refs/pr/") else (ReferenceKind.BRANCH, ReferenceKind.TAG)
    for kind in kinds:
        if reference := session.scalar(queries.reference(entry.row.id, kind, plain)):
            return reference
    return None


def create_reference(
    session: Session, settings: Settings, person: Person, entry: HubEntry, kind: ReferenceKind, name: str, start: str
) -> None:
    """Make a branch or a tag at a revision (owner). Raises `Conflict` where there is one of this name."""
    require_owner(person, entry)
    revision = resolve_revision(session, settings, entry, start)
    names.check_reference_name(name)
    session.get_one(HubRepository, entry.row.id, with_for_update=True)
    rows = session.scalars(queries.references(entry.row.id)).all()
    if any(row.kind == kind and row.name == name for row in rows):
        folder = "tags" if kind == ReferenceKind.TAG else "heads"
        raise errors.Conflict(_("Reference %(name)s already exists.", name=f"refs/{folder}/{name}"))
    if len(rows) >= MOST_REFERENCES:
        raise errors.Conflict(_("A repository has at most %(most)s branches and tags.", most=MOST_REFERENCES))
    session.add(HubReference(repository_id=entry.row.id, kind=kind, name=name, revision=revision))


def delete_reference(session: Session, person: Person, entry: HubEntry, kind: ReferenceKind, name: str) -> None:
    """Delete a branch or a tag (owner); the branch main stays."""
    require_owner(person, entry)
    if kind == ReferenceKind.BRANCH and name == MAIN:
        raise errors.Conflict(_("Cannot delete refs/heads/main: every repository has this branch."))
    row = session.scalar(queries.reference(entry.row.id, kind, name))
    if row is None:
        raise RevisionMissing
    session.delete(row)


def full_references(session: Session, repository_id: int) -> dict[str, str]:
    """Return the commits of all references by their full names in git."""
    rows: Sequence[HubReference] = session.scalars(queries.references(repository_id)).all()
    prefixes = {ReferenceKind.BRANCH: "refs/heads/", ReferenceKind.TAG: "refs/tags/", ReferenceKind.PULL: ""}
    return {f"{prefixes[ReferenceKind(row.kind)]}{row.name}": row.revision for row in rows}


def forget_person(session: Session, person_id: int) -> list[str]:
    """Delete the repositories and the name of a person who deletes the account; returns the repositories' folders.

    Pull requests and comments in other people's repositories stay, without the person's name.
    """
    folders = list(session.scalars(select(HubRepository.folder).where(HubRepository.owner_id == person_id)))
    session.execute(delete(HubRepository).where(HubRepository.owner_id == person_id))
    session.execute(delete(HubUpload).where(HubUpload.person_id == person_id))
    session.execute(update(HubFileUse).where(HubFileUse.person_id == person_id).values(person_id=None))
    for table in (HubDiscussion, HubDiscussionEvent):
        session.execute(update(table).where(table.author_id == person_id).values(author_id=None))
    session.execute(delete(RepositoryFlag).where(RepositoryFlag.person_id == person_id))
    decided = RepositoryFlag.decided_by == person_id
    session.execute(update(RepositoryFlag).where(decided).values(decided_by=None))
    session.execute(delete(HubNamespace).where(HubNamespace.person_id == person_id))
    return folders
