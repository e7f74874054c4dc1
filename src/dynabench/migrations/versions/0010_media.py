"""Pictures, sounds and files that people send"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "media",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("type", sa.String(length=40), nullable=False),
        sa.Column("size", KEY, nullable=False),
        sa.Column("width", sa.Integer(), nullable=True),
        sa.Column("height", sa.Integer(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_media")),
    )
    op.create_table(
        "media_uploads",
        sa.Column("id", KEY, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["digest"], ["media.digest"], name=op.f("fk_media_uploads_digest"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_media_uploads_task_id")),
        sa.ForeignKeyConstraint(
            ["person_id"], ["people.id"], name=op.f("fk_media_uploads_person_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_media_uploads")),
    )
    op.create_index(op.f("ix_media_uploads_digest"), "media_uploads", ["digest"])
    op.create_index("ix_media_uploads_person", "media_uploads", ["person_id", "at"])
    op.create_index("ix_media_uploads_task", "media_uploads", ["task_id", "digest"])
    op.create_table(
        "media_uses",
        sa.Column("id", KEY, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("context_id", KEY, nullable=True),
        sa.Column("example_id", KEY, nullable=True),
        sa.CheckConstraint("(context_id IS NULL) <> (example_id IS NULL)", name=op.f("ck_media_uses_one")),
        sa.ForeignKeyConstraint(["digest"], ["media.digest"], name=op.f("fk_media_uses_digest")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_media_uses_task_id")),
        sa.ForeignKeyConstraint(
            ["context_id"], ["contexts.id"], name=op.f("fk_media_uses_context_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_media_uses_example_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_media_uses")),
    )
    op.create_index(op.f("ix_media_uses_digest"), "media_uses", ["digest"])
    for of in ("context", "example"):
        there = sa.text(f"{of}_id IS NOT NULL")
        op.create_index(
            f"ix_media_uses_{of}",
            "media_uses",
            [f"{of}_id", "digest"],
            unique=True,
            sqlite_where=there,
            postgresql_where=there,
        )


def downgrade() -> None:
    op.drop_table("media_uses")
    op.drop_table("media_uploads")
    op.drop_table("media")
