"""Control items among what validators check"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "control_items",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("example_id", KEY),
        sa.Column("context", JSON, nullable=False),
        sa.Column("input", JSON, nullable=False),
        sa.Column("answer", JSON, nullable=False),
        sa.Column("predictions", JSON, nullable=False),
        sa.Column("right_vote", sa.String(10), nullable=False),
        sa.Column("source", sa.String(200), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("added_by", KEY),
        sa.Column("at", TIME, nullable=False),
        sa.Column("retired_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_control_items"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_control_items_task_id_tasks"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_control_items_example_id_examples"),
        sa.ForeignKeyConstraint(
            ["added_by"], ["people.id"], name="fk_control_items_added_by_people", ondelete="SET NULL"
        ),
        sa.UniqueConstraint("task_id", "digest", name="uq_control_items_task_id_digest"),
    )
    op.create_index("ix_control_items_example_id", "control_items", ["example_id"])
    op.create_table(
        "control_places",
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("item_id", KEY),
        sa.Column("shown_id", KEY),
        sa.Column("repeated_id", KEY),
        sa.Column("at", TIME, nullable=False),
        sa.Column("done_at", TIME),
        sa.PrimaryKeyConstraint("example_id", "person_id", name="pk_control_places"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_control_places_example_id_examples"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_control_places_person_id_people"),
        sa.ForeignKeyConstraint(["item_id"], ["control_items.id"], name="fk_control_places_item_id_control_items"),
        sa.ForeignKeyConstraint(["shown_id"], ["examples.id"], name="fk_control_places_shown_id_examples"),
        sa.ForeignKeyConstraint(["repeated_id"], ["validations.id"], name="fk_control_places_repeated_id_validations"),
    )
    op.create_index("ix_control_places_person", "control_places", ["person_id", "item_id"])
    op.create_table(
        "control_answers",
        sa.Column("validation_id", KEY, nullable=False, autoincrement=False),
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("item_id", KEY),
        sa.Column("shown_id", KEY),
        sa.Column("expected", sa.String(10), nullable=False),
        sa.Column("is_right", sa.Boolean(), nullable=False),
        sa.Column("taken_back", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("validation_id", name="pk_control_answers"),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name="fk_control_answers_validation_id_validations"
        ),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_control_answers_task_id_tasks"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_control_answers_person_id_people"),
        sa.ForeignKeyConstraint(["item_id"], ["control_items.id"], name="fk_control_answers_item_id_control_items"),
        sa.ForeignKeyConstraint(["shown_id"], ["examples.id"], name="fk_control_answers_shown_id_examples"),
    )
    op.create_index("ix_control_answers_item_id", "control_answers", ["item_id"])
    op.create_index("ix_control_answers_person", "control_answers", ["task_id", "person_id"])
    op.create_table(
        "control_decisions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("consequence", sa.String(10), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("right", sa.Integer(), nullable=False),
        sa.Column("threshold", sa.Double(), nullable=False),
        sa.Column("last_answer", KEY, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("decided_by", KEY),
        sa.Column("ended_at", TIME),
        sa.Column("ended_by", KEY),
        sa.PrimaryKeyConstraint("id", name="pk_control_decisions"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_control_decisions_task_id_tasks"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_control_decisions_person_id_people"),
        sa.ForeignKeyConstraint(
            ["decided_by"], ["people.id"], name="fk_control_decisions_decided_by_people", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["ended_by"], ["people.id"], name="fk_control_decisions_ended_by_people", ondelete="SET NULL"
        ),
    )
    op.create_index("ix_control_decisions_person", "control_decisions", ["person_id", "task_id"])
    op.create_index("ix_control_decisions_task", "control_decisions", ["task_id", "id"])


def downgrade() -> None:
    # Answers to controls stay in `validations`, marked as taken back.
    for table in ("control_decisions", "control_answers", "control_places", "control_items"):
        op.drop_table(table)
