"""Teams, and competitions of teams on a round"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)
PRESENT = sa.text("left_at IS NULL")


def _teams() -> None:
    op.create_table(
        "teams",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(60)),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("link_digest", sa.String(64)),
        sa.Column("thanked", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("dissolved_at", MOMENT),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_teams_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_teams"),
        sa.UniqueConstraint("link_digest", name="uq_teams_link_digest"),
    )
    op.create_index("ix_teams_task_id", "teams", ["task_id"])
    op.create_index("uq_teams_name", "teams", [sa.text("lower(name)")], unique=True)
    op.create_table(
        "team_members",
        sa.Column("id", KEY, nullable=False),
        sa.Column("team_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("captain", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("first_day", sa.String(10), nullable=False),
        sa.Column("last_day", sa.String(10)),
        sa.Column("joined_at", MOMENT, nullable=False),
        sa.Column("left_at", MOMENT),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_team_members_team_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_team_members_person_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_team_members"),
    )
    op.create_index("ix_team_members_team", "team_members", ["team_id", "id"])
    op.create_index("ix_team_members_person", "team_members", ["person_id", "team_id"])
    op.create_index(
        "uq_team_members_present",
        "team_members",
        ["team_id", "person_id"],
        unique=True,
        sqlite_where=PRESENT,
        postgresql_where=PRESENT,
    )


def _competitions() -> None:
    op.create_table(
        "competitions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", sa.String(60), nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("budget", sa.Integer(), nullable=False),
        sa.Column("least_examples", sa.Integer(), nullable=False),
        sa.Column("most_members", sa.Integer(), nullable=False),
        sa.Column("starts_at", MOMENT, nullable=False),
        sa.Column("ends_at", MOMENT, nullable=False),
        sa.Column("freeze", sa.String(10), nullable=False),
        sa.Column("freeze_at", MOMENT),
        sa.Column("report", JSON),
        sa.Column("finished_at", MOMENT),
        sa.Column("created_by", KEY),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_competitions_task_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_competitions_round_id"),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_competitions_created_by", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_competitions"),
        sa.UniqueConstraint("round_id", name="uq_competitions_round_id"),
    )
    op.create_index("ix_competitions_task_id", "competitions", ["task_id"])


def _parts_of_competitions() -> None:
    competition = sa.Column("competition_id", KEY, nullable=False)
    op.create_table(
        "competition_entries",
        competition,
        sa.Column("team_id", KEY, nullable=False),
        sa.Column("spent", sa.Integer(), nullable=False),
        sa.Column("entered_at", MOMENT, nullable=False),
        sa.Column("withdrawn_at", MOMENT),
        _to_competition("competition_entries"),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_competition_entries_team_id"),
        sa.PrimaryKeyConstraint("competition_id", "team_id", name="pk_competition_entries"),
    )
    op.create_index("ix_competition_entries_team_id", "competition_entries", ["team_id"])
    op.create_table(
        "competition_people",
        sa.Column("competition_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("team_id", KEY, nullable=False),
        _to_competition("competition_people"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_competition_people_person_id"),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_competition_people_team_id"),
        sa.PrimaryKeyConstraint("competition_id", "person_id", name="pk_competition_people"),
    )
    for column in ("person_id", "team_id"):
        op.create_index(f"ix_competition_people_{column}", "competition_people", [column])
    op.create_table(
        "competition_examples",
        sa.Column("example_id", KEY, nullable=False),
        sa.Column("competition_id", KEY, nullable=False),
        sa.Column("team_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["example_id"], ["examples.id"], name="fk_competition_examples_example_id"),
        _to_competition("competition_examples"),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_competition_examples_team_id"),
        sa.PrimaryKeyConstraint("example_id", name="pk_competition_examples"),
    )
    op.create_index("ix_competition_examples_team_id", "competition_examples", ["team_id"])
    op.create_index("ix_competition_examples_team", "competition_examples", ["competition_id", "team_id"])


def _to_competition(table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_competition_id"
    return sa.ForeignKeyConstraint(["competition_id"], ["competitions.id"], name=name, ondelete="CASCADE")


def upgrade() -> None:
    op.add_column("rounds", sa.Column("competition", sa.Boolean(), server_default=sa.false(), nullable=False))
    _teams()
    _competitions()
    _parts_of_competitions()


def downgrade() -> None:
    for table in ("competition_examples", "competition_people", "competition_entries", "competitions"):
        op.drop_table(table)
    op.drop_table("team_members")
    op.drop_table("teams")
    op.drop_column("rounds", "competition")
