"""Estimates of annotator quality: requested, computed by the worker, stored, and read by those who run a task."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection import overview
from dynabench.kit import jobs
from dynabench.kit.db import now
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.quality import queries
from dynabench.quality.estimates import CastVote, Estimates, FieldAgreement, RuleEffect, ValidatorEstimate, estimate
from dynabench.quality.tables import QualityEstimate
from dynabench.rounds import service as rounds
from dynabench.rounds.people import public_names
from dynabench.rounds.tables import Task
from dynabench.stats.rates import Rate
from dynabench.tasks import TaskConfig
from dynabench.validation import validators

KIND = "estimate_quality"
MOST_VOTES = 200_000
"""The newest votes of a task that estimates are computed from."""
RoundVotes = tuple[list[CastVote], TaskConfig]
"""The votes of a round in the order in which they were cast, with the round's config."""
TOGETHER = 0
"""The number under which the estimates of all rounds together are stored."""


@dataclass(frozen=True)
class StoredEstimates:
    """The estimates of a task or of its round `number` (None for all rounds), computed `at` a time.

    `names` has those of the validators by person. `in_progress` says that the worker computes them now.
    """

    number: int | None
    estimates: Estimates | None
    names: Mapping[int, str]
    at: datetime | None
    in_progress: bool


def read_estimates(session: Session, actor: Person | None, task_id: str, number: int | None = None) -> StoredEstimates:
    """Return the stored estimates of a task, or of its round `number` (owners and moderators)."""
    rounds.require(session, actor, Action.LIST_PEOPLE, task_id)
    if number is not None:
        rounds.round_of(session, task_id, number)
    by_number = {row.number: row for row in session.scalars(queries.estimates_of(task_id))}
    stored, together = by_number.get(number or TOGETHER), by_number.get(TOGETHER)
    in_progress = together is not None and together.job_id is not None
    if stored is None or stored.at is None:
        return StoredEstimates(number, None, {}, None, in_progress)
    estimates = _estimates(stored.results)
    names = public_names(session, [row.person_id for row in estimates.validators])
    return StoredEstimates(number, estimates, names, stored.at, in_progress)


def _estimates(document: Mapping[str, Any]) -> Estimates:
    return Estimates(
        votes=document["votes"],
        examples=document["examples"],
        validators=tuple(
            ValidatorEstimate(**row | {"accuracy": Rate(**row["accuracy"])}) for row in document["validators"]
        ),
        agreement=tuple(FieldAgreement(**row) for row in document["agreement"]),
        weighted_effect=_effect(document["weighted_effect"]),
        plain_effect=_effect(document["plain_effect"]),
        new_weight=document["new_weight"],
    )


def _effect(document: Mapping[str, Any] | None) -> RuleEffect | None:
    return None if document is None else RuleEffect(**document)


def read_accuracies(session: Session, task_id: str, number: int | None) -> dict[int, Rate]:
    """Return the stored accuracy of each validator of a task or round by person; none before the first computation."""
    stored = session.get(QualityEstimate, (task_id, number or TOGETHER))
    rows = stored.results.get("validators", []) if stored else []
    return {row["person_id"]: Rate(**row["accuracy"]) for row in rows}


validators.accuracy_readers.append(read_accuracies)


def request_estimates(session: Session, actor: Person | None, task_id: str) -> QualityEstimate:
    """Request that the worker computes a task's estimates (owners and moderators); once at a time."""
    rounds.require(session, actor, Action.LIST_PEOPLE, task_id)
    return enqueue_estimates(session, task_id, actor)


def enqueue_estimates(session: Session, task_id: str, person: Person | None = None) -> QualityEstimate:
    """Enqueue the job that computes a task's estimates, unless one is under way."""
    stored = _lock_together(session, task_id)
    if stored.job_id is None:
        stored.job_id = jobs.enqueue(session, KIND, {"task": task_id}, person.id if person else None).id
    return stored


def _lock_together(session: Session, task_id: str) -> QualityEstimate:
    session.get_one(Task, task_id, with_for_update={"key_share": True})  # one writer at a time, also of the first row
    stored = session.get(QualityEstimate, (task_id, TOGETHER), with_for_update=True, populate_existing=True)
    if stored is None:
        stored = QualityEstimate(task_id=task_id, number=TOGETHER)
        session.add(stored)
        session.flush()
    return stored


def release_job(session: Session, task_id: str, job_id: str) -> None:
    """Forget a job that ended, so that estimates can be requested again."""
    stored = session.get(QualityEstimate, (task_id, TOGETHER), with_for_update=True)
    if stored is not None and stored.job_id == job_id:
        stored.job_id = None


def read_votes(session: Session, task_id: str) -> dict[int, RoundVotes]:
    """Return the newest votes of a task by the number of their round, in order, with the config of the round."""
    started = {round_.id: round_ for round_ in overview.started(session, task_id)}
    by_number: dict[int, RoundVotes] = {}
    for row in reversed(session.execute(queries.newest_votes(task_id, MOST_VOTES)).all()):
        round_ = started.get(row.round_id)
        if round_ is None:
            continue
        votes, _config = by_number.setdefault(round_.number, ([], rounds.config_of(session, round_.version_id)))
        values = (row.id, row.example_id, row.person_id, row.vote, row.by_owner, row.blind_answer, row.values)
        votes.append(CastVote(*values, verdict=row.verdict))
    return by_number


def compute_estimates(by_number: Mapping[int, RoundVotes]) -> dict[int, Estimates]:
    """Return the estimates of each round, and of all together under `TOGETHER`. Touches no database."""
    results = {number: estimate(votes, config) for number, (votes, config) in by_number.items()}
    if by_number:
        every = sorted((vote for votes, _ in by_number.values() for vote in votes), key=lambda vote: vote.id)
        results[TOGETHER] = estimate(every, by_number[max(by_number)][1], with_effect=False)
    return results


def store_estimates(session: Session, task_id: str, results: Mapping[int, Estimates], last_vote: int) -> None:
    """Store the estimates of a task in place of those before."""
    together = _lock_together(session, task_id)
    at = now()
    for number in {TOGETHER, *results}:
        stored = session.get(QualityEstimate, (task_id, number)) or QualityEstimate(task_id=task_id, number=number)
        session.add(stored)
        stored.results = (results[number] if number in results else estimate_nothing()).document()
        stored.last_vote, stored.at = last_vote, at
    together.job_id = None


def estimate_nothing() -> Estimates:
    """Return the estimates of a task without votes."""
    return Estimates(0, 0, (), (), None, None, 0.0)
