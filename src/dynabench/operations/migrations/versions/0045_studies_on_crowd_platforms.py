"""Studies on crowd platforms, and their workers"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "consent_texts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_by", KEY),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_consent_texts_created_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_consent_texts_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_consent_texts"),
        sa.UniqueConstraint("task_id", "version", name="uq_consent_texts_task_id_version"),
    )
    op.create_table(
        "crowd_credentials",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("provider", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("created_by", KEY),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("removed_at", TIME),
        sa.ForeignKeyConstraint(
            ["created_by"], ["people.id"], name="fk_crowd_credentials_created_by", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_crowd_credentials_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_crowd_credentials"),
    )
    op.create_index("ix_crowd_credentials_task_id", "crowd_credentials", ["task_id"])

    op.create_table(
        "studies",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("provider", sa.String(length=40), nullable=False),
        sa.Column("credentials_id", KEY),
        sa.Column("slug", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("settings", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("work", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("external_id", sa.String(length=100), nullable=False),
        sa.Column("details", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("created_by", KEY),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("published_at", TIME),
        sa.Column("stopped_at", TIME),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_studies_created_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["credentials_id"], ["crowd_credentials.id"], name="fk_studies_credentials_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_studies_round_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_studies_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_studies"),
        sa.UniqueConstraint("slug", name="uq_studies_slug"),
    )
    op.create_index("ix_studies_external", "studies", ["provider", "external_id"])
    op.create_index("ix_studies_round_id", "studies", ["round_id"])
    op.create_index("ix_studies_task_id", "studies", ["task_id"])

    op.create_table(
        "crowd_events",
        sa.Column("provider", sa.String(length=40), nullable=False),
        sa.Column("event", sa.String(length=100), nullable=False),
        sa.Column("study_id", KEY),
        sa.Column("kind", sa.String(length=60), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_crowd_events_study_id"),
        sa.PrimaryKeyConstraint("provider", "event", name="pk_crowd_events"),
    )
    op.create_index("ix_crowd_events_study_id", "crowd_events", ["study_id"])

    op.create_table(
        "participations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("study_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("worker_digest", sa.String(length=64), nullable=False),
        sa.Column("worker_sealed", sa.Text(), nullable=False),
        sa.Column("external_session", sa.String(length=200), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("consent_id", KEY),
        sa.Column("consented_at", TIME),
        sa.Column("arrived_at", TIME, nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        sa.Column("finished_at", TIME),
        sa.Column("decided_at", TIME),
        sa.Column("decided_by", KEY),
        sa.Column("synced_state", sa.String(length=20), nullable=False),
        sa.Column("synced_at", TIME),
        sa.ForeignKeyConstraint(["consent_id"], ["consent_texts.id"], name="fk_participations_consent_id"),
        sa.ForeignKeyConstraint(
            ["decided_by"], ["people.id"], name="fk_participations_decided_by", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_participations_person_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_participations_study_id"),
        sa.PrimaryKeyConstraint("id", name="pk_participations"),
        sa.UniqueConstraint("study_id", "worker_digest", name="uq_participations_study_id_worker_digest"),
    )
    op.create_index("ix_participations_person_id", "participations", ["person_id"])
    op.create_index("ix_participations_session", "participations", ["study_id", "external_session"])
    op.create_index("ix_participations_state", "participations", ["study_id", "state"])
    op.create_index("ix_participations_worker", "participations", ["worker_digest"])

    op.add_column("people", sa.Column("worker_task", sa.String(length=60), server_default="", nullable=False))


def downgrade() -> None:
    op.drop_column("people", "worker_task")

    op.drop_index("ix_participations_worker", "participations")
    op.drop_index("ix_participations_state", "participations")
    op.drop_index("ix_participations_session", "participations")
    op.drop_index("ix_participations_person_id", "participations")

    op.drop_table("participations")
    op.drop_index("ix_crowd_events_study_id", "crowd_events")

    op.drop_table("crowd_events")
    op.drop_index("ix_studies_task_id", "studies")
    op.drop_index("ix_studies_round_id", "studies")
    op.drop_index("ix_studies_external", "studies")

    op.drop_table("studies")
    op.drop_index("ix_crowd_credentials_task_id", "crowd_credentials")

    op.drop_table("crowd_credentials")
    op.drop_table("consent_texts")
