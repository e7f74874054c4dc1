"""What rounds' data are like: kept, asked for anew, shown to those who may see it.

Anybody may see what at least `LEAST` writers stand behind; the console has all of it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from dynabench import jobs
from dynabench.accounts.tables import Person
from dynabench.collection import breakdowns, overview
from dynabench.collection.breakdowns import COUNTS
from dynabench.db import now
from dynabench.measuring import found as founds
from dynabench.measuring import queries
from dynabench.measuring.found import Found
from dynabench.measuring.measures import NAMES
from dynabench.measuring.tables import Measured
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round

VERSION = 2
"""Grows when measures change, so that rounds are measured again."""


@dataclass(frozen=True)
class Shown:
    """What is seen of a round: by measure, of how many examples, since when; `old` where more came since, `going`
    while it is measured. `kept_back` measures have too few writers to be shown."""

    round: int
    found: Mapping[str, Found]
    kept_back: tuple[str, ...]
    examples: int
    total: int
    at: datetime | None
    old: bool
    going: bool


def state_of(session: Session, of: Round) -> str:
    """A digest of what measures depend on: of counts by person, not of examples."""
    rows = breakdowns.read(session, of.id, ["all"]).get(("all", ""))
    sums = [] if rows is None else [int(rows[name].sum()) for name in COUNTS]
    return hashlib.sha256(repr((VERSION, of.state, sums)).encode()).hexdigest()


def shown(session: Session, task_id: str, number: int, everything: bool = False) -> Shown:
    """What the public, or with `everything` whoever runs the task, sees of a round; raises `NotFound` for one that was
    not opened."""
    return _of(session, [overview.chosen_round(session, task_id, number)], everything)[0]


def of_task(session: Session, task_id: str, everything: bool = False) -> list[Shown]:
    """The same of all rounds, the oldest first."""
    return _of(session, overview.started(session, task_id)[::-1], everything)


def _of(session: Session, some: Sequence[Round], everything: bool) -> list[Shown]:
    kept = {each.round_id: each for each in session.scalars(queries.measured([each.id for each in some]))}
    return [_shown(each, kept.get(each.id), state_of(session, each), everything) for each in some]


def _shown(of: Round, kept: Measured | None, state: str, everything: bool) -> Shown:
    if kept is None:
        return Shown(of.number, {}, (), 0, 0, None, True, False)
    whole = {name: founds.read(kept.found[name]) for name in NAMES if name in kept.found}
    seen = {name: each if everything else founds.public(each) for name, each in whole.items()}
    some = {name: each for name, each in seen.items() if each is not None}
    back = tuple(name for name in whole if name not in some)
    old, going = kept.state != state, kept.job_id is not None
    return Shown(of.number, some, back, kept.examples, kept.total, kept.at, old, going)


def ask(session: Session, person: Person | None, task_id: str, number: int) -> Measured:
    """Have a round measured by the worker (owners and, without a person, the platform); once at a time."""
    if person is not None:
        rounds.require_owner(session, person, task_id)
    return begin(session, overview.chosen_round(session, task_id, number), person)


def begin(session: Session, of: Round, person: Person | None = None) -> Measured:
    """Enqueue the job that measures a round, unless one is under way."""
    kept = _locked(session, of.id)
    if kept.job_id is None:
        kept.job_id = jobs.enqueue(session, "measure_round", {"round": of.id}, person.id if person else None).id
    return kept


def keep(session: Session, round_id: int, state: str, found: Mapping[str, Any], examples: int, total: int) -> None:
    """Keep what was measured."""
    kept = _locked(session, round_id)
    kept.state, kept.found, kept.at = state, dict(found), now()
    kept.examples, kept.total, kept.job_id = examples, total, None


def let_go(session: Session, round_id: int, job_id: str) -> None:
    """Forget a job that measures no more."""
    kept = _locked(session, round_id)
    kept.job_id = None if kept.job_id == job_id else kept.job_id


def _locked(session: Session, round_id: int) -> Measured:
    session.get_one(Round, round_id, with_for_update=True)  # one writer at a time, also of the first row
    kept = session.get(Measured, round_id, with_for_update=True)
    if kept is None:
        kept = Measured(round_id=round_id)
        session.add(kept)
        session.flush()
    return kept
