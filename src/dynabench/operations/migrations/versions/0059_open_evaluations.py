"""Open evaluations: chosen models on any dataset, outside the tasks"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _evaluation(table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_evaluation_id_open_evaluations"
    return sa.ForeignKeyConstraint(["evaluation_id"], ["open_evaluations.id"], name=name, ondelete="CASCADE")


def _person(table: str, ondelete: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_person_id_people"
    return sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=name, ondelete=ondelete)


def upgrade() -> None:
    op.create_table(
        "dataset_files",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("size", KEY, nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_dataset_files"),
        _person("dataset_files", "CASCADE"),
    )
    op.create_index("ix_dataset_files_person_id", "dataset_files", ["person_id"])
    op.create_table(
        "open_evaluations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("person_id", KEY),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("source", sa.String(300), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("edition", sa.String(100), nullable=False),
        sa.Column("choices", JSON, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("refused", sa.Integer(), nullable=False),
        sa.Column("report", JSON, nullable=False),
        sa.Column("labels", JSON, nullable=False),
        sa.Column("listed", sa.Boolean(), nullable=False),
        sa.Column("job_id", sa.String(36)),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("started_at", TIME),
        sa.Column("ended_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_open_evaluations"),
        _person("open_evaluations", "SET NULL"),
    )
    op.create_index("ix_open_evaluations_person_id", "open_evaluations", ["person_id"])
    op.create_index("ix_open_evaluations_state", "open_evaluations", ["state"])
    op.create_table(
        "open_evaluation_models",
        sa.Column("evaluation_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("reference", sa.String(300), nullable=False),
        sa.Column("name", sa.String(300), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("inputs", JSON, nullable=False),
        sa.Column("labels", JSON, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("code", sa.String(30), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("log", sa.Text(), nullable=False),
        sa.Column("rows_done", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("cost", sa.Double()),
        sa.PrimaryKeyConstraint("evaluation_id", "number", name="pk_open_evaluation_models"),
        _evaluation("open_evaluation_models"),
    )
    op.create_index("ix_open_evaluation_models_name", "open_evaluation_models", ["name"])
    op.create_table(
        "open_evaluation_shards",
        sa.Column("evaluation_id", KEY, nullable=False),
        sa.Column("model", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("done_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("evaluation_id", "model", "number", name="pk_open_evaluation_shards"),
        _evaluation("open_evaluation_shards"),
    )
    op.create_table(
        "open_evaluation_scores",
        sa.Column("id", KEY, nullable=False),
        sa.Column("evaluation_id", KEY, nullable=False),
        sa.Column("model", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(200), nullable=False),
        sa.Column("key", sa.String(100), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("low", sa.Double()),
        sa.Column("high", sa.Double()),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("replicates", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("id", name="pk_open_evaluation_scores"),
        _evaluation("open_evaluation_scores"),
        sa.UniqueConstraint(
            "evaluation_id", "model", "metric", "key", name="uq_open_evaluation_scores_evaluation_id_model_metric_key"
        ),
    )
    op.create_table(
        "open_evaluation_records",
        sa.Column("evaluation_id", KEY, nullable=False),
        sa.Column("document", JSON, nullable=False),
        sa.Column("signature", sa.String(128), nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("evaluation_id", name="pk_open_evaluation_records"),
        _evaluation("open_evaluation_records"),
    )


def downgrade() -> None:
    for part in ("records", "scores", "shards", "models"):
        op.drop_table(f"open_evaluation_{part}")
    op.drop_table("open_evaluations")
    op.drop_table("dataset_files")
