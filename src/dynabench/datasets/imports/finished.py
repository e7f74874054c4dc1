"""Checks of finished examples before they are stored, by the task's config, as for those written here."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import Table, bindparam, insert, select, update
from sqlalchemy.orm import Session

from dynabench.collection.assisting.service import Assistance
from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import (
    Example,
    ExampleSource,
    Explanation,
    Prediction,
    Proposed,
    StoredAttribution,
    VerdictEvent,
)
from dynabench.collection.writing_facts import WritingFacts
from dynabench.datasets.imports import places
from dynabench.datasets.imports.places import ImportState, NumberedRow, OriginLinks
from dynabench.datasets.rows import ExampleRow, ValidationPart
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round, Task
from dynabench.tasks import TaskConfig
from dynabench.validation.rebuild import count_written
from dynabench.validation.tables import Undo, Validation


@dataclass(frozen=True)
class CheckedRow:
    """A row that will be stored: checked, with the place where it belongs."""

    row: ExampleRow
    task_id: str
    round_id: int
    version_id: int
    context: dict[str, Any]
    input: dict[str, Any]
    answer: dict[str, Any]
    explanation: dict[str, Any] | None
    votes: list[dict[str, Any]]
    at: datetime


def check_row(session: Session, task_id: str, row: ExampleRow, state: ImportState) -> CheckedRow:
    """The row as it will be stored. Raises `Invalid`; what is left out of it is noted in `state`."""
    version, exact = places.version_numbered(session, task_id, row.task_version)
    config = rounds.config_of(session, version.id)
    held = {group: media.fill_media_values(session, task_id, config.fields(group), group, values) for group, values in
            (("context", row.context.values), ("input", row.input), ("answer", row.answer))}  # fmt: skip
    context = config.clean_context(held["context"])
    written = config.clean_input(held["input"], context)
    answer = config.clean_answer(held["answer"], context=context, input=written)
    _known_fields(config, row)
    at = row.at or now()
    explanation = None
    if row.explanation is not None:
        explanation = _lenient(
            lambda values: config.clean_ask(values, input=written, fooled=row.fooled, context=context, answer=answer),
            "ask.", row.explanation.values, state, "Values of explanations that the task does not ask for",
        )  # fmt: skip
    votes = [_vote(config, context, written, answer, row, vote, state) for vote in _countable_votes(row, state)]
    if not exact and row.task_version:
        state.note(
            f"Examples of version {row.task_version}, which is not here; they stand under version {version.number}"
        )
    round_id = places.round_for_row(session, task_id, row, version, state.rounds)
    return CheckedRow(row, task_id, round_id, version.id, context, written, answer, explanation, votes, at)


def _known_fields(config: TaskConfig, row: ExampleRow) -> None:
    """Refuse what pages could not show: values of no field, and predictions that answer something else."""
    for member, values, group in (("initial", row.initial, "input"), ("goal", row.goal or {}, "answer")):
        if extra := values.keys() - {part.name for part in config.fields(group)}:
            raise errors.Invalid({f"{member}.{sorted(extra)[0][:60]}": _("The task has no such field.")})
    keys = [(part.model, part.method, part.label) for part in row.attributions]
    if len(set(keys)) < len(keys):
        raise errors.Invalid({"attributions": _("The same model, method and label occur twice.")})
    inputs = config.model_inputs(row.context.values, row.input)
    for place, prediction in enumerate(row.predictions):
        try:
            config.fooled_by(prediction.answer, row.answer, inputs, prediction.probabilities)
        except (errors.Unavailable, TypeError, ValueError, AttributeError, KeyError):
            raise errors.Invalid(
                {f"predictions.{place}.answer": _("This is not a valid answer for the task.")}
            ) from None


def _vote(
    config: TaskConfig,
    context: dict[str, Any],
    written: dict[str, Any],
    answer: dict[str, Any],
    row: ExampleRow,
    vote: Any,
    state: ImportState,
) -> dict[str, Any]:
    blind = None
    if vote.blind_answer is not None:
        blind = config.clean_answer(vote.blind_answer, context=context, input=written)
    values = _lenient(
        lambda raw: config.clean_validation(
            raw, vote=vote.vote, input=written, context=context, answer=answer, fooled=row.fooled
        ),
        "validation.", vote.values, state, "Values of votes that the task does not ask for",
    )  # fmt: skip
    return {"vote": vote, "blind_answer": blind, "values": values}


def _lenient(clean: Any, group: str, values: dict[str, Any], state: ImportState, note: str) -> dict[str, Any]:
    """The values that the task takes; the others are noted. What is wanted and missing is missing."""
    kept_values = dict(values)
    for _try in range(3):
        try:
            return dict(clean(kept_values))
        except errors.Invalid as problem:
            wrong = {name.removeprefix(group) for name in problem.fields} & kept_values.keys()
            if not wrong:
                break
            kept_values = {name: value for name, value in kept_values.items() if name not in wrong}
            state.note(note, len(wrong))
    return {}


def _countable_votes(row: ExampleRow, state: ImportState) -> list[ValidationPart]:
    """The votes of others, one of each person that counts; owners may vote again."""
    countable: list[ValidationPart] = []
    voted: set[str] = set()
    for vote in row.validations:
        again = vote.validator in voted and not vote.by_owner and not vote.excluded
        state.note("Votes of authors on their own examples", int(vote.validator == row.author))
        state.note("Second votes of the same person", int(again and vote.validator != row.author))
        if not again and vote.validator != row.author:
            countable.append(vote)
        if not vote.by_owner and not vote.excluded:
            voted.add(vote.validator)
    return countable


CONTEXTS = cast(Table, Context.__table__)
IMPORTED = "imported"  # stands for the digest of a request


def add_examples(
    session: Session, settings: Settings, task_id: str, rows: Sequence[NumberedRow], state: ImportState
) -> list[tuple[int, str]]:
    """Store up to a few hundred rows; those that are known by their `uid` are passed over.

    Returns (number, reason) of rows that were refused.
    """
    session.get(Task, task_id, with_for_update=True)  # two imports take turns: rounds, contexts, people stay unique
    named: list[tuple[int, str]] = []
    links = OriginLinks(session, state)
    fresh = _new_rows(session, task_id, rows, state, named, links)
    ready = []
    for numbered in fresh:
        try:
            checked = check_row(session, task_id, numbered.row, state)
            links.add(numbered.row.uid, numbered.row.made_from)
            ready.append(checked)
        except errors.Invalid as problem:
            named.append((numbered.number, problem.detail))
    if ready:
        _store_rows(session, settings, task_id, ready, state)
    places.link_origins(session, task_id, links, state)
    state.created += len(ready)
    state.failed += len(named)
    return sorted(named)


def _new_rows(
    session: Session,
    task_id: str,
    rows: Sequence[NumberedRow],
    state: ImportState,
    named: list[tuple[int, str]],
    links: OriginLinks,
) -> list[NumberedRow]:
    """Rows that are not here yet. An import that broke off may have stored others without what they were made from."""
    uids = [numbered.row.uid for numbered in rows]
    columns = (Example.uid, Example.made_from, Example.request, Round.task_id)
    statement = select(*columns).join(Round, Round.id == Example.round_id).where(Example.uid.in_(uids))
    stored = {row.uid: row for row in session.execute(statement)}
    fresh: dict[str, NumberedRow] = {}
    for numbered in rows:
        uid = numbered.row.uid
        if uid in stored and stored[uid].task_id != task_id:
            named.append((numbered.number, _("Another task has an example with the uid %(uid)s.", uid=uid)))
        elif uid in stored or uid in fresh:
            state.duplicates += 1
            if uid in stored and stored[uid].made_from is None and stored[uid].request == IMPORTED:
                with suppress(errors.Invalid):
                    links.add(uid, numbered.row.made_from, stored=True)
        else:
            fresh[uid] = numbered
    return list(fresh.values())


def _store_rows(
    session: Session, settings: Settings, task_id: str, ready: list[CheckedRow], state: ImportState
) -> None:
    contexts = places.ensure_contexts(
        session, task_id, [(checked.context, checked.row.context.tag) for checked in ready]
    )
    people = places.ensure_people(session, settings, _people_names(ready))
    ids = _insert_examples(session, ready, contexts, people)
    _insert_parts(session, ready, ids, people)
    for checked, example in zip(ready, ids, strict=True):
        drawn = media.sent_references(session, task_id, [prediction.answer for prediction in checked.row.predictions])
        media.bind_media(
            session,
            task_id,
            [checked.input, checked.answer, checked.explanation, checked.votes, drawn],
            example_id=example,
        )
    _count_examples(session, ready, ids)
    used: dict[int, list[int]] = {}
    for checked, context in zip(ready, contexts, strict=True):
        counts = used.setdefault(context, [0, 0])
        counts[0] += 1
        counts[1] += checked.row.fooled is True
    changed = [{"of": key, "more_used": more, "more_fooled": fooled} for key, (more, fooled) in sorted(used.items())]
    statement = update(CONTEXTS).where(CONTEXTS.c.id == bindparam("of"))
    sums = {name: CONTEXTS.c[name] + bindparam(f"more_{name}") for name in ("used", "fooled")}
    session.connection().execute(statement.values(sums), changed)


def _count_examples(session: Session, ready: list[CheckedRow], ids: list[int]) -> None:
    """Count the examples, round by round, and note the verdicts that their votes came to."""
    at = now()
    for round_id in sorted({checked.round_id for checked in ready}):
        mine = [key for key, checked in zip(ids, ready, strict=True) if checked.round_id == round_id]
        written = session.scalars(select(Example).where(Example.id.in_(mine)).order_by(Example.id)).all()
        decided = [
            {"example_id": example, "verdict": verdict, "at": at}
            for example, verdict in count_written(session, written).items()
            if verdict != "pending"
        ]
        if decided:
            session.execute(insert(VerdictEvent), decided)


def _people_names(ready: Iterable[CheckedRow]) -> set[str]:
    return {checked.row.author for checked in ready} | {
        vote.validator for checked in ready for vote in checked.row.validations
    }


def _insert_examples(
    session: Session, ready: list[CheckedRow], contexts: list[int], people: dict[str, int]
) -> list[int]:
    """Handouts and examples; the ids of the latter, in order."""
    handouts, examples = [], []
    for checked, context in zip(ready, contexts, strict=True):
        row, author = checked.row, people[checked.row.author]
        place = {"round_id": checked.round_id, "context_id": context}
        condition = {"start": row.condition.start, "arm": row.condition.arm}
        began = {"goal": row.goal, "initial": row.initial, "at": checked.at - timedelta(seconds=row.seconds)}
        handouts.append({**place, **condition, **began, "person_id": author})
        examples.append({
            **place, **condition, "uid": row.uid, "author_id": author, "version_id": checked.version_id,
            "input": checked.input, "answer": checked.answer, "fooled": row.fooled, "source": row.source,
            "edit_distance": row.edit_distance, "attempt": row.attempt, "seconds": row.seconds,
            "latency_ms": row.latency_ms, "key": f"import {row.uid}", "request": IMPORTED, "at": checked.at,
        })  # fmt: skip
    handout_ids = session.scalars(insert(Handout).returning(Handout.id, sort_by_parameter_order=True), handouts).all()
    for values, handout in zip(examples, handout_ids, strict=True):
        values["handout_id"] = handout
    return list(session.scalars(insert(Example).returning(Example.id, sort_by_parameter_order=True), examples))


def _insert_parts(session: Session, ready: list[CheckedRow], ids: list[int], people: dict[str, int]) -> None:
    """Predictions, votes, explanations, attributions, what became of suggestions, and the programs that wrote."""
    inserts: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for checked, example in zip(ready, ids, strict=True):
        for position, prediction in enumerate(checked.row.predictions):
            inserts[Prediction].append(prediction.model_dump() | {"example_id": example, "position": position})
        if checked.explanation is not None and checked.row.explanation is not None:
            at = checked.row.explanation.at or checked.at
            inserts[Explanation].append({"example_id": example, "values": checked.explanation, "at": at})
        for words in checked.row.attributions:
            inserts[StoredAttribution].append(words.model_dump() | {"example_id": example, "at": checked.at})
        if checked.row.assistance is not None:
            inserts[Assistance].append(checked.row.assistance.model_dump() | {"example_id": example})
        condition = checked.row.condition
        if condition.inspired or condition.model_written:
            inserts[WritingFacts].append(_writing_facts(checked, example, people[checked.row.author]))
        if checked.row.program is not None and ExampleSource(checked.row.source) is ExampleSource.PROGRAM:
            place = {"example_id": example, "round_id": checked.round_id, "facts": {}}
            inserts[Proposed].append(checked.row.program.model_dump() | place)
        _insert_votes(session, checked, example, people)
    for table, values in inserts.items():
        session.execute(insert(table), values)


def _writing_facts(checked: CheckedRow, example: int, author: int) -> dict[str, Any]:
    """The facts that a row has; its signals count as computed, since nothing was measured here."""
    condition = checked.row.condition
    return {
        "example_id": example, "person_id": author, "task_id": checked.task_id, "at": checked.at,
        "checked_at": checked.at, "inspired": condition.inspired or None,
        "model_written": condition.model_written or None,
    }  # fmt: skip


def _insert_votes(session: Session, checked: CheckedRow, example: int, people: dict[str, int]) -> None:
    """The votes, in order. One whose blind answer does not count comes after an earlier vote that was undone."""
    for entry in checked.votes:
        vote, at = entry["vote"], entry["vote"].at or checked.at
        cast = {
            "example_id": example, "person_id": people[vote.validator], "vote": vote.vote,
            "blind_answer": entry["blind_answer"], "by_owner": vote.by_owner, "values": entry["values"], "at": at,
            "weight": vote.weight,
        }  # fmt: skip
        if entry["blind_answer"] is not None and not vote.blind:
            before = Validation(**cast)
            session.add(before)
            session.flush()
            session.add(Undo(validation_id=before.id, at=at))
        stored = Validation(**cast)
        session.add(stored)
        if vote.excluded:
            session.flush()
            session.add(Undo(validation_id=stored.id, excluded=True, at=at))
    session.flush()
