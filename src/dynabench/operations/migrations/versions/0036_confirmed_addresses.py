"""Confirmed mail addresses; names and last use of browsers that are logged in"""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("people", sa.Column("email_confirmed_at", sa.DateTime(timezone=True)))
    op.add_column("sessions", sa.Column("seen_at", sa.DateTime(timezone=True)))
    op.add_column("sessions", sa.Column("user_agent", sa.String(200), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("sessions", "user_agent")
    op.drop_column("sessions", "seen_at")
    op.drop_column("people", "email_confirmed_at")
