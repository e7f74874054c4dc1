"""Open evaluations: results on the cards of models"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TABLE = "open_evaluation_cards"


def _reference(column: str, table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{TABLE}_{column}_{table}"
    return sa.ForeignKeyConstraint([column], [f"{table}.id"], name=name, ondelete="CASCADE")


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("evaluation_id", KEY, nullable=False),
        sa.Column("model", sa.Integer(), nullable=False),
        sa.Column("place", sa.String(12), nullable=False),
        sa.Column("target", sa.String(300), nullable=False),
        sa.Column("repository_id", KEY),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("revision", sa.String(40), nullable=False),
        sa.Column("pull", sa.Integer(), nullable=False),
        sa.Column("tokens", JSON, nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("evaluation_id", "model", "place", name=f"pk_{TABLE}"),
        _reference("evaluation_id", "open_evaluations"),
        _reference("repository_id", "hub_repositories"),
    )
    op.create_index(f"ix_{TABLE}_target", TABLE, ["target"])
    op.create_index(f"ix_{TABLE}_repository_id", TABLE, ["repository_id"])


def downgrade() -> None:
    op.drop_table(TABLE)
