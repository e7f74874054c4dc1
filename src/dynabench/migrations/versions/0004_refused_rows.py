"""Rows that imports left out, and contexts listed by tag"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "refused_rows",
        sa.Column("job_id", sa.String(length=36), nullable=False),
        sa.Column("row", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("values", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_refused_rows_job_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", "row", name=op.f("pk_refused_rows")),
    )
    with op.batch_alter_table("contexts", schema=None) as batch_op:
        batch_op.create_index("ix_contexts_listed", ["task_id", "id"], unique=False)
        batch_op.create_index("ix_contexts_tag", ["task_id", "tag", "id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("contexts", schema=None) as batch_op:
        batch_op.drop_index("ix_contexts_tag")
        batch_op.drop_index("ix_contexts_listed")
    op.drop_table("refused_rows")
