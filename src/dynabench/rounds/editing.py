"""Writing a task's config on a page: what is wrong in which line, what annotators would see, what changed."""

import difflib
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.rounds import effects, queries, service
from dynabench.tasks import TaskConfig, reading

AROUND = 3  # unchanged lines that are shown around a change


@dataclass(frozen=True)
class Problem:
    """Something wrong in a config: the dotted path of the key, what is wrong, and the line (from 1) if it has one."""

    path: str
    message: str
    line: int | None


def text_of(posted: object) -> str:
    """The text of a form's field with plain line ends: browsers send others than they were given."""
    return posted.replace("\r\n", "\n").replace("\r", "\n") if isinstance(posted, str) else ""


def problems(fields: dict[str, str]) -> list[Problem]:
    """The messages of `TaskConfig.parse` in the order of their lines."""
    found = []
    for path, message in fields.items():
        line = reading.LINE.search(message)
        found.append(Problem(path, reading.without_line(message), int(line[1]) if line else None))
    return sorted(found, key=lambda each: (each.line or 0, each.path))


def preview(session: Session, config: TaskConfig) -> dict[str, Any]:
    """Return the values of the create page under this config.

    They include a `context` of the task if one fits, and a drawn `goal`.
    """
    some = session.scalar(queries.any_context(config.id))
    names = {field.name for field in config.context}
    given = some.values if some is not None and set(some.values) == names else {}
    rng = random.Random(config.id)  # the same goal each time, so that only what was edited changes
    start = config.start.kinds[0]
    return {
        "config": config,
        "context": config.shown_context(given),
        "goal": config.draw_goal(rng),
        "initial": config.initial(start, given),
    }


@dataclass(frozen=True)
class Line:
    """A line of a difference: `sign` is `+`, `-`, a blank, or `@` for lines left out; numbers are from 1."""

    sign: str
    old: int | None
    new: int | None
    text: str


def difference(before: str, after: str) -> list[Line]:
    """Return the lines that changed from one text to another, with a few lines around each change.

    The list is empty if nothing changed.
    """
    old, new = before.splitlines(), after.splitlines()
    found: list[Line] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(AROUND):
        if found or group[0][1] > 0:
            found.append(Line("@", None, None, ""))
        for kind, *span in group:
            found += _lines(kind, old, new, *span)
    return found


def _lines(kind: str, old: list[str], new: list[str], a: int, b: int, c: int, d: int) -> Iterator[Line]:
    if kind == "equal":
        yield from (Line(" ", a + n + 1, c + n + 1, text) for n, text in enumerate(old[a:b]))
        return
    yield from (Line("-", a + n + 1, None, text) for n, text in enumerate(old[a:b]))
    yield from (Line("+", None, c + n + 1, text) for n, text in enumerate(new[c:d]))


@dataclass(frozen=True)
class Pair:
    """A line of a difference beside the one that took its place; None where there is none, both for lines left out."""

    old: Line | None
    new: Line | None


def beside(lines: Iterable[Line]) -> list[Pair]:
    """A difference in two columns: removed lines beside the added ones that follow them."""
    pairs: list[Pair] = []
    gone: list[Line] = []
    come: list[Line] = []

    def pair() -> None:
        pairs.extend(Pair(old, new) for old, new in zip_longest(gone, come))
        gone.clear()
        come.clear()

    for line in lines:
        if line.sign == "-":
            gone.append(line)
        elif line.sign == "+":
            come.append(line)
        else:
            pair()
            pairs.append(Pair(None, None) if line.sign == "@" else Pair(line, line))
    pair()
    return pairs


def check(session: Session, text: str, task_id: str = "") -> dict[str, Any]:
    """Return the values shown beside the editor: `problems`, or a `preview` with the `effects` of saving.

    If `task_id` is given, a config with another id is a problem.
    """
    try:
        config = service.parse_config(text)
        if task_id and config.id != task_id:
            raise errors.Invalid({"id": _("This must stay %(task_id)s: another id is another task.", task_id=task_id)})
    except errors.Invalid as problem:
        return {"problems": problems(problem.fields), "preview": None, "effects": []}
    does = effects.effects(session, task_id, service.newest_config(session, task_id), config) if task_id else []
    return {"problems": [], "preview": preview(session, config), "effects": does}
