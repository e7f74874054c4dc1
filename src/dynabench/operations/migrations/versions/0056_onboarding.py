"""Onboarding of people before they write or check"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _subject(table: str) -> list[sa.Constraint]:
    return [
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=f"fk_{table}_task_id_tasks"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=f"fk_{table}_person_id_people", ondelete="CASCADE"),
    ]


def upgrade() -> None:
    op.create_table(
        "onboarding_progress",
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("activity", sa.String(10), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("done", sa.String(20), nullable=False),
        sa.Column("practised", sa.Integer(), nullable=False),
        sa.Column("screened_out", sa.Boolean(), nullable=False),
        sa.Column("attempts_after", KEY, nullable=False),
        sa.Column("started_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("task_id", "person_id", "activity", name="pk_onboarding_progress"),
        *_subject("onboarding_progress"),
    )
    op.create_index("ix_onboarding_progress_person_id", "onboarding_progress", ["person_id"])
    op.create_table(
        "quiz_attempts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("activity", sa.String(10), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("version_id", KEY, nullable=False),
        sa.Column("drawn", JSON, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("right", sa.Integer(), nullable=False),
        sa.Column("begun_at", TIME, nullable=False),
        sa.Column("ended_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_quiz_attempts"),
        *_subject("quiz_attempts"),
        sa.ForeignKeyConstraint(["version_id"], ["task_versions.id"], name="fk_quiz_attempts_version_id_task_versions"),
        sa.UniqueConstraint(
            "task_id", "person_id", "activity", "number", name="uq_quiz_attempts_task_id_person_id_activity_number"
        ),
    )
    op.create_index("ix_quiz_attempts_person_id", "quiz_attempts", ["person_id"])
    op.create_table(
        "quiz_answers",
        sa.Column("attempt_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(40), nullable=False),
        sa.Column("option", sa.String(300), nullable=False),
        sa.Column("right", sa.Boolean(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("attempt_id", "position", name="pk_quiz_answers"),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["quiz_attempts.id"], name="fk_quiz_answers_attempt_id_quiz_attempts", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "qualifications",
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("activity", sa.String(10), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("expires_at", TIME),
        sa.Column("by_hand", sa.Boolean(), nullable=False),
        sa.Column("granted_by", KEY),
        sa.PrimaryKeyConstraint("task_id", "person_id", "activity", name="pk_qualifications"),
        *_subject("qualifications"),
        sa.ForeignKeyConstraint(
            ["granted_by"], ["people.id"], name="fk_qualifications_granted_by_people", ondelete="SET NULL"
        ),
    )
    op.create_index("ix_qualifications_person_id", "qualifications", ["person_id"])


def downgrade() -> None:
    for table in ("qualifications", "quiz_answers", "quiz_attempts", "onboarding_progress"):
        op.drop_table(table)
