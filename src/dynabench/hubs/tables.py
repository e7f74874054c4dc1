"""Repositories of the hub, their branches, large files, and pull requests."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, false, func
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class RepositoryKind(StrEnum):
    """Kinds of repositories."""

    MODEL = "model"
    DATASET = "dataset"
    EVALUATION = "evaluation"


class ReferenceKind(StrEnum):
    """Kinds of names that a commit can have."""

    BRANCH = "branch"
    TAG = "tag"
    PULL = "pull"


class DiscussionState(StrEnum):
    """States of a pull request or discussion; a merged one is final."""

    DRAFT = "draft"
    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


class DiscussionEventKind(StrEnum):
    """Kinds of entries in a discussion."""

    COMMENT = "comment"
    STATUS = "status-change"
    COMMIT = "commit"
    TITLE = "title-change"


class RepositoryFlagReason(StrEnum):
    """Reasons for a flag of a repository."""

    HARMFUL = "harmful"
    WRONG = "wrong"
    LICENCE = "licence"
    SPAM = "spam"
    OTHER = "other"


class RepositoryFlagState(StrEnum):
    """States of a flag: waiting for an administrator, followed by hiding the repository, or dismissed."""

    WAITING = "waiting"
    UPHELD = "upheld"
    DISMISSED = "dismissed"


class HubNamespace(Base):
    """The name before the slash in a person's repositories; `signature` is the pseudonym that stands in commits."""

    __tablename__ = "hub_namespaces"

    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(40))
    signature: Mapped[str] = mapped_column(String(40), unique=True)

    __table_args__ = (Index("uq_hub_namespaces_name", func.lower(name), unique=True),)


class HubRepository(Base):
    """A repository. `folder` names its git repository below the home folder; `head` is the commit of its branch main.

    `card` is the metadata of its README.md, `words` the text in which the search looks, `git_bytes` what its files
    that are no large files take. An administrator hides a repository (`hidden`) from all but its owner.
    """

    __tablename__ = "hub_repositories"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    kind: Mapped[str] = mapped_column(String(12))
    owner_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    name: Mapped[str] = mapped_column(String(96))
    private: Mapped[bool] = mapped_column(default=False, server_default=false())
    hidden: Mapped[bool] = mapped_column(default=False, server_default=false())
    folder: Mapped[str] = mapped_column(String(32), unique=True)
    head: Mapped[str] = mapped_column(String(40))
    summary: Mapped[str] = mapped_column(String(300), default="")
    card: Mapped[dict[str, Any]] = mapped_column(default=dict)
    words: Mapped[str] = mapped_column(Text, default="")
    git_bytes: Mapped[int] = mapped_column(Key, default=0)
    downloads: Mapped[int] = mapped_column(Key, default=0)
    created_at: Mapped[datetime] = mapped_column(default=now)
    changed_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        Index("uq_hub_repositories_name", "owner_id", "kind", func.lower(name), unique=True),
        Index("ix_hub_repositories_changed", "kind", "changed_at", "id"),
    )


class HubTag(Base):
    """A tag of a repository, from the metadata of its card."""

    __tablename__ = "hub_tags"

    repository_id: Mapped[int] = mapped_column(ForeignKey("hub_repositories.id", ondelete="CASCADE"), primary_key=True)
    tag: Mapped[str] = mapped_column(String(100), primary_key=True)

    __table_args__ = (Index("ix_hub_tags_tag", "tag", "repository_id"),)


class HubReference(Base):
    """A branch, a tag or the branch of a pull request, and the commit that it names."""

    __tablename__ = "hub_references"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("hub_repositories.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(10))
    name: Mapped[str] = mapped_column(String(200))
    revision: Mapped[str] = mapped_column(String(40))

    __table_args__ = (UniqueConstraint("repository_id", "kind", "name", name="uq_hub_references_name"),)


class HubFile(Base):
    """A stored large file by the SHA-256 of its content."""

    __tablename__ = "hub_files"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int] = mapped_column(Key)
    created_at: Mapped[datetime] = mapped_column(default=now)


class HubFileUse(Base):
    """A large file that a commit of a repository names; `person_id` is the person whose storage it takes."""

    __tablename__ = "hub_file_uses"

    repository_id: Mapped[int] = mapped_column(ForeignKey("hub_repositories.id", ondelete="CASCADE"), primary_key=True)
    digest: Mapped[str] = mapped_column(ForeignKey("hub_files.digest"), primary_key=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))

    __table_args__ = (Index("ix_hub_file_uses_digest", "digest"), Index("ix_hub_file_uses_person", "person_id"))


class HubUpload(Base):
    """A large file that a person sent for a repository and that no commit names yet."""

    __tablename__ = "hub_uploads"

    repository_id: Mapped[int] = mapped_column(ForeignKey("hub_repositories.id", ondelete="CASCADE"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True)
    digest: Mapped[str] = mapped_column(ForeignKey("hub_files.digest"), primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (Index("ix_hub_uploads_digest", "digest"), Index("ix_hub_uploads_at", "at"))


class HubDiscussion(Base):
    """A discussion of a repository, or a pull request (`pull`); they are numbered together in each repository.

    `base` is the commit of branch main from which a pull request began, `merged` the commit that brought it in.
    """

    __tablename__ = "hub_discussions"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("hub_repositories.id", ondelete="CASCADE"))
    number: Mapped[int]
    author_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    title: Mapped[str] = mapped_column(String(200))
    pull: Mapped[bool] = mapped_column(default=False, server_default=false())
    state: Mapped[str] = mapped_column(String(10), default=DiscussionState.OPEN)
    base: Mapped[str] = mapped_column(String(40), default="")
    merged: Mapped[str] = mapped_column(String(40), default="")
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        UniqueConstraint("repository_id", "number", name="uq_hub_discussions_number"),
        Index("ix_hub_discussions_author", "author_id"),
    )


class HubDiscussionEvent(Base):
    """An entry in a discussion: a comment, a change of state or title, or a commit of its branch."""

    __tablename__ = "hub_discussion_events"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    discussion_id: Mapped[int] = mapped_column(ForeignKey("hub_discussions.id", ondelete="CASCADE"), index=True)
    author_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"), index=True)
    kind: Mapped[str] = mapped_column(String(15))
    text: Mapped[str] = mapped_column(Text, default="")
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)
    at: Mapped[datetime] = mapped_column(default=now)


class RepositoryFlag(Base):
    """A person's flag of a repository; `decided_by` is the administrator who decided it. One for each person."""

    __tablename__ = "hub_flags"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("hub_repositories.id", ondelete="CASCADE"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    reason: Mapped[str] = mapped_column(String(10))
    text: Mapped[str] = mapped_column(Text, default="")
    state: Mapped[str] = mapped_column(String(10), default=RepositoryFlagState.WAITING)
    created_at: Mapped[datetime] = mapped_column(default=now)
    decided_at: Mapped[datetime | None]
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))

    __table_args__ = (
        UniqueConstraint("repository_id", "person_id", name="uq_hub_flags_person"),
        Index("ix_hub_flags_state", "state", "id"),
    )
