"""Finished examples of a file, stored as they were: in closed rounds of their own, by people who cannot log in.

What may be stored is decided by the task's config, as for what is written here; what counts is counted again.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, cast

from sqlalchemy import Table, bindparam, insert, select, update
from sqlalchemy.orm import Session

from dynabench.collection.assisting.tables import Assistance
from dynabench.collection.tables import (
    Example,
    ExampleSource,
    Explanation,
    Handout,
    Prediction,
    Proposed,
    StoredAttribution,
    VerdictEvent,
)
from dynabench.datasets.imports import origins, places
from dynabench.datasets.imports.checks import Ready, check
from dynabench.datasets.imports.origins import Origins
from dynabench.datasets.imports.state import Numbered, State
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round, Task
from dynabench.validation.rebuild import count_written
from dynabench.validation.tables import Undo, Validation

CONTEXTS = cast(Table, Context.__table__)
IMPORTED = "imported"  # stands for the digest of a request


def add(
    session: Session, settings: Settings, task_id: str, rows: Sequence[Numbered], state: State
) -> list[tuple[int, str]]:
    """Store up to a few hundred rows; those that are known by their `uid` are passed over.

    Returns (number, reason) of rows that were refused.
    """
    session.get(Task, task_id, with_for_update=True)  # two imports take turns: rounds, contexts, people stay unique
    named: list[tuple[int, str]] = []
    links = Origins(session, state)
    fresh = _fresh(session, task_id, rows, state, named, links)
    ready = []
    for one in fresh:
        try:
            made = check(session, task_id, one.row, state)
            links.add(one.row.uid, one.row.made_from)
            ready.append(made)
        except errors.Invalid as problem:
            named.append((one.number, problem.detail))
    if ready:
        _store(session, settings, task_id, ready, state)
    origins.link(session, task_id, links, state)
    state.created += len(ready)
    state.failed += len(named)
    return sorted(named)


def _fresh(
    session: Session, task_id: str, rows: Sequence[Numbered], state: State, named: list[tuple[int, str]], links: Origins
) -> list[Numbered]:
    """Rows that are not here yet. An import that broke off may have stored others without what they were made from."""
    uids = [one.row.uid for one in rows]
    columns = (Example.uid, Example.made_from, Example.request, Round.task_id)
    found = select(*columns).join(Round, Round.id == Example.round_id).where(Example.uid.in_(uids))
    known = {row.uid: row for row in session.execute(found)}
    fresh: dict[str, Numbered] = {}
    for one in rows:
        uid = one.row.uid
        if uid in known and known[uid].task_id != task_id:
            named.append((one.number, _("Another task has an example with the uid %(uid)s.", uid=uid)))
        elif uid in known or uid in fresh:
            state.duplicates += 1
            if uid in known and known[uid].made_from is None and known[uid].request == IMPORTED:
                with suppress(errors.Invalid):
                    links.add(uid, one.row.made_from, stored=True)
        else:
            fresh[uid] = one
    return list(fresh.values())


def _store(session: Session, settings: Settings, task_id: str, ready: list[Ready], state: State) -> None:
    contexts = places.contexts(session, task_id, [(one.context, one.row.context.tag) for one in ready])
    people = places.people(session, settings, _names(ready))
    ids = _examples(session, ready, contexts, people)
    _parts(session, ready, ids, people)
    for one, example in zip(ready, ids, strict=True):
        drawn = media.sent_references(session, task_id, [each.answer for each in one.row.predictions])
        media.bind_media(session, task_id, [one.input, one.answer, one.said, one.votes, drawn], example_id=example)
    _count(session, ready, ids)
    used: dict[int, list[int]] = {}
    for one, context in zip(ready, contexts, strict=True):
        counts = used.setdefault(context, [0, 0])
        counts[0] += 1
        counts[1] += one.row.fooled is True
    changed = [{"of": key, "more_used": more, "more_fooled": fooled} for key, (more, fooled) in sorted(used.items())]
    statement = update(CONTEXTS).where(CONTEXTS.c.id == bindparam("of"))
    sums = {name: CONTEXTS.c[name] + bindparam(f"more_{name}") for name in ("used", "fooled")}
    session.connection().execute(statement.values(sums), changed)


def _count(session: Session, ready: list[Ready], ids: list[int]) -> None:
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


def _names(ready: Iterable[Ready]) -> set[str]:
    return {one.row.author for one in ready} | {vote.validator for one in ready for vote in one.row.validations}


def _examples(session: Session, ready: list[Ready], contexts: list[int], people: dict[str, int]) -> list[int]:
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
            "latency_ms": row.latency_ms, "key": f"import {row.uid}", "request": IMPORTED, "at": one.at,
        })  # fmt: skip
    given = session.scalars(insert(Handout).returning(Handout.id, sort_by_parameter_order=True), handouts).all()
    for values, handout in zip(examples, given, strict=True):
        values["handout_id"] = handout
    return list(session.scalars(insert(Example).returning(Example.id, sort_by_parameter_order=True), examples))


def _parts(session: Session, ready: list[Ready], ids: list[int], people: dict[str, int]) -> None:
    """Predictions, votes, explanations, attributions, what became of suggestions, and the programs that wrote."""
    made: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for one, example in zip(ready, ids, strict=True):
        for position, said in enumerate(one.row.predictions):
            made[Prediction].append(said.model_dump() | {"example_id": example, "position": position})
        if one.said is not None and one.row.explanation is not None:
            at = one.row.explanation.at or one.at
            made[Explanation].append({"example_id": example, "values": one.said, "at": at})
        for words in one.row.attributions:
            made[StoredAttribution].append(words.model_dump() | {"example_id": example, "at": one.at})
        if one.row.assistance is not None:
            made[Assistance].append(one.row.assistance.model_dump() | {"example_id": example})
        if one.row.program is not None and one.row.source == ExampleSource.PROGRAM:
            place = {"example_id": example, "round_id": one.round_id, "facts": {}}
            made[Proposed].append(one.row.program.model_dump() | place)
        _votes(session, one, example, people)
    for table, values in made.items():
        session.execute(insert(table), values)


def _votes(session: Session, one: Ready, example: int, people: dict[str, int]) -> None:
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
