"""Contexts: cleaned and stored row by row, drawn at random without a sort."""

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import insert
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.media import service as media
from dynabench.rounds import queries
from dynabench.rounds.queries import KEYS
from dynabench.rounds.samplers import Ask, samplers, weighted
from dynabench.rounds.tables import Context, Task
from dynabench.tasks import TaskConfig

T = TypeVar("T")
BATCH = 500


@dataclass(frozen=True)
class Row:
    """One row to upload: its number in the file or list (from 1), its values, and why it could not be read.

    One that comes from an archive may weigh more than others in the draw, or be `retired`.
    """

    number: int
    values: Any
    tag: Any = ""
    error: str = ""
    weight: float = 1.0
    retired: bool = False


@dataclass
class Upload:
    """The result of uploading rows; `errors` are pairs of row number and reason."""

    created: int = 0
    duplicates: int = 0
    errors: list[tuple[int, str]] = field(default_factory=list)

    def __iadd__(self, other: "Upload") -> "Upload":
        self.created += other.created
        self.duplicates += other.duplicates
        self.errors += other.errors
        return self


def batches(rows: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    """Lists of up to `size` rows."""
    rows = iter(rows)
    while batch := list(islice(rows, size)):
        yield batch


def digest(values: dict[str, Any]) -> str:
    """SHA-256 of the values as canonical JSON: equal values, equal digest."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _clean(session: Session, task_id: str, config: TaskConfig, row: Row) -> tuple[dict[str, Any], str]:
    if row.error:
        raise errors.Invalid({"row": row.error}, row.error)
    if not isinstance(row.values, dict):
        raise errors.Invalid({"values": _("Give an object.")}, _("The values of a context are an object."))
    tag = "" if row.tag is None else row.tag
    if not isinstance(tag, str) or len(tag) > 100 or not tag.isprintable():
        raise errors.Invalid({"tag": _("Give up to 100 printable characters.")})
    values = config.read_texts("context", row.values)
    return config.clean_context(media.fill_media_values(session, task_id, config.context, "context", values)), tag


def new_keys(moment: float, weight: float = 1.0) -> dict[str, float]:
    """Return the keys by which a new context is drawn.

    `moment` is the present time on the clock of the task's contexts (`samplers.weighted.time`).
    """
    rng = random.SystemRandom()
    return {"draw": rng.randint(0, KEYS), "clock": weighted.wound(moment, weight, rng)}


def add(session: Session, task_id: str, config: TaskConfig, rows: list[Row]) -> Upload:
    """Store the good ones of up to `BATCH` rows; bad rows are named, rows that exist already are counted."""
    session.get(Task, task_id, with_for_update=True)  # two uploads of one task take turns, so digests stay unique
    result = Upload()
    good: dict[str, dict[str, Any]] = {}
    for row in rows:
        try:
            values, tag = _clean(session, task_id, config, row)
        except errors.Invalid as problem:
            result.errors.append((row.number, problem.detail))
            continue
        key = digest(values)
        result.duplicates += key in good
        retired = now() if row.retired else None
        good.setdefault(key, {"values": values, "tag": tag, "weight": row.weight, "retired_at": retired})
    known = set(session.scalars(queries.known_digests(task_id, list(good))))
    moment = weighted.time(session, task_id)
    new = [
        {"task_id": task_id, "digest": key, **new_keys(moment, row["weight"]), **row}
        for key, row in good.items()
        if key not in known
    ]
    if new:
        session.execute(insert(Context), new)
        if config.media:
            for made in session.scalars(queries.by_digests(task_id, [each["digest"] for each in new])):
                media.bind_media(session, task_id, made.values, context_id=made.id)
    result.created, result.duplicates = len(new), result.duplicates + len(known)
    return result


def pick(
    session: Session,
    task_id: str,
    sampling: str,
    rng: random.Random,
    but: int = 0,
    person_id: int = 0,
    pool: Sequence[int] | None = None,
) -> Context:
    """A context by the sampler called `sampling`, other than `but` where there is another; of `pool`, where given.

    `person_id` is 0 for visitors. Whoever records that it was handed out calls `handed_out`.
    """
    draw = rng.randint(0, KEYS)
    ask = Ask(session, task_id, rng, draw, but=but, person_id=person_id, pool=pool)
    found = samplers()[sampling].pick(ask)
    if found is None and but:
        found = session.scalar(replace(ask, but=0).live(Context.id == but))
    if found is None:
        raise errors.Conflict(
            _("This task has no contexts yet. Its owner can upload some.")
            if pool is None
            else _("None of this round's contexts can be handed out. Its owner can choose others.")
        )
    return found


def handed_out(context: Context, sampling: str, rng: random.Random) -> None:
    """Draw its random key anew, and where its clock rang wind that up: see `Ask.around` and `samplers.weighted`."""
    context.draw = rng.randint(0, KEYS)
    if sampling == "weighted" and context.clock < weighted.NEVER:
        context.clock = weighted.wound(context.clock, context.weight, rng)
