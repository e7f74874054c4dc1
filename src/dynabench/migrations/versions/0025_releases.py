"""Releases of rounds, and an index of near-duplicates"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
VALUES = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.add_column("standings", sa.Column("withheld", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.create_table(
        "released_examples",
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("part", sa.String(length=10), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_released_examples_example_id")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_released_examples_round_id")),
        sa.PrimaryKeyConstraint("example_id", name=op.f("pk_released_examples")),
    )
    with op.batch_alter_table("released_examples", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_released_examples_round_id"), ["round_id"], unique=False)
    op.create_table(
        "releases",
        sa.Column("id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("rules", VALUES, nullable=False),
        sa.Column("anyway", sa.Boolean(), nullable=False),
        sa.Column("report", VALUES, nullable=False),
        sa.Column("manifest", VALUES, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("test_id", KEY, nullable=True),
        sa.Column("hidden_id", KEY, nullable=True),
        sa.Column("job_id", sa.String(length=36), nullable=True),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["created_by"], ["people.id"], name=op.f("fk_releases_created_by"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["hidden_id"], ["dataset_versions.id"], name=op.f("fk_releases_hidden_id")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_releases_round_id")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_releases_task_id")),
        sa.ForeignKeyConstraint(["test_id"], ["dataset_versions.id"], name=op.f("fk_releases_test_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_releases")),
        sa.UniqueConstraint("round_id", name=op.f("uq_releases_round_id")),
    )
    with op.batch_alter_table("releases", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_releases_task_id"), ["task_id"], unique=False)

    op.create_table(
        "near_bands",
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("band", sa.BigInteger(), nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_near_bands_example_id")),
        sa.PrimaryKeyConstraint("task_id", "band", "example_id", name=op.f("pk_near_bands")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("near_bands")
    op.drop_table("releases")
    op.drop_table("released_examples")
    with op.batch_alter_table("standings", schema=None) as batch_op:
        batch_op.drop_column("withheld")
