"""Orders of bonuses at crowd platforms"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "bonus_orders",
        sa.Column("id", KEY, nullable=False),
        sa.Column("study_id", KEY, nullable=False),
        sa.Column("payouts", JSON, nullable=False),
        sa.Column("before", JSON, nullable=False),
        sa.Column("external_id", sa.String(100), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("asked_at", TIME),
        sa.Column("checked_at", TIME),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_bonus_orders_study_id"),
        sa.PrimaryKeyConstraint("id", name="pk_bonus_orders"),
    )
    op.create_index("ix_bonus_orders_study_id", "bonus_orders", ["study_id"])
    op.add_column("studies", sa.Column("reconciled_at", TIME))


def downgrade() -> None:
    op.drop_column("studies", "reconciled_at")
    op.drop_index("ix_bonus_orders_study_id", "bonus_orders")
    op.drop_table("bonus_orders")
