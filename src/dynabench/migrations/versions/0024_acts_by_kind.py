"""The audit log of one kind is an index range, however long the log"""

from alembic import op

revision = "0024"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_acts_kind", "acts", ["task_id", "kind", "id"])


def downgrade() -> None:
    op.drop_index("ix_acts_kind", "acts")
