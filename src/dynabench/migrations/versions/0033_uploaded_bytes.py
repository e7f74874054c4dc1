"""Bytes of large uploads by person"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "uploaded_bytes",
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_uploaded_bytes_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("person_id", name="pk_uploaded_bytes"),
    )


def downgrade() -> None:
    op.drop_table("uploaded_bytes")
