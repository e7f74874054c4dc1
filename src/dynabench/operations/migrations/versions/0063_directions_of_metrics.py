"""Directions of metrics of the hub in scores of open evaluations"""

import sqlalchemy as sa
from alembic import op

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("open_evaluation_scores", sa.Column("better", sa.String(6), server_default="", nullable=False))


def downgrade() -> None:
    op.drop_column("open_evaluation_scores", "better")
