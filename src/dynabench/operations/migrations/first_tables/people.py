"""People and their tokens, the audit log, and jobs."""

import sqlalchemy as sa
from alembic import op

from dynabench.operations.migrations.first_tables import JSON, KEY, MOMENT, only


def create_tables() -> None:
    op.create_table(
        "people",
        sa.Column("id", KEY, nullable=False),
        sa.Column("username", sa.String(length=40), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=False),
        sa.Column("pseudonym", sa.String(length=40), nullable=False),
        sa.Column("admin", sa.Boolean(), nullable=False),
        sa.Column("terms", sa.String(length=20), nullable=False),
        sa.Column("agreed_at", MOMENT, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("deleted_at", MOMENT, nullable=True),
        sa.Column("imported_as", sa.String(length=64), nullable=True),
        sa.Column("language", sa.String(length=12), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_people"),
    )
    op.create_index("ix_people_imported_as", "people", ["imported_as"], unique=True)
    op.create_index("uq_people_email", "people", [sa.text("lower(email)")], unique=True)
    op.create_index(
        "uq_people_pseudonym", "people", [sa.text("lower(pseudonym)")], unique=True, **only("pseudonym <> ''")
    )
    op.create_index("uq_people_username", "people", [sa.text("lower(username)")], unique=True)
    op.create_table(
        "secret_fingerprints",
        sa.Column("id", KEY, nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("noted_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_secret_fingerprints"),
    )
    op.create_table(
        "acts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("subject", JSON, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_acts_person_id"),
        sa.PrimaryKeyConstraint("id", name="pk_acts"),
    )
    op.create_index("ix_acts_at", "acts", ["at"])
    op.create_index("ix_acts_kind", "acts", ["task_id", "kind", "id"])
    op.create_index("ix_acts_task", "acts", ["task_id", "id"])
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("payload", JSON, nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("sent_at", MOMENT, nullable=True),
        sa.Column("done", JSON, nullable=True),
        sa.Column("due_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_jobs_person_id"),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_unsent", "jobs", ["created_at"], **only("sent_at IS NULL"))
    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_sessions_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("digest", name="pk_sessions"),
    )
    op.create_index("ix_sessions_person_id", "sessions", ["person_id"])
    op.create_table(
        "tokens",
        sa.Column("id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("prefix", sa.String(length=12), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("used_at", MOMENT, nullable=True),
        sa.Column("revoked_at", MOMENT, nullable=True),
        sa.Column("scopes", JSON, server_default='["read", "annotate", "manage", "account"]', nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_tokens_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("digest", name="uq_tokens_digest"),
    )
    op.create_index("ix_tokens_person_id", "tokens", ["person_id"])
    op.create_table(
        "uploaded_bytes",
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_uploaded_bytes_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("person_id", name="pk_uploaded_bytes"),
    )
