"""Who may see models"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "model_listings",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("visibility", sa.String(length=10), nullable=False),
        sa.Column("keeper_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("note", sa.String(length=500), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["keeper_id"], ["people.id"], name="fk_model_listings_keeper_id", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("name", name="pk_model_listings"),
    )
    op.create_index("ix_model_listings_keeper_id", "model_listings", ["keeper_id"])


def downgrade() -> None:
    op.drop_table("model_listings")
