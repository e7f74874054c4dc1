"""Statements about repositories, their references, files and discussions."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import BigInteger, ColumnElement, Select, Update, cast, exists, func, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute

from dynabench.hubs.tables import (
    HubDiscussion,
    HubDiscussionEvent,
    HubFile,
    HubFileUse,
    HubNamespace,
    HubReference,
    HubRepository,
    HubTag,
    HubUpload,
    RepositoryFlag,
)
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import shown_repositories


def repository_named(kind: str, namespace: str, name: str) -> Select[HubRepository, HubNamespace]:
    """The repository with a full name, in any case: two index probes."""
    return (
        select(HubRepository, HubNamespace)
        .join(HubNamespace, HubNamespace.person_id == HubRepository.owner_id)
        .where(func.lower(HubNamespace.name) == namespace.lower())
        .where(HubRepository.kind == kind, func.lower(HubRepository.name) == name.lower())
    )


def namespace_named(name: str) -> Select[HubNamespace]:
    """The namespace with a name, in any case."""
    return select(HubNamespace).where(func.lower(HubNamespace.name) == name.lower())


def listed_repositories(
    viewer: Person | None, kind: str, words: Sequence[str] = (), tags: Sequence[str] = (), owner: str = ""
) -> Select[HubRepository, HubNamespace]:
    """Repositories of a kind that a viewer sees, with all of these words and tags, unordered."""
    statement = (
        select(HubRepository, HubNamespace)
        .join(HubNamespace, HubNamespace.person_id == HubRepository.owner_id)
        .where(shown_repositories(viewer, HubRepository))
    )
    if kind:
        statement = statement.where(HubRepository.kind == kind)
    if owner:
        statement = statement.where(func.lower(HubNamespace.name) == owner.lower())
    for word in words:
        statement = statement.where(HubRepository.words.contains(word.lower(), autoescape=True))
    for tag in tags:
        tagged = exists().where(HubTag.repository_id == HubRepository.id, HubTag.tag == tag)
        statement = statement.where(tagged)
    return statement


def common_tags(viewer: Person | None, kind: str, limit: int) -> Select[str, int]:
    """The tags that most of the repositories that a viewer sees have."""
    number = func.count()
    return (
        select(HubTag.tag, number)
        .join(HubRepository, HubRepository.id == HubTag.repository_id)
        .where(shown_repositories(viewer, HubRepository), HubRepository.kind == kind)
        .group_by(HubTag.tag)
        .order_by(number.desc(), HubTag.tag)
        .limit(limit)
    )


def tags_of(repository_ids: Collection[int]) -> Select[int, str]:
    """The tags of some repositories."""
    theirs = HubTag.repository_id.in_(repository_ids)
    return select(HubTag.repository_id, HubTag.tag).where(theirs).order_by(HubTag.tag)


def references(repository_id: int) -> Select[HubReference]:
    """All branches and tags of a repository, by name."""
    return select(HubReference).where(HubReference.repository_id == repository_id).order_by(HubReference.name)


def reference(repository_id: int, kind: str, name: str) -> Select[HubReference]:
    """A branch or tag by its name."""
    return select(HubReference).where(
        HubReference.repository_id == repository_id, HubReference.kind == kind, HubReference.name == name
    )


def move_reference(repository_id: int, kind: str, name: str, before: str, after: str) -> Update:
    """The change of a branch from one commit to another; it changes no row where the branch is at a third one."""
    return (
        update(HubReference)
        .where(HubReference.repository_id == repository_id, HubReference.kind == kind)
        .where(HubReference.name == name, HubReference.revision == before)
        .values(revision=after)
    )


def used_files(repository_id: int, digests: Collection[str]) -> Select[str, int]:
    """Digests and sizes of those of some large files that commits of a repository name."""
    statement = select(HubFile.digest, HubFile.size).join(HubFileUse, HubFileUse.digest == HubFile.digest)
    return statement.where(HubFileUse.repository_id == repository_id, HubFileUse.digest.in_(digests))


def uploaded_files(repository_id: int, person_id: int, digests: Collection[str]) -> Select[str, int]:
    """Digests and sizes of those of some large files that a person sent for a repository."""
    statement = select(HubFile.digest, HubFile.size).join(HubUpload, HubUpload.digest == HubFile.digest)
    mine = (HubUpload.repository_id == repository_id, HubUpload.person_id == person_id)
    return statement.where(*mine, HubUpload.digest.in_(digests))


def readable_files(viewer: Person, digests: Collection[str]) -> Select[str, int]:
    """Digests and sizes of those of some large files that a repository has which a viewer may read."""
    return (
        select(HubFile.digest, HubFile.size)
        .join(HubFileUse, HubFileUse.digest == HubFile.digest)
        .join(HubRepository, HubRepository.id == HubFileUse.repository_id)
        .where(shown_repositories(viewer, HubRepository), HubFileUse.digest.in_(digests))
        .distinct()
    )


def _total(column: InstrumentedAttribute[int]) -> ColumnElement[int]:
    return cast(func.coalesce(func.sum(column), 0), BigInteger)  # PostgreSQL adds up to a decimal number


def stored_bytes(person_id: int) -> tuple[Select[int], Select[int], Select[int]]:
    """The sums of a person's storage: large files in commits, those that wait for one, and what git keeps."""
    used = select(_total(HubFile.size)).join(HubFileUse, HubFileUse.digest == HubFile.digest)
    waiting = select(_total(HubFile.size)).join(HubUpload, HubUpload.digest == HubFile.digest)
    return (
        used.where(HubFileUse.person_id == person_id),
        waiting.where(HubUpload.person_id == person_id),
        select(_total(HubRepository.git_bytes)).where(HubRepository.owner_id == person_id),
    )


def repository_bytes(repository_id: int) -> Select[int]:
    """The sum of the large files of a repository."""
    total = select(_total(HubFile.size)).join(HubFileUse, HubFileUse.digest == HubFile.digest)
    return total.where(HubFileUse.repository_id == repository_id)


def forgotten_files(before: datetime, limit: int) -> Select[HubFile]:
    """Large files that neither a repository nor an upload names, from before a moment."""
    used = exists().where(HubFileUse.digest == HubFile.digest)
    waiting = exists().where(HubUpload.digest == HubFile.digest)
    return select(HubFile).where(HubFile.created_at < before, ~used, ~waiting).limit(limit)


def discussion_numbered(repository_id: int, number: int) -> Select[HubDiscussion]:
    """The discussion of a repository with a number."""
    return select(HubDiscussion).where(HubDiscussion.repository_id == repository_id, HubDiscussion.number == number)


def discussions(repository_id: int, *clauses: ColumnElement[bool]) -> Select[HubDiscussion]:
    """Discussions of a repository, the newest first."""
    mine = select(HubDiscussion).where(HubDiscussion.repository_id == repository_id, *clauses)
    return mine.order_by(HubDiscussion.number.desc())


def events_of(discussion_id: int) -> Select[HubDiscussionEvent]:
    """The entries of a discussion in their order."""
    mine = select(HubDiscussionEvent).where(HubDiscussionEvent.discussion_id == discussion_id)
    return mine.order_by(HubDiscussionEvent.id)


def namespaces_of(person_ids: Collection[int]) -> Select[HubNamespace]:
    """The namespaces of some people."""
    return select(HubNamespace).where(HubNamespace.person_id.in_(person_ids))


def namespaces_signed(signatures: Collection[str]) -> Select[HubNamespace]:
    """The namespaces of the people with these pseudonyms."""
    return select(HubNamespace).where(HubNamespace.signature.in_(signatures))


def name_taken(name: str, person_id: int) -> Select[int]:
    """The people other than one whose namespace, username or pseudonym is a name, in any case."""
    same_name = or_(func.lower(Person.username) == name.lower(), func.lower(Person.pseudonym) == name.lower())
    spaces = select(HubNamespace.person_id).where(
        func.lower(HubNamespace.name) == name.lower(), HubNamespace.person_id != person_id
    )
    return select(Person.id).where(same_name, Person.id != person_id).union(spaces).limit(1)  # type: ignore[return-value]


def repository_in(folder: str) -> Select[int]:
    """The repository whose git repository has this folder."""
    return select(HubRepository.id).where(HubRepository.folder == folder)


def flags_in(state: str) -> Select[RepositoryFlag, HubRepository, HubNamespace, str]:
    """The flags in a state with their repositories and the usernames of the people who flagged, the newest first."""
    return (
        select(RepositoryFlag, HubRepository, HubNamespace, Person.username)
        .join(Person, Person.id == RepositoryFlag.person_id)
        .join(HubRepository, HubRepository.id == RepositoryFlag.repository_id)
        .join(HubNamespace, HubNamespace.person_id == HubRepository.owner_id)
        .where(RepositoryFlag.state == state)
        .order_by(RepositoryFlag.id.desc())
    )


def flag_of(repository_id: int, person_id: int) -> Select[RepositoryFlag]:
    """A person's flag of a repository."""
    mine = RepositoryFlag.repository_id == repository_id
    return select(RepositoryFlag).where(mine, RepositoryFlag.person_id == person_id)


def waiting_flags(repository_id: int, state: str) -> Select[RepositoryFlag]:
    """The flags of a repository in a state."""
    theirs = RepositoryFlag.repository_id == repository_id
    return select(RepositoryFlag).where(theirs, RepositoryFlag.state == state)
