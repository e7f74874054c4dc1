"""What the address told by which somebody came to write"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0014"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    values = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
    op.add_column("handouts", sa.Column("link", values, nullable=True))


def downgrade() -> None:
    op.drop_column("handouts", "link")
