"""Flags of the hub's repositories, and repositories that an administrator hid"""

import sqlalchemy as sa
from alembic import op

revision = "0062"
down_revision = "0061"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("hub_repositories", sa.Column("hidden", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.create_table(
        "hub_flags",
        sa.Column("id", KEY, nullable=False),
        sa.Column("repository_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("reason", sa.String(10), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("decided_at", TIME),
        sa.Column("decided_by", KEY),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["hub_repositories.id"],
            name="fk_hub_flags_repository_id_hub_repositories",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_hub_flags_person_id_people", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["decided_by"], ["people.id"], name="fk_hub_flags_decided_by_people", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_hub_flags"),
        sa.UniqueConstraint("repository_id", "person_id", name="uq_hub_flags_person"),
    )
    op.create_index("ix_hub_flags_person_id", "hub_flags", ["person_id"])
    op.create_index("ix_hub_flags_state", "hub_flags", ["state", "id"])


def downgrade() -> None:
    op.drop_table("hub_flags")
    op.drop_column("hub_repositories", "hidden")
