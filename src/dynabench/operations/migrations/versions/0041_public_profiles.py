"""Public profiles, badges, the languages that people know and those of contexts"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.add_column("people", sa.Column("public_profile", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("people", sa.Column("known_languages", JSON, nullable=False, server_default="[]"))
    op.add_column("contexts", sa.Column("language", sa.String(12), nullable=False, server_default=""))
    op.create_index("ix_tallies_person", "tallies", ["person_id", "day"])
    op.create_table(
        "badge_awards",
        sa.Column("id", KEY, nullable=False),
        sa.Column("person_id", KEY),
        sa.Column("badge", sa.String(40), nullable=False),
        sa.Column("subject", sa.String(120), nullable=False),
        sa.Column("example_id", KEY),
        sa.Column("at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_badge_awards_person_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_badge_awards_example_id"),
        sa.PrimaryKeyConstraint("id", name="pk_badge_awards"),
        sa.UniqueConstraint("person_id", "badge", "subject", name="uq_badge_awards_person_id_badge_subject"),
    )
    op.create_index("ix_badge_awards_subject", "badge_awards", ["badge", "subject"])
    op.create_index("ix_badge_awards_example_id", "badge_awards", ["example_id"])
    op.create_table(
        "contributions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("person_id", KEY),
        sa.Column("example_id", KEY),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_contributions_person_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_contributions_example_id"),
        sa.PrimaryKeyConstraint("id", name="pk_contributions"),
    )
    op.execute("INSERT INTO contributions (person_id) SELECT id FROM people WHERE deleted_at IS NULL ORDER BY id")


def downgrade() -> None:
    op.drop_table("contributions")
    op.drop_table("badge_awards")
    op.drop_index("ix_tallies_person", "tallies")
    op.drop_column("contexts", "language")
    op.drop_column("people", "known_languages")
    op.drop_column("people", "public_profile")
