"""Check that an archive can become a task: all of it is read once before anything is stored."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Example
from dynabench.datasets.archives import datasets, files, layout
from dynabench.datasets.archives.layout import Collected, Given, Seeded, Version
from dynabench.datasets.archives.reading import Archive, Told, refuse
from dynabench.datasets.imports import own
from dynabench.datasets.rows import Row
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.rounds import arms, proposals
from dynabench.rounds.contexts import batches
from dynabench.rounds.tables import RoundState
from dynabench.tasks import TaskConfig
from dynabench.tasks.config_edits import with_id

LOOKED_UP = 500


@dataclass(frozen=True)
class Checked:
    """An archive that holds together: its configs under the new id, and its rounds.

    `taken` says that other tasks here have examples of the archive's names, so that these get new ones.
    """

    configs: list[tuple[Version, str]]
    rounds: list[Collected]
    taken: bool


def check(db: Database, settings: Settings, archive: Archive, id: str, told: Told = lambda _: None) -> Checked:
    """Read all of an archive that is to become the task `id`. Raises `Invalid`: `id`, or `file` with the line."""
    configs = _configs(archive, id)
    db.read(proposals.check_new, configs[-1][1])
    parsed = {version.number: TaskConfig.parse(source) for version, source in configs}
    rounds = _rounds(archive, parsed)
    newest = parsed[max(parsed)]
    for number, context in archive.parts(layout.CONTEXTS, Given, told):
        _fits(layout.CONTEXTS, number, newest, context.values)
    for number, seed in archive.parts(layout.SEEDS, Seeded, told):
        _fits(layout.SEEDS, number, newest, seed.context)
    known = {each.number for each in rounds}
    taken = False
    for some in batches(archive.rows(layout.EXAMPLES, told), LOOKED_UP):
        read = [_row(number, values) for number, values in some]
        for (number, _row_of), row in zip(some, read, strict=True):
            if row.round not in known or row.task_version not in parsed:
                raise refuse(
                    _(
                        "%(examples)s, line %(number)s: its round or version of the config is not here.",
                        examples=layout.EXAMPLES,
                        number=number,
                    )
                )
        taken = taken or db.read(_taken, [row.uid for row in read])
    datasets.check(archive, told)
    files.check(settings, archive, told)
    return Checked(configs, rounds, taken)


def _configs(archive: Archive, id: str) -> list[tuple[Version, str]]:
    found: list[tuple[Version, str]] = []
    for number, version in archive.parts(layout.VERSIONS, Version):
        if number > layout.MOST_VERSIONS or (found and version.number <= found[-1][0].number):
            raise refuse(
                _(
                    "%(versions)s, line %(number)s: versions are numbered upwards, up to a thousand.",
                    versions=layout.VERSIONS,
                    number=number,
                )
            )
        found.append((version, _renamed(layout.config_file(version.number), archive.config(version.number), id)))
    if not found or _renamed(layout.TASK, archive.newest(), id) != found[-1][1]:
        raise refuse(_("%(task)s is not the newest version of the config.", task=layout.TASK))
    return found


def _renamed(name: str, source: str, id: str) -> str:
    """A config under the new id; an id that cannot be is the caller's mistake, all else the archive's."""
    try:
        TaskConfig.parse(source)
    except errors.Invalid as problem:
        raise refuse(f"{name}: {problem.detail[:300]}") from None
    made = with_id(source, id)
    TaskConfig.parse(made)
    return made


def _rounds(archive: Archive, configs: dict[int, TaskConfig]) -> list[Collected]:
    found: list[Collected] = []
    for number, each in archive.parts(layout.ROUNDS, Collected):
        where = f"{layout.ROUNDS}, line {number}"
        if number > layout.MOST_ROUNDS or each.version not in configs or (found and each.number <= found[-1].number):
            raise refuse(
                _(
                    "%(where)s: rounds are numbered upwards, each on a version of the config, up to a thousand.",
                    where=where,
                )
            )
        if each.state == RoundState.DRAFT:
            try:
                arms.clean([arm.model_dump(exclude_unset=True) for arm in each.arms], configs[each.version])
            except errors.Invalid as problem:
                raise refuse(f"{where}: {problem.detail[:300]}") from None
        found.append(each)
    return found


def _fits(name: str, number: int, config: TaskConfig, values: dict[str, object]) -> None:
    try:
        config.clean_context(values)
    except errors.Invalid as problem:
        raise refuse(f"{name}, line {number}: {problem.detail[:300]}") from None


def _row(number: int, values: dict[str, object]) -> Row:
    try:
        return own.row(values)
    except errors.Invalid as problem:
        raise refuse(f"{layout.EXAMPLES}, line {number}: {problem.detail[:300]}") from None


def _taken(session: Session, uids: list[str]) -> bool:
    return session.scalar(select(Example.id).where(Example.uid.in_(uids)).limit(1)) is not None
