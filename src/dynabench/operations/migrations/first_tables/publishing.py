"""Pictures and files, releases, turns of the cycle, notices, mail and webhooks."""

import sqlalchemy as sa
from alembic import op

from dynabench.operations.migrations.first_tables import JSON, KEY, MOMENT, only


def create_tables() -> None:
    op.create_table(
        "media",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("type", sa.String(length=40), nullable=False),
        sa.Column("size", KEY, nullable=False),
        sa.Column("width", sa.Integer(), nullable=True),
        sa.Column("height", sa.Integer(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_media"),
    )
    op.create_table(
        "mailings",
        sa.Column("id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(length=300), nullable=False),
        sa.Column("job_id", sa.String(length=36), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_mailings_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_mailings"),
    )
    op.create_index("ix_mailings_person_id", "mailings", ["person_id"])
    op.create_index("uq_mailings_gathering", "mailings", ["person_id"], unique=True, **only("state = 'gathering'"))
    op.create_table(
        "media_uploads",
        sa.Column("id", KEY, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["digest"], ["media.digest"], name="fk_media_uploads_digest", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_media_uploads_person_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_media_uploads_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_media_uploads"),
    )
    op.create_index("ix_media_uploads_digest", "media_uploads", ["digest"])
    op.create_index("ix_media_uploads_person", "media_uploads", ["person_id", "at"])
    op.create_index("ix_media_uploads_task", "media_uploads", ["task_id", "digest"])
    op.create_table(
        "notice_wishes",
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("address", sa.String(length=254), nullable=False),
        sa.Column("verified_at", MOMENT, nullable=True),
        sa.Column("channels", JSON, nullable=False),
        sa.Column("problem", sa.String(length=300), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_notice_wishes_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("person_id", name="pk_notice_wishes"),
    )
    op.create_table(
        "notices",
        sa.Column("id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("seen_at", MOMENT, nullable=True),
        sa.Column("link", sa.String(length=200), server_default="", nullable=False),
        sa.Column("outside", sa.Text(), server_default="", nullable=False),
        sa.Column("mailing_id", KEY, nullable=True),
        sa.Column("phrases", JSON, nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_notices_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_notices"),
    )
    op.create_index("ix_notices_mailing_id", "notices", ["mailing_id"])
    op.create_index("ix_notices_person", "notices", ["person_id", "seen_at"])
    op.create_table(
        "webhooks",
        sa.Column("id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("task_id", sa.String(length=60), nullable=True),
        sa.Column("url", sa.String(length=500), nullable=False),
        sa.Column("events", JSON, nullable=False),
        sa.Column("salt", sa.String(length=64), nullable=False),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("failing_since", MOMENT, nullable=True),
        sa.Column("off_at", MOMENT, nullable=True),
        sa.Column("reason", sa.String(length=300), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_webhooks_created_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_webhooks_person_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_webhooks_task_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
    )
    op.create_index("ix_webhooks_person_id", "webhooks", ["person_id"])
    op.create_index("ix_webhooks_task_id", "webhooks", ["task_id"])
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", KEY, nullable=False),
        sa.Column("hook_id", KEY, nullable=False),
        sa.Column("event", sa.String(length=40), nullable=False),
        sa.Column("message", sa.String(length=40), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(length=36), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("due_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["hook_id"], ["webhooks.id"], name="fk_webhook_deliveries_hook_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_deliveries"),
        sa.UniqueConstraint("message", name="uq_webhook_deliveries_message"),
    )
    op.create_index("ix_webhook_deliveries_created_at", "webhook_deliveries", ["created_at"])
    op.create_index("ix_webhook_deliveries_hook", "webhook_deliveries", ["hook_id", "id"])
    op.create_table(
        "cycle_turns",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("step", sa.String(length=10), nullable=False),
        sa.Column("plan", JSON, nullable=False),
        sa.Column("present", JSON, nullable=False),
        sa.Column("outside", JSON, nullable=False),
        sa.Column("report", JSON, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(length=36), nullable=True),
        sa.Column("next_id", KEY, nullable=True),
        sa.Column("back_id", KEY, nullable=True),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["back_id"], ["rounds.id"], name="fk_cycle_turns_back_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_cycle_turns_created_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["next_id"], ["rounds.id"], name="fk_cycle_turns_next_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_cycle_turns_round_id"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_cycle_turns_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_cycle_turns"),
    )
    op.create_index("ix_cycle_turns_round_id", "cycle_turns", ["round_id"])
    op.create_index("ix_cycle_turns_task", "cycle_turns", ["task_id", "id"])
    op.create_table(
        "round_parents",
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("parent_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["parent_id"], ["rounds.id"], name="fk_round_parents_parent_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_round_parents_round_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "parent_id", name="pk_round_parents"),
    )
    op.create_table(
        "webhook_tries",
        sa.Column("id", KEY, nullable=False),
        sa.Column("delivery_id", KEY, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("ms", sa.Integer(), nullable=False),
        sa.Column("answer", sa.String(length=300), nullable=False),
        sa.ForeignKeyConstraint(
            ["delivery_id"], ["webhook_deliveries.id"], name="fk_webhook_tries_delivery_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_tries"),
    )
    op.create_index("ix_webhook_tries_delivery_id", "webhook_tries", ["delivery_id"])
    op.create_table(
        "cycle_candidates",
        sa.Column("turn_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("method", sa.String(length=10), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("submission_id", KEY, nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("rows", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_cycle_candidates_submission_id"),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["cycle_turns.id"], name="fk_cycle_candidates_turn_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("turn_id", "position", name="pk_cycle_candidates"),
    )
    op.create_table(
        "media_uses",
        sa.Column("id", KEY, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("context_id", KEY, nullable=True),
        sa.Column("example_id", KEY, nullable=True),
        sa.CheckConstraint("(context_id IS NULL) <> (example_id IS NULL)", name="ck_media_uses_one"),
        sa.ForeignKeyConstraint(["context_id"], ["contexts.id"], name="fk_media_uses_context_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["digest"], ["media.digest"], name="fk_media_uses_digest"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_media_uses_example_id"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_media_uses_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_media_uses"),
    )
    op.create_index(
        "ix_media_uses_context", "media_uses", ["context_id", "digest"], unique=True, **only("context_id IS NOT NULL")
    )
    op.create_index("ix_media_uses_digest", "media_uses", ["digest"])
    op.create_index(
        "ix_media_uses_example", "media_uses", ["example_id", "digest"], unique=True, **only("example_id IS NOT NULL")
    )
    op.create_table(
        "releases",
        sa.Column("id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("rules", JSON, nullable=False),
        sa.Column("anyway", sa.Boolean(), nullable=False),
        sa.Column("report", JSON, nullable=False),
        sa.Column("manifest", JSON, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("test_id", KEY, nullable=True),
        sa.Column("hidden_id", KEY, nullable=True),
        sa.Column("job_id", sa.String(length=36), nullable=True),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("released_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_releases_created_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["hidden_id"], ["dataset_versions.id"], name="fk_releases_hidden_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_releases_round_id"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_releases_task_id"),
        sa.ForeignKeyConstraint(["test_id"], ["dataset_versions.id"], name="fk_releases_test_id"),
        sa.PrimaryKeyConstraint("id", name="pk_releases"),
        sa.UniqueConstraint("round_id", name="uq_releases_round_id"),
    )
    op.create_index("ix_releases_task_id", "releases", ["task_id"])
