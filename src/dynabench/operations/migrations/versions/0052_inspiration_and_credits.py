"""Examples that annotators opened before they wrote, and how releases name people"""

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "inspiration_rules",
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("mode", sa.String(10), nullable=False),
        sa.Column("changed_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_inspiration_rules_task_id"),
        sa.PrimaryKeyConstraint("task_id", name="pk_inspiration_rules"),
    )
    op.create_table(
        "inspirations",
        sa.Column("handout_id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["handout_id"], ["handouts.id"], name="fk_inspirations_handout_id"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_inspirations_example_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_inspirations_round_id"),
        sa.PrimaryKeyConstraint("handout_id", "example_id", name="pk_inspirations"),
    )
    for column in ("round_id", "example_id"):
        op.create_index(f"ix_inspirations_{column}", "inspirations", [column])
    op.create_table(
        "credits",
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("mode", sa.String(10), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("changed_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_credits_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("person_id", name="pk_credits"),
    )


def downgrade() -> None:
    op.drop_table("credits")
    op.drop_table("inspirations")
    op.drop_table("inspiration_rules")
