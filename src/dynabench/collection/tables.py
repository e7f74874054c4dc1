"""The ledger of examples and predictions, and the projections that are counted from it.

Rows of the ledger are written once. `Standing` and `Tally` can be rebuilt from it at any time and are tested to equal a
rebuild.
"""

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, false, func, select, text, true
from sqlalchemy.orm import Mapped, column_property, mapped_column, relationship

from dynabench.kit.db import Base, Key, now


class ExampleSource(StrEnum):
    """Authors of examples as figures tell them apart: an annotator, an expert or owner of the task, a program."""

    PERSON = "person"
    EXPERT = "expert"
    OWNER = "owner"
    PROGRAM = "program"


class FlagReview(StrEnum):
    """States of the moderators' review of an example's flags: none yet, to be looked at, or dismissed."""

    NONE = "none"
    WAITING = "waiting"
    DISMISSED = "dismissed"


_HAS_ORIGIN = text("made_from IS NOT NULL")


class Example(Base):
    """The text that an author wrote against a context, with the answer they claim is right. Never edited.

    `uid` names it outside of this database: in exports, and again after an import. `edit_distance` counts
    the characters changed from the text that its fields began with; None for a blank start. `fooled` is what
    was known when it was written: None where no model was asked, or where people say later whether it was
    wrong (`Standing.fooled`).
    """

    __tablename__ = "examples"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    uid: Mapped[str] = mapped_column(String(64), unique=True, index=True, default=lambda: uuid4().hex)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    context_id: Mapped[int] = mapped_column(ForeignKey("contexts.id"), index=True)
    handout_id: Mapped[int] = mapped_column(ForeignKey("handouts.id"), index=True)
    author_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    made_from: Mapped[int | None] = mapped_column(ForeignKey("examples.id"))
    version_id: Mapped[int] = mapped_column(ForeignKey("task_versions.id"))
    input: Mapped[dict[str, Any]]
    answer: Mapped[dict[str, Any]]
    fooled: Mapped[bool | None]
    source: Mapped[str] = mapped_column(String(10))  # an `ExampleSource`
    start: Mapped[str] = mapped_column(String(10))
    arm: Mapped[str] = mapped_column(String(40), default="")
    edit_distance: Mapped[int | None]
    attempt: Mapped[int]  # the how-manyeth try on this handout, from 1
    seconds: Mapped[float]  # since the handout, also while the author was elsewhere
    active_seconds: Mapped[float | None]  # of these, with the page in sight and a key or pointer used; null if unknown
    latency_ms: Mapped[float]
    key: Mapped[str] = mapped_column(String(100))
    request: Mapped[str] = mapped_column(String(64))  # digest of the request that the key stands for
    at: Mapped[datetime] = mapped_column(default=now)

    predictions: Mapped[list["Prediction"]] = relationship(order_by="Prediction.position", lazy="raise")

    __table_args__ = (
        UniqueConstraint("author_id", "key"),
        Index("ix_examples_round", "round_id", "id"),
        Index("ix_examples_author", "author_id", "round_id", "id"),
        Index("ix_examples_made_from", "made_from", postgresql_where=_HAS_ORIGIN, sqlite_where=_HAS_ORIGIN),
    )


class Prediction(Base):
    """The answer of one model version to one example, as obtained by the server.

    `fooled` is what the task's rule said at once, `errs` what holds now: the latest judgement of this
    answer, if any.
    """

    __tablename__ = "predictions"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), index=True)
    position: Mapped[int]
    model: Mapped[str] = mapped_column(String(100))
    version: Mapped[str] = mapped_column(String(64))
    answer: Mapped[dict[str, Any]]
    probabilities: Mapped[dict[str, Any] | None]
    fooled: Mapped[bool | None]
    latency_ms: Mapped[float]

    if TYPE_CHECKING:
        errs: Mapped[bool | None]


class Judgement(Base):
    """A judgement on whether a model was wrong; of several on one prediction the latest counts.

    By the `annotator` (`person_id`), by a `model` (`model`, `version`, and what it `said`), or by the `validators`,
    whose verdict it is. On one answer, or, with `prediction_id` None, on all of an example together. `fooled` None
    takes an earlier word back.
    """

    __tablename__ = "judgements"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), index=True)
    prediction_id: Mapped[int | None] = mapped_column(ForeignKey("predictions.id"), index=True)
    by: Mapped[str] = mapped_column(String(10))
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    model: Mapped[str] = mapped_column(String(100), default="")
    version: Mapped[str] = mapped_column(String(64), default="")
    fooled: Mapped[bool | None]
    said: Mapped[dict[str, Any] | None]
    at: Mapped[datetime] = mapped_column(default=now)


_judged = select(Judgement.fooled).where(Judgement.prediction_id == Prediction.id)
_latest = _judged.order_by(Judgement.id.desc()).limit(1).correlate_except(Judgement).scalar_subquery()
Prediction.errs = column_property(func.coalesce(_latest, Prediction.fooled))


class Explanation(Base):
    """The author's explanation of their example, written afterwards; the latest complete one counts.

    One that is not `complete` lacks an answer that the task requires: a draft, for its author alone.
    """

    __tablename__ = "explanations"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), index=True)
    values: Mapped[dict[str, Any]]
    complete: Mapped[bool] = mapped_column(default=True, server_default=true())
    at: Mapped[datetime] = mapped_column(default=now)


class Retraction(Base):
    """The author takes an example back."""

    __tablename__ = "retractions"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now)


class Hiding(Base):
    """A moderator hid an example, or showed it again; the latest one counts."""

    __tablename__ = "hidings"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), index=True)
    hidden: Mapped[bool]
    reason: Mapped[str] = mapped_column(String(500), default="")
    by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    at: Mapped[datetime] = mapped_column(default=now)


class StoredAttribution(Base):
    """The words that one target looked at, computed once per example, target, label and method."""

    __tablename__ = "attributions"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"))
    model: Mapped[str] = mapped_column(String(100))
    method: Mapped[str] = mapped_column(String(40))
    label: Mapped[str] = mapped_column(String(200))
    fields: Mapped[dict[str, Any]]
    completeness_error: Mapped[float | None]
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (UniqueConstraint("example_id", "model", "method", "label"),)


class VerdictEvent(Base):
    """The verdict of an example became `verdict`; written whenever a vote or an undo changes it."""

    __tablename__ = "verdict_events"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), index=True)
    verdict: Mapped[str] = mapped_column(String(10))
    at: Mapped[datetime] = mapped_column(default=now)


class Standing(Base):
    """Projection: where one example stands now. The row that voters lock.

    `fooled` is what is known now, as the rule, a judgement or the verdict says; None where nobody knows.
    `open` means that it may be handed to validators. `blind_right` of `blind` blind answers agree with the claim;
    `targets_right` of `targets` predictions do. `withheld` counts as ever, and is shown to its author alone (the hidden
    part of a release).
    """

    __tablename__ = "standings"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    author_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    fooled: Mapped[bool | None]
    verdict: Mapped[str] = mapped_column(String(10), default="pending")
    votes: Mapped[int] = mapped_column(default=0)
    retracted: Mapped[bool] = mapped_column(default=False)
    hidden: Mapped[bool] = mapped_column(default=False)
    withheld: Mapped[bool] = mapped_column(default=False, server_default=false())
    open: Mapped[bool]
    draw: Mapped[int]
    blind: Mapped[int] = mapped_column(default=0)
    blind_right: Mapped[int] = mapped_column(default=0)
    targets: Mapped[int]
    targets_right: Mapped[int]

    __table_args__ = (
        Index("ix_standings_queue", "round_id", "draw", postgresql_where=text("open"), sqlite_where=text("open")),
        Index("ix_standings_blind", "round_id", postgresql_where=text("blind > 0"), sqlite_where=text("blind > 0")),
    )


class Tally(Base):
    """Projection: counts of one person's examples in one round, by UTC day, start, arm and source.

    Sums of it give every rate: examples and fooled leave out retracted and hidden ones; `validated` counts fooled
    examples whose verdict is `correct`, `resolved` fooled examples with any final verdict. A retracted example that
    is hidden too counts as retracted. `unknown` examples are those of which nobody knows whether a model was fooled.
    """

    __tablename__ = "tallies"

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)
    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    start: Mapped[str] = mapped_column(String(10), primary_key=True)
    arm: Mapped[str] = mapped_column(String(40), primary_key=True)
    source: Mapped[str] = mapped_column(String(10), primary_key=True)
    examples: Mapped[int] = mapped_column(default=0)
    fooled: Mapped[int] = mapped_column(default=0)
    validated: Mapped[int] = mapped_column(default=0)
    resolved: Mapped[int] = mapped_column(default=0)
    retracted: Mapped[int] = mapped_column(default=0)
    hidden: Mapped[int] = mapped_column(default=0)
    unknown: Mapped[int] = mapped_column(default=0)

    __table_args__ = (Index("ix_tallies_person", "person_id", "day"),)


class ExampleChange(Base):
    """A change of examples that is recorded and not yet folded; written in the transaction of its cause.

    `terms` are those that came to an example, NULL where it is new and has all that it was written with. `counts` is a
    change of a person's counts in a round, as `collection.folding` writes it; empty where there is none.
    """

    __tablename__ = "example_changes"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    example_id: Mapped[int | None] = mapped_column(ForeignKey("examples.id"))
    round_id: Mapped[int | None] = mapped_column(ForeignKey("rounds.id"))
    terms: Mapped[str | None] = mapped_column(Text)
    counts: Mapped[str] = mapped_column(Text)


class SearchPosting(Base):
    """The examples of one block (2**16 neighbouring ids) that have a term: a Roaring bitmap in its portable format."""

    __tablename__ = "search_postings"

    term: Mapped[str] = mapped_column(String(80), primary_key=True)
    block: Mapped[int] = mapped_column(primary_key=True)
    members: Mapped[bytes]

    __table_args__ = (Index("ix_search_postings_block", "block", "term"),)


class Breakdown(Base):
    """The counts of `Tally` for one day, start, arm or tag, as rows by person and source, packed."""

    __tablename__ = "breakdowns"

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(10), primary_key=True)  # see `breakdowns.NAMES`
    value: Mapped[str] = mapped_column(String(100), primary_key=True)
    counts: Mapped[bytes]


class Proposed(Base):
    """A program wrote this example; its operator is the author. `queries` and `cost` are what the program says that
    the example took, `facts` what else it tells. `round_id` is the example's own, for figures of a round.
    """

    __tablename__ = "proposed"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    name: Mapped[str] = mapped_column(String(60))
    version: Mapped[str] = mapped_column(String(60))
    queries: Mapped[int] = mapped_column(Key)
    cost: Mapped[float]
    facts: Mapped[dict[str, Any]]

    __table_args__ = (Index("ix_proposed_round", "round_id", "name", "version"),)


WITHHELD = ("hidden", "withheld")
"""Parts of a release that nobody reads."""


class ReleasedExample(Base):
    """The part of its round's release that an example went into; written once.

    `train`, `dev`, `test`, `rejected` and `unverified` are files that everybody may read. Those in `hidden`, and in
    `withheld` (too much like one of these), are kept from everybody for good.
    """

    __tablename__ = "released_examples"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), index=True)
    part: Mapped[str] = mapped_column(String(10))
