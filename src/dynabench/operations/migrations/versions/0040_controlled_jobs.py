"""Cancelled jobs, jobs by time, and signs of life of workers"""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("jobs", sa.Column("cancelled_at", TIME))
    op.create_index("ix_jobs_created_at", "jobs", ["created_at"])
    op.create_table(
        "worker_beats",
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("version", sa.String(40), nullable=False),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_worker_beats"),
    )


def downgrade() -> None:
    op.drop_table("worker_beats")
    op.drop_index("ix_jobs_created_at", "jobs")
    op.drop_column("jobs", "cancelled_at")
