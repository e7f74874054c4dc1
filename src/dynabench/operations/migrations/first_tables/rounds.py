"""Tasks, their versions, people and rounds, and contexts."""

import sqlalchemy as sa
from alembic import op

from dynabench.operations.migrations.first_tables import JSON, KEY, MOMENT, only


def create_tables() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", sa.String(length=60), nullable=False),
        sa.Column("version_id", KEY, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tasks"),
    )
    op.create_table(
        "announcements",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("until", MOMENT, nullable=False),
        sa.Column("told", sa.Integer(), nullable=False),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_announcements_created_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_announcements_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_announcements"),
    )
    op.create_index("ix_announcements_task", "announcements", ["task_id", "until"])
    op.create_table(
        "bans",
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("by", KEY, nullable=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["by"], ["people.id"], name="fk_bans_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_bans_person_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_bans_task_id"),
        sa.PrimaryKeyConstraint("task_id", "person_id", name="pk_bans"),
    )
    op.create_index("ix_bans_person_id", "bans", ["person_id"])
    op.create_table(
        "contexts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("values", JSON, nullable=False),
        sa.Column("tag", sa.String(length=100), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("draw", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("fooled", sa.Integer(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("good", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("doubt", sa.Integer(), server_default="500", nullable=False),
        sa.Column("weight", sa.Double(), server_default="1", nullable=False),
        sa.Column("clock", sa.Double(), server_default="0", nullable=False),
        sa.Column("retired_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_contexts_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_contexts"),
        sa.UniqueConstraint("task_id", "digest", name="uq_contexts_task_id_digest"),
    )
    op.create_index("ix_contexts_clock", "contexts", ["task_id", "clock"], **only("retired_at IS NULL"))
    op.create_index("ix_contexts_doubt", "contexts", ["task_id", "doubt", "draw"], **only("retired_at IS NULL"))
    op.create_index("ix_contexts_draw", "contexts", ["task_id", "draw"], **only("retired_at IS NULL"))
    op.create_index(
        "ix_contexts_failed", "contexts", ["task_id", "draw"], **only("retired_at IS NULL AND failed > 0 AND good = 0")
    )
    op.create_index("ix_contexts_fooled", "contexts", ["task_id", "fooled", "draw"], **only("retired_at IS NULL"))
    op.create_index("ix_contexts_listed", "contexts", ["task_id", "id"])
    op.create_index("ix_contexts_retired", "contexts", ["task_id", "id"], **only("retired_at IS NOT NULL"))
    op.create_index("ix_contexts_tag", "contexts", ["task_id", "tag", "id"])
    op.create_index("ix_contexts_used", "contexts", ["task_id", "used", "draw"], **only("retired_at IS NULL"))
    op.create_table(
        "invitations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("note", sa.String(length=100), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("most_uses", sa.Integer(), nullable=False),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("revoked_at", MOMENT, nullable=True),
        sa.Column("round_id", KEY, nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_invitations_created_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_invitations_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_invitations"),
        sa.UniqueConstraint("digest", name="uq_invitations_digest"),
    )
    op.create_index("ix_invitations_round_id", "invitations", ["round_id"])
    op.create_index("ix_invitations_task_id", "invitations", ["task_id"])
    op.create_table(
        "proposals",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("note", sa.String(length=1000), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("decided_by", KEY, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("decided_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["decided_by"], ["people.id"], name="fk_proposals_decided_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_proposals_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_proposals"),
    )
    op.create_index("ix_proposals_person_id", "proposals", ["person_id"])
    op.create_index("ix_proposals_state", "proposals", ["state", "id"])
    op.create_table(
        "roles",
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_roles_person_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_roles_task_id"),
        sa.PrimaryKeyConstraint("task_id", "person_id", name="pk_roles"),
    )
    op.create_index("ix_roles_person_id", "roles", ["person_id"])
    op.create_table(
        "task_versions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_task_versions_created_by"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_task_versions_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_task_versions"),
        sa.UniqueConstraint("task_id", "number", name="uq_task_versions_task_id_number"),
    )
    op.create_table(
        "announcements_seen",
        sa.Column("announcement_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(
            ["announcement_id"], ["announcements.id"], name="fk_announcements_seen_announcement_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["people.id"], name="fk_announcements_seen_person_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("announcement_id", "person_id", name="pk_announcements_seen"),
    )
    op.create_index("ix_announcements_seen_person_id", "announcements_seen", ["person_id"])
    op.create_table(
        "refused_rows",
        sa.Column("job_id", sa.String(length=36), nullable=False),
        sa.Column("row", KEY, nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("values", JSON, nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_refused_rows_job_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", "row", name="pk_refused_rows"),
    )
    op.create_table(
        "rounds",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version_id", KEY, nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("fooled_when", sa.String(length=10), nullable=False),
        sa.Column("opened_at", MOMENT, nullable=True),
        sa.Column("closed_at", MOMENT, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("arms", JSON, server_default="[]", nullable=False),
        sa.Column("assign", sa.String(length=10), server_default="item", nullable=False),
        sa.Column("seed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("judge", JSON, nullable=True),
        sa.Column("plan", JSON, server_default="{}", nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_rounds_task_id"),
        sa.ForeignKeyConstraint(["version_id"], ["task_versions.id"], name="fk_rounds_version_id"),
        sa.PrimaryKeyConstraint("id", name="pk_rounds"),
        sa.UniqueConstraint("task_id", "number", name="uq_rounds_task_id_number"),
    )
    op.create_table(
        "assignments",
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("arm", sa.String(length=40), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_assignments_person_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_assignments_round_id"),
        sa.PrimaryKeyConstraint("round_id", "person_id", name="pk_assignments"),
        sa.UniqueConstraint("round_id", "place", name="uq_assignments_round_id_place"),
    )
    op.create_table(
        "round_contexts",
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("context_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(
            ["context_id"], ["contexts.id"], name="fk_round_contexts_context_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_round_contexts_round_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "context_id", name="pk_round_contexts"),
    )
    op.create_index("ix_round_contexts_context_id", "round_contexts", ["context_id"])
    op.create_table(
        "round_people",
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_round_people_person_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_round_people_round_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "person_id", name="pk_round_people"),
    )
    op.create_index("ix_round_people_person_id", "round_people", ["person_id"])
    op.create_table(
        "targets",
        sa.Column("id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_targets_round_id"),
        sa.PrimaryKeyConstraint("id", name="pk_targets"),
    )
    op.create_index("ix_targets_round_id", "targets", ["round_id"])
