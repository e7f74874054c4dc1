"""Every `select` of signals and of the facts that they are computed from, with its cost."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Insert, Select, Update, func, insert, literal, select, update

from dynabench.collection.near_duplicates import NearBand
from dynabench.collection.tables import Example, Standing
from dynabench.collection.writing_facts import UNCHECKED, WITH_DEVICE, WritingFacts
from dynabench.people.accounts.tables import Person
from dynabench.quality.signals.tables import Signal, SignalJob
from dynabench.rounds.tables import Context, Round

MOST_ADDED = 50_000
"""Earlier examples that are included at once."""
SEEN, COMPARED = 400, 5
"""Entries of the index that are looked at for one text, and examples that it is compared with, the likeliest first."""


def unchecked_facts(task_id: str, limit: int) -> Select[WritingFacts, Example, Round, str]:
    """The facts of examples of a task whose signals are not computed, oldest first: a partial index range."""
    return (
        select(WritingFacts, Example, Round, Context.language)
        .join(Example, Example.id == WritingFacts.example_id)
        .join(Round, Round.id == Example.round_id)
        .join(Context, Context.id == Example.context_id)
        .where(WritingFacts.task_id == task_id, UNCHECKED)
        .order_by(WritingFacts.example_id)
        .limit(limit)
    )


def tasks_with_unchecked_facts() -> Select[str]:
    """Select the tasks that have examples whose signals are not computed: a walk over the partial index."""
    return select(WritingFacts.task_id).where(UNCHECKED).distinct()


def missing_facts(task_id: str) -> Insert:
    """Facts, all unknown, for the newest `MOST_ADDED` examples of a task that have none: walks the task's examples."""
    facts_exist = select(WritingFacts.example_id).where(WritingFacts.example_id == Example.id)
    rows = (
        select(Example.id, literal(task_id), Example.author_id, Example.at)
        .join(Round, Round.id == Example.round_id)
        .where(Round.task_id == task_id, ~facts_exist.exists())
        .order_by(Example.id.desc())
        .limit(MOST_ADDED)
    )
    return insert(WritingFacts).from_select(["example_id", "task_id", "person_id", "at"], rows)


def likely_copies(task_id: str, bands: Sequence[int], author_id: int) -> Select[Example]:
    """The examples of other people that share the most bands with a text: an index range for each band."""
    some = (
        select(NearBand.example_id)
        .join(Example, Example.id == NearBand.example_id)
        .where(NearBand.task_id == task_id, NearBand.band.in_(bands), Example.author_id != author_id)
        .limit(SEEN)
        .subquery()
    )
    likely = select(some.c.example_id).group_by(some.c.example_id)
    candidates = likely.order_by(func.count().desc(), some.c.example_id).limit(COMPARED).subquery()
    return select(Example).join(candidates, candidates.c.example_id == Example.id).where(Example.start == "blank")


def known_bands(task_id: str, bands: Sequence[int], example_id: int) -> Select[int]:
    """Select the bands of an example that stand in the index: probes of the primary key."""
    return select(NearBand.band).where(
        NearBand.task_id == task_id, NearBand.band.in_(bands), NearBand.example_id == example_id
    )


def people_on_device(task_id: str, device: str) -> Select[int]:
    """Select the number of people of a task who sent examples from a device: an index range."""
    return select(func.count(WritingFacts.person_id.distinct())).where(
        WritingFacts.task_id == task_id, WritingFacts.device == device
    )


def device_signal(task_id: str, person_id: int) -> Select[int]:
    """Select a person's signal of a shared device in a task: an index range of the person's signals."""
    mine = (Signal.person_id == person_id, Signal.task_id == task_id, Signal.kind == "device")
    return select(Signal.id).where(*mine).limit(1)


def signals_of(example_ids: Collection[int]) -> Select[int, str]:
    """Select the kinds of signals that some examples have: index probes."""
    return select(Signal.example_id, Signal.kind).where(Signal.example_id.in_(example_ids))


def listed(
    task_id: str, filters: Sequence[Any], before: int | None, limit: int
) -> Select[Signal, Example, Standing, int, Person]:
    """The newest signals of a task that meet the filters, with examples and names: one index range by state."""
    conditions = [Signal.task_id == task_id, *filters, *([Signal.id < before] if before is not None else [])]
    return (
        select(Signal, Example, Standing, Round.number, Person)
        .join(Example, Example.id == Signal.example_id)
        .join(Standing, Standing.example_id == Signal.example_id)
        .join(Round, Round.id == Signal.round_id)
        .join(Person, Person.id == Signal.person_id)
        .where(*conditions)
        .order_by(Signal.id.desc())
        .limit(limit)
    )


def newest_by_person(task_id: str, filters: Sequence[Any], before: int | None, limit: int) -> Select[Person, int, int]:
    """People with signals that meet the filters, the number of these and the newest one: one index range by state."""
    newest = func.max(Signal.id)
    grouped = (
        select(Signal.person_id, func.count().label("number"), newest.label("newest"))
        .where(Signal.task_id == task_id, *filters)
        .group_by(Signal.person_id)
    )
    lines = (grouped.having(newest < before) if before is not None else grouped).subquery()
    statement = select(Person, lines.c.number, lines.c.newest).join(lines, lines.c.person_id == Person.id)
    return statement.order_by(lines.c.newest.desc()).limit(limit)


def kinds_of_people(
    task_id: str, filters: Sequence[Any], person_ids: Collection[int]
) -> Select[int, str, int, datetime]:
    """The numbers of signals of some people by kind, with the moment of the newest one."""
    theirs = (Signal.task_id == task_id, Signal.person_id.in_(person_ids))
    columns = (Signal.person_id, Signal.kind, func.count(), func.max(Signal.at))
    return select(*columns).where(*theirs, *filters).group_by(Signal.person_id, Signal.kind)


def counts(task_id: str) -> Select[str, str, int]:
    """The number of signals of a task by kind and state: one index range."""
    return select(Signal.kind, Signal.state, func.count()).where(Signal.task_id == task_id).group_by(
        Signal.kind, Signal.state
    )  # fmt: skip


def running_jobs() -> Select[str | None, str]:
    """Select the jobs under way with their tasks."""
    return select(SignalJob.job_id, SignalJob.task_id).where(SignalJob.job_id.is_not(None))


def forget_devices(before: datetime) -> Update:
    """Remove the digests of devices that are older than they are kept for: a partial index range."""
    return update(WritingFacts).where(WITH_DEVICE, WritingFacts.at < before).values(device=None)
