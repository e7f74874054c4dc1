"""The language that somebody reads the pages in, and notices that can be said in it"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    values = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
    op.add_column("people", sa.Column("language", sa.String(12), nullable=False, server_default=""))
    op.add_column("notices", sa.Column("phrases", values, nullable=True))


def downgrade() -> None:
    op.drop_column("notices", "phrases")
    op.drop_column("people", "language")
