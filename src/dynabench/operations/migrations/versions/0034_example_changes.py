"""Changes of examples in one table, which was two

What was not folded yet is taken along.
"""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "example_changes",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=True),
        sa.Column("round_id", KEY, nullable=True),
        sa.Column("terms", sa.Text(), nullable=True),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_example_changes_example_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_example_changes_round_id"),
        sa.PrimaryKeyConstraint("id", name="pk_example_changes"),
    )
    columns = "INSERT INTO example_changes (example_id, round_id, terms, counts) "
    op.execute(columns + "SELECT example_id, NULL, terms, '' FROM search_news ORDER BY id")
    op.execute(columns + "SELECT NULL, round_id, '', told FROM tally_news ORDER BY id")
    op.drop_table("search_news")
    op.drop_table("tally_news")


def downgrade() -> None:
    op.create_table(
        "search_news",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_search_news_example_id"),
        sa.PrimaryKeyConstraint("id", name="pk_search_news"),
    )
    op.create_table(
        "tally_news",
        sa.Column("id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("told", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_tally_news_round_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tally_news"),
    )
    op.create_index("ix_tally_news_round_id", "tally_news", ["round_id"])
    op.drop_table("example_changes")
