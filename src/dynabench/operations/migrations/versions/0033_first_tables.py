"""First tables

Its number is that of the last of 24 migrations which it replaces, so a database at that version is up to date. Older
databases are refused by `dynabench.operations.migrations.run`.
"""

from dynabench.operations.migrations.first_tables import evaluation, examples, people, publishing, rounds, validation

revision = "0033"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    people.create_tables()
    rounds.create_tables()
    examples.create_tables()
    validation.create_tables()
    evaluation.create_tables()
    publishing.create_tables()


def downgrade() -> None:
    raise NotImplementedError("There is no version before the first. Delete the database instead.")
