"""Payment schemes and the ledger of payments"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pay_schemes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("document", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("created_by", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_pay_schemes_created_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_pay_schemes_round_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_pay_schemes"),
        sa.UniqueConstraint("round_id", "number", name="uq_pay_schemes_round_id_number"),
    )
    op.create_table(
        "payouts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("key", sa.String(length=60), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("reference", sa.String(length=200), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_payouts_person_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_payouts_round_id"),
        sa.PrimaryKeyConstraint("id", name="pk_payouts"),
        sa.UniqueConstraint("key", name="uq_payouts_key"),
    )
    op.create_index("ix_payouts_person_id", "payouts", ["person_id"])
    op.create_index("ix_payouts_round", "payouts", ["round_id", "state"])

    op.create_table(
        "payments",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("item", sa.String(length=60), nullable=False),
        sa.Column("key", sa.String(length=120), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.Column("decided_by", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("second_by", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("payout_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["decided_by"], ["people.id"], name="fk_payments_decided_by", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["payout_id"], ["payouts.id"], name="fk_payments_payout_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_payments_person_id"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_payments_round_id"),
        sa.ForeignKeyConstraint(["second_by"], ["people.id"], name="fk_payments_second_by", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_payments"),
        sa.UniqueConstraint("key", name="uq_payments_key"),
    )
    op.create_index("ix_payments_payout_id", "payments", ["payout_id"])
    op.create_index("ix_payments_person", "payments", ["person_id", "id"])
    op.create_index("ix_payments_round", "payments", ["round_id", "person_id", "id"])
    op.create_index("ix_payments_state", "payments", ["round_id", "state"])


def downgrade() -> None:
    op.drop_index("ix_payments_state", "payments")
    op.drop_index("ix_payments_round", "payments")
    op.drop_index("ix_payments_person", "payments")
    op.drop_index("ix_payments_payout_id", "payments")

    op.drop_table("payments")
    op.drop_index("ix_payouts_round", "payouts")
    op.drop_index("ix_payouts_person_id", "payouts")

    op.drop_table("payouts")
    op.drop_table("pay_schemes")
