"""Examples are found by their words and facets"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.orm import Session

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


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
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("example_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_search_news_example_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_news")),
    )
    # Rows that exist already: by the command's own code, which reads columns by their names and tables as they are here.
    from dynabench.validation.reindex import reindex

    with Session(op.get_bind()) as session:
        reindex(session)
        session.flush()


def downgrade() -> None:
    op.drop_table("search_news")
    op.drop_table("search_postings")
