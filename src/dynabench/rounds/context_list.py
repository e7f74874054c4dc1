"""Finding contexts of a task page by page, and changing some of them: tag, weight, retired or not."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service
from dynabench.rounds.owner_lists import cursor
from dynabench.rounds.samplers import weighted
from dynabench.rounds.schemas import ContextOut, ContextPage
from dynabench.rounds.tables import Context

LOOKED_AT, PIECE = 4_000, 400
"""Contexts that a search for words looks through at once, a piece at a time: its page says so, and goes on from there.
"""
MOST = 1_000


@dataclass(frozen=True)
class Sought:
    """A filter for contexts: words anywhere in them (in any case), a tag, and whether they are retired.

    None sets no condition.
    """

    q: str = ""
    tag: str | None = None
    retired: bool | None = False

    @property
    def words(self) -> list[str]:
        """The words of `q`, at most ten."""
        return self.q.casefold().split()[:10]


def find(session: Session, task_id: str, sought: Sought, after: str, limit: int) -> ContextPage:
    """A page of contexts, newest first. A search for words that looked through `LOOKED_AT` contexts ends its page
    early, with the cursor to go on from."""
    before = cursor(after)
    if not sought.words:
        found = session.scalars(_range(task_id, sought, before, limit + 1)).all()
        items = [ContextOut.model_validate(each, from_attributes=True) for each in found[:limit]]
        return ContextPage(items=items, next=str(items[-1].id) if len(found) > limit else None)
    met: list[int] = []
    for _piece in range(LOOKED_AT // PIECE):
        piece = _range(task_id, sought, before, PIECE).with_only_columns(Context.id, Context.values)
        rows = session.execute(piece).all()
        met += [row.id for row in rows if _meets(row.values, sought.words)]
        before = rows[-1].id if rows else before
        if len(met) > limit:
            return ContextPage(items=_newest(session, met[:limit]), next=str(met[limit - 1]))
        if len(rows) < PIECE:
            return ContextPage(items=_newest(session, met), next=None)
    return ContextPage(items=_newest(session, met), next=str(before))


def _newest(session: Session, ids: Sequence[int]) -> list[ContextOut]:
    return by_id(session, ids)[::-1]


def _range(task_id: str, sought: Sought, before: int | None, limit: int) -> Select[Context]:
    """One index range, walked back; retired or live ones that are passed over are read."""
    found = select(Context).where(Context.task_id == task_id).order_by(Context.id.desc()).limit(limit)
    if sought.tag is not None:
        found = found.where(Context.tag == sought.tag)
    elif sought.retired:
        # SQLite counts no rows: left to itself it walks all of the task's contexts past the few that are retired.
        found = found.with_hint(Context, "INDEXED BY ix_contexts_retired", "sqlite")
    if sought.retired is not None:
        found = found.where(Context.retired_at.is_not(None) if sought.retired else Context.retired_at.is_(None))
    return found if before is None else found.where(Context.id < before)


def _meets(values: dict[str, Any], words: Sequence[str]) -> bool:
    text = " ".join(map(str, values.values())).casefold() if words else ""
    return all(word in text for word in words)


def by_id(session: Session, ids: Sequence[int]) -> list[ContextOut]:
    """Contexts in the order of their ids: one probe each."""
    found = session.scalars(select(Context).where(Context.id.in_(ids)).order_by(Context.id))
    return [ContextOut.model_validate(each, from_attributes=True) for each in found]


@dataclass(frozen=True)
class Change:
    """Changes to contexts; None leaves a value as it is."""

    tag: str | None = None
    weight: float | None = None
    retired: bool | None = None


def change(session: Session, actor: Person | None, task_id: str, ids: Sequence[int], wanted: Change) -> int:
    """Change contexts of a task (owners), with an entry in the log; how many there were.

    A retired context is handed out no more; what was written on it stays. Raises `Invalid` by field.
    """
    service.require(session, actor, Action.MANAGE_CONTEXTS, task_id)
    _check(ids, wanted)
    mine = (Context.task_id == task_id, Context.id.in_(set(ids)))
    found = session.scalars(select(Context).where(*mine).order_by(Context.id).with_for_update()).all()
    moment, rng = weighted.time(session, task_id), random.SystemRandom()
    for each in found:
        if wanted.tag is not None:
            each.tag = wanted.tag
        if wanted.weight is not None:
            each.weight = wanted.weight
        if wanted.weight is not None or wanted.retired is False:
            each.clock = weighted.wound(moment, each.weight, rng)
        if wanted.retired is not None:
            each.retired_at = (each.retired_at or now()) if wanted.retired else None
    said = {name: value for name, value in vars(wanted).items() if value is not None}
    if found and said:
        service.act(session, actor, "contexts.changed", task=task_id, contexts=len(found), **said)
    return len(found)


def _check(ids: Sequence[int], wanted: Change) -> None:
    wrong = {}
    if not ids:
        wrong["contexts"] = _("Choose at least one context.")
    if len(ids) > MOST:
        wrong["contexts"] = _("Choose at most %(most)s contexts at once.", most=f"{MOST:,}")
    if wanted.tag is not None and (len(wanted.tag) > 100 or not wanted.tag.isprintable()):
        wrong["tag"] = _("Give up to 100 printable characters.")
    if wanted.weight is not None and not 0 <= wanted.weight <= 1_000:
        wrong["weight"] = _("Give a number from 0 to 1,000.")
    if wrong:
        raise errors.Invalid(wrong)
