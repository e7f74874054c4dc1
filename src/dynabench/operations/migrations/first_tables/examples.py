"""Examples: what annotators were given, what models answered, and counts of both."""

import sqlalchemy as sa
from alembic import op

from dynabench.operations.migrations.first_tables import JSON, KEY, MOMENT, only


def create_tables() -> None:
    op.create_table(
        "handouts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("context_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("goal", JSON, nullable=True),
        sa.Column("start", sa.String(length=10), nullable=False),
        sa.Column("initial", JSON, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("arm", sa.String(length=40), server_default="", nullable=False),
        sa.Column("seed_id", KEY, nullable=True),
        sa.Column("made_from", KEY, nullable=True),
        sa.Column("link", JSON, nullable=True),
        sa.ForeignKeyConstraint(["context_id"], ["contexts.id"], name="fk_handouts_context_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_handouts_person_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_handouts_round_id"),
        sa.PrimaryKeyConstraint("id", name="pk_handouts"),
    )
    op.create_index("ix_handouts_person", "handouts", ["person_id", "round_id", "context_id", "id"])
    op.create_index("ix_handouts_seen", "handouts", ["person_id", "context_id"])
    op.create_table(
        "tallies",
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("start", sa.String(length=10), nullable=False),
        sa.Column("arm", sa.String(length=40), nullable=False),
        sa.Column("source", sa.String(length=10), nullable=False),
        sa.Column("examples", sa.Integer(), nullable=False),
        sa.Column("fooled", sa.Integer(), nullable=False),
        sa.Column("validated", sa.Integer(), nullable=False),
        sa.Column("resolved", sa.Integer(), nullable=False),
        sa.Column("retracted", sa.Integer(), nullable=False),
        sa.Column("hidden", sa.Integer(), nullable=False),
        sa.Column("unknown", sa.Integer(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_tallies_person_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_tallies_round_id"),
        sa.PrimaryKeyConstraint("round_id", "person_id", "day", "start", "arm", "source", name="pk_tallies"),
    )
    op.create_table(
        "tally_news",
        sa.Column("id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("told", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_tally_news_round_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tally_news"),
    )
    op.create_index("ix_tally_news_round_id", "tally_news", ["round_id"])
    op.create_table(
        "breakdowns",
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("name", sa.String(length=10), nullable=False),
        sa.Column("value", sa.String(length=100), nullable=False),
        sa.Column("counts", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_breakdowns_round_id"),
        sa.PrimaryKeyConstraint("round_id", "name", "value", name="pk_breakdowns"),
    )
    op.create_table(
        "examples",
        sa.Column("id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("context_id", KEY, nullable=False),
        sa.Column("handout_id", KEY, nullable=False),
        sa.Column("author_id", KEY, nullable=False),
        sa.Column("made_from", KEY, nullable=True),
        sa.Column("version_id", KEY, nullable=False),
        sa.Column("input", JSON, nullable=False),
        sa.Column("answer", JSON, nullable=False),
        sa.Column("fooled", sa.Boolean(), nullable=True),
        sa.Column("source", sa.String(length=10), nullable=False),
        sa.Column("start", sa.String(length=10), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("latency_ms", sa.Double(), nullable=False),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("request", sa.String(length=64), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("uid", sa.String(length=64), server_default="", nullable=False),
        sa.Column("arm", sa.String(length=40), server_default="", nullable=False),
        sa.Column("edit_distance", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["author_id"], ["people.id"], name="fk_examples_author_id"),
        sa.ForeignKeyConstraint(["context_id"], ["contexts.id"], name="fk_examples_context_id"),
        sa.ForeignKeyConstraint(["handout_id"], ["handouts.id"], name="fk_examples_handout_id"),
        sa.ForeignKeyConstraint(["made_from"], ["examples.id"], name="fk_examples_made_from"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_examples_round_id"),
        sa.ForeignKeyConstraint(["version_id"], ["task_versions.id"], name="fk_examples_version_id"),
        sa.PrimaryKeyConstraint("id", name="pk_examples"),
        sa.UniqueConstraint("author_id", "key", name="uq_examples_author_id_key"),
    )
    op.create_index("ix_examples_author", "examples", ["author_id", "round_id", "id"])
    op.create_index("ix_examples_context_id", "examples", ["context_id"])
    op.create_index("ix_examples_handout_id", "examples", ["handout_id"])
    op.create_index("ix_examples_round", "examples", ["round_id", "id"])
    op.create_index("ix_examples_uid", "examples", ["uid"], unique=True)
    op.create_table(
        "standings",
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("author_id", KEY, nullable=False),
        sa.Column("fooled", sa.Boolean(), nullable=True),
        sa.Column("verdict", sa.String(length=10), nullable=False),
        sa.Column("votes", sa.Integer(), nullable=False),
        sa.Column("retracted", sa.Boolean(), nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("draw", sa.Integer(), nullable=False),
        sa.Column("blind", sa.Integer(), nullable=False),
        sa.Column("blind_right", sa.Integer(), nullable=False),
        sa.Column("targets", sa.Integer(), nullable=False),
        sa.Column("targets_right", sa.Integer(), nullable=False),
        sa.Column("hidden", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("withheld", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["people.id"], name="fk_standings_author_id"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_standings_example_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_standings_round_id"),
        sa.PrimaryKeyConstraint("example_id", name="pk_standings"),
    )
    op.create_index("ix_standings_blind", "standings", ["round_id"], **only("blind > 0"))
    op.create_index("ix_standings_queue", "standings", ["round_id", "draw"], **only("open"))
    op.create_table(
        "predictions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("answer", JSON, nullable=False),
        sa.Column("probabilities", JSON, nullable=True),
        sa.Column("fooled", sa.Boolean(), nullable=True),
        sa.Column("latency_ms", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_predictions_example_id"),
        sa.PrimaryKeyConstraint("id", name="pk_predictions"),
    )
    op.create_index("ix_predictions_example_id", "predictions", ["example_id"])
    op.create_table(
        "attributions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("method", sa.String(length=40), nullable=False),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("fields", JSON, nullable=False),
        sa.Column("completeness_error", sa.Double(), nullable=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_attributions_example_id"),
        sa.PrimaryKeyConstraint("id", name="pk_attributions"),
        sa.UniqueConstraint(
            "example_id", "model", "method", "label", name="uq_attributions_example_id_model_method_label"
        ),
    )
    op.create_table(
        "explanations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("values", JSON, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_explanations_example_id"),
        sa.PrimaryKeyConstraint("id", name="pk_explanations"),
    )
    op.create_index("ix_explanations_example_id", "explanations", ["example_id"])
    op.create_table(
        "seeds",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("context_id", KEY, nullable=False),
        sa.Column("input", JSON, nullable=False),
        sa.Column("answer", JSON, nullable=True),
        sa.Column("made_from", KEY, nullable=True),
        sa.Column("tag", sa.String(length=100), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("draw", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["context_id"], ["contexts.id"], name="fk_seeds_context_id"),
        sa.ForeignKeyConstraint(["made_from"], ["examples.id"], name="fk_seeds_made_from"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_seeds_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_seeds"),
        sa.UniqueConstraint("task_id", "digest", name="uq_seeds_task_id_digest"),
    )
    op.create_index("ix_seeds_context_id", "seeds", ["context_id"])
    op.create_index("ix_seeds_draw", "seeds", ["task_id", "draw"])
    op.create_index("ix_seeds_used", "seeds", ["task_id", "used", "draw"])
    op.create_table(
        "seed_predictions",
        sa.Column("seed_id", KEY, nullable=False),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("answer", JSON, nullable=False),
        sa.Column("probabilities", JSON, nullable=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["seed_id"], ["seeds.id"], name="fk_seed_predictions_seed_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("seed_id", "model", "version", name="pk_seed_predictions"),
    )
    op.create_table(
        "suggestions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("handout_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("asking", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(length=40), nullable=False),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("field", sa.String(length=40), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("about", JSON, nullable=False),
        sa.Column("latency_ms", sa.Double(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["handout_id"], ["handouts.id"], name="fk_suggestions_handout_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_suggestions_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_suggestions"),
    )
    op.create_index("ix_suggestions_handout", "suggestions", ["handout_id", "id"])
    op.create_index("ix_suggestions_person_id", "suggestions", ["person_id"])
    op.create_table(
        "assistances",
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("shown", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(length=10), nullable=False),
        sa.Column("distance", sa.Integer(), nullable=True),
        sa.Column("provider", sa.String(length=40), nullable=False),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_assistances_example_id"),
        sa.PrimaryKeyConstraint("example_id", name="pk_assistances"),
    )
    op.create_table(
        "sheets",
        sa.Column("id", KEY, nullable=False),
        sa.Column("handout_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("words", JSON, nullable=False),
        sa.Column("sides", JSON, nullable=False),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["handout_id"], ["handouts.id"], name="fk_sheets_handout_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_sheets_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_sheets"),
        sa.UniqueConstraint("person_id", "key", name="uq_sheets_person_id_key"),
    )
    op.create_index("ix_sheets_handout", "sheets", ["handout_id", "id"])
    op.create_table(
        "verdict_events",
        sa.Column("id", KEY, nullable=False),
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("verdict", sa.String(length=10), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_verdict_events_example_id"),
        sa.PrimaryKeyConstraint("id", name="pk_verdict_events"),
    )
    op.create_index("ix_verdict_events_example_id", "verdict_events", ["example_id"])
    op.create_table(
        "proposed",
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("version", sa.String(length=60), nullable=False),
        sa.Column("queries", KEY, nullable=False),
        sa.Column("cost", sa.Double(), nullable=False),
        sa.Column("facts", JSON, nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_proposed_example_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_proposed_round_id"),
        sa.PrimaryKeyConstraint("example_id", name="pk_proposed"),
    )
    op.create_index("ix_proposed_round", "proposed", ["round_id", "name", "version"])
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
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_judgements_example_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_judgements_person_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["prediction_id"], ["predictions.id"], name="fk_judgements_prediction_id"),
        sa.PrimaryKeyConstraint("id", name="pk_judgements"),
    )
    op.create_index("ix_judgements_example_id", "judgements", ["example_id"])
    op.create_index("ix_judgements_prediction_id", "judgements", ["prediction_id"])
    op.create_table(
        "labels",
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("by", KEY, nullable=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["by"], ["people.id"], name="fk_labels_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_labels_example_id"),
        sa.PrimaryKeyConstraint("example_id", "name", name="pk_labels"),
    )
