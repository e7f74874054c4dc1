"""Log-ins in several steps, accounts at providers of log-ins, and second factors"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
TIME = sa.DateTime(timezone=True)


def _of_person(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=f"fk_{table}_person_id", ondelete="CASCADE")


def upgrade() -> None:
    op.create_table(
        "pending_logins",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("step", sa.String(10), nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("details", JSON, nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        _of_person("pending_logins"),
        sa.PrimaryKeyConstraint("digest", name="pk_pending_logins"),
    )
    op.create_index("ix_pending_logins_person_id", "pending_logins", ["person_id"])
    op.create_index("ix_pending_logins_expires_at", "pending_logins", ["expires_at"])
    op.create_table(
        "identities",
        sa.Column("id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("issuer", sa.String(255), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("used_at", TIME, nullable=True),
        _of_person("identities"),
        sa.PrimaryKeyConstraint("id", name="pk_identities"),
        sa.UniqueConstraint("issuer", "subject", name="uq_identities_subject"),
    )
    op.create_index("ix_identities_person_id", "identities", ["person_id"])
    op.create_table(
        "second_factors",
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("secret", sa.String(200), nullable=False),
        sa.Column("confirmed_at", TIME, nullable=True),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("recovery_codes", JSON, nullable=False),
        _of_person("second_factors"),
        sa.PrimaryKeyConstraint("person_id", name="pk_second_factors"),
    )
    op.add_column("sessions", sa.Column("provider", sa.String(40), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("sessions", "provider")
    op.drop_table("second_factors")
    op.drop_table("identities")
    op.drop_table("pending_logins")
