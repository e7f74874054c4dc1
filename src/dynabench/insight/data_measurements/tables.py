"""Stored measurements of rounds, and every select over what is measured, with its cost."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Select, String, select
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.collection import queries as collected
from dynabench.collection.tables import Example, ExampleSource, Explanation, Prediction, Standing, StoredAttribution
from dynabench.kit.db import Base
from dynabench.people import disclosure
from dynabench.rounds.tables import Context, Round, RoundState
from dynabench.stats.verdict import Verdict
from dynabench.validation.queries import UNDONE
from dynabench.validation.tables import Validation


class StoredMeasurement(Base):
    """The results of a round by measure, when its state was `state`; each measurement replaces the one before.

    `examples` counts those that were measured, `total` those that could be. `at` is None before the first time;
    `job_id` names the job that measures now or is about to.
    """

    __tablename__ = "measured"

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id", ondelete="CASCADE"), primary_key=True)
    state: Mapped[str] = mapped_column(String(64), default="")
    examples: Mapped[int] = mapped_column(default=0)
    total: Mapped[int] = mapped_column(default=0)
    results: Mapped[dict[str, Any]] = mapped_column("found", default=dict)
    at: Mapped[datetime | None]
    job_id: Mapped[str | None] = mapped_column(String(36))


STARTED = (RoundState.OPEN, RoundState.CLOSED, RoundState.RELEASED)


def measurable_examples(round_id: int) -> Select[int]:
    """The examples of a round that its data are made of, by id: a walk over the round's examples and their standings.

    Not those by programs, nor what was found incorrect, flagged, taken back, hidden or withheld.
    """
    wrong = (str(Verdict.INCORRECT), str(Verdict.FLAGGED))
    return (
        select(Example.id)
        .join(Standing, Standing.example_id == Example.id)
        .where(
            Example.round_id == round_id,
            Example.source != ExampleSource.PROGRAM,
            disclosure.shown_examples(Standing),
            Standing.verdict.not_in(wrong),
        )
        .order_by(Example.id)
    )


def examples(ids: Sequence[int]) -> Select[Example, Context]:
    """Some examples with their contexts: two probes each."""
    joined = select(Example, Context).join(Context, Context.id == Example.context_id)
    return joined.where(Example.id.in_(ids)).order_by(Example.id)


def predictions(ids: Sequence[int]) -> Select[Prediction]:
    """Predictions of some examples: one index range each."""
    return select(Prediction).where(Prediction.example_id.in_(ids)).order_by(Prediction.example_id, Prediction.position)


def votes(ids: Sequence[int]) -> Select[int, str]:
    """The votes that stand on some examples: one index range each."""
    mine = (Validation.example_id.in_(ids), ~UNDONE)
    return select(Validation.example_id, Validation.vote).where(*mine).order_by(Validation.id)


def marked_words(round_id: int, model: str, limit: int) -> Select[Explanation, StoredAttribution]:
    """The authors' latest explanations with a model's attributions, of the newest examples that have both."""
    return collected.marked(round_id, model, limit)


def stored_measurements(round_ids: Sequence[int]) -> Select[StoredMeasurement]:
    """The stored measurements of some rounds."""
    return select(StoredMeasurement).where(StoredMeasurement.round_id.in_(round_ids))


def started_rounds() -> Select[Round, StoredMeasurement]:
    """All rounds that were opened with what was measured of them: some hundred of both."""
    joined = select(Round, StoredMeasurement).outerjoin(StoredMeasurement, StoredMeasurement.round_id == Round.id)
    return joined.where(Round.state.in_(STARTED)).order_by(Round.id)
