"""Turns of the cycle with their candidates, and the rounds that a round follows"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
VALUES = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "cycle_turns",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("step", sa.String(10), nullable=False),
        sa.Column("plan", VALUES, nullable=False),
        sa.Column("present", VALUES, nullable=False),
        sa.Column("outside", VALUES, nullable=False),
        sa.Column("report", VALUES, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(36), nullable=True),
        sa.Column("next_id", KEY, nullable=True),
        sa.Column("back_id", KEY, nullable=True),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("ended_at", moment, nullable=True),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_cycle_turns_task_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_cycle_turns_round_id"),
        sa.ForeignKeyConstraint(["next_id"], ["rounds.id"], name="fk_cycle_turns_next_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["back_id"], ["rounds.id"], name="fk_cycle_turns_back_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_cycle_turns_created_by", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_cycle_turns"),
    )
    op.create_index("ix_cycle_turns_round_id", "cycle_turns", ["round_id"])
    op.create_index("ix_cycle_turns_task", "cycle_turns", ["task_id", "id"])
    op.create_table(
        "cycle_candidates",
        sa.Column("turn_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("method", sa.String(10), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("submission_id", KEY, nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("rows", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["cycle_turns.id"], name="fk_cycle_candidates_turn_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_cycle_candidates_submission_id"),
        sa.PrimaryKeyConstraint("turn_id", "position", name="pk_cycle_candidates"),
    )
    op.create_table(
        "round_parents",
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("parent_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_round_parents_round_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["parent_id"], ["rounds.id"], name="fk_round_parents_parent_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "parent_id", name="pk_round_parents"),
    )


def downgrade() -> None:
    op.drop_table("round_parents")
    op.drop_table("cycle_candidates")
    op.drop_table("cycle_turns")
