"""Decisions of experts on disputed examples"""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "adjudications",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("validation_id", KEY, nullable=False),
        sa.Column("verdict", sa.String(10), nullable=False),
        sa.Column("reason", sa.String(500), nullable=False),
        sa.Column("by", KEY),
        sa.Column("at", TIME, nullable=False),
        sa.Column("revoked_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_adjudications"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_adjudications_task_id_tasks"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_adjudications_example_id_examples"),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name="fk_adjudications_validation_id_validations"
        ),
        sa.ForeignKeyConstraint(["by"], ["people.id"], name="fk_adjudications_by_people", ondelete="SET NULL"),
        sa.UniqueConstraint("validation_id", name="uq_adjudications_validation_id"),
    )
    op.create_index("ix_adjudications_example_id", "adjudications", ["example_id"])
    op.create_index("ix_adjudications_task", "adjudications", ["task_id", "id"])


def downgrade() -> None:
    op.drop_table("adjudications")
