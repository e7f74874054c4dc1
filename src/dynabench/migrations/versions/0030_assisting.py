"""Suggestions for people who write, and what became of them"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    values = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
    op.create_table(
        "suggestions",
        sa.Column("id", key, nullable=False),
        sa.Column("handout_id", key, nullable=False),
        sa.Column("person_id", key, nullable=False),
        sa.Column("asking", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(length=40), nullable=False),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("field", sa.String(length=40), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("about", values, nullable=False),
        sa.Column("latency_ms", sa.Double(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["handout_id"], ["handouts.id"], name="fk_suggestions_handout_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_suggestions_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_suggestions"),
    )
    op.create_index("ix_suggestions_handout", "suggestions", ["handout_id", "id"])
    op.create_index("ix_suggestions_person_id", "suggestions", ["person_id"])
    op.create_table(
        "assistances",
        sa.Column("example_id", key, nullable=False),
        sa.Column("shown", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(length=10), nullable=False),
        sa.Column("distance", sa.Integer(), nullable=True),
        sa.Column("provider", sa.String(length=40), nullable=False),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_assistances_example_id"),
        sa.PrimaryKeyConstraint("example_id", name="pk_assistances"),
    )


def downgrade() -> None:
    op.drop_table("assistances")
    op.drop_table("suggestions")
