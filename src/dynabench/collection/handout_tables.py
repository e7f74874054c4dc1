"""Tables of what people start from: seeds, the answers of models to them, and hand-outs of contexts."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class Seed(Base):
    """A text to start from: supplied, or taken from an earlier example (`made_from`); `answer` is what is known of it.

    `draw` and `used` are for sampling, as in contexts. `fooled_round` is the id of the round whose targets its known
    answer fools already, 0 if no round is known; only the open round's is looked at, older ones are put back to 0.
    """

    __tablename__ = "seeds"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    context_id: Mapped[int] = mapped_column(ForeignKey("contexts.id"), index=True)
    input: Mapped[dict[str, Any]]
    answer: Mapped[dict[str, Any] | None]
    made_from: Mapped[int | None] = mapped_column(ForeignKey("examples.id"))
    tag: Mapped[str] = mapped_column(String(100), default="")
    digest: Mapped[str] = mapped_column(String(64))
    draw: Mapped[int]
    used: Mapped[int] = mapped_column(default=0)
    fooled_round: Mapped[int] = mapped_column(Key, default=0)
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        UniqueConstraint("task_id", "digest"),
        Index("ix_seeds_draw", "task_id", "draw"),
        Index("ix_seeds_used", "task_id", "fooled_round", "used", "draw"),
    )


class SeedPrediction(Base):
    """The answer of one model version to a seed.

    It is asked once and shown to all annotators who start from the seed.
    """

    __tablename__ = "seed_predictions"

    seed_id: Mapped[int] = mapped_column(ForeignKey("seeds.id", ondelete="CASCADE"), primary_key=True)
    model: Mapped[str] = mapped_column(String(100), primary_key=True)
    version: Mapped[str] = mapped_column(String(64), primary_key=True)
    answer: Mapped[dict[str, Any]]
    probabilities: Mapped[dict[str, Any] | None]
    at: Mapped[datetime] = mapped_column(default=now)


class Handout(Base):
    """A context as it was given to one person: with the goal, the start and the text that the field began with.

    `arm` is the round's condition that was drawn; `link` is what the address told by which the person came, for the
    task's owners alone. The text is that of a seed (`seed_id`), or of the example that is
    to be perturbed or that the seed was taken from (`made_from`).
    """

    __tablename__ = "handouts"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    context_id: Mapped[int] = mapped_column(ForeignKey("contexts.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    goal: Mapped[dict[str, Any] | None]
    start: Mapped[str] = mapped_column(String(10))  # blank, prompt, seed or perturb
    initial: Mapped[dict[str, Any]]
    arm: Mapped[str] = mapped_column(String(40), default="")
    seed_id: Mapped[int | None] = mapped_column(Key)  # these two without foreign keys: examples point to handouts
    made_from: Mapped[int | None] = mapped_column(Key)
    link: Mapped[dict[str, Any] | None]
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        Index("ix_handouts_person", "person_id", "round_id", "context_id", "id"),
        Index("ix_handouts_seen", "person_id", "context_id"),
    )
