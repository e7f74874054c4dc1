"""Examples that programs proposed"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "proposed",
        sa.Column("example_id", key, nullable=False),
        sa.Column("round_id", key, nullable=False),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("version", sa.String(60), nullable=False),
        sa.Column("queries", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("cost", sa.Double(), nullable=False),
        sa.Column("facts", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_proposed_example_id")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_proposed_round_id")),
        sa.PrimaryKeyConstraint("example_id", name=op.f("pk_proposed")),
    )
    op.create_index("ix_proposed_round", "proposed", ["round_id", "name", "version"])


def downgrade() -> None:
    op.drop_index("ix_proposed_round", "proposed")
    op.drop_table("proposed")
