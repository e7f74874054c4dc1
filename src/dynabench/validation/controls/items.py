"""Control items of a task: added from a file or from decided examples, listed, retired and brought back."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Example, Standing
from dynabench.intake import reader
from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.contexts import UploadResult, content_digest
from dynabench.rounds.tables import Context, Round, Task
from dynabench.stats.rates import Rate, wilson
from dynabench.stats.verdict import LABELS
from dynabench.tasks import TaskConfig
from dynabench.validation.controls import queries
from dynabench.validation.controls.tables import MEASURED, ControlItem, ControlKind

GROUPS = ("context", "input", "answer")
SHARED = ("vote", "kind", "predictions")
MOST_ROWS = 5_000
"""Rows of one file of control items."""
MOST_DECIDED = 200
"""Decided examples that become gold items at once."""


@dataclass
class ControlRow:
    """A row of a file: the values of an item by group, its right vote, kind, and models' answers; or why it is bad."""

    number: int
    groups: dict[str, dict[str, Any]] = field(default_factory=lambda: {name: {} for name in GROUPS})
    vote: Any = ""
    kind: Any = ControlKind.GOLD
    predictions: Any = ()
    error: str = ""


@dataclass(frozen=True)
class ItemFigures:
    """An item with the answers to it: `right` is the share of right ones, `votes` counts them by vote."""

    item: ControlItem
    text: str
    right: Rate
    votes: dict[str, int]

    @property
    def is_retired(self) -> bool:
        """True where the item is shown no more."""
        return self.item.retired_at is not None


def read_row(config: TaskConfig, row: FileRow) -> ControlRow:
    """Return a row of a file: columns are `vote`, `kind`, `predictions`, and fields as `name` or `group.name`."""
    result = ControlRow(row.number, error=row.error)
    for key, value in (row.values or {}).items():
        if key in SHARED:
            if value not in ("", None):
                setattr(result, key, value)
        elif key in GROUPS and isinstance(value, dict):
            result.groups[key].update(value)
        elif value not in ("", None):
            group, name = _field_of(config, key)
            if not group:
                result.error = result.error or _("The task has no field for the column %(name)s.", name=key[:60])
            else:
                result.groups[group][name] = value
    return result


def _field_of(config: TaskConfig, column: str) -> tuple[str, str]:
    """The group and the name of the field that a column is for; "" where there is none, or several."""
    group, _dot, name = column.partition(".")
    if group in GROUPS and name in {part.name for part in config.fields(group)}:
        return group, name
    groups = [each_group for each_group in GROUPS if column in {part.name for part in config.fields(each_group)}]
    return (groups[0], column) if len(groups) == 1 else ("", "")


def add_rows(
    session: Session, actor: Person | None, task_id: str, rows: Iterable[ControlRow], source: str
) -> UploadResult:
    """Store the good ones of some rows as control items (owners); bad ones are named, known ones counted."""
    config = rounds.require_config(session, actor, Action.MANAGE_CONTROLS, task_id)
    session.get(Task, task_id, with_for_update=True)  # two uploads take turns, so that digests stay unique
    digests = set(session.scalars(select(ControlItem.digest).where(ControlItem.task_id == task_id)))
    result = UploadResult()
    for row in rows:
        try:
            item = _clean_item(config, row)
        except errors.Invalid as problem:
            result.errors.append((row.number, problem.detail))
            continue
        if item.digest in digests:
            result.duplicates += 1
            continue
        digests.add(item.digest)
        item.source, item.added_by = source[:200], actor.id if actor else None
        session.add(item)
        result.created += 1
    session.flush()
    rounds.record_act(session, actor, "controls.add", task=task_id, items=result.created, source=source[:200])
    return result


def _clean_item(config: TaskConfig, row: ControlRow) -> ControlItem:
    if row.error:
        raise errors.Invalid({"row": row.error}, row.error)
    if row.vote not in LABELS:
        raise errors.Invalid({"vote": _("vote is the right vote: one of %(value)s.", value=", ".join(sorted(LABELS)))})
    if row.kind not in MEASURED:
        raise errors.Invalid({"kind": _("Choose one of %(value)s.", value=", ".join(MEASURED))})
    if config.media:
        raise errors.Invalid({"row": _("Items with pictures, sounds or files come from decided examples only.")})
    values = {name: config.read_texts(name, row.groups[name]) for name in GROUPS}
    context = config.clean_context(values["context"])
    written = config.clean_input(values["input"], context)
    answer = config.clean_answer(values["answer"], context=context, input=written)
    predictions = _clean_predictions(config, row.predictions, config.model_inputs(context, written), answer)
    if config.fooled.judged_by and not predictions:
        message = _("Validators judge what the models said here: give the models' answers as predictions.")
        raise errors.Invalid({"predictions": message})
    parts = {"context": context, "input": written, "answer": answer}
    digest = content_digest(parts)
    return ControlItem(
        task_id=config.id, kind=row.kind, right_vote=row.vote, predictions=predictions, digest=digest, **parts
    )


def _clean_predictions(
    config: TaskConfig, raw: Any, inputs: dict[str, Any], answer: dict[str, Any]
) -> list[dict[str, Any]]:
    if isinstance(raw, str) and raw:
        try:
            raw = json.loads(raw)
        except ValueError:
            raise errors.Invalid({"predictions": _("predictions is not valid JSON.")}) from None
    if not isinstance(raw, list | tuple) or len(raw) > 20:
        raise errors.Invalid({"predictions": _("predictions is a list of at most 20 answers of models.")})
    return [_clean_prediction(config, place, row, inputs, answer) for place, row in enumerate(raw)]


def _clean_prediction(
    config: TaskConfig, place: int, row: Any, inputs: dict[str, Any], claimed: dict[str, Any]
) -> dict[str, Any]:
    problem = errors.Invalid({f"predictions.{place}": _("Give each answer as {model, answer, probabilities}.")})
    if not isinstance(row, dict) or not isinstance(row.get("answer"), dict) or not isinstance(row.get("model"), str):
        raise problem
    probabilities = row.get("probabilities")
    if not isinstance(probabilities, dict | None) or row.keys() - {"model", "version", "answer", "probabilities"}:
        raise problem
    try:
        fooled = config.fooled_by(row["answer"], claimed, inputs, probabilities)
    except (errors.Unavailable, TypeError, ValueError, AttributeError, KeyError):
        raise errors.Invalid({f"predictions.{place}.answer": _("This is not a valid answer for the task.")}) from None
    names = {"model": row["model"][:100], "version": str(row.get("version", ""))[:64]}
    return names | {"answer": row["answer"], "probabilities": probabilities, "fooled": fooled}


def add_file(session: Session, actor: Person | None, task_id: str, path: Path, name: str) -> UploadResult:
    """Store the rows of a file (JSONL, CSV and others of `intake.reader`) as control items (owners)."""
    config = rounds.require_config(session, actor, Action.MANAGE_CONTROLS, task_id)
    rows: list[ControlRow] = []
    for row in reader.read_rows(path, name):
        if len(rows) >= MOST_ROWS:
            raise errors.Invalid({"file": _("A file has at most %(most)s rows. Split it.", most=f"{MOST_ROWS:,}")})
        rows.append(read_row(config, row))
    return add_rows(session, actor, task_id, rows, name)


def add_decided(session: Session, actor: Person | None, task_id: str, count: int) -> int:
    """Make gold items of up to `count` examples that validators agreed on, each verdict alike often (owners).

    Returns the number that were added. The examples are drawn at random.
    """
    rounds.require(session, actor, Action.MANAGE_CONTROLS, task_id)
    if not 1 <= count <= MOST_DECIDED:
        raise errors.Invalid({"count": _("Choose from 1 to %(most)s examples.", most=MOST_DECIDED)})
    session.get(Task, task_id, with_for_update=True)
    least = max(rounds.newest_config(session, task_id).validation.votes, 2)
    by_verdict: dict[str, list[int]] = {}
    for example_id, verdict in session.execute(queries.decided_examples(task_id, least, 10 * MOST_DECIDED)):
        by_verdict.setdefault(verdict, []).append(example_id)
    chosen: list[tuple[int, str]] = []
    while len(chosen) < count and any(by_verdict.values()):
        for verdict in sorted(by_verdict):
            if by_verdict[verdict] and len(chosen) < count:
                chosen.append((by_verdict[verdict].pop(), verdict))
    for example_id, verdict in chosen:
        session.add(_decided_item(task_id, example_id, verdict, actor))
    session.flush()
    if chosen:
        rounds.record_act(session, actor, "controls.add", task=task_id, items=len(chosen), source="decided")
    return len(chosen)


def add_example(session: Session, actor: Person | None, task_id: str, example_id: int) -> ControlItem:
    """Make a gold item of one decided example (owners); an item that was retired is shown again."""
    rounds.require(session, actor, Action.MANAGE_CONTROLS, task_id)
    session.get(Task, task_id, with_for_update=True)
    standing = session.get(Standing, example_id)
    if standing is None or session.get_one(Round, standing.round_id).task_id != task_id:
        raise errors.NotFound(_("There is no such example."))
    if standing.verdict not in LABELS or not disclosure.shows_example(standing):
        raise errors.Conflict(_("Only an example with a verdict that validators can still see becomes a gold item."))
    item = session.scalar(
        select(ControlItem).where(ControlItem.task_id == task_id, ControlItem.digest == f"example:{example_id}")
    )
    if item is None:
        item = _decided_item(task_id, example_id, standing.verdict, actor)
        session.add(item)
        session.flush()
        rounds.record_act(session, actor, "controls.add", task=task_id, items=1, source="decided", example=example_id)
    elif item.retired_at is not None:
        retire_item(session, actor, task_id, item.id, retired=False)
    return item


def _decided_item(task_id: str, example_id: int, verdict: str, actor: Person | None) -> ControlItem:
    return ControlItem(
        task_id=task_id,
        kind=ControlKind.GOLD,
        example_id=example_id,
        context={},
        input={},
        answer={},
        predictions=[],
        right_vote=verdict,
        source="",
        digest=f"example:{example_id}",
        added_by=actor.id if actor else None,
    )


def retire_item(
    session: Session, actor: Person | None, task_id: str, item_id: int, *, retired: bool = True
) -> ControlItem:
    """Show an item no more, or again (owners). Answers to it stay; those who have it before them still answer it."""
    rounds.require(session, actor, Action.MANAGE_CONTROLS, task_id)
    item = session.get(ControlItem, item_id, with_for_update=True)
    if item is None or item.task_id != task_id:
        raise errors.NotFound(_("There is no such control item."))
    if retired != (item.retired_at is not None):
        item.retired_at = now() if retired else None
        kind = "controls.retire" if retired else "controls.restore"
        rounds.record_act(session, actor, kind, task=task_id, item=item.id)
    return item


def list_items(session: Session, actor: Person | None, task_id: str) -> list[ItemFigures]:
    """Return the control items of a task with the answers to them, newest first, retired ones last (owners)."""
    rounds.require(session, actor, Action.MANAGE_CONTROLS, task_id)
    counts = {row.item_id: row for row in session.execute(queries.item_counts(task_id))}
    statement = select(ControlItem).where(ControlItem.task_id == task_id)
    items = session.scalars(statement.order_by(ControlItem.retired_at.is_not(None), ControlItem.id.desc())).all()
    texts = _texts(session, rounds.newest_config(session, task_id), items)
    return [_figures(item, texts[item.id], counts.get(item.id)) for item in items]


def _figures(item: ControlItem, text: str, row: Any) -> ItemFigures:
    votes = {str(label): int(getattr(row, label)) if row else 0 for label in sorted(LABELS)}
    return ItemFigures(item, text, wilson(int(row.right), row.answers) if row else wilson(0, 0), votes)


def _texts(session: Session, config: TaskConfig, items: Sequence[ControlItem]) -> dict[int, str]:
    """The content of each item on one line, by the number of the item."""
    ids = [item.example_id for item in items if item.example_id is not None]
    rows = session.execute(
        select(Example, Context).join(Context, Context.id == Example.context_id).where(Example.id.in_(ids))
    )
    by_id = {example.id: (context.values, example.input, example.answer) for example, context in rows}
    return {
        item.id: _text(config, *by_id.get(item.example_id or 0, (item.context, item.input, item.answer)))
        for item in items
    }


def _text(config: TaskConfig, context: dict[str, Any], written: dict[str, Any], answer: dict[str, Any]) -> str:
    parts = [
        part.in_words(values[part.name])
        for group, values in (("context", context), ("input", written), ("answer", answer))
        for part in config.fields(group)
        if values.get(part.name) is not None
    ]
    return " · ".join(str(part) for part in parts)
