"""Examples are found by words and facets; counts by person, packed"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.orm import Session

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "search_postings",
        sa.Column("term", sa.String(length=80), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("members", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("term", "block", name=op.f("pk_search_postings")),
    )
    op.create_table(
        "search_news",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_search_news_example_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_news")),
    )
    op.create_table(
        "breakdowns",
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("name", sa.String(length=10), nullable=False),
        sa.Column("value", sa.String(length=100), nullable=False),
        sa.Column("counts", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_breakdowns_round_id"),
        sa.PrimaryKeyConstraint("round_id", "name", "value", name="pk_breakdowns"),
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
    op.create_table(
        "dismissals",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("dismissed", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("by", KEY, nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["by"], ["people.id"], name="fk_dismissals_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_dismissals_example_id"),
        sa.PrimaryKeyConstraint("id", name="pk_dismissals"),
    )
    op.create_index("ix_dismissals_example_id", "dismissals", ["example_id"])
    # Rows that exist already, by the code of the commands, which reads columns by their names. What is counted in
    # `breakdowns` has grown since: 0008 counts it.
    from dynabench.validation.reindex import reindex

    with Session(op.get_bind()) as session:
        reindex(session)
        session.flush()


def downgrade() -> None:
    op.drop_table("dismissals")
    op.drop_table("tally_news")
    op.drop_table("breakdowns")
    op.drop_table("search_news")
    op.drop_table("search_postings")
