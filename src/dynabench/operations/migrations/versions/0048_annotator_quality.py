"""Estimates of annotator quality, and votes that are weighted by reliability"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("validations", sa.Column("weight", sa.Double()))
    op.add_column("rounds", sa.Column("vote_weight", sa.Double()))
    op.create_table(
        "quality_estimates",
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("results", JSON, nullable=False),
        sa.Column("last_vote", KEY, nullable=False),
        sa.Column("at", TIME),
        sa.Column("job_id", sa.String(36)),
        sa.PrimaryKeyConstraint("task_id", "number", name="pk_quality_estimates"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_quality_estimates_task_id_tasks"),
    )
    op.create_table(
        "verdict_rules",
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("rule", sa.String(10), nullable=False),
        sa.Column("weights", JSON, nullable=False),
        sa.Column("by", KEY),
        sa.Column("job_id", sa.String(36)),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("round_id", name="pk_verdict_rules"),
        sa.ForeignKeyConstraint(
            ["round_id"], ["rounds.id"], name="fk_verdict_rules_round_id_rounds", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["by"], ["people.id"], name="fk_verdict_rules_by_people", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_verdict_rules_job_id_jobs", ondelete="SET NULL"),
    )


def downgrade() -> None:
    op.drop_table("verdict_rules")
    op.drop_table("quality_estimates")
    op.drop_column("rounds", "vote_weight")
    op.drop_column("validations", "weight")
