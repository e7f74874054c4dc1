"""Votes that an owner excludes, and the time that validators take"""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("reservations", sa.Column("since", TIME))
    op.add_column("validations", sa.Column("seconds", sa.Double()))
    op.add_column("validations", sa.Column("active_seconds", sa.Double()))
    op.add_column("undos", sa.Column("excluded", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "vote_exclusions",
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("excluded", sa.Boolean(), nullable=False),
        sa.Column("by", KEY),
        sa.Column("job_id", sa.String(36)),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("task_id", "person_id", name="pk_vote_exclusions"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_vote_exclusions_task_id_tasks"),
        sa.ForeignKeyConstraint(
            ["person_id"], ["people.id"], name="fk_vote_exclusions_person_id_people", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["by"], ["people.id"], name="fk_vote_exclusions_by_people", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_vote_exclusions_job_id_jobs", ondelete="SET NULL"),
    )
    op.create_index("ix_vote_exclusions_person_id", "vote_exclusions", ["person_id"])


def downgrade() -> None:
    op.drop_table("vote_exclusions")
    op.drop_column("undos", "excluded")
    op.drop_column("validations", "active_seconds")
    op.drop_column("validations", "seconds")
    op.drop_column("reservations", "since")
