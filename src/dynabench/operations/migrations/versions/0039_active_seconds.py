"""The time for which authors worked on an example, beside the time since it was handed out"""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("examples", sa.Column("active_seconds", sa.Double()))


def downgrade() -> None:
    op.drop_column("examples", "active_seconds")
