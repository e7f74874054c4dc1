"""Seeds that fool the targets of a round already, which are not handed out"""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("seeds", sa.Column("fooled_round", KEY, nullable=False, server_default="0"))
    op.drop_index("ix_seeds_used", "seeds")
    op.create_index("ix_seeds_used", "seeds", ["task_id", "fooled_round", "used", "draw"])


def downgrade() -> None:
    op.drop_index("ix_seeds_used", "seeds")
    op.create_index("ix_seeds_used", "seeds", ["task_id", "used", "draw"])
    op.drop_column("seeds", "fooled_round")
