"""Marks of what the demo added, by which pages tell it and `dynabench demo remove` finds it"""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "demo_marks",
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("key", sa.String(length=60), nullable=False),
        sa.PrimaryKeyConstraint("kind", "key", name="pk_demo_marks"),
    )


def downgrade() -> None:
    op.drop_table("demo_marks")
