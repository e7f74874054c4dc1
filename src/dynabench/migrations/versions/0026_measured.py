"""What the data of rounds are like"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    json = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
    op.create_table(
        "measured",
        sa.Column("round_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("state", sa.String(64), nullable=False),
        sa.Column("examples", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("found", json, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("job_id", sa.String(36), nullable=True),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_measured_round_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", name=op.f("pk_measured")),
    )


def downgrade() -> None:
    op.drop_table("measured")
