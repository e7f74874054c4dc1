"""The choice of the next example for a validator, and the place that is held for the validator meanwhile."""

import importlib
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Executable, Select
from sqlalchemy.orm import Session

from dynabench.collection import projections
from dynabench.collection.tables import Standing
from dynabench.kit import errors
from dynabench.kit.db import PreparedStatement, now
from dynabench.kit.language import _
from dynabench.onboarding import admission
from dynabench.onboarding.tables import OnboardingActivity
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.stats.verdict import Vote, max_outstanding_votes
from dynabench.tasks import TaskConfig
from dynabench.tasks.sections import ControlSettings
from dynabench.validation import queries, queue_queries
from dynabench.validation.controls import consequences, drawing
from dynabench.validation.controls import queries as control_queries
from dynabench.validation.controls.drawing import ShownContent, Validator
from dynabench.validation.tables import Reservation, Validation

COMPETITIONS = "dynabench.communities.competitions.taking_part"
"""The rules of rounds in which teams compete: of a higher level, imported for such rounds alone."""
LAST = 2**31 - 1  # the highest draw
REMEMBER = timedelta(days=1)  # how long a blind place that ran out is kept; a judge's tells for good what was seen
MOST_COUNTED = 100  # examples of a queue that are counted; a longer one is "100+"
PAGE, MORE = 4, 64  # rows of the queue read at once: nearly always the first has a place


@dataclass(frozen=True)
class CheckItem:
    """An example as a validator sees it, or a control in its place; `answer`, the claim, is None for a blind answer.

    `model_answers` are the models' answers where those are what is judged (`TaskConfig.fooled`).
    """

    example_id: int
    mode: str
    context: dict[str, Any]
    input: dict[str, Any]
    answer: dict[str, Any] | None
    config: TaskConfig
    round: int
    expires_at: datetime
    model_answers: Sequence[dict[str, Any]] = ()


def next_item(
    session: Session, person: Person, task_id: str, *, seconds: int, round_number: int | None = None
) -> CheckItem | None:
    """The next example for a validator to check, with a place held for `seconds`; None where there is none for them.

    Asking again gives the item that is still held. Reads a few rows, whatever the round's size, in a few statements.
    Raises `Conflict` where a round pays the person for no further vote and no other round has an item.
    """
    offered, at = _offered(session, person, task_id), now()
    eligible_rounds = [offered_round for offered_round in offered if round_number in (None, offered_round.number)]
    asks = _Asks(session, person.id, task_id, at, random.randint(0, LAST), seconds, person.known_languages)
    head = asks.waiting(eligible_rounds[0] if eligible_rounds else None)
    for row in head:
        if row.kind == queue_queries.HELD and (
            chosen_round := next((offered_round for offered_round in offered if offered_round.id == row.round_id), None)
        ):
            return asks.item(chosen_round, row.example_id, asks.facts(row.example_id))
    if any(row.kind == queue_queries.STALE for row in head):
        session.execute(queries.old_reservations(person.id, at - REMEMBER))
    unpaid: errors.Conflict | None = None
    for number, chosen_round in enumerate(eligible_rounds):
        try:
            if chosen_round.pays:
                _paid_work().refuse_unpaid_vote(session, person, chosen_round.id)
        except errors.Conflict as problem:
            unpaid = problem
            continue
        first = sorted(row for row in head if row.kind == queue_queries.QUEUED) if number == 0 else None
        for example_id in asks.candidates(chosen_round, first):
            if item := asks.take(chosen_round, example_id):
                return item
    if unpaid is None and (item := asks.take_covered(eligible_rounds)):
        return item
    if unpaid is not None:
        raise unpaid
    return None


@cache
def _paid_work() -> Any:
    return importlib.import_module("dynabench.pay.limits")  # stands above this package


def count_checks(session: Session, person: Person, task_id: str) -> int:
    """Return how many examples of a task wait for a person's vote, at most `MOST_COUNTED`; none for a paused one."""
    if consequences.is_paused(session, person.id, task_id):
        return 0
    own_team: Select[int] = importlib.import_module(COMPETITIONS).select_own_team(person.id)
    waiting = queue_queries.open_for(person.id, task_id, MOST_COUNTED, own_team, person.known_languages)
    return session.scalar(waiting) or session.scalar(control_queries.count_covered(person.id, task_id, own_team)) or 0


@dataclass(frozen=True)
class _Offered:
    """A round whose examples a person may check, but for those of the person's own team in a competition."""

    id: int
    number: int
    config: TaskConfig
    pays: bool
    own_team: Collection[int] = ()
    controls: ControlSettings | None = None


def _offered(session: Session, person: Person, task_id: str) -> list[_Offered]:
    rows = queue_queries.ASKING.run(session, {"person": person.id, "task": task_id})
    if not rows or rows[0].shown_version is None:
        people.require_seat(session, person, task_id, checking=True)  # says what there is not
        return []
    shown_config = rounds.config_of(session, rows[0].shown_version)
    may.require_admission(shown_config.annotators, person, rows[0].role, rows[0].banned, checking=True)
    admission.require_qualified(session, person, shown_config, OnboardingActivity.CHECK)
    if rows[0].paused:
        raise consequences.CheckingPaused
    open_rows = [row for row in rows if row.id is not None]
    controls = rounds.config_of(session, rows[0].newest_version or rows[0].shown_version).validation.controls
    return [
        _Offered(
            row.id,
            row.number,
            rounds.config_of(session, row.version_id),
            row.pays,
            examples_of_own_team(session, row.id, person.id) if row.competition else (),
            controls,
        )
        for row in open_rows
    ]


def examples_of_own_team(session: Session, round_id: int, person_id: int) -> Collection[int]:
    """Return the examples of a round with a competition that a person's own teams wrote: others check them."""
    examples: Collection[int] = importlib.import_module(COMPETITIONS).examples_of_own_team(session, round_id, person_id)
    return examples


@dataclass(frozen=True)
class _Asks:
    """A validator who asks for an item, and the draw where their walk along the queue begins."""

    session: Session
    person_id: int
    task_id: str
    at: datetime
    start: int
    seconds: int
    languages: Sequence[str] = ()

    def waiting(self, offered_round: _Offered | None) -> Sequence[Any]:
        """Return the items held, the old places to remove, and the head of the round's queue."""
        old = {"task": self.task_id, "old": self.at - REMEMBER}
        statement = queue_queries.KNOWN_WAITING if self.languages else queue_queries.WAITING
        return self._run(statement, **old, **self._place(offered_round, (self.start, -1), LAST, PAGE))

    def candidates(self, offered_round: _Offered, first: Sequence[Any] | None) -> Iterator[int]:
        """Examples that look as if they had a place, from the start on and around the corner; `first` are known."""
        for after, high in (((self.start, -1), LAST), ((0, -1), self.start)):
            size = PAGE if first is not None else MORE
            page = first if first is not None else self._queue(offered_round, after, high)
            first = None
            while page:
                yield from (
                    row.example_id
                    for row in page
                    if row.votes + row.taken < _quota(offered_round, row.votes)
                    and row.example_id not in offered_round.own_team
                )
                if len(page) < size:
                    break
                after, size = (page[-1].draw, page[-1].example_id), MORE
                page = self._queue(offered_round, after, high)

    def take_covered(self, offered_rounds: Sequence[_Offered]) -> CheckItem | None:
        """The item of an example whose number stood for a control: such examples come last, so that none waits in
        vain."""
        by_id = {offered_round.id: offered_round for offered_round in offered_rounds}
        if not by_id:
            return None
        rows = self.session.execute(control_queries.covered_examples(self.person_id, list(by_id), MORE)).all()
        for row in rows:
            offered_round = by_id[row.round_id]
            if row.example_id not in offered_round.own_team and (item := self.take(offered_round, row.example_id)):
                return item
        return None

    def take(self, offered_round: _Offered, example_id: int) -> CheckItem | None:
        """The item with a place that is held from now on; None where it has none, and then nothing is locked."""
        alone = self.session.connection().dialect.name == "sqlite"  # there the whole writing transaction is
        if not alone:
            # Letting go of a lock that was of no use needs a savepoint: requests that hold two may wait for each other.
            self.session.connection().exec_driver_sql("SAVEPOINT place")
            self._run(queue_queries.LOCK, example=example_id)
        facts, rule = self.facts(example_id), offered_round.config.validation
        votes = [Vote(row.vote, row.by_owner, row.weight) for row in facts if row.vote is not None]
        if facts[0].open and max_outstanding_votes(votes, rule.votes, rule.adjudicate_up_to) > facts[0].taken:
            return self.item(offered_round, example_id, facts, hold=True)
        if not alone:
            self.session.connection().exec_driver_sql("ROLLBACK TO SAVEPOINT place")
        return None

    def facts(self, example_id: int) -> Sequence[Any]:
        """Rows of `statements.CANDIDATE`."""
        return self._run(queue_queries.CANDIDATE, example=example_id, person=self.person_id, at=self.at)

    def item(self, offered_round: _Offered, example_id: int, facts: Sequence[Any], *, hold: bool = False) -> CheckItem:
        """The example as they see it, with the place that they hold, or that is held for them now.

        When it is handed out first, a control may take its place.
        """
        row = facts[0]
        mode, expires = row.mode, row.expires_at
        content = None
        if row.control is not None and row.done_at is None:
            content = drawing.read_content(self.session, row.item_id, row.shown_id)
        if hold:
            is_first = mode is None and row.control is None
            mode = mode or _drawn(self.session, offered_round.config, self.person_id, example_id)
            if is_first and offered_round.controls is not None:
                content, mode = self._control(offered_round, example_id, mode)
            expires = self.at + timedelta(seconds=self.seconds)
            place = {"example_id": example_id, "person_id": self.person_id, "mode": mode, "expires_at": expires}
            place["since"] = self.at
            queue_queries.HOLD.run(self.session, place)
        predictions = self._answers(offered_round.config, example_id, content)
        source = content or ShownContent(row.context, row.input, row.answer, (), None)
        return CheckItem(
            model_answers=predictions,
            example_id=example_id,
            mode=mode,
            context=offered_round.config.shown_context(source.context),
            input=source.input,
            answer=None if mode == "answer" else source.answer,
            config=offered_round.config,
            round=offered_round.number,
            expires_at=expires,
        )

    def _control(self, offered_round: _Offered, example_id: int, mode: str) -> tuple[ShownContent | None, str]:
        """The content of a control that takes the place of the example, with its mode; None where none does."""
        validator = Validator(self.person_id, self.languages, offered_round.own_team)
        settings, config = offered_round.controls, offered_round.config
        drawn = settings and drawing.draw_control(
            self.session, validator, settings, config, offered_round.id, example_id, mode
        )
        if not drawn:
            return None, mode
        place, control_mode = drawn
        return drawing.read_content(self.session, place.item_id, place.shown_id), control_mode

    def _answers(self, config: TaskConfig, example_id: int, content: ShownContent | None) -> list[dict[str, Any]]:
        """The models' answers, where those are what is judged."""
        if not config.fooled.judged_by:
            return []
        rows = content.predictions if content else self.session.scalars(queries.predictions(example_id))
        return [prediction.answer for prediction in rows]

    def _queue(self, offered_round: _Offered, after: tuple[int, int], high: int) -> Sequence[Any]:
        statement = queue_queries.KNOWN_QUEUE if self.languages else queue_queries.QUEUE
        return self._run(statement, **self._place(offered_round, after, high, MORE))

    def _place(self, offered_round: _Offered | None, after: tuple[int, int], high: int, size: int) -> dict[str, Any]:
        walk = {
            "round": offered_round.id if offered_round else 0,
            "draw": after[0],
            "example": after[1],
            "last": high,
            "size": size,
        }
        languages = {"languages": ["", *self.languages]} if self.languages else {}
        return {"person": self.person_id, "at": self.at, **walk, **languages}

    def _run(self, statement: PreparedStatement | Executable, **values: Any) -> Sequence[Any]:
        if isinstance(statement, PreparedStatement):
            return statement.run(self.session, values)
        return self.session.connection().execute(statement, values).all()


def free_places(session: Session, config: TaskConfig, person_id: int, example_id: int, votes: Sequence[Vote]) -> int:
    """Return the number of places on an example that are free for a person: wanted minus held by others.

    The caller has locked the example's standing.
    """
    rule = config.validation
    places_held = session.scalar(queries.places_taken(example_id, person_id, now())) or 0
    return max_outstanding_votes(votes, rule.votes, rule.adjudicate_up_to) - places_held


def ballots(validations: Sequence[Validation]) -> list[Vote]:
    """Votes as the verdict rule takes them."""
    return [Vote(validation.vote, validation.by_owner, validation.weight) for validation in validations]


def mode_for(session: Session, config: TaskConfig, person_id: int, example_id: int) -> str | None:
    """Return the mode in which a person is to validate an example, None where it is not decided yet.

    The task says it; in a mixed task it is the mode in which the person saw the item first. It stays the
    same when a place runs out or a vote is undone: a person who has seen the claim cannot answer blind.
    """
    if config.validation.mode in queries.MODES:
        return config.validation.mode
    if reservation := session.get(Reservation, (example_id, person_id)):
        return reservation.mode
    before = session.scalars(queries.votes_ever(example_id, person_id).limit(1)).first()
    if before is None:
        return None
    return "judge" if before.blind_answer is None else "answer"


def reserve(
    session: Session, config: TaskConfig, person_id: int, example_id: int, *, at: datetime, seconds: int, mode: str = ""
) -> Reservation:
    """Hold a place. The caller has locked the example's standing and seen that a place is free."""
    reservation = session.get(Reservation, (example_id, person_id))
    if reservation is None:
        mode = mode or _drawn(session, config, person_id, example_id)
        reservation = Reservation(example_id=example_id, person_id=person_id, mode=mode)
        session.add(reservation)
    reservation.since, reservation.expires_at = at, at + timedelta(seconds=seconds)
    session.flush()
    return reservation


def _quota(offered_round: _Offered, votes: int) -> int:
    """Return the most votes that an example with `votes` votes may end with.

    After a disagreement it may end with fewer.
    """
    rule = offered_round.config.validation
    return rule.votes if votes < rule.votes else rule.adjudicate_up_to


def _drawn(session: Session, config: TaskConfig, person_id: int, example_id: int) -> str:
    drawn = "answer" if random.random() < config.validation.blind_share else "judge"
    return mode_for(session, config, person_id, example_id) or drawn


def standing_of(session: Session, example_id: int) -> Standing:
    """The standing of an example, locked until the transaction ends, or `NotFound`."""
    standing = projections.locked(session, example_id)
    if standing is None:
        raise errors.NotFound(_("There is no such example."))
    return standing
