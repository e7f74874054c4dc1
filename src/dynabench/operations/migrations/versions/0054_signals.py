"""Facts of how examples were written, and signals about them"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
UNCHECKED, WITH_DEVICE = sa.text("checked_at IS NULL"), sa.text("device IS NOT NULL")


def upgrade() -> None:
    op.create_table(
        "writing_facts",
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("typed", sa.Integer()),
        sa.Column("pasted", sa.Integer()),
        sa.Column("model_written", sa.Boolean()),
        sa.Column("device", sa.String(32)),
        sa.Column("at", TIME, nullable=False),
        sa.Column("checked_at", TIME),
        sa.PrimaryKeyConstraint("example_id", name="pk_writing_facts"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_writing_facts_example_id_examples"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_writing_facts_task_id_tasks"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_writing_facts_person_id_people"),
    )
    op.create_index("ix_writing_facts_person_id", "writing_facts", ["person_id"])
    op.create_index("ix_writing_facts_device", "writing_facts", ["task_id", "device"])
    op.create_index(
        "ix_writing_facts_device_age", "writing_facts", ["at"], postgresql_where=WITH_DEVICE, sqlite_where=WITH_DEVICE
    )
    op.create_index(
        "ix_writing_facts_unchecked",
        "writing_facts",
        ["task_id", "example_id"],
        postgresql_where=UNCHECKED,
        sqlite_where=UNCHECKED,
    )
    op.create_table(
        "signals",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("threshold", sa.Double(), nullable=False),
        sa.Column("other_id", KEY),
        sa.Column("facts", JSON, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("reason", sa.String(500), nullable=False),
        sa.Column("checked_by", KEY),
        sa.Column("checked_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_signals"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_signals_task_id_tasks"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_signals_round_id_rounds"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_signals_example_id_examples"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_signals_person_id_people"),
        sa.ForeignKeyConstraint(["other_id"], ["examples.id"], name="fk_signals_other_id_examples"),
        sa.ForeignKeyConstraint(
            ["checked_by"], ["people.id"], name="fk_signals_checked_by_people", ondelete="SET NULL"
        ),
    )
    op.create_index("ix_signals_person_id", "signals", ["person_id"])
    op.create_index("ix_signals_task", "signals", ["task_id", "state", "id"])
    op.create_index("uq_signals_example", "signals", ["example_id", "kind"], unique=True)
    op.create_table(
        "signal_jobs",
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("job_id", sa.String(36)),
        sa.Column("at", TIME),
        sa.PrimaryKeyConstraint("task_id", name="pk_signal_jobs"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_signal_jobs_task_id_tasks"),
    )


def downgrade() -> None:
    op.drop_table("signal_jobs")
    op.drop_table("signals")
    op.drop_table("writing_facts")
