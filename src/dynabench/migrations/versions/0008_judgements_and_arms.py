"""Whether a model was fooled may be unknown; judgements; people assigned to arms"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
MOST = 10_000  # examples that the index is told of at once


def upgrade() -> None:
    op.create_table(
        "assignments",
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("arm", sa.String(length=40), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_assignments_person_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_assignments_round_id"),
        sa.PrimaryKeyConstraint("round_id", "person_id", name="pk_assignments"),
        sa.UniqueConstraint("round_id", "place", name="uq_assignments_round_id_place"),
    )
    op.create_table(
        "judgements",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("prediction_id", KEY, nullable=True),
        sa.Column("by", sa.String(length=10), nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("fooled", sa.Boolean(), nullable=True),
        sa.Column("said", JSON, nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_judgements_example_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_judgements_person_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["prediction_id"], ["predictions.id"], name="fk_judgements_prediction_id"),
        sa.PrimaryKeyConstraint("id", name="pk_judgements"),
    )
    op.create_index("ix_judgements_example_id", "judgements", ["example_id"])
    op.create_index("ix_judgements_prediction_id", "judgements", ["prediction_id"])
    op.add_column("rounds", sa.Column("assign", sa.String(length=10), nullable=False, server_default="item"))
    op.add_column("rounds", sa.Column("seed", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("rounds", sa.Column("judge", JSON, nullable=True))
    op.execute("UPDATE rounds SET seed = id")
    op.add_column("tallies", sa.Column("unknown", sa.Integer(), nullable=False, server_default="0"))
    for table in ("examples", "predictions", "standings"):
        with op.batch_alter_table(table, reflect_kwargs={"resolve_fks": False}) as batch_op:
            batch_op.alter_column("fooled", existing_type=sa.Boolean(), nullable=True)
    _forget_who_was_not_asked()


def _forget_who_was_not_asked() -> None:
    """Of examples on which no model was asked it is not known whether they would have fooled one."""
    from dynabench.collection import breakdowns, search_index
    from dynabench.collection.terms import facet

    unasked = "SELECT example_id FROM standings WHERE targets = 0"
    op.execute(f"UPDATE examples SET fooled = NULL WHERE id IN ({unasked})")
    op.execute("UPDATE standings SET fooled = NULL WHERE targets = 0")
    sqlite = op.get_context().dialect.name == "sqlite"
    day = "substr(e.at, 1, 10)" if sqlite else "to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
    op.execute(
        "UPDATE tallies SET unknown = (SELECT count(*) FROM examples e JOIN standings s ON s.example_id = e.id "
        "WHERE s.targets = 0 AND NOT s.retracted AND NOT s.hidden AND e.round_id = tallies.round_id "
        f"AND e.author_id = tallies.person_id AND {day} = tallies.day AND e.start = tallies.start "
        "AND e.arm = tallies.arm AND e.source = tallies.source) "
        "WHERE round_id IN (SELECT round_id FROM standings WHERE targets = 0)"
    )
    op.execute("UPDATE tallies SET fooled = 0, validated = 0, resolved = 0 WHERE unknown = examples AND unknown > 0")
    with Session(op.get_bind()) as session:
        search_index.fold(session)  # what is in the news would come over this
        ids = session.scalars(sa.text(unasked)).all()
        for start in range(0, len(ids), MOST):
            some = ids[start : start + MOST]
            search_index.put(session, [(example, [facet("fooled", None)]) for example in some])
        rounds = sa.table("rounds", sa.column("id"), sa.column("arms", JSON))
        for round_id, arms in session.execute(sa.select(rounds.c.id, rounds.c.arms)).all():
            breakdowns.rebuild(session, round_id, arms)
        session.flush()


def downgrade() -> None:
    """There is no way back: judgements would be lost, and unknown outcomes be taken for known ones."""
    raise RuntimeError("This version of the schema cannot be taken back; restore a copy made before it.")
