"""Classes, which students join with a code"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "classes",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("round_id", KEY),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("teacher_id", KEY),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("join_code", sa.String(12), nullable=False),
        sa.Column("assignment", sa.Text(), nullable=False),
        sa.Column("goals", JSON, nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True)),
        sa.Column("places", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_classes_task_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_classes_round_id"),
        sa.ForeignKeyConstraint(["teacher_id"], ["people.id"], name="fk_classes_teacher_id", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_classes"),
        sa.UniqueConstraint("join_code", name="uq_classes_join_code"),
    )
    for column in ("task_id", "round_id", "teacher_id"):
        op.create_index(f"ix_classes_{column}", "classes", [column])
    op.create_table(
        "class_students",
        sa.Column("class_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("account_made", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("code_digest", sa.String(64)),
        sa.Column("join_digest", sa.String(64)),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("leaving_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["class_id"], ["classes.id"], name="fk_class_students_class_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_class_students_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("class_id", "person_id", name="pk_class_students"),
        sa.UniqueConstraint("code_digest", name="uq_class_students_code_digest"),
        sa.UniqueConstraint("class_id", "join_digest", name="uq_class_students_class_id_join_digest"),
    )
    op.create_index("ix_class_students_person_id", "class_students", ["person_id"])


def downgrade() -> None:
    op.drop_table("class_students")
    op.drop_table("classes")
