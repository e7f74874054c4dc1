"""Plans of rounds; contexts by weight, doubt and failed validation, and retired ones"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
LIVE = "retired_at IS NULL"
FAILED = "retired_at IS NULL AND failed > 0 AND good = 0"
KEYS = 2.0**31


def _index(name: str, columns: list[str], where: str) -> None:
    op.create_index(name, "contexts", columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def upgrade() -> None:
    op.add_column("rounds", sa.Column("plan", JSON, nullable=False, server_default="{}"))
    op.add_column("invitations", sa.Column("round_id", KEY, nullable=True))
    op.create_index("ix_invitations_round_id", "invitations", ["round_id"])
    for name, default in (("good", "0"), ("failed", "0"), ("doubt", "500")):
        op.add_column("contexts", sa.Column(name, sa.Integer(), nullable=False, server_default=default))
    for name, default in (("weight", "1"), ("clock", "0")):
        op.add_column("contexts", sa.Column(name, sa.Double(), nullable=False, server_default=default))
    op.add_column("contexts", sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True))
    op.execute(f"UPDATE contexts SET clock = draw / {KEYS}")  # each comes once, in random order; then by its weight
    _count()
    for name in ("ix_contexts_draw", "ix_contexts_used", "ix_contexts_fooled"):
        op.drop_index(name, table_name="contexts")
    _index("ix_contexts_draw", ["task_id", "draw"], LIVE)
    _index("ix_contexts_used", ["task_id", "used", "draw"], LIVE)
    _index("ix_contexts_fooled", ["task_id", "fooled", "draw"], LIVE)
    _index("ix_contexts_doubt", ["task_id", "doubt", "draw"], LIVE)
    _index("ix_contexts_clock", ["task_id", "clock"], LIVE)
    _index("ix_contexts_failed", ["task_id", "draw"], FAILED)
    _index("ix_contexts_retired", ["task_id", "id"], "retired_at IS NOT NULL")
    op.create_index("ix_handouts_seen", "handouts", ["person_id", "context_id"])
    op.create_table(
        "round_people",
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_round_people_round_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_round_people_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "person_id", name="pk_round_people"),
    )
    op.create_index("ix_round_people_person_id", "round_people", ["person_id"])
    op.create_table(
        "round_contexts",
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("context_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_round_contexts_round_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["context_id"], ["contexts.id"], name="fk_round_contexts_context_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("round_id", "context_id", name="pk_round_contexts"),
    )
    op.create_index("ix_round_contexts_context_id", "round_contexts", ["context_id"])


def _count() -> None:
    """What became of the examples that fooled, by context."""
    seen = (
        "SELECT examples.context_id AS id, "
        "sum(CASE WHEN standings.verdict IN ('pending', 'correct') THEN 1 ELSE 0 END) AS good, "
        "sum(CASE WHEN standings.verdict IN ('pending', 'correct') THEN 0 ELSE 1 END) AS failed "
        "FROM standings JOIN examples ON examples.id = standings.example_id "
        "WHERE standings.fooled AND NOT standings.retracted AND NOT standings.hidden GROUP BY examples.context_id"
    )
    op.execute(
        f"UPDATE contexts SET good = seen.good, failed = seen.failed FROM ({seen}) AS seen WHERE seen.id = contexts.id"
    )


def downgrade() -> None:
    op.drop_table("round_contexts")
    op.drop_table("round_people")
    op.drop_index("ix_handouts_seen", table_name="handouts")
    for name in ("draw", "used", "fooled", "doubt", "clock", "failed", "retired"):
        op.drop_index(f"ix_contexts_{name}", table_name="contexts")
    for name in ("retired_at", "clock", "weight", "doubt", "failed", "good"):
        op.drop_column("contexts", name)
    op.create_index("ix_contexts_draw", "contexts", ["task_id", "draw"])
    op.create_index("ix_contexts_used", "contexts", ["task_id", "used", "draw"])
    op.create_index("ix_contexts_fooled", "contexts", ["task_id", "fooled", "draw"])
    op.drop_index("ix_invitations_round_id", table_name="invitations")
    op.drop_column("invitations", "round_id")
    op.drop_column("rounds", "plan")
