"""Which example somebody is to check next, and the place that is held for them meanwhile."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.accounts.tables import Person
from dynabench.collection import projections
from dynabench.collection.tables import Standing
from dynabench.db import now
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.stats.verdict import Vote, places
from dynabench.tasks import TaskConfig
from dynabench.validation import queries
from dynabench.validation.tables import Reservation, Validation

MODES = ("judge", "answer")
LAST = 2**31 - 1  # the highest draw
REMEMBER = timedelta(days=1)  # how long a place that ran out still tells in which mode the item was seen
PAGE = 4  # nearly always the first row has a place


@dataclass(frozen=True)
class Item:
    """An example as a validator sees it; `answer`, the claim, is None where they answer blind."""

    example_id: int
    mode: str
    context: dict[str, Any]
    input: dict[str, Any]
    answer: dict[str, Any] | None
    config: TaskConfig
    round: Round
    expires_at: datetime


def next_item(
    session: Session, person: Person, task_id: str, *, seconds: int, round_number: int | None = None
) -> Item | None:
    """The next example for somebody to check, with a place held for `seconds`; None where there is none for them.

    Asking again gives the item that is still held. Reads a few rows, whatever the round's size.
    """
    if session.get_bind().dialect.name != "sqlite":  # there the whole writing transaction is alone
        session.execute(queries.serial(person.id))
    people.require_seat(session, person, task_id)
    at = now()
    found = session.scalars(queries.rounds_to_validate(task_id)).all()
    if not found:
        rounds.task(session, task_id)  # says so where there is no such task
    for reservation in session.scalars(queries.held(person.id, task_id, at)):
        standing = session.get_one(Standing, reservation.example_id)
        one = next(one for one in found if one.id == standing.round_id)
        return _item(session, reservation, one, rounds.config_of(session, one.version_id))
    session.execute(queries.old_reservations(person.id, at - REMEMBER))
    for one in found:
        if round_number in (None, one.number):
            config = rounds.config_of(session, one.version_id)
            if taken := _take_any(session, person, one, config, at, seconds):
                return _item(session, taken, one, config)
    return None


def free_places(session: Session, config: TaskConfig, person_id: int, example_id: int, votes: Sequence[Vote]) -> int:
    """How many places on an example, whose standing is locked, are free for a person: wanted minus held by others."""
    rule = config.validation
    taken = session.scalar(queries.places_taken(example_id, person_id, now())) or 0
    return places(votes, rule.votes, rule.adjudicate_up_to) - taken


def ballots(validations: Sequence[Validation]) -> list[Vote]:
    """Votes as the verdict rule takes them."""
    return [Vote(validation.vote, validation.by_owner) for validation in validations]


def mode_for(session: Session, config: TaskConfig, person_id: int, example_id: int) -> str | None:
    """How a person is to validate an example: as the task says; in mixed tasks as they saw the item first, else None.

    It stays the same when a place runs out or a vote is undone: who has seen the claim cannot answer blind.
    """
    if config.validation.mode in MODES:
        return config.validation.mode
    if reservation := session.get(Reservation, (example_id, person_id)):
        return reservation.mode
    before = session.scalars(queries.votes_ever(example_id, person_id).limit(1)).first()
    if before is None:
        return None
    return "judge" if before.blind_answer is None else "answer"


def reserve(
    session: Session, config: TaskConfig, person_id: int, example_id: int, *, at: datetime, seconds: int
) -> Reservation:
    """Hold a place. The caller has locked the example's standing and seen that a place is free."""
    reservation = session.get(Reservation, (example_id, person_id))
    if reservation is None:
        drawn = "answer" if random.random() < config.validation.blind_share else "judge"
        mode = mode_for(session, config, person_id, example_id) or drawn
        reservation = Reservation(example_id=example_id, person_id=person_id, mode=mode)
        session.add(reservation)
    reservation.expires_at = at + timedelta(seconds=seconds)
    session.flush()
    return reservation


def _take_any(
    session: Session, person: Person, found: Round, config: TaskConfig, at: datetime, seconds: int
) -> Reservation | None:
    for example_id in _candidates(session, person.id, found, config, at):
        # Releasing a lock that was of no use needs a savepoint: whoever holds two may wait for each other.
        with session.begin_nested() as attempt:
            if reservation := _take(session, config, person.id, example_id, at, seconds):
                return reservation
            attempt.rollback()
    return None


def _candidates(session: Session, person_id: int, found: Round, config: TaskConfig, at: datetime) -> Iterator[int]:
    """Examples that look as if they had a place, from a random one on and around the corner."""
    start = random.randint(0, LAST)
    quota = (config.validation.votes, config.validation.adjudicate_up_to)
    for low, high in ((start, LAST), (0, start)):
        after, size = (low, -1), PAGE
        while page := session.execute(*queries.queue(found.id, person_id, quota, at, after, high, size)).all():
            yield from (example_id for _, example_id in page)
            last = page[-1]
            after, size = (last.draw, last.example_id), 64


def _take(
    session: Session, config: TaskConfig, person_id: int, example_id: int, at: datetime, seconds: int
) -> Reservation | None:
    standing = projections.locked(session, example_id)
    if standing is None or not standing.open:
        return None
    votes = ballots(session.scalars(queries.votes(example_id)).all() if standing.votes else [])
    if free_places(session, config, person_id, example_id, votes) < 1:
        return None
    return reserve(session, config, person_id, example_id, at=at, seconds=seconds)


def _item(session: Session, reservation: Reservation, found: Round, config: TaskConfig) -> Item:
    example, context = session.execute(queries.shown(reservation.example_id)).one()
    blind = reservation.mode == "answer"
    return Item(
        example_id=example.id,
        mode=reservation.mode,
        context=config.shown_context(context.values),
        input=example.input,
        answer=None if blind else example.answer,
        config=config,
        round=found,
        expires_at=reservation.expires_at,
    )


def standing_of(session: Session, example_id: int) -> Standing:
    """The standing of an example, locked until the transaction ends, or `NotFound`."""
    standing = projections.locked(session, example_id)
    if standing is None:
        raise errors.NotFound("There is no such example.")
    return standing
