"""Appeals against decisions about people"""

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "appeals",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("kind", sa.String(30), nullable=False),
        sa.Column("subject_id", KEY, nullable=False),
        sa.Column("decided_at", TIME, nullable=False),
        sa.Column("decider_id", KEY),
        sa.Column("reason", sa.String(1000), nullable=False),
        sa.Column("text", sa.String(2000), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("answer", sa.String(2000), nullable=False),
        sa.Column("answered_by", KEY),
        sa.Column("at", TIME, nullable=False),
        sa.Column("answered_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_appeals"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_appeals_task_id_tasks"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_appeals_person_id_people", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["decider_id"], ["people.id"], name="fk_appeals_decider_id_people", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["answered_by"], ["people.id"], name="fk_appeals_answered_by_people", ondelete="SET NULL"
        ),
        sa.UniqueConstraint(
            "task_id",
            "person_id",
            "kind",
            "subject_id",
            "decided_at",
            name="uq_appeals_task_id_person_id_kind_subject_id_decided_at",
        ),
    )
    op.create_index("ix_appeals_person_id", "appeals", ["person_id"])
    op.create_index("ix_appeals_task", "appeals", ["task_id", "state", "id"])


def downgrade() -> None:
    op.drop_table("appeals")
