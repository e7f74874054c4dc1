"""Edits of a config: what is wrong with it, how its tasks would look, and the effects of saving it."""

import difflib
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.rounds import queries, service
from dynabench.rounds.tables import RoundState, TaskVersion
from dynabench.tasks import TaskConfig, reading
from dynabench.tasks.fields import Choice, Field

GROUPS = {
    "context": "contexts", "input": "what annotators write", "answer": "the answer", "ask": "what annotators are asked",
    "validation": "what validators are asked",
}  # fmt: skip


@dataclass(frozen=True)
class Effect:
    """One thing that a change does; `warns` where something goes away or figures are no longer alike."""

    text: str
    warns: bool = False


def config_effects(session: Session, task_id: str, before: TaskConfig, after: TaskConfig) -> list[Effect]:
    """Return the effects on the task of saving `after` over `before`, its newest config."""
    if before == after:
        return []
    return [*_rounds(session, task_id), *_fields(before, after), *_rules(before, after), *_models(before, after)]


def _rounds(session: Session, task_id: str) -> Iterator[Effect]:
    for round_ in session.scalars(queries.rounds(task_id)):
        version = session.get_one(TaskVersion, round_.version_id).number
        if round_.state == RoundState.OPEN:
            yield Effect(
                _(
                    "Round %(number)s is open and continues with version %(version)s; close it to use the new one.",
                    number=round_.number,
                    version=version,
                )
            )
        elif round_.state == RoundState.DRAFT:
            yield Effect(
                _(
                    "Round %(number)s is a draft of version %(version)s and keeps it; draft another "
                    "round to use the new one.",
                    number=round_.number,
                    version=version,
                )
            )


def _fields(before: TaskConfig, after: TaskConfig) -> Iterator[Effect]:
    for group, where in GROUPS.items():
        old = {field.name: field for field in before.fields(group)}
        new = {field.name: field for field in after.fields(group)}
        if gone := [name for name in old if name not in new]:
            yield Effect(
                _(
                    "Removed from %(where)s: %(gone)s. Earlier examples keep their values, which "
                    "exports and their pages still show.",
                    where=where,
                    gone=", ".join(gone),
                ),
                warns=True,
            )
        if come := [name for name in new if name not in old]:
            yield Effect(
                _(
                    "Added to %(where)s: %(come)s. Earlier examples have no such value.",
                    where=where,
                    come=", ".join(come),
                )
            )
        for name in old.keys() & new.keys():
            yield from _field(name, old[name], new[name])


def _field(name: str, old: Field, new: Field) -> Iterator[Effect]:
    if type(old) is not type(new):
        yield Effect(
            _("%(name)s changes its type; earlier values stay as they are.", name=name),
            warns=True,
        )
    elif isinstance(old, Choice) and isinstance(new, Choice):
        if gone := [option for option in old.values if option not in new.values]:
            yield Effect(
                _(
                    "%(name)s can no longer be %(gone)s; earlier examples with it stay.",
                    name=name,
                    gone=", ".join(gone),
                ),
                warns=True,
            )
        if come := [option for option in new.values if option not in old.values]:
            yield Effect(
                _(
                    "%(name)s can also be %(come)s; models that do not know it cannot be targets.",
                    name=name,
                    come=", ".join(come),
                ),
                warns=True,
            )


def _rules(before: TaskConfig, after: TaskConfig) -> Iterator[Effect]:
    if before.fooled != after.fooled:
        yield Effect(
            _(
                "The rule for fooling changes: rates of later rounds cannot be compared with earlier "
                "ones. Earlier examples are not judged again."
            ),
            warns=True,
        )
    old, new = before.validation, after.validation
    if (old.votes, old.adjudicate_up_to, old.mode) != (new.votes, new.adjudicate_up_to, new.mode):
        yield Effect(_("The checking rules change for later rounds; earlier verdicts stay."))
    if before.start != after.start or before.contexts != after.contexts:
        yield Effect(_("Annotators get other contexts in later rounds."))
    if before.annotators != after.annotators:
        participants = (
            "only who was invited may take part" if after.annotators == "invited" else "anybody may take part"
        )
        yield Effect(_("From the next round on %(who)s.", who=participants))
    if before.data.licence != after.data.licence:
        yield Effect(_("The licence changes for later examples; earlier ones keep theirs."), warns=True)


def _models(before: TaskConfig, after: TaskConfig) -> Iterator[Effect]:
    old, new = before.metrics, after.metrics
    if old != new:
        lead = (
            _("Boards rank by %(primary)s. ", primary=new.primary)
            if old.primary != new.primary
            else _("Boards show other columns. ")
        )
        yield Effect(
            lead
            + _(
                "Stored answers are scored again with the new metrics; no model is asked again, and "
                "boards keep the old scores until the new ones are ready."
            ),
            warns=True,
        )
    else:
        yield Effect(_("No evaluation is run again."))


LARGEST_CONFIG = 400_000  # bytes of a config's file; longer texts are refused anyway
AROUND = 3  # unchanged lines that are shown around a change


@dataclass(frozen=True)
class ConfigProblem:
    """Something wrong in a config: the dotted path of the key, what is wrong, and the line (from 1) if it has one."""

    path: str
    message: str
    line: int | None


def form_text(posted: object) -> str:
    """The text of a form's field with plain line ends: browsers send others than they were given."""
    return posted.replace("\r\n", "\n").replace("\r", "\n") if isinstance(posted, str) else ""


async def posted_config(form: FormData) -> str:
    """The config in a form: a file if one was sent, else what stands in the editor."""
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return form_text(form.get("config"))
    try:
        return form_text((await file.read(LARGEST_CONFIG)).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise errors.Invalid({"file": _("The file is not valid UTF-8.")}) from None


def config_problems(fields: dict[str, str]) -> list[ConfigProblem]:
    """The messages of `TaskConfig.parse` in the order of their lines."""
    problems = []
    for path, message in fields.items():
        line = reading.LINE.search(message)
        problems.append(ConfigProblem(path, reading.without_line(message), int(line[1]) if line else None))
    return sorted(problems, key=lambda each: (each.line or 0, each.path))


def preview_config(session: Session, config: TaskConfig) -> dict[str, Any]:
    """Return the values of the create page under this config.

    They include a `context` of the task if one fits, and a drawn `goal`.
    """
    some = session.scalar(queries.any_context(config.id))
    names = {field.name for field in config.context}
    values = some.values if some is not None and set(some.values) == names else {}
    rng = random.Random(config.id)  # the same goal each time, so that only what was edited changes
    start = config.start.kinds[0]
    return {
        "config": config,
        "context": config.shown_context(values),
        "goal": config.draw_goal(rng),
        "initial": config.initial(start, values),
    }


@dataclass(frozen=True)
class DiffLine:
    """A line of a difference: `sign` is `+`, `-`, a blank, or `@` for lines left out; numbers are from 1."""

    sign: str
    old: int | None
    new: int | None
    text: str


def diff_lines(before: str, after: str) -> list[DiffLine]:
    """Return the lines that changed from one text to another, with a few lines around each change.

    The list is empty if nothing changed.
    """
    old, new = before.splitlines(), after.splitlines()
    lines: list[DiffLine] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(AROUND):
        if lines or group[0][1] > 0:
            lines.append(DiffLine("@", None, None, ""))
        for kind, *span in group:
            lines += _lines(kind, old, new, *span)
    return lines


def _lines(kind: str, old: list[str], new: list[str], a: int, b: int, c: int, d: int) -> Iterator[DiffLine]:
    if kind == "equal":
        yield from (DiffLine(" ", a + n + 1, c + n + 1, text) for n, text in enumerate(old[a:b]))
        return
    yield from (DiffLine("-", a + n + 1, None, text) for n, text in enumerate(old[a:b]))
    yield from (DiffLine("+", None, c + n + 1, text) for n, text in enumerate(new[c:d]))


@dataclass(frozen=True)
class DiffPair:
    """A line of a difference beside the one that took its place; None where there is none, both for lines left out."""

    old: DiffLine | None
    new: DiffLine | None


def pair_lines(lines: Iterable[DiffLine]) -> list[DiffPair]:
    """A difference in two columns: removed lines beside the added ones that follow them."""
    pairs: list[DiffPair] = []
    gone: list[DiffLine] = []
    come: list[DiffLine] = []

    def pair() -> None:
        pairs.extend(DiffPair(old, new) for old, new in zip_longest(gone, come))
        gone.clear()
        come.clear()

    for line in lines:
        if line.sign == "-":
            gone.append(line)
        elif line.sign == "+":
            come.append(line)
        else:
            pair()
            pairs.append(DiffPair(None, None) if line.sign == "@" else DiffPair(line, line))
    pair()
    return pairs


def check_config(session: Session, text: str, task_id: str = "") -> dict[str, Any]:
    """Return the values shown beside the editor: `problems`, or a `preview` with the `effects` of saving.

    If `task_id` is given, a config with another id is a problem.
    """
    try:
        config = service.parse_config(text)
        if task_id and config.id != task_id:
            raise errors.Invalid(
                {"id": _("The id must stay %(task_id)s: another id is another task.", task_id=task_id)}
            )
    except errors.Invalid as problem:
        return {"problems": config_problems(problem.fields), "preview": None, "effects": []}
    does = config_effects(session, task_id, service.newest_config(session, task_id), config) if task_id else []
    return {"problems": [], "preview": preview_config(session, config), "effects": does}
