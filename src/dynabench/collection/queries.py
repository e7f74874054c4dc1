"""Every `select` over handouts, examples and boards, with its cost."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, or_, select, text, true, tuple_
from sqlalchemy.orm import aliased, lazyload, selectinload

from dynabench.accounts.tables import Person
from dynabench.collection.tables import (
    Example,
    Explanation,
    Handout,
    Retraction,
    Seed,
    SeedPrediction,
    Standing,
    StoredAttribution,
    Tally,
)
from dynabench.rounds.tables import Context, Round

Arms = Sequence[tuple[int, str]]
"""Pairs of a round's id and the name of an arm."""


def current_handout(person_id: int, round_id: int) -> Select[Handout]:
    """What a person was given last in a round: reads the index entries of their handouts there."""
    latest = select(func.max(Handout.id)).where(Handout.person_id == person_id, Handout.round_id == round_id)
    return select(Handout).where(Handout.id == latest.scalar_subquery())


def handout(person_id: int, round_id: int, context_id: int) -> Select[Handout]:
    """The latest time that a person was given a context: one index probe."""
    return (
        select(Handout)
        .where(Handout.person_id == person_id, Handout.round_id == round_id, Handout.context_id == context_id)
        .order_by(Handout.id.desc())
        .limit(1)
    )


def seed(task_id: str, seed_id: int) -> Select[Seed]:
    """A seed that may be handed out: one index probe, and one for the example that it was taken from."""
    return select(Seed).where(Seed.id == seed_id, Seed.task_id == task_id, ~_withdrawn(Seed.made_from.expression))


def _withdrawn(example_id: ColumnElement[Any]) -> ColumnElement[bool]:
    gone = or_(Standing.retracted, Standing.hidden)
    return exists().where(Standing.example_id == example_id, gone)


def least_seeded(task_id: str) -> Select[int]:
    """The fewest examples that a seed of the task has: one index probe."""
    return select(Seed.used).where(Seed.task_id == task_id).order_by(Seed.used).limit(1)


def seed_probes(task_id: str, level: int, draw: int, but: int) -> Iterator[Select[Seed]]:
    """The least used seed, ties broken by the random key nearest above `draw`; `level` is the lowest use.

    At most three index probes, longer only over seeds whose examples were withdrawn.
    """
    base = select(Seed).where(Seed.task_id == task_id, Seed.id != but, ~_withdrawn(Seed.made_from.expression)).limit(1)
    yield base.where(Seed.used == level, Seed.draw >= draw).order_by(Seed.draw)
    yield base.where(Seed.used == level, Seed.draw < draw).order_by(Seed.draw)
    yield base.where(Seed.used > level).order_by(Seed.used, Seed.draw)


def seed_predictions(seed_id: int) -> Select[SeedPrediction]:
    """What models were found to say on a seed: one range of the primary key."""
    return select(SeedPrediction).where(SeedPrediction.seed_id == seed_id)


def known_seeds(task_id: str, digests: Sequence[str]) -> Select[str]:
    """Which of `digests` are seeds of the task already: one index probe each."""
    return select(Seed.digest).where(Seed.task_id == task_id, Seed.digest.in_(digests))


def contexts_by_digest(task_id: str, digests: Sequence[str]) -> Select[str, int]:
    """Digests and ids of a task's contexts: one index probe each."""
    return select(Context.digest, Context.id).where(Context.task_id == task_id, Context.digest.in_(digests))


def seedlings(round_id: int, verdict: str, after: int, limit: int) -> Select[Example, Context]:
    """A round's examples above id `after` that have this verdict and were not withdrawn: walks an index range."""
    return (
        select(Example, Context)
        .join(Standing, Standing.example_id == Example.id)
        .join(Context, Context.id == Example.context_id)
        .where(Example.round_id == round_id, Example.id > after)
        .where(Standing.verdict == verdict, ~Standing.retracted, ~Standing.hidden)
        .order_by(Example.id)
        .limit(limit)
    )


def _on(person_id: int, round_id: int, context_id: int) -> ColumnElement[bool]:
    given = select(Handout.id).where(
        Handout.person_id == person_id, Handout.round_id == round_id, Handout.context_id == context_id
    )
    return and_(Example.handout_id.in_(given), ~_retracted())


def tries(person_id: int, round_id: int, context_id: int) -> Select[Example]:
    """A person's examples on a context in a round, retracted ones left out, oldest first: index probes per handout."""
    mine = select(Example).where(_on(person_id, round_id, context_id))
    return mine.order_by(Example.id).options(selectinload(Example.predictions))


def written(person_id: int, round_id: int, context_id: int) -> Select[int, dict[str, Any], dict[str, Any]]:
    """Id, input and answer of the same examples, without their predictions: what repetition is judged by."""
    return select(Example.id, Example.input, Example.answer).where(_on(person_id, round_id, context_id))


def _retracted() -> ColumnElement[bool]:
    return select(Retraction.example_id).where(Retraction.example_id == Example.id).exists()


def attempts(handout_id: int) -> Select[int]:
    """How many examples were written on a handout: one index range, as short as somebody's patience."""
    return select(func.count()).select_from(Example).where(Example.handout_id == handout_id)


def by_key(person_id: int, key: str) -> Select[Example]:
    """The example that an idempotency key stands for: one index probe, and one for its predictions."""
    return (
        select(Example)
        .where(Example.author_id == person_id, Example.key == key)
        .options(selectinload(Example.predictions))
    )


def example(example_id: int) -> Select[Example]:
    """One example with its predictions: two index probes."""
    return select(Example).where(Example.id == example_id).options(selectinload(Example.predictions))


def explanation(example_id: int) -> Select[Explanation]:
    """The latest explanation of an example: one index probe."""
    return select(Explanation).where(Explanation.example_id == example_id).order_by(Explanation.id.desc()).limit(1)


def examples(task_id: str, author_id: int | None, before: int, limit: int) -> Select[Example]:
    """Examples of a task (of one author where given) below id `before`, newest first: walks the primary key down.

    Hidden ones are there for their author alone.
    """
    query = (
        select(Example)
        .join(Round, Round.id == Example.round_id)
        .where(Round.task_id == task_id)
        .order_by(Example.id.desc())
        .limit(limit)
        .options(selectinload(Example.predictions))
    )
    if before:
        query = query.where(Example.id < before)
    if author_id is not None:
        return query.where(Example.author_id == author_id)
    return query.where(~exists().where(Standing.example_id == Example.id, Standing.hidden))


def attribution(example_id: int, model: str, method: str, label: str) -> Select[StoredAttribution]:
    """A stored attribution: one index probe."""
    return select(StoredAttribution).where(
        StoredAttribution.example_id == example_id,
        StoredAttribution.model == model,
        StoredAttribution.method == method,
        StoredAttribution.label == label,
    )


def marked(round_id: int, model: str, limit: int) -> Select[Explanation, StoredAttribution]:
    """What authors of a round said last, with what `model` looked at by the method asked for first: the newest
    `limit`, index probes for each.
    """
    later, earlier = aliased(Explanation), aliased(StoredAttribution)
    last = ~exists().where(later.example_id == Explanation.example_id, later.id > Explanation.id)
    first = ~exists().where(
        earlier.example_id == StoredAttribution.example_id,
        earlier.model == StoredAttribution.model,
        earlier.id < StoredAttribution.id,
    )
    return (
        select(Explanation, StoredAttribution)
        .join(Example, Example.id == Explanation.example_id)
        .join(StoredAttribution, StoredAttribution.example_id == Example.id)
        .where(Example.round_id == round_id, StoredAttribution.model == model, last, first)
        .where(~_withdrawn(Example.id.expression))
        .order_by(Explanation.id.desc())
        .limit(limit)
    )


def latest_fooled(person_id: int, round_id: int, limit: int) -> Select[bool]:
    """Whether a person's latest examples of a round fooled, newest first: one index range of `limit` rows."""
    return (
        select(Example.fooled)
        .where(Example.author_id == person_id, Example.round_id == round_id, ~_withdrawn(Example.id.expression))
        .order_by(Example.id.desc())
        .limit(limit)
    )


def _sums() -> list[ColumnElement[Any]]:
    names = ("examples", "fooled", "validated", "resolved", "retracted", "hidden")
    return [func.coalesce(func.sum(getattr(Tally, name)), 0).label(name) for name in names]


def _asked(but: Arms) -> ColumnElement[bool]:
    """Leaves out the tallies of arms in which no model is asked."""
    return tuple_(Tally.round_id, Tally.arm).not_in(but) if but else true()


def own_tally(person_id: int, round_id: int, day: str | None = None, but: Arms = ()) -> Select[Any]:
    """One person's counts in a round (on one UTC day where given): one index range, a few rows.

    `but` are arms to leave out, as in `board` and `sums`: those in which no model is asked.
    """
    query = select(*_sums()).where(Tally.round_id == round_id, Tally.person_id == person_id, _asked(but))
    return query if day is None else query.where(Tally.day == day)


def board(round_id: int, but: Arms = ()) -> Select[Any]:
    """Each person's counts in a round, best first: one index range of the projection, not of the examples.

    Best is most validated fooling examples, then most fooling ones, then fewest tries. Programs are left out.
    """
    validated, fooled = func.sum(Tally.validated), func.sum(Tally.fooled)
    source = func.max(case((Tally.source == "owner", 2), (Tally.source == "expert", 1), else_=0)).label("source")
    return (
        select(Person, *_sums(), source)
        .join(Person, Person.id == Tally.person_id)
        .where(Tally.round_id == round_id, Tally.source != "program", _asked(but))
        .group_by(Person.id)
        .having(func.sum(Tally.examples) > 0)
        .order_by(validated.desc(), fooled.desc(), func.sum(Tally.examples), Person.id)
    )


def tried(person_id: int, round_id: int, context_id: int, limit: int) -> Select[Example, Standing]:
    """A person's latest examples on a context with where they stand, newest first: index probes per handout."""
    given = select(Handout.id).where(
        Handout.person_id == person_id, Handout.round_id == round_id, Handout.context_id == context_id
    )
    return (
        select(Example, Standing)
        .join(Standing, Standing.example_id == Example.id)
        .where(Example.handout_id.in_(given))
        .order_by(Example.id.desc())
        .limit(limit)
    )


def verified(tasks: Sequence[str], limit: int) -> Select[Example, Standing, Round]:
    """Newest examples of some tasks that fooled and were found correct: walks standings down from the newest.

    As long as some are being verified this ends after a few rows; kept for seconds by its callers.
    """
    return (
        select(Example, Standing, Round)
        .join(Standing, Standing.example_id == Example.id)
        .join(Round, Round.id == Example.round_id)
        .where(Standing.fooled, Standing.verdict == "correct", ~Standing.retracted, ~Standing.hidden)
        .where(Round.task_id.in_(tasks))
        .order_by(Standing.example_id.desc())
        .limit(limit)
        .options(selectinload(Example.predictions))
    )


def waiting(round_id: int) -> Select[int]:
    """How many examples of a round wait for votes: one range of the queue's partial index."""
    return select(func.count()).select_from(Standing).where(Standing.round_id == round_id, text("standings.open"))


def votes(round_ids: list[int]) -> Select[int]:
    """How many votes rounds have: reads all of their standings; kept for seconds by its callers."""
    return select(func.coalesce(func.sum(Standing.votes), 0)).where(Standing.round_id.in_(round_ids))


def sums(round_ids: list[int], but: Arms = ()) -> Select[Any]:
    """People's counts of each round, with how many people: one range of the projection for each."""
    return (
        select(Tally.round_id, *_sums(), func.count(Tally.person_id.distinct()).label("people"))
        .where(Tally.round_id.in_(round_ids), Tally.source != "program", _asked(but))
        .group_by(Tally.round_id)
    )


def people(round_ids: list[int]) -> Select[int]:
    """How many people wrote in any of the rounds: as `sums`."""
    return select(func.count(Tally.person_id.distinct())).where(Tally.round_id.in_(round_ids))


def seen(ids: Sequence[int]) -> Select[Example, Standing, Round, Context, Person]:
    """Examples with what lists show of them: index probes for each, and one statement for all predictions."""
    return (
        select(Example, Standing, Round, Context, Person)
        .join(Standing, Standing.example_id == Example.id)
        .join(Round, Round.id == Example.round_id)
        .join(Context, Context.id == Example.context_id)
        .join(Person, Person.id == Example.author_id)
        .where(Example.id.in_(ids))
        .options(selectinload(Example.predictions), lazyload(Round.targets))
    )


def explanations(ids: Sequence[int]) -> Select[Explanation]:
    """The latest explanation of each of some examples: index probes for each."""
    newest = select(func.max(Explanation.id)).where(Explanation.example_id.in_(ids)).group_by(Explanation.example_id)
    return select(Explanation).where(Explanation.id.in_(newest))


def called(name: str, *, usernames: bool) -> Select[int]:
    """Ids of people that boards show under a name, or that log in with it: index probes."""
    shown = or_(func.lower(Person.pseudonym) == name.lower(), (func.lower(Person.username) == name.lower()))
    found = select(Person.id).where(shown)
    return (
        found if usernames else found.where(or_(Person.pseudonym == "", func.lower(Person.pseudonym) == name.lower()))
    )


def made_from(example_id: int, limit: int = 50) -> Select[int]:
    """Ids of examples that were made from another one: an index range."""
    return select(Example.id).where(Example.made_from == example_id).order_by(Example.id).limit(limit)


def attributions_of(example_id: int) -> Select[StoredAttribution]:
    """All that was kept of what models looked at in an example: one index range."""
    return select(StoredAttribution).where(StoredAttribution.example_id == example_id).order_by(StoredAttribution.id)
