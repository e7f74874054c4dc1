"""Inspiration of imported examples"""

import sqlalchemy as sa
from alembic import op

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("writing_facts", sa.Column("inspired", sa.Boolean()))


def downgrade() -> None:
    op.drop_column("writing_facts", "inspired")
