"""Conversations"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("handout_id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("sides", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("example_id", KEY, nullable=True),
        sa.Column("at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["handout_id"], ["handouts.id"], name="fk_conversations_handout_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_conversations_round_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_conversations_person_id"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_conversations_example_id"),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
        sa.UniqueConstraint("example_id", name="uq_conversations_example_id"),
    )
    op.create_index("ix_conversations_handout", "conversations", ["handout_id", "id"])
    op.create_index("ix_conversations_round", "conversations", ["round_id", "id"])
    op.create_index("ix_conversations_person", "conversations", ["person_id"])
    op.create_table(
        "conversation_turns",
        sa.Column("id", KEY, nullable=False),
        sa.Column("conversation_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("request", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("stop", sa.Boolean(), nullable=False),
        sa.Column("choice", sa.String(length=10), nullable=False),
        sa.Column("continued", sa.Integer(), nullable=True),
        sa.Column("at", TIME, nullable=False),
        sa.Column("beat_at", TIME, nullable=False),
        sa.Column("chosen_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.id"], name="fk_conversation_turns_conversation_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_conversation_turns"),
        sa.UniqueConstraint("conversation_id", "key", name="uq_conversation_turns_conversation_id_key"),
        sa.UniqueConstraint("conversation_id", "number", name="uq_conversation_turns_conversation_id_number"),
    )
    op.create_table(
        "conversation_replies",
        sa.Column("turn_id", KEY, nullable=False),
        sa.Column("side", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("rating", sa.Integer(), nullable=True),
        sa.Column("first_ms", sa.Double(), nullable=True),
        sa.Column("whole_ms", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["turn_id"], ["conversation_turns.id"], name="fk_conversation_replies_turn_id"),
        sa.PrimaryKeyConstraint("turn_id", "side", name="pk_conversation_replies"),
    )


def downgrade() -> None:
    op.drop_table("conversation_replies")
    op.drop_table("conversation_turns")
    op.drop_table("conversations")
