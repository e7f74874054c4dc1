"""Conversations, notes, hiding and search of examples, and the validation of them."""

import sqlalchemy as sa
from alembic import op

from dynabench.operations.migrations.first_tables import JSON, KEY, MOMENT


def create_tables() -> None:
    op.create_table(
        "search_postings",
        sa.Column("term", sa.String(length=80), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("members", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("term", "block", name="pk_search_postings"),
    )
    op.create_table(
        "bulk_acts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("value", sa.String(length=1000), nullable=False),
        sa.Column("by", KEY, nullable=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("undone_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["by"], ["people.id"], name="fk_bulk_acts_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_bulk_acts_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_bulk_acts"),
    )
    op.create_index("ix_bulk_acts_task", "bulk_acts", ["task_id", "id"])
    op.create_table(
        "bulk_members",
        sa.Column("bulk_id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["bulk_id"], ["bulk_acts.id"], name="fk_bulk_members_bulk_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_bulk_members_example_id"),
        sa.PrimaryKeyConstraint("bulk_id", "example_id", name="pk_bulk_members"),
    )
    op.create_table(
        "conversations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("handout_id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("sides", JSON, nullable=False),
        sa.Column("example_id", KEY, nullable=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_conversations_example_id"),
        sa.ForeignKeyConstraint(["handout_id"], ["handouts.id"], name="fk_conversations_handout_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_conversations_person_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_conversations_round_id"),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
        sa.UniqueConstraint("example_id", name="uq_conversations_example_id"),
    )
    op.create_index("ix_conversations_handout", "conversations", ["handout_id", "id"])
    op.create_index("ix_conversations_person", "conversations", ["person_id"])
    op.create_index("ix_conversations_round", "conversations", ["round_id", "id"])
    op.create_table(
        "dismissals",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("dismissed", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("by", KEY, nullable=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["by"], ["people.id"], name="fk_dismissals_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_dismissals_example_id"),
        sa.PrimaryKeyConstraint("id", name="pk_dismissals"),
    )
    op.create_index("ix_dismissals_example_id", "dismissals", ["example_id"])
    op.create_table(
        "hidings",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("hidden", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("by", KEY, nullable=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["by"], ["people.id"], name="fk_hidings_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_hidings_example_id"),
        sa.PrimaryKeyConstraint("id", name="pk_hidings"),
    )
    op.create_index("ix_hidings_example_id", "hidings", ["example_id"])
    op.create_table(
        "near_bands",
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("band", sa.BigInteger(), nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_near_bands_example_id"),
        sa.PrimaryKeyConstraint("task_id", "band", "example_id", name="pk_near_bands"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "notes",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("text", sa.String(length=1000), nullable=False),
        sa.Column("by", KEY, nullable=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("removed_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["by"], ["people.id"], name="fk_notes_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_notes_example_id"),
        sa.PrimaryKeyConstraint("id", name="pk_notes"),
    )
    op.create_index("ix_notes_example_id", "notes", ["example_id"])
    op.create_table(
        "released_examples",
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("part", sa.String(length=10), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_released_examples_example_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_released_examples_round_id"),
        sa.PrimaryKeyConstraint("example_id", name="pk_released_examples"),
    )
    op.create_index("ix_released_examples_round_id", "released_examples", ["round_id"])
    op.create_table(
        "reservations",
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("mode", sa.String(length=10), nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_reservations_example_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_reservations_person_id"),
        sa.PrimaryKeyConstraint("example_id", "person_id", name="pk_reservations"),
    )
    op.create_index("ix_reservations_person", "reservations", ["person_id", "mode", "expires_at"])
    op.create_table(
        "retractions",
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_retractions_example_id"),
        sa.PrimaryKeyConstraint("example_id", name="pk_retractions"),
    )
    op.create_table(
        "search_news",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_search_news_example_id"),
        sa.PrimaryKeyConstraint("id", name="pk_search_news"),
    )
    op.create_table(
        "skips",
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_skips_example_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_skips_person_id"),
        sa.PrimaryKeyConstraint("example_id", "person_id", name="pk_skips"),
    )
    op.create_index("ix_skips_person_id", "skips", ["person_id"])
    op.create_table(
        "validations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("vote", sa.String(length=10), nullable=False),
        sa.Column("blind_answer", JSON, nullable=True),
        sa.Column("by_owner", sa.Boolean(), nullable=False),
        sa.Column("values", JSON, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_validations_example_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_validations_person_id"),
        sa.PrimaryKeyConstraint("id", name="pk_validations"),
    )
    op.create_index("ix_validations_at", "validations", ["person_id", "at"])
    op.create_index("ix_validations_example_id", "validations", ["example_id"])
    op.create_index("ix_validations_person", "validations", ["person_id", "example_id"])
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
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("beat_at", MOMENT, nullable=False),
        sa.Column("chosen_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.id"], name="fk_conversation_turns_conversation_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_conversation_turns"),
        sa.UniqueConstraint("conversation_id", "key", name="uq_conversation_turns_conversation_id_key"),
        sa.UniqueConstraint("conversation_id", "number", name="uq_conversation_turns_conversation_id_number"),
    )
    op.create_table(
        "undos",
        sa.Column("validation_id", KEY, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["validation_id"], ["validations.id"], name="fk_undos_validation_id"),
        sa.PrimaryKeyConstraint("validation_id", name="pk_undos"),
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
