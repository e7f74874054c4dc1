"""Indexes by which examples made from others and the blocks of the search index are found"""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

HAS_ORIGIN = sa.text("made_from IS NOT NULL")


def upgrade() -> None:
    op.create_index(
        "ix_examples_made_from", "examples", ["made_from"], postgresql_where=HAS_ORIGIN, sqlite_where=HAS_ORIGIN
    )
    op.create_index("ix_search_postings_block", "search_postings", ["block", "term"])


def downgrade() -> None:
    op.drop_index("ix_search_postings_block", "search_postings")
    op.drop_index("ix_examples_made_from", "examples")
