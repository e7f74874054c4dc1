"""First tables"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "people",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("username", sa.String(length=40), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=False),
        sa.Column("pseudonym", sa.String(length=40), nullable=False),
        sa.Column("admin", sa.Boolean(), nullable=False),
        sa.Column("terms", sa.String(length=20), nullable=False),
        sa.Column("agreed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
    )
    op.create_table(
        "tasks",
        sa.Column("id", sa.String(length=60), nullable=False),
        sa.Column("version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
    )
    op.create_table(
        "acts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_acts_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_acts")),
    )
    with op.batch_alter_table("acts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_acts_at"), ["at"], unique=False)

    op.create_table(
        "contexts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("values", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("tag", sa.String(length=100), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("draw", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("fooled", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_contexts_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contexts")),
        sa.UniqueConstraint("task_id", "digest", name=op.f("uq_contexts_task_id_digest")),
    )
    with op.batch_alter_table("contexts", schema=None) as batch_op:
        batch_op.create_index("ix_contexts_draw", ["task_id", "draw"], unique=False)
        batch_op.create_index("ix_contexts_fooled", ["task_id", "fooled", "draw"], unique=False)
        batch_op.create_index("ix_contexts_used", ["task_id", "used", "draw"], unique=False)

    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("payload", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_jobs_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.create_index(
            "ix_jobs_unsent",
            ["created_at"],
            unique=False,
            sqlite_where=sa.text("sent_at IS NULL"),
            postgresql_where=sa.text("sent_at IS NULL"),
        )

    op.create_table(
        "roles",
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_roles_person_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_roles_task_id")),
        sa.PrimaryKeyConstraint("task_id", "person_id", name=op.f("pk_roles")),
    )
    with op.batch_alter_table("roles", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_roles_person_id"), ["person_id"], unique=False)

    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_sessions_person_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_sessions")),
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sessions_person_id"), ["person_id"], unique=False)

    op.create_table(
        "task_versions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("created_by", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name=op.f("fk_task_versions_created_by")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_task_versions_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_versions")),
        sa.UniqueConstraint("task_id", "number", name=op.f("uq_task_versions_task_id_number")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("prefix", sa.String(length=12), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_tokens_person_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_tokens_digest")),
    )
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tokens_person_id"), ["person_id"], unique=False)

    op.create_table(
        "rounds",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("fooled_when", sa.String(length=10), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_rounds_task_id")),
        sa.ForeignKeyConstraint(["version_id"], ["task_versions.id"], name=op.f("fk_rounds_version_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rounds")),
        sa.UniqueConstraint("task_id", "number", name=op.f("uq_rounds_task_id_number")),
    )
    op.create_table(
        "handouts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("context_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("goal", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.Column("start", sa.String(length=10), nullable=False),
        sa.Column("initial", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["context_id"], ["contexts.id"], name=op.f("fk_handouts_context_id")),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_handouts_person_id")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_handouts_round_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_handouts")),
    )
    with op.batch_alter_table("handouts", schema=None) as batch_op:
        batch_op.create_index("ix_handouts_person", ["person_id", "round_id", "context_id", "id"], unique=False)

    op.create_table(
        "tallies",
        sa.Column("round_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("start", sa.String(length=10), nullable=False),
        sa.Column("source", sa.String(length=10), nullable=False),
        sa.Column("examples", sa.Integer(), nullable=False),
        sa.Column("fooled", sa.Integer(), nullable=False),
        sa.Column("validated", sa.Integer(), nullable=False),
        sa.Column("resolved", sa.Integer(), nullable=False),
        sa.Column("retracted", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_tallies_person_id")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_tallies_round_id")),
        sa.PrimaryKeyConstraint("round_id", "person_id", "day", "start", "source", name=op.f("pk_tallies")),
    )
    op.create_table(
        "targets",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_targets_round_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_targets")),
    )
    with op.batch_alter_table("targets", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_targets_round_id"), ["round_id"], unique=False)

    op.create_table(
        "examples",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("context_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("handout_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("author_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("made_from", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("input", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("answer", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("fooled", sa.Boolean(), nullable=False),
        sa.Column("source", sa.String(length=10), nullable=False),
        sa.Column("start", sa.String(length=10), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("latency_ms", sa.Double(), nullable=False),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("request", sa.String(length=64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["people.id"], name=op.f("fk_examples_author_id")),
        sa.ForeignKeyConstraint(["context_id"], ["contexts.id"], name=op.f("fk_examples_context_id")),
        sa.ForeignKeyConstraint(["handout_id"], ["handouts.id"], name=op.f("fk_examples_handout_id")),
        sa.ForeignKeyConstraint(["made_from"], ["examples.id"], name=op.f("fk_examples_made_from")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_examples_round_id")),
        sa.ForeignKeyConstraint(["version_id"], ["task_versions.id"], name=op.f("fk_examples_version_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_examples")),
        sa.UniqueConstraint("author_id", "key", name=op.f("uq_examples_author_id_key")),
    )
    with op.batch_alter_table("examples", schema=None) as batch_op:
        batch_op.create_index("ix_examples_author", ["author_id", "round_id", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_examples_context_id"), ["context_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_examples_handout_id"), ["handout_id"], unique=False)
        batch_op.create_index("ix_examples_round", ["round_id", "id"], unique=False)

    op.create_table(
        "attributions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("example_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("method", sa.String(length=40), nullable=False),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("fields", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("completeness_error", sa.Double(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_attributions_example_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attributions")),
        sa.UniqueConstraint(
            "example_id", "model", "method", "label", name=op.f("uq_attributions_example_id_model_method_label")
        ),
    )
    op.create_table(
        "explanations",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("example_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("values", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_explanations_example_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_explanations")),
    )
    with op.batch_alter_table("explanations", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_explanations_example_id"), ["example_id"], unique=False)

    op.create_table(
        "predictions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("example_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("answer", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("probabilities", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.Column("fooled", sa.Boolean(), nullable=False),
        sa.Column("latency_ms", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_predictions_example_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_predictions")),
    )
    with op.batch_alter_table("predictions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_predictions_example_id"), ["example_id"], unique=False)

    op.create_table(
        "reservations",
        sa.Column("example_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("mode", sa.String(length=10), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_reservations_example_id")),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_reservations_person_id")),
        sa.PrimaryKeyConstraint("example_id", "person_id", name=op.f("pk_reservations")),
    )
    with op.batch_alter_table("reservations", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_reservations_person_id"), ["person_id"], unique=False)

    op.create_table(
        "retractions",
        sa.Column("example_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_retractions_example_id")),
        sa.PrimaryKeyConstraint("example_id", name=op.f("pk_retractions")),
    )
    op.create_table(
        "skips",
        sa.Column("example_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_skips_example_id")),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_skips_person_id")),
        sa.PrimaryKeyConstraint("example_id", "person_id", name=op.f("pk_skips")),
    )
    with op.batch_alter_table("skips", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_skips_person_id"), ["person_id"], unique=False)

    op.create_table(
        "standings",
        sa.Column("example_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("author_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("fooled", sa.Boolean(), nullable=False),
        sa.Column("verdict", sa.String(length=10), nullable=False),
        sa.Column("votes", sa.Integer(), nullable=False),
        sa.Column("retracted", sa.Boolean(), nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("draw", sa.Integer(), nullable=False),
        sa.Column("blind", sa.Integer(), nullable=False),
        sa.Column("blind_right", sa.Integer(), nullable=False),
        sa.Column("targets", sa.Integer(), nullable=False),
        sa.Column("targets_right", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["people.id"], name=op.f("fk_standings_author_id")),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_standings_example_id")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_standings_round_id")),
        sa.PrimaryKeyConstraint("example_id", name=op.f("pk_standings")),
    )
    with op.batch_alter_table("standings", schema=None) as batch_op:
        batch_op.create_index(
            "ix_standings_blind",
            ["round_id"],
            unique=False,
            postgresql_where=sa.text("blind > 0"),
            sqlite_where=sa.text("blind > 0"),
        )
        batch_op.create_index(
            "ix_standings_queue",
            ["round_id", "draw"],
            unique=False,
            postgresql_where=sa.text("open"),
            sqlite_where=sa.text("open"),
        )

    op.create_table(
        "validations",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("example_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("vote", sa.String(length=10), nullable=False),
        sa.Column("blind_answer", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.Column("by_owner", sa.Boolean(), nullable=False),
        sa.Column("values", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_validations_example_id")),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_validations_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_validations")),
    )
    with op.batch_alter_table("validations", schema=None) as batch_op:
        batch_op.create_index("ix_validations_at", ["person_id", "at"], unique=False)
        batch_op.create_index(batch_op.f("ix_validations_example_id"), ["example_id"], unique=False)
        batch_op.create_index("ix_validations_person", ["person_id", "example_id"], unique=False)

    op.create_table(
        "verdict_events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("example_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("verdict", sa.String(length=10), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name=op.f("fk_verdict_events_example_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verdict_events")),
    )
    with op.batch_alter_table("verdict_events", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_verdict_events_example_id"), ["example_id"], unique=False)

    op.create_table(
        "undos",
        sa.Column("validation_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["validation_id"], ["validations.id"], name=op.f("fk_undos_validation_id")),
        sa.PrimaryKeyConstraint("validation_id", name=op.f("pk_undos")),
    )
    op.create_index("uq_people_email", "people", [sa.literal_column("lower(email)")], unique=True)
    op.create_index(
        "uq_people_pseudonym",
        "people",
        [sa.literal_column("lower(pseudonym)")],
        unique=True,
        sqlite_where=sa.text("pseudonym <> ''"),
        postgresql_where=sa.text("pseudonym <> ''"),
    )
    op.create_index("uq_people_username", "people", [sa.literal_column("lower(username)")], unique=True)


def downgrade() -> None:
    op.drop_table("undos")
    with op.batch_alter_table("verdict_events", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_verdict_events_example_id"))

    op.drop_table("verdict_events")
    with op.batch_alter_table("validations", schema=None) as batch_op:
        batch_op.drop_index("ix_validations_person")
        batch_op.drop_index(batch_op.f("ix_validations_example_id"))
        batch_op.drop_index("ix_validations_at")

    op.drop_table("validations")
    with op.batch_alter_table("standings", schema=None) as batch_op:
        batch_op.drop_index("ix_standings_queue", postgresql_where=sa.text("open"), sqlite_where=sa.text("open"))
        batch_op.drop_index(
            "ix_standings_blind", postgresql_where=sa.text("blind > 0"), sqlite_where=sa.text("blind > 0")
        )

    op.drop_table("standings")
    with op.batch_alter_table("skips", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_skips_person_id"))

    op.drop_table("skips")
    op.drop_table("retractions")
    with op.batch_alter_table("reservations", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_reservations_person_id"))

    op.drop_table("reservations")
    with op.batch_alter_table("predictions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_predictions_example_id"))

    op.drop_table("predictions")
    with op.batch_alter_table("explanations", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_explanations_example_id"))

    op.drop_table("explanations")
    op.drop_table("attributions")
    with op.batch_alter_table("examples", schema=None) as batch_op:
        batch_op.drop_index("ix_examples_round")
        batch_op.drop_index(batch_op.f("ix_examples_handout_id"))
        batch_op.drop_index(batch_op.f("ix_examples_context_id"))
        batch_op.drop_index("ix_examples_author")

    op.drop_table("examples")
    with op.batch_alter_table("targets", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_targets_round_id"))

    op.drop_table("targets")
    op.drop_table("tallies")
    with op.batch_alter_table("handouts", schema=None) as batch_op:
        batch_op.drop_index("ix_handouts_person")

    op.drop_table("handouts")
    op.drop_table("rounds")
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_tokens_person_id"))

    op.drop_table("tokens")
    op.drop_table("task_versions")
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sessions_person_id"))

    op.drop_table("sessions")
    with op.batch_alter_table("roles", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_roles_person_id"))

    op.drop_table("roles")
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_jobs_unsent", sqlite_where=sa.text("sent_at IS NULL"), postgresql_where=sa.text("sent_at IS NULL")
        )

    op.drop_table("jobs")
    with op.batch_alter_table("contexts", schema=None) as batch_op:
        batch_op.drop_index("ix_contexts_used")
        batch_op.drop_index("ix_contexts_fooled")
        batch_op.drop_index("ix_contexts_draw")

    op.drop_table("contexts")
    with op.batch_alter_table("acts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_acts_at"))

    op.drop_table("acts")
    op.drop_table("tasks")
    op.drop_table("people")
