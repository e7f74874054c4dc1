"""Repositories of the hub"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "hub_files",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("size", KEY, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_hub_files"),
    )
    op.create_table(
        "hub_namespaces",
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("signature", sa.String(40), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_hub_namespaces_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("person_id", name="pk_hub_namespaces"),
        sa.UniqueConstraint("signature", name="uq_hub_namespaces_signature"),
    )
    op.create_table(
        "hub_repositories",
        sa.Column("id", KEY, nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("owner_id", KEY, nullable=False),
        sa.Column("name", sa.String(96), nullable=False),
        sa.Column("private", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("folder", sa.String(32), nullable=False),
        sa.Column("head", sa.String(40), nullable=False),
        sa.Column("summary", sa.String(300), nullable=False),
        sa.Column("card", JSON, nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("git_bytes", KEY, nullable=False),
        sa.Column("downloads", KEY, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("changed_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_hub_repositories_owner_id"),
        sa.PrimaryKeyConstraint("id", name="pk_hub_repositories"),
        sa.UniqueConstraint("folder", name="uq_hub_repositories_folder"),
    )
    op.create_index("ix_hub_repositories_changed", "hub_repositories", ["kind", "changed_at", "id"])

    op.create_table(
        "hub_discussions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("repository_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("author_id", KEY, nullable=True),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("pull", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("base", sa.String(40), nullable=False),
        sa.Column("merged", sa.String(40), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["people.id"], name="fk_hub_discussions_author_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["hub_repositories.id"],
            name="fk_hub_discussions_repository_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_hub_discussions"),
        sa.UniqueConstraint("repository_id", "number", name="uq_hub_discussions_number"),
    )
    op.create_index("ix_hub_discussions_author", "hub_discussions", ["author_id"])

    op.create_table(
        "hub_file_uses",
        sa.Column("repository_id", KEY, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.ForeignKeyConstraint(["digest"], ["hub_files.digest"], name="fk_hub_file_uses_digest"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_hub_file_uses_person_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(
            ["repository_id"], ["hub_repositories.id"], name="fk_hub_file_uses_repository_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("repository_id", "digest", name="pk_hub_file_uses"),
    )
    op.create_index("ix_hub_file_uses_digest", "hub_file_uses", ["digest"])
    op.create_index("ix_hub_file_uses_person", "hub_file_uses", ["person_id"])

    op.create_table(
        "hub_references",
        sa.Column("id", KEY, nullable=False),
        sa.Column("repository_id", KEY, nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("revision", sa.String(40), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"], ["hub_repositories.id"], name="fk_hub_references_repository_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_hub_references"),
        sa.UniqueConstraint("repository_id", "kind", "name", name="uq_hub_references_name"),
    )
    op.create_table(
        "hub_tags",
        sa.Column("repository_id", KEY, nullable=False),
        sa.Column("tag", sa.String(100), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"], ["hub_repositories.id"], name="fk_hub_tags_repository_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("repository_id", "tag", name="pk_hub_tags"),
    )
    op.create_index("ix_hub_tags_tag", "hub_tags", ["tag", "repository_id"])

    op.create_table(
        "hub_uploads",
        sa.Column("repository_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["digest"], ["hub_files.digest"], name="fk_hub_uploads_digest"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_hub_uploads_person_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["repository_id"], ["hub_repositories.id"], name="fk_hub_uploads_repository_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("repository_id", "person_id", "digest", name="pk_hub_uploads"),
    )
    op.create_index("ix_hub_uploads_at", "hub_uploads", ["at"])
    op.create_index("ix_hub_uploads_digest", "hub_uploads", ["digest"])

    op.create_table(
        "hub_discussion_events",
        sa.Column("id", KEY, nullable=False),
        sa.Column("discussion_id", KEY, nullable=False),
        sa.Column("author_id", KEY, nullable=True),
        sa.Column("kind", sa.String(15), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("details", JSON, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"], ["people.id"], name="fk_hub_discussion_events_author_id", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["discussion_id"],
            ["hub_discussions.id"],
            name="fk_hub_discussion_events_discussion_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_hub_discussion_events"),
    )
    op.create_index("ix_hub_discussion_events_author_id", "hub_discussion_events", ["author_id"])
    op.create_index("ix_hub_discussion_events_discussion_id", "hub_discussion_events", ["discussion_id"])

    op.create_index("uq_hub_namespaces_name", "hub_namespaces", [sa.text("lower(name)")], unique=True)
    op.create_index(
        "uq_hub_repositories_name",
        "hub_repositories",
        ["owner_id", "kind", sa.text("lower(name)")],
        unique=True,
    )


def downgrade() -> None:
    op.drop_table("hub_discussion_events")
    op.drop_table("hub_uploads")
    op.drop_table("hub_tags")
    op.drop_table("hub_references")
    op.drop_table("hub_file_uses")
    op.drop_table("hub_discussions")
    op.drop_table("hub_repositories")
    op.drop_table("hub_namespaces")
    op.drop_table("hub_files")
