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
from dynabench.people.accounts.rules import clean_language_code
from dynabench.rounds import queries, samplers
from dynabench.rounds.queries import KEYS
from dynabench.rounds.samplers import Ask, all_samplers
from dynabench.rounds.tables import Context, Task
from dynabench.tasks import TaskConfig

T = TypeVar("T")
BATCH = 500


@dataclass(frozen=True)
class ContextRow:
    """One row to upload: its number in the file or list (from 1), its values, and why it could not be read.

    One that comes from an archive may weigh more than others in the draw, or be `retired`.
    """

    number: int
    values: Any
    tag: Any = ""
    error: str = ""
    language: Any = ""
    weight: float = 1.0
    retired: bool = False


@dataclass
class UploadResult:
    """The result of uploading rows; `errors` are pairs of row number and reason."""

    created: int = 0
    duplicates: int = 0
    errors: list[tuple[int, str]] = field(default_factory=list)

    def __iadd__(self, other: "UploadResult") -> "UploadResult":
        self.created += other.created
        self.duplicates += other.duplicates
        self.errors += other.errors
        return self


def split_batches(rows: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    """Lists of up to `size` rows."""
    rows = iter(rows)
    while batch := list(islice(rows, size)):
        yield batch


def content_digest(values: dict[str, Any]) -> str:
    """SHA-256 of the values as canonical JSON: equal values, equal digest."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _clean(session: Session, task_id: str, config: TaskConfig, row: ContextRow) -> tuple[dict[str, Any], str, str]:
    if row.error:
        raise errors.Invalid({"row": row.error}, row.error)
    if not isinstance(row.values, dict):
        raise errors.Invalid({"values": _("Give an object.")}, _("The values of a context must be an object."))
    tag = "" if row.tag is None else row.tag
    if not isinstance(tag, str) or len(tag) > 100 or not tag.isprintable():
        raise errors.Invalid({"tag": _("Give up to 100 printable characters.")})
    language = clean_language_code(row.language)
    values = config.read_texts("context", row.values)
    cleaned = config.clean_context(media.fill_media_values(session, task_id, config.context, "context", values))
    return cleaned, tag, language


def new_keys(moment: float, weight: float = 1.0) -> dict[str, float]:
    """Return the keys by which a new context is drawn.

    `moment` is the present time on the clock of the task's contexts (`samplers.weighted.time`).
    """
    rng = random.SystemRandom()
    return {"draw": rng.randint(0, KEYS), "clock": samplers.wind_clock(moment, weight, rng)}


def add_contexts(session: Session, task_id: str, config: TaskConfig, rows: list[ContextRow]) -> UploadResult:
    """Store the good ones of up to `BATCH` rows; bad rows are named, rows that exist already are counted."""
    session.get(Task, task_id, with_for_update=True)  # two uploads of one task take turns, so digests stay unique
    result = UploadResult()
    good: dict[str, dict[str, Any]] = {}
    for row in rows:
        try:
            values, tag, language = _clean(session, task_id, config, row)
        except errors.Invalid as problem:
            result.errors.append((row.number, problem.detail))
            continue
        key = content_digest(values)
        result.duplicates += key in good
        retired = now() if row.retired else None
        facts = {"values": values, "tag": tag, "language": language, "weight": row.weight, "retired_at": retired}
        good.setdefault(key, facts)
    known_digests = set(session.scalars(queries.known_digests(task_id, list(good))))
    moment = samplers.clock_time(session, task_id)
    new = [
        {"task_id": task_id, "digest": key, **new_keys(moment, row["weight"]), **row}
        for key, row in good.items()
        if key not in known_digests
    ]
    if new:
        session.execute(insert(Context), new)
        if config.media:
            for context in session.scalars(queries.contexts_by_digests(task_id, [entry["digest"] for entry in new])):
                media.bind_media(session, task_id, context.values, context_id=context.id)
    result.created, result.duplicates = len(new), result.duplicates + len(known_digests)
    return result


def pick_context(
    session: Session,
    task_id: str,
    sampling: str,
    rng: random.Random,
    but: int = 0,
    person_id: int = 0,
    pool: Sequence[int] | None = None,
    languages: Sequence[str] = (),
) -> Context:
    """A context by the sampler called `sampling`, other than `but` where there is another; of `pool`, where given.

    `person_id` is 0 for visitors. The caller that records the hand-out calls `handed_out`. Where `languages` are
    given it is in one of them, or has no language.
    """
    draw = rng.randint(0, KEYS)
    ask = Ask(session, task_id, rng, draw, but=but, person_id=person_id, pool=pool, languages=languages)
    context = all_samplers()[sampling].pick(ask)
    if context is None and but:
        context = session.scalar(replace(ask, but=0).live(Context.id == but))
    if (
        context is None
        and languages
        and replace(ask, but=0, languages=()).first(order=[Context.id.expression]) is not None
    ):
        raise errors.Conflict(
            _("No context of this task is in a language that you know (%(codes)s).", codes=", ".join(languages)),
            languages=list(languages),
        )
    if context is None:
        raise errors.Conflict(
            _("This task has no contexts yet. Its owner can upload some.")
            if pool is None
            else _("None of this round's contexts can be handed out. Its owner can choose others.")
        )
    return context


def renew_keys(context: Context, sampling: str, rng: random.Random) -> None:
    """Draw its random key anew, and where its clock rang wind that up: see `Ask.around` and `samplers.weighted`."""
    context.draw = rng.randint(0, KEYS)
    if sampling == "weighted" and context.clock < samplers.NEVER:
        context.clock = samplers.wind_clock(context.clock, context.weight, rng)
