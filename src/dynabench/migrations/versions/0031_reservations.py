"""Places of validators are found by person, mode and the moment until which they are held"""

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_reservations_person", "reservations", ["person_id", "mode", "expires_at"])
    op.drop_index("ix_reservations_person_id", "reservations")


def downgrade() -> None:
    op.create_index("ix_reservations_person_id", "reservations", ["person_id"])
    op.drop_index("ix_reservations_person", "reservations")
