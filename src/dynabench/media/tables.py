"""Tables of stored files, of their uploads for tasks, and of the contexts and examples that show them."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class Media(Base):
    """A stored file by the SHA-256 of its content: `kind` is `image`, `audio` or `file`, `type` its media type."""

    __tablename__ = "media"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    kind: Mapped[str] = mapped_column(String(10))
    type: Mapped[str] = mapped_column(String(40))
    size: Mapped[int] = mapped_column(Key)
    width: Mapped[int | None]
    height: Mapped[int | None]
    seconds: Mapped[float | None]
    created_at: Mapped[datetime] = mapped_column(default=now)


class MediaUpload(Base):
    """An upload of a file for a task; without a person the operator sent it at the command line."""

    __tablename__ = "media_uploads"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    digest: Mapped[str] = mapped_column(ForeignKey("media.digest", ondelete="CASCADE"), index=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    name: Mapped[str] = mapped_column(String(200), default="")
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        Index("ix_media_uploads_person", "person_id", "at"),
        Index("ix_media_uploads_task", "task_id", "digest"),
    )


class MediaUse(Base):
    """A context or an example that shows a file: people who may see it may see the file."""

    __tablename__ = "media_uses"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    digest: Mapped[str] = mapped_column(ForeignKey("media.digest"), index=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    context_id: Mapped[int | None] = mapped_column(ForeignKey("contexts.id", ondelete="CASCADE"))
    example_id: Mapped[int | None] = mapped_column(ForeignKey("examples.id"))

    __table_args__ = (
        CheckConstraint("(context_id IS NULL) <> (example_id IS NULL)", name="ck_media_uses_one"),
        Index(
            "ix_media_uses_context",
            "context_id",
            "digest",
            unique=True,
            sqlite_where=text("context_id IS NOT NULL"),
            postgresql_where=text("context_id IS NOT NULL"),
        ),
        Index(
            "ix_media_uses_example",
            "example_id",
            "digest",
            unique=True,
            sqlite_where=text("example_id IS NOT NULL"),
            postgresql_where=text("example_id IS NOT NULL"),
        ),
    )
