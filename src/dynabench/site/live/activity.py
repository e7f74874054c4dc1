"""ActivityLine: recent examples and verdicts as short sentences that everybody may read.

A sentence names the task, public models and, where `people/disclosure.py` allows it, the author; never any part of an
example. Rounds for a chosen audience, programs, imports and examples that are not shown have none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from dynabench.benchmark.registry.tables import ModelListing
from dynabench.collection.tables import Example, ExampleSource, Prediction, Standing, VerdictEvent
from dynabench.kit.db import now
from dynabench.kit.language import _, ngettext
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.rounds.plan import parse_plan
from dynabench.rounds.tables import Round, RoundState
from dynabench.stats.verdict import Verdict

LATEST = 100
"""Examples, and verdicts, that one read takes at most; of more, the oldest have no sentence."""
OVERLAP = 50
"""Rows before the last one that are read again: on PostgreSQL a lower number may be committed after a higher one."""
RECENT = timedelta(minutes=15)
"""Age from which on an example is no activity: imports and restored backups bring older ones."""
FOOLED, RESISTED, WRITTEN, VERIFIED = "fooled", "resisted", "written", "verified"


class Position(NamedTuple):
    """The last example and the last verdict that a reader has seen; as a text the id of a server-sent event."""

    example: int = 0
    verdict: int = 0

    def __str__(self) -> str:
        return f"{self.example}-{self.verdict}"

    @classmethod
    def parse(cls, text: str | None) -> "Position | None":
        """Return the position of an event's id; None for a text that is no id of this stream."""
        first, dash, second = (text or "").partition("-")
        if not (dash and first.isascii() and first.isdigit() and second.isascii() and second.isdigit()):
            return None
        return cls(int(first[:18]), int(second[:18]))


@dataclass(frozen=True)
class ActivityLine:
    """One sentence: `kind` is what happened, `person` a public name or empty, `models` the public ones concerned."""

    kind: str
    example_id: int
    verdict_id: int
    task: str
    number: int
    person: str
    models: tuple[str, ...]

    @property
    def key(self) -> tuple[str, int]:
        """The example or the verdict by its number, which tells two sentences apart."""
        return ("verdict", self.verdict_id) if self.kind == VERIFIED else ("example", self.example_id)

    def is_after(self, position: Position) -> bool:
        """Tell whether a reader at a position has yet to see it."""
        if self.kind == VERIFIED:
            return self.verdict_id > position.verdict
        return self.example_id > position.example

    @property
    def sentence(self) -> str:
        """The sentence, to be translated for each reader."""
        models = self._models_in_words()
        if self.kind == VERIFIED:
            return _("People verified an example that fooled %(model)s", model=models)
        if self.kind == FOOLED and not self.person:
            return _("An annotator fooled %(model)s", model=models)
        if self.kind == FOOLED:
            return _("%(name)s fooled %(model)s", name=self.person, model=models)
        if self.kind == RESISTED and not self.person:
            return _("An annotator tried to fool %(model)s", model=models)
        if self.kind == RESISTED:
            return _("%(name)s tried to fool %(model)s", name=self.person, model=models)
        return _("%(name)s wrote an example", name=self.person) if self.person else _("An annotator wrote an example")

    def _models_in_words(self) -> str:
        if len(self.models) == 1:
            return self.models[0]
        return ngettext("%(num)s model", "%(num)s models", len(self.models)) if self.models else _("the model")


@dataclass(frozen=True)
class ActivityChanges:
    """The result of one read: sentences, oldest first, the rounds in which counts changed, and the new position."""

    activities: list[ActivityLine]
    rounds: frozenset[tuple[str, int]]
    position: Position


def read_changes(session: Session, position: Position | None) -> ActivityChanges:
    """Read what came after a position, or the newest without one; at most six statements over ends of indexes."""
    newest = Position(
        session.scalar(select(func.max(Example.id))) or 0, session.scalar(select(func.max(VerdictEvent.id))) or 0
    )
    if position is not None and newest.example <= position.example and newest.verdict <= position.verdict:
        return ActivityChanges([], frozenset(), position)
    before = position or Position()
    rows = session.execute(new_examples(before.example - OVERLAP)).all() if newest.example > before.example else []
    verdicts = session.execute(new_verdicts(before.verdict - OVERLAP)).all() if newest.verdict > before.verdict else []
    later = [row for row in (*rows, *verdicts) if row.example_id > before.example or row.verdict_id > before.verdict]
    concerned = {(row.Round.task_id, row.Round.number) for row in later}
    public_rows = [row for row in (*rows, *verdicts) if _is_shown(row)]
    models = _models(session, [row.example_id for row in public_rows])
    activities = [_activity(row, models.get(row.example_id, {})) for row in reversed(public_rows)]
    moved = Position(max(newest.example, before.example), max(newest.verdict, before.verdict))
    return ActivityChanges(activities, frozenset(concerned), moved)


def _example_columns(verdict: Any) -> Select[Any]:
    return (
        select(
            Example.id.label("example_id"),
            verdict.label("verdict_id"),
            Example.source,
            Example.at,
            Standing,
            Person,
            Round,
        )
        .join(Standing, Standing.example_id == Example.id)
        .join(Person, Person.id == Example.author_id)
        .join(Round, Round.id == Example.round_id)
    )


def new_examples(after: int) -> Select[Any]:
    """Select the newest examples above a number: the end of the ledger's key."""
    return _example_columns(Example.id * 0).where(Example.id > after).order_by(Example.id.desc()).limit(LATEST)


def new_verdicts(after: int) -> Select[Any]:
    """Select the newest verdicts above a number, with their examples: the end of a key and one probe for each."""
    events = select(VerdictEvent.id, VerdictEvent.example_id, VerdictEvent.verdict, VerdictEvent.at)
    latest = events.where(VerdictEvent.id > after).order_by(VerdictEvent.id.desc()).limit(LATEST).subquery()
    return (
        _example_columns(latest.c.id)
        .join(latest, latest.c.example_id == Example.id)
        .add_columns(latest.c.verdict, latest.c.at.label("decided_at"))
        .order_by(latest.c.id.desc())
    )


def _is_shown(row: Any) -> bool:
    """Tell whether there is a sentence about a row of `new_examples` or `new_verdicts`."""
    if row.source == ExampleSource.PROGRAM or row.Person.imported_as or not disclosure.shows_example(row.Standing):
        return False
    if row.Round.state != RoundState.OPEN or parse_plan(row.Round.plan).audience.kind != "anyone":
        return False
    if row.verdict_id:
        return bool(row.verdict == Verdict.CORRECT and row.Standing.fooled and now() - row.decided_at < RECENT)
    return bool(now() - row.at < RECENT)


def _models(session: Session, example_ids: Sequence[int]) -> dict[int, dict[str, bool | None]]:
    """Return the public models that were asked about each example, and whether each of them was fooled."""
    if not example_ids:
        return {}
    answers = select(Prediction).where(Prediction.example_id.in_(set(example_ids))).order_by(Prediction.position)
    predictions = session.scalars(answers).all()
    names = {prediction.model for prediction in predictions}
    listings = select(ModelListing).where(ModelListing.name.in_(names))
    secret = {row.name for row in session.scalars(listings) if not disclosure.shows_model(row.visibility, False, False)}
    models: dict[int, dict[str, bool | None]] = {}
    for prediction in predictions:
        if prediction.model not in secret:
            models.setdefault(prediction.example_id, {})[prediction.model] = prediction.errs
    return models


def _activity(row: Any, models: dict[str, bool | None]) -> ActivityLine:
    kind = VERIFIED if row.verdict_id else {True: FOOLED, False: RESISTED, None: WRITTEN}[row.Standing.fooled]
    concerned = [name for name, errs in models.items() if errs or kind not in (FOOLED, VERIFIED)]
    name = disclosure.name_in_activity(row.Person) if kind != VERIFIED else ""
    return ActivityLine(
        kind, row.example_id, row.verdict_id, row.Round.task_id, row.Round.number, name, tuple(concerned)
    )
