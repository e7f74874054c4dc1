"""Examples of others as inspiration, and figures of what was written after them. In the caller's transaction."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session, aliased, selectinload

from dynabench.collection import overview
from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import Example, ExampleSource, Standing
from dynabench.collection.writing_facts import WritingFacts
from dynabench.communities.inspiration.tables import Inspiration, InspirationMode, InspirationRule
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round, RoundState
from dynabench.stats.rates import ErrorCounts, ErrorRates, clustered_error_rates
from dynabench.stats.verdict import Verdict

AT_ONCE = 3
"""Examples that a person opens at once."""
NEWEST = 500
"""The newest examples, of which some are drawn."""
MOST_TAGS = 100
PEOPLE = (ExampleSource.PERSON, ExampleSource.EXPERT, ExampleSource.OWNER)


def read_mode(session: Session, task_id: str) -> InspirationMode:
    """Return which examples annotators of a task may open; none in tasks with a content warning."""
    if rounds.task_config(session, task_id).content_warning:
        return InspirationMode.OFF
    rule = session.get(InspirationRule, task_id)
    return InspirationMode(rule.mode) if rule else InspirationMode.RELEASED


def choose_mode(session: Session, person: Person | None, task_id: str, mode: InspirationMode) -> None:
    """Choose which examples annotators may open (owners)."""
    rounds.require(session, person, Action.MANAGE_TASK, task_id)
    rounds.lock_task(session, task_id)
    rule = session.get(InspirationRule, task_id)
    if rule is None:
        session.add(InspirationRule(task_id=task_id, mode=mode))
    else:
        rule.mode, rule.changed_at = mode, now()
    rounds.record_act(session, person, "inspiration.chosen", task=task_id, mode=str(mode))


def _candidates(task_id: str, mode: InspirationMode, person_id: int, tag: str) -> Select[Example]:
    """Verified examples of others that fooled, newest first: walks the newest of the task's rounds."""
    statement = (
        select(Example)
        .join(Standing, Standing.example_id == Example.id)
        .join(Round, Round.id == Example.round_id)
        .where(Round.task_id == task_id, Standing.fooled.is_(True), Standing.verdict == str(Verdict.CORRECT))
        .where(disclosure.shown_examples(Standing), Example.source.in_(PEOPLE), Example.author_id != person_id)
        .order_by(Example.id.desc())
        .limit(NEWEST)
    )
    if mode is InspirationMode.RELEASED:
        statement = statement.where(Round.state == RoundState.RELEASED)
    if tag:
        statement = statement.join(Context, Context.id == Example.context_id).where(Context.tag == tag)
    return statement


@dataclass(frozen=True)
class InspirationView:
    """The panel beside the form: the `examples` opened now with their `cards`, and `tags`, phenomena to choose from."""

    handout_id: int
    tag: str
    tags: Sequence[str]
    examples: Sequence[Example]
    cards: Sequence[Mapping[str, Any]]
    opened: int


def _own_handout(session: Session, person: Person, handout_id: int) -> tuple[Handout, Round]:
    handout = session.get(Handout, handout_id)
    if handout is None or handout.person_id != person.id:
        raise errors.NotFound(_("You were not given this context."))
    round_ = session.get_one(Round, handout.round_id)
    people.require_seat(session, person, round_.task_id)
    if round_.state != RoundState.OPEN:
        raise errors.Conflict(_("The round has closed. Reload the page to see what is open."))
    return handout, round_


def open_examples(session: Session, person: Person, handout_id: int, tag: str, rng: random.Random) -> InspirationView:
    """Open some examples for a hand-out of one's own, which is recorded; examples opened before are not repeated."""
    handout, round_ = _own_handout(session, person, handout_id)
    mode = read_mode(session, round_.task_id)
    if mode is InspirationMode.OFF:
        raise errors.Conflict(_("The owners of this task show no examples of others."))
    seen = set(session.scalars(select(Inspiration.example_id).where(Inspiration.handout_id == handout_id)))
    statement = _candidates(round_.task_id, mode, person.id, tag).options(selectinload(Example.predictions))
    candidates = session.scalars(statement).all()
    fresh = [example for example in candidates if example.id not in seen]
    chosen = rng.sample(fresh, min(AT_ONCE, len(fresh)))
    for example in chosen:
        session.add(Inspiration(handout_id=handout.id, example_id=example.id, round_id=round_.id))
    session.flush()
    cards = [
        overview.specimen(
            session, example, session.get_one(Standing, example.id), session.get_one(Round, example.round_id)
        )
        for example in chosen
    ]
    tags = tag_choices(session, round_.task_id, mode)
    return InspirationView(handout_id, tag, tags, chosen, cards, len(seen) + len(chosen))


def tag_choices(session: Session, task_id: str, mode: InspirationMode) -> list[str]:
    """Return the phenomena of the examples that may be opened, in the order of the alphabet."""
    examples = _candidates(task_id, mode, 0, "").subquery()
    statement = (
        select(Context.tag)
        .where(Context.id.in_(select(examples.c.context_id)), Context.tag != "")
        .distinct()
        .order_by(Context.tag)
        .limit(MOST_TAGS)
    )
    return list(session.scalars(statement))


def is_offered(session: Session, task_id: str) -> bool:
    """Return whether the create page of a task offers examples of others."""
    mode = read_mode(session, task_id)
    return mode is not InspirationMode.OFF and session.scalar(_candidates(task_id, mode, 0, "").limit(1)) is not None


@dataclass(frozen=True)
class ExposureFigures:
    """The examples of a round that were written after opening others, or without; rates are clustered by annotator."""

    inspired: bool
    people: int
    counts: ErrorCounts
    rates: ErrorRates


def _exposed() -> Any:
    opened_before = (Inspiration.handout_id == Example.handout_id, Inspiration.at <= Example.at)
    opened = select(Inspiration.example_id).where(*opened_before).correlate(Example).exists()
    imported = (WritingFacts.example_id == Example.id, WritingFacts.inspired.is_(True))
    return or_(opened, select(WritingFacts.example_id).where(*imported).correlate(Example).exists())


def read_exposure(session: Session, round_: Round) -> list[ExposureFigures]:
    """Return figures of a round's live examples of people by exposure: walks them, with an index probe for each."""
    resolved = or_(*(Standing.verdict == str(verdict) for verdict in Verdict if verdict is not Verdict.PENDING))
    fooled = Standing.fooled.is_(True)
    sums = (
        func.count(),
        func.count().filter(fooled),
        func.count().filter(fooled, Standing.verdict == str(Verdict.CORRECT)),
        func.count().filter(fooled, resolved),
        func.count().filter(Standing.fooled.is_(None)),
    )
    exposed = _exposed().label("exposed")
    rows = session.execute(
        select(exposed, Example.author_id, *sums)
        .join(Standing, Standing.example_id == Example.id)
        .where(Example.round_id == round_.id, ~Standing.retracted, ~Standing.hidden, Example.source.in_(PEOPLE))
        .group_by(exposed, Example.author_id)
    )
    by_exposure: dict[bool, list[ErrorCounts]] = defaultdict(list)
    for inspired, _author, *counts in rows:
        by_exposure[bool(inspired)].append(ErrorCounts(*map(int, counts)))
    return [
        ExposureFigures(inspired, len(counts), sum(counts, ErrorCounts()), clustered_error_rates(counts))
        for inspired, counts in sorted(by_exposure.items())
    ]


def exposure_rows(session: Session, round_: Round) -> list[list[object]]:
    """Return a line for each exposure of a round: the example written after it, the one opened, and when."""
    source = aliased(Example)
    statement = (
        select(Example.uid, source.uid, Inspiration.at)
        .select_from(Inspiration)
        .join(Example, Example.handout_id == Inspiration.handout_id)
        .join(source, source.id == Inspiration.example_id)
        .where(Inspiration.round_id == round_.id, Inspiration.at <= Example.at)
        .order_by(Example.id, Inspiration.at)
    )
    rows = session.execute(statement)
    return [[uid, opened, at.isoformat(timespec="seconds")] for uid, opened, at in rows]
