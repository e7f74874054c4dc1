"""Finished examples of a file, stored as they were: in closed rounds of their own, by people who cannot log in.

What may be stored is decided by the task's config, as for what is written here; what counts is counted again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import Table, bindparam, insert, select, update
from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.collection import search
from dynabench.collection.tables import (
    Example,
    Explanation,
    Handout,
    Prediction,
    StoredAttribution,
    VerdictEvent,
)
from dynabench.datasets.imports import places
from dynabench.datasets.rows import Row
from dynabench.db import now
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round, Task
from dynabench.settings import Settings
from dynabench.tasks import TaskConfig
from dynabench.validation.rebuild import count_written
from dynabench.validation.tables import Undo, Validation

CONTEXTS, EXAMPLES = cast(Table, Context.__table__), cast(Table, Example.__table__)
WAITING = 50_000  # examples whose origin may come later in the file


@dataclass
class State:
    """What an import has done so far; JSON-safe as `vars(state)`, kept from batch to batch.

    `rounds` maps the file's round numbers to rounds here, `waiting` holds pairs of an example and the origin that
    has not come yet, `notes` counts what was left out of rows that were stored.
    """

    created: int = 0
    duplicates: int = 0
    failed: int = 0
    rounds: dict[str, int] = field(default_factory=dict)
    waiting: list[list[str]] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)

    def note(self, text: str, times: int = 1) -> None:
        """Count something that was left out."""
        if times:
            self.notes[text] = self.notes.get(text, 0) + times


@dataclass(frozen=True)
class Numbered:
    """A row with its place in the file."""

    number: int
    row: Row


@dataclass(frozen=True)
class _Ready:
    """A row that will be stored: checked, with the place where it belongs."""

    row: Row
    round_id: int
    version_id: int
    context: dict[str, Any]
    input: dict[str, Any]
    answer: dict[str, Any]
    said: dict[str, Any] | None
    votes: list[dict[str, Any]]
    at: datetime


def add(
    session: Session, settings: Settings, task_id: str, rows: Sequence[Numbered], state: State
) -> list[tuple[int, str]]:
    """Store up to a few hundred rows; those that are known by their `uid` are passed over.

    Returns (number, reason) of rows that were refused.
    """
    session.get(Task, task_id, with_for_update=True)  # two imports take turns: rounds, contexts, people stay unique
    named: list[tuple[int, str]] = []
    fresh = _fresh(session, task_id, rows, state, named)
    ready = []
    for one in fresh:
        try:
            ready.append(_check(session, task_id, one.row, state))
        except errors.Invalid as problem:
            named.append((one.number, problem.detail))
    if ready:
        _store(session, settings, task_id, ready, state)
    state.created += len(ready)
    state.failed += len(named)
    return sorted(named)


def _fresh(
    session: Session, task_id: str, rows: Sequence[Numbered], state: State, named: list[tuple[int, str]]
) -> list[Numbered]:
    uids = [one.row.uid for one in rows]
    found = select(Example.uid, Round.task_id).join(Round, Round.id == Example.round_id).where(Example.uid.in_(uids))
    known = {row.uid: row.task_id for row in session.execute(found)}
    fresh: dict[str, Numbered] = {}
    for one in rows:
        uid = one.row.uid
        if known.get(uid, task_id) != task_id:
            named.append((one.number, f"Another task has an example with the uid {uid}."))
        elif uid in known or uid in fresh:
            state.duplicates += 1
        else:
            fresh[uid] = one
    return list(fresh.values())


def _check(session: Session, task_id: str, row: Row, state: State) -> _Ready:
    version, exact = places.version(session, task_id, row.task_version)
    config = rounds.config_of(session, version.id)
    context = config.clean_context(row.context.values)
    given = config.clean_input(row.input, context)
    answer = config.clean_answer(row.answer, context=context, input=given)
    _known_fields(config, row)
    at = row.at or now()
    said = None
    if row.explanation is not None:
        said = _lenient(
            lambda values: config.clean_ask(values, input=given, fooled=row.fooled, context=context, answer=answer),
            "ask.", row.explanation.values, state, "Values of explanations that the task does not ask for",
        )  # fmt: skip
    votes = [_vote(config, context, given, answer, row, one, state) for one in row.validations]
    if not exact and row.task_version:
        state.note(
            f"Examples of version {row.task_version}, which is not here; they stand under version {version.number}"
        )
    found = places.round_of(session, task_id, row, version, state.rounds)
    return _Ready(row, found, version.id, context, given, answer, said, votes, at)


def _known_fields(config: TaskConfig, row: Row) -> None:
    """Refuse what pages could not show: values of no field, and predictions that answer something else."""
    for member, values, group in (("initial", row.initial, "input"), ("goal", row.goal or {}, "answer")):
        if extra := values.keys() - {one.name for one in config.fields(group)}:
            raise errors.Invalid({f"{member}.{sorted(extra)[0][:60]}": "The task has no such field."})
    for place, said in enumerate(row.predictions):
        try:
            config.fooled_by(said.answer, row.answer)
        except (errors.Unavailable, TypeError, ValueError, AttributeError, KeyError):
            raise errors.Invalid({f"predictions.{place}.answer": "This is no answer to the task."}) from None


def _vote(
    config: TaskConfig,
    context: dict[str, Any],
    given: dict[str, Any],
    answer: dict[str, Any],
    row: Row,
    vote: Any,
    state: State,
) -> dict[str, Any]:
    blind = None
    if vote.blind_answer is not None:
        blind = config.clean_answer(vote.blind_answer, context=context, input=given)
    values = _lenient(
        lambda raw: config.clean_validation(
            raw, vote=vote.vote, input=given, context=context, answer=answer, fooled=row.fooled
        ),
        "validation.", vote.values, state, "Values of votes that the task does not ask for",
    )  # fmt: skip
    return {"vote": vote, "blind_answer": blind, "values": values}


def _lenient(clean: Any, group: str, values: dict[str, Any], state: State, what: str) -> dict[str, Any]:
    """The values that the task takes; the others are noted. What is wanted and missing is missing."""
    kept = dict(values)
    for _ in range(3):
        try:
            return dict(clean(kept))
        except errors.Invalid as problem:
            wrong = {name.removeprefix(group) for name in problem.fields} & kept.keys()
            if not wrong:
                break
            kept = {name: value for name, value in kept.items() if name not in wrong}
            state.note(what, len(wrong))
    return {}


def _store(session: Session, settings: Settings, task_id: str, ready: list[_Ready], state: State) -> None:
    contexts = places.contexts(session, task_id, [(one.context, one.row.context.tag) for one in ready])
    people = places.people(session, settings, _names(ready))
    ids = _examples(session, ready, contexts, people)
    _parts(session, ready, ids, people)
    _count(session, ready, ids)
    _origins(session, task_id, [[one.row.uid, one.row.made_from] for one in ready if one.row.made_from], state)
    used: dict[int, list[int]] = {}
    for one, context in zip(ready, contexts, strict=True):
        counts = used.setdefault(context, [0, 0])
        counts[0] += 1
        counts[1] += one.row.fooled
    changed = [{"of": key, "more_used": more, "more_fooled": fooled} for key, (more, fooled) in sorted(used.items())]
    statement = update(CONTEXTS).where(CONTEXTS.c.id == bindparam("of"))
    sums = {name: CONTEXTS.c[name] + bindparam(f"more_{name}") for name in ("used", "fooled")}
    session.connection().execute(statement.values(sums), changed)


def _count(session: Session, ready: list[_Ready], ids: list[int]) -> None:
    """Count the examples, round by round, and note the verdicts that their votes came to."""
    at = now()
    for round_id in sorted({one.round_id for one in ready}):
        mine = [key for key, one in zip(ids, ready, strict=True) if one.round_id == round_id]
        written = session.scalars(select(Example).where(Example.id.in_(mine)).order_by(Example.id)).all()
        config = rounds.config_of(session, session.get_one(Round, round_id).version_id)
        decided = [
            {"example_id": example, "verdict": verdict, "at": at}
            for example, verdict in count_written(session, config, written).items()
            if verdict != "pending"
        ]
        if decided:
            session.execute(insert(VerdictEvent), decided)


def _names(ready: Iterable[_Ready]) -> set[str]:
    return {one.row.author for one in ready} | {vote.validator for one in ready for vote in one.row.validations}


def _examples(session: Session, ready: list[_Ready], contexts: list[int], people: dict[str, int]) -> list[int]:
    """Handouts and examples; the ids of the latter, in order."""
    handouts, examples = [], []
    for one, context in zip(ready, contexts, strict=True):
        row, author = one.row, people[one.row.author]
        place = {"round_id": one.round_id, "context_id": context}
        condition = {"start": row.condition.start, "arm": row.condition.arm}
        began = {"goal": row.goal, "initial": row.initial, "at": one.at - timedelta(seconds=row.seconds)}
        handouts.append({**place, **condition, **began, "person_id": author})
        examples.append({
            **place, **condition, "uid": row.uid, "author_id": author, "version_id": one.version_id,
            "input": one.input, "answer": one.answer, "fooled": row.fooled, "source": row.source,
            "edit_distance": row.edit_distance, "attempt": row.attempt, "seconds": row.seconds,
            "latency_ms": row.latency_ms, "key": f"import {row.uid}", "request": "imported", "at": one.at,
        })  # fmt: skip
    given = session.scalars(insert(Handout).returning(Handout.id, sort_by_parameter_order=True), handouts).all()
    for values, handout in zip(examples, given, strict=True):
        values["handout_id"] = handout
    return list(session.scalars(insert(Example).returning(Example.id, sort_by_parameter_order=True), examples))


def _parts(session: Session, ready: list[_Ready], ids: list[int], people: dict[str, int]) -> None:
    """Predictions, votes, explanations and attributions."""
    made: dict[Any, list[dict[str, Any]]] = {Prediction: [], Explanation: [], StoredAttribution: []}
    for one, example in zip(ready, ids, strict=True):
        for position, said in enumerate(one.row.predictions):
            made[Prediction].append(said.model_dump() | {"example_id": example, "position": position})
        if one.said is not None and one.row.explanation is not None:
            at = one.row.explanation.at or one.at
            made[Explanation].append({"example_id": example, "values": one.said, "at": at})
        for words in one.row.attributions:
            made[StoredAttribution].append(words.model_dump() | {"example_id": example, "at": one.at})
        _votes(session, one, example, people)
    for table, values in made.items():
        if values:
            session.execute(insert(table), values)


def _votes(session: Session, one: _Ready, example: int, people: dict[str, int]) -> None:
    """The votes, in order. One whose blind answer does not count comes after an earlier vote that was undone."""
    for each in one.votes:
        vote, at = each["vote"], each["vote"].at or one.at
        cast = {
            "example_id": example, "person_id": people[vote.validator], "vote": vote.vote,
            "blind_answer": each["blind_answer"], "by_owner": vote.by_owner, "values": each["values"], "at": at,
        }  # fmt: skip
        if each["blind_answer"] is not None and not vote.blind:
            before = Validation(**cast)
            session.add(before)
            session.flush()
            session.add(Undo(validation_id=before.id, at=at))
        session.add(Validation(**cast))
    session.flush()


def _origins(session: Session, task_id: str, pairs: Sequence[Sequence[str | None]], state: State) -> None:
    """Point examples to those that they were made from, where these are here; the others wait."""
    pairs = [*state.waiting, *pairs]
    uids = {uid for pair in pairs for uid in pair}
    ids: dict[str | None, int] = {}
    wanted = sorted(uid for uid in uids if uid)
    for start in range(0, len(wanted), 500):
        statement = select(Example.uid, Example.id).join(Round, Round.id == Example.round_id)
        some = statement.where(Round.task_id == task_id, Example.uid.in_(wanted[start : start + 500]))
        ids |= {row.uid: row.id for row in session.execute(some)}
    found = [{"of": ids[uid], "origin": ids[origin]} for uid, origin in pairs if origin in ids and uid in ids]
    if found:
        pointing = update(EXAMPLES).where(EXAMPLES.c.id == bindparam("of")).values(made_from=bindparam("origin"))
        session.connection().execute(pointing, found)
        search.link(session, ((one["of"], one["origin"]) for one in found))
    left = [[str(uid), str(origin)] for uid, origin in pairs if origin not in ids]
    state.waiting = left[:WAITING]
