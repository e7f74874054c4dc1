"""What models drew of people's words"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0021"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    values = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
    op.create_table(
        "sheets",
        sa.Column("id", key, nullable=False),
        sa.Column("handout_id", key, nullable=False),
        sa.Column("person_id", key, nullable=False),
        sa.Column("words", values, nullable=False),
        sa.Column("sides", values, nullable=False),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["handout_id"], ["handouts.id"], name="fk_sheets_handout_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_sheets_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_sheets"),
        sa.UniqueConstraint("person_id", "key", name="uq_sheets_person_id_key"),
    )
    op.create_index("ix_sheets_handout", "sheets", ["handout_id", "id"])


def downgrade() -> None:
    op.drop_table("sheets")
