"""Datasets, submitted models, evaluations and leaderboards."""

import sqlalchemy as sa
from alembic import op

from dynabench.operations.migrations.first_tables import JSON, KEY, MOMENT


def create_tables() -> None:
    op.create_table(
        "forks",
        sa.Column("slug", sa.String(length=40), nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("note", sa.String(length=1000), nullable=False),
        sa.Column("weights", JSON, nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_forks_person_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_forks_task_id"),
        sa.PrimaryKeyConstraint("slug", name="pk_forks"),
    )
    op.create_index("ix_forks_task_id", "forks", ["task_id"])
    op.create_table(
        "model_listings",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("visibility", sa.String(length=10), nullable=False),
        sa.Column("keeper_id", KEY, nullable=True),
        sa.Column("note", sa.String(length=500), nullable=False),
        sa.Column("changed_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["keeper_id"], ["people.id"], name="fk_model_listings_keeper_id", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("name", name="pk_model_listings"),
    )
    op.create_index("ix_model_listings_keeper_id", "model_listings", ["keeper_id"])
    op.create_table(
        "reports",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("form", sa.String(length=20), nullable=False),
        sa.Column("source", sa.String(length=520), nullable=False),
        sa.Column("document", JSON, nullable=False),
        sa.Column("left_out", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.Column("removed_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_reports_person_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_reports_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_reports"),
    )
    op.create_index("ix_reports_task_id", "reports", ["task_id"])
    op.create_table(
        "snapshots",
        sa.Column("slug", sa.String(length=40), nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("document", JSON, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_snapshots_person_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_snapshots_task_id"),
        sa.PrimaryKeyConstraint("slug", name="pk_snapshots"),
    )
    op.create_index("ix_snapshots_task_id", "snapshots", ["task_id"])
    op.create_table(
        "submissions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("reference", sa.String(length=500), nullable=False),
        sa.Column("source", JSON, nullable=False),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("inside", sa.Boolean(), nullable=False),
        sa.Column("card", JSON, nullable=False),
        sa.Column("readme", sa.Text(), nullable=False),
        sa.Column("visibility", sa.String(length=10), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("code", sa.String(length=30), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("report", JSON, nullable=False),
        sa.Column("log", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(length=36), nullable=True),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("ready_at", MOMENT, nullable=True),
        sa.Column("withdrawn_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_submissions_person_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_submissions_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
    )
    op.create_index("ix_submissions_name", "submissions", ["name"])
    op.create_index("ix_submissions_person_id", "submissions", ["person_id"])
    op.create_index("ix_submissions_task", "submissions", ["task_id", "state"])
    op.create_table(
        "datasets",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(length=60), nullable=False),
        sa.Column("name", sa.String(length=62), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("card", sa.Text(), nullable=False),
        sa.Column("licence", sa.String(length=100), nullable=False),
        sa.Column("source", sa.String(length=500), nullable=False),
        sa.Column("languages", JSON, nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("visibility", sa.String(length=10), nullable=False),
        sa.Column("round_id", KEY, nullable=True),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("version_id", KEY, nullable=True),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("retired_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_datasets_created_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_datasets_round_id"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_datasets_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_datasets"),
        sa.UniqueConstraint("task_id", "name", name="uq_datasets_task_id_name"),
    )
    op.create_table(
        "measured",
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("state", sa.String(length=64), nullable=False),
        sa.Column("examples", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("found", JSON, nullable=False),
        sa.Column("at", MOMENT, nullable=True),
        sa.Column("job_id", sa.String(length=36), nullable=True),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_measured_round_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", name="pk_measured"),
    )
    op.create_table(
        "dataset_versions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("dataset_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("salt", sa.String(length=64), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("slices", JSON, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("job_id", sa.String(length=36), nullable=True),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["created_by"], ["people.id"], name="fk_dataset_versions_created_by", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name="fk_dataset_versions_dataset_id"),
        sa.PrimaryKeyConstraint("id", name="pk_dataset_versions"),
        sa.UniqueConstraint("dataset_id", "number", name="uq_dataset_versions_dataset_id_number"),
    )
    op.create_table(
        "evaluations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("version_id", KEY, nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("rows_done", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=30), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("log", sa.Text(), nullable=False),
        sa.Column("job_id", sa.String(length=36), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT, nullable=True),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_evaluations_submission_id"),
        sa.ForeignKeyConstraint(["version_id"], ["dataset_versions.id"], name="fk_evaluations_version_id"),
        sa.PrimaryKeyConstraint("id", name="pk_evaluations"),
        sa.UniqueConstraint("submission_id", "version_id", name="uq_evaluations_submission_id_version_id"),
    )
    op.create_index("ix_evaluations_state", "evaluations", ["state", "created_at"])
    op.create_index("ix_evaluations_version_id", "evaluations", ["version_id"])
    op.create_table(
        "twins",
        sa.Column("id", KEY, nullable=False),
        sa.Column("version_id", KEY, nullable=False),
        sa.Column("axis", sa.String(length=12), nullable=False),
        sa.Column("origin", sa.String(length=10), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("transformations", JSON, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("job_id", sa.String(length=36), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("replaced_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["version_id"], ["dataset_versions.id"], name="fk_twins_version_id"),
        sa.PrimaryKeyConstraint("id", name="pk_twins"),
    )
    op.create_index("ix_twins_version", "twins", ["version_id", "axis"])
    op.create_table(
        "records",
        sa.Column("evaluation_id", KEY, nullable=False),
        sa.Column("document", JSON, nullable=False),
        sa.Column("signature", sa.String(length=128), nullable=False),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluations.id"], name="fk_records_evaluation_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("evaluation_id", name="pk_records"),
    )
    op.create_table(
        "scores",
        sa.Column("id", KEY, nullable=False),
        sa.Column("evaluation_id", KEY, nullable=False),
        sa.Column("metric", sa.String(length=60), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("slice", sa.String(length=200), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("replicates", sa.LargeBinary(), nullable=True),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluations.id"], name="fk_scores_evaluation_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_scores"),
        sa.UniqueConstraint("evaluation_id", "metric", "slice", name="uq_scores_evaluation_id_metric_slice"),
    )
    op.create_table(
        "shards",
        sa.Column("evaluation_id", KEY, nullable=False),
        sa.Column("part", sa.String(length=10), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("done_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluations.id"], name="fk_shards_evaluation_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "part", "number", name="pk_shards"),
    )
