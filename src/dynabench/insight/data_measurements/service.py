"""Measurements of rounds: stored, requested again, and limited to the results that a viewer may see.

The public sees results of at least `LEAST` writers; the console has all of them.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection import folding, overview
from dynabench.collection.projections import COUNTS
from dynabench.insight.data_measurements import results, tables
from dynabench.insight.data_measurements.measures import MEASURES
from dynabench.insight.data_measurements.results import MeasureResult
from dynabench.insight.data_measurements.tables import StoredMeasurement
from dynabench.kit import jobs
from dynabench.kit.db import now
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round

VERSION = 3
"""Grows when measures change, so that rounds are measured again."""

HEALTH = ("label_balance", "artifacts", "near_duplicates", "diversity", "difficulty", "lengths")
"""Measures whose findings a round's page names, the most telling first."""
HEALTH_LINES = 4


@dataclass(frozen=True)
class RoundMeasurements:
    """The visible results of a round, by measure.

    `examples` of `total` were measured `at` a time; `outdated` says that the round changed since, `in_progress` that it
    is measured now. `kept_back` measures have too few writers to be shown.
    """

    round: int
    results: Mapping[str, MeasureResult]
    kept_back: tuple[str, ...]
    examples: int
    total: int
    at: datetime | None
    outdated: bool
    in_progress: bool


def round_state(session: Session, round_: Round) -> str:
    """Return a digest of the counts by person, on which measures depend."""
    rows = folding.read(session, round_.id, ["all"]).get(("all", ""))
    sums = [] if rows is None else [int(rows[name].sum()) for name in COUNTS]
    return hashlib.sha256(repr((VERSION, round_.state, sums)).encode()).hexdigest()


def round_measurements(session: Session, task_id: str, number: int, everything: bool = False) -> RoundMeasurements:
    """Return the public results of a round, with `everything` all of them; raise `NotFound` for an unopened round."""
    return _measurements_of(session, [overview.chosen_round(session, task_id, number)], everything)[0]


def data_findings(session: Session, round_: Round) -> list[tuple[str, str, str]]:
    """Return the public findings on a round's data that its page names: (measure, title, finding)."""
    visible = _measurements_of(session, [round_], everything=False)[0].results
    names = [name for name in HEALTH if name in visible][:HEALTH_LINES]
    return [(name, MEASURES[name].title, visible[name].finding) for name in names]


def task_measurements(session: Session, task_id: str, everything: bool = False) -> list[RoundMeasurements]:
    """Return the results of all rounds, the oldest first."""
    return _measurements_of(session, overview.started(session, task_id)[::-1], everything)


def _measurements_of(session: Session, rounds_: Sequence[Round], everything: bool) -> list[RoundMeasurements]:
    stored = {
        round_.round_id: round_
        for round_ in session.scalars(tables.stored_measurements([round_.id for round_ in rounds_]))
    }
    return [
        _visible_measurements(round_, stored.get(round_.id), round_state(session, round_), everything)
        for round_ in rounds_
    ]


def _visible_measurements(
    round_: Round, stored: StoredMeasurement | None, state: str, everything: bool
) -> RoundMeasurements:
    if stored is None:
        return RoundMeasurements(round_.number, {}, (), 0, 0, None, True, False)
    all_results = {name: results.read_result(stored.results[name]) for name in MEASURES if name in stored.results}
    visible = {name: result if everything else results.public_part(result) for name, result in all_results.items()}
    shown_results = {name: result for name, result in visible.items() if result is not None}
    kept_back = tuple(name for name in all_results if name not in shown_results)
    outdated, in_progress = stored.state != state, stored.job_id is not None
    return RoundMeasurements(
        round_.number, shown_results, kept_back, stored.examples, stored.total, stored.at, outdated, in_progress
    )


def request_measurement(session: Session, person: Person | None, task_id: str, number: int) -> StoredMeasurement:
    """Request that the worker measures a round (owners and, without a person, the platform); once at a time."""
    if person is not None:
        rounds.require(session, person, Action.MEASURE_ROUND, task_id)
    return enqueue_measurement(session, overview.chosen_round(session, task_id, number), person)


def enqueue_measurement(session: Session, round_: Round, person: Person | None = None) -> StoredMeasurement:
    """Enqueue the job that measures a round, unless one is under way."""
    stored = _lock_measurement(session, round_.id)
    if stored.job_id is None:
        stored.job_id = jobs.enqueue(session, "measure_round", {"round": round_.id}, person.id if person else None).id
    return stored


def store_measurement(
    session: Session, round_id: int, state: str, records: Mapping[str, Any], examples: int, total: int
) -> None:
    """Store the results of a round."""
    stored = _lock_measurement(session, round_id)
    stored.state, stored.results, stored.at = state, dict(records), now()
    stored.examples, stored.total, stored.job_id = examples, total, None


def release_job(session: Session, round_id: int, job_id: str) -> None:
    """Forget a job that was given up."""
    stored = _lock_measurement(session, round_id)
    stored.job_id = None if stored.job_id == job_id else stored.job_id


def _lock_measurement(session: Session, round_id: int) -> StoredMeasurement:
    session.get_one(Round, round_id, with_for_update=True)  # one writer at a time, also of the first row
    stored = session.get(StoredMeasurement, round_id, with_for_update=True)
    if stored is None:
        stored = StoredMeasurement(round_id=round_id)
        session.add(stored)
        session.flush()
    return stored
