"""Making a task from an archive: all of it is checked first; then the task is made, then its rows in batches."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection import seeds
from dynabench.collection.tables import Example
from dynabench.datasets.archives import contents, layout, records
from dynabench.datasets.archives.layout import (
    Archive,
    ArchivedContext,
    ArchivedRound,
    ArchivedSeed,
    ArchivedVersion,
    ReadProgress,
    refusal,
)
from dynabench.datasets.imports import finished, formats
from dynabench.datasets.imports.places import ImportState, NumberedRow
from dynabench.datasets.rows import ExampleRow
from dynabench.kit import errors
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Role, TaskRole
from dynabench.rounds import contexts, plan, proposals, service
from dynabench.rounds.contexts import ContextRow, split_batches
from dynabench.rounds.tables import Round, RoundState, Target, Task, TaskVersion
from dynabench.tasks import TaskConfig
from dynabench.tasks.reading import with_id

LOOKED_UP = 500


@dataclass(frozen=True)
class CheckedArchive:
    """An archive that holds together: its configs under the new id, and its rounds.

    `names_taken` says that other tasks here have examples of the archive's names, so that these get new ones.
    """

    configs: list[tuple[ArchivedVersion, str]]
    rounds: list[ArchivedRound]
    names_taken: bool


def check_archive(
    db: Database, settings: Settings, archive: Archive, id: str, progress: ReadProgress = lambda _: None
) -> CheckedArchive:
    """Read all of an archive that is to become the task `id`. Raises `Invalid`: `id`, or `file` with the line."""
    configs = _configs(archive, id)
    db.read(proposals.check_new_task, configs[-1][1])
    parsed = {version.number: TaskConfig.parse(source) for version, source in configs}
    rounds = _rounds(archive, parsed)
    newest = parsed[max(parsed)]
    for number, context in archive.parts(layout.CONTEXTS, ArchivedContext, progress):
        _fits(layout.CONTEXTS, number, newest, context.values)
    for number, seed in archive.parts(layout.SEEDS, ArchivedSeed, progress):
        _fits(layout.SEEDS, number, newest, seed.context)
    numbers = {round_.number for round_ in rounds}
    names_taken = False
    for some in split_batches(archive.rows(layout.EXAMPLES, progress), LOOKED_UP):
        read = [_example_row(number, values) for number, values in some]
        for (number, _row_of), row in zip(some, read, strict=True):
            if row.round not in numbers or row.task_version not in parsed:
                raise refusal(
                    _(
                        "%(examples)s, line %(number)s: its round or config version is missing.",
                        examples=layout.EXAMPLES,
                        number=number,
                    )
                )
        names_taken = names_taken or db.read(_has_examples, [row.uid for row in read])
    for name in layout.RECORDS:
        if name in archive.files:
            for _row in archive.parts(name, records.part_named(name).RECORD, progress):
                pass
    contents.check_datasets(archive, progress)
    contents.check_files(settings, archive, progress)
    return CheckedArchive(configs, rounds, names_taken)


def _configs(archive: Archive, id: str) -> list[tuple[ArchivedVersion, str]]:
    configs: list[tuple[ArchivedVersion, str]] = []
    for number, version in archive.parts(layout.VERSIONS, ArchivedVersion):
        if number > layout.MOST_VERSIONS or (configs and version.number <= configs[-1][0].number):
            raise refusal(
                _(
                    "%(versions)s, line %(number)s: versions must be numbered upwards, at most a thousand.",
                    versions=layout.VERSIONS,
                    number=number,
                )
            )
        configs.append((version, _renamed(layout.config_file(version.number), archive.config(version.number), id)))
    if not configs or _renamed(layout.TASK, archive.newest(), id) != configs[-1][1]:
        raise refusal(_("%(task)s is not the newest version of the config.", task=layout.TASK))
    return configs


def _renamed(name: str, source: str, id: str) -> str:
    """A config under the new id; an id that cannot be is the caller's mistake, all else the archive's."""
    try:
        TaskConfig.parse(source)
    except errors.Invalid as problem:
        raise refusal(f"{name}: {problem.detail[:300]}") from None
    renamed = with_id(source, id)
    TaskConfig.parse(renamed)
    return renamed


def _rounds(archive: Archive, configs: dict[int, TaskConfig]) -> list[ArchivedRound]:
    rounds: list[ArchivedRound] = []
    for number, round_ in archive.parts(layout.ROUNDS, ArchivedRound):
        where = f"{layout.ROUNDS}, line {number}"
        if (
            number > layout.MOST_ROUNDS
            or round_.version not in configs
            or (rounds and round_.number <= rounds[-1].number)
        ):
            raise refusal(
                _(
                    "%(where)s: rounds must be numbered upwards, each with a config version, at most a thousand.",
                    where=where,
                )
            )
        if round_.state == RoundState.DRAFT:
            try:
                plan.clean_arms([arm.model_dump(exclude_unset=True) for arm in round_.arms], configs[round_.version])
            except errors.Invalid as problem:
                raise refusal(f"{where}: {problem.detail[:300]}") from None
        rounds.append(round_)
    return rounds


def _fits(name: str, number: int, config: TaskConfig, values: dict[str, object]) -> None:
    try:
        config.clean_context(values)
    except errors.Invalid as problem:
        raise refusal(f"{name}, line {number}: {problem.detail[:300]}") from None


def _example_row(number: int, values: dict[str, object]) -> ExampleRow:
    try:
        return formats.read_own_row(values)
    except errors.Invalid as problem:
        raise refusal(f"{layout.EXAMPLES}, line {number}: {problem.detail[:300]}") from None


def _has_examples(session: Session, uids: list[str]) -> bool:
    return session.scalar(select(Example.id).where(Example.uid.in_(uids)).limit(1)) is not None


BATCH_ROWS = 300  # rows in one transaction


def create_task(
    session: Session, person: Person | None, id: str, checked: CheckedArchive, source: str
) -> dict[str, int]:
    """Make the task with its config versions and rounds, owned by `person`; its rounds by number.

    A round that was open is closed here: its models need not be served, and nobody was asked.
    """
    task = Task(id=id)
    session.add(task)
    session.flush()
    if person is not None:
        session.add(Role(task_id=id, person_id=person.id, role=TaskRole.OWNER))
    versions: dict[int, int] = {}
    for version, text in checked.configs:
        config_version = TaskVersion(task_id=id, number=version.number, source=text, created_at=version.created_at)
        session.add(config_version)
        session.flush()
        versions[version.number] = task.version_id = config_version.id
    round_ids = {}
    for archived in checked.rounds:
        state = RoundState.CLOSED if archived.state == RoundState.OPEN else archived.state
        round_ = Round(
            task_id=id, number=archived.number, version_id=versions[archived.version], state=state,
            fooled_when=archived.ensemble,
            arms=[arm.model_dump(exclude_unset=True) for arm in archived.arms], assign=archived.assign,
            judge=archived.judge.model_dump() if archived.judge else None, plan=archived.plan.document(),
            vote_weight=archived.vote_weight,
            created_at=archived.created_at, opened_at=archived.opened_at,
            closed_at=archived.closed_at or (now() if archived.state == RoundState.OPEN else None),
        )  # fmt: skip
        round_.targets = [
            Target(position=at, model=aim.model, version=aim.version) for at, aim in enumerate(archived.targets)
        ]
        session.add(round_)
        session.flush()
        round_ids[str(archived.number)] = round_.id
    service.record_act(
        session, person, "task.imported", task=id, archive=source, versions=len(versions), rounds=len(round_ids)
    )
    return round_ids


@dataclass(frozen=True)
class ArchiveBatch:
    """Some rows of one list, with their numbers in it from 1."""

    part: str
    rows: list[tuple[int, dict[str, Any]]]


def cut_batches(
    archive: Archive, stored_names: dict[str, str], progress: ReadProgress = lambda _: None
) -> Iterator[ArchiveBatch]:
    """The batches of an archive, contexts first; `kept` is what `files.store` made of the files that they show."""
    lists = (layout.CONTEXTS, layout.SEEDS, layout.EXAMPLES)
    for name in (*lists, *(name for name in layout.RECORDS if name in archive.files)):
        for some in contexts.split_batches(archive.rows(name, progress), BATCH_ROWS):
            yield ArchiveBatch(
                name,
                [(number, contents.rename_references(row, stored_names)) for number, row in some]
                if stored_names
                else some,
            )


def store_batch(
    session: Session, settings: Settings, id: str, batch: ArchiveBatch, state: ImportState, names_taken: bool
) -> list[tuple[int, str]]:
    """Store a batch and count it in `state`; number and reason of each row that the task refuses."""
    if batch.part == layout.EXAMPLES:
        rows = [NumberedRow(number, formats.read_own_row(values)) for number, values in batch.rows]
        return finished.add_examples(
            session, settings, id, [_with_new_name(id, row) for row in rows] if names_taken else rows, state
        )
    if batch.part in layout.RECORDS:
        return records.store_rows(records.RecordTarget(session, settings, id, names_taken), batch.part, batch.rows)
    config = service.newest_config(session, id)
    if batch.part == layout.SEEDS:
        seed_rows = [seeds.SeedRow(n, row["context"], row["input"], row.get("answer"), row.get("tag", ""))
                 for n, row in batch.rows]  # fmt: skip
        return seeds.add(session, id, config, seed_rows).errors
    return contexts.add_contexts(session, id, config, [_context_row(number, row) for number, row in batch.rows]).errors


def _context_row(number: int, row: dict[str, Any]) -> ContextRow:
    context = layout.ArchivedContext.model_validate(row)
    return ContextRow(
        number,
        context.values,
        context.tag,
        weight=context.weight,
        retired=context.retired,
        language=context.language,
    )


def _with_new_name(id: str, numbered: NumberedRow) -> NumberedRow:
    """An example under a name that follows from the task and its old one: names are unique among all tasks."""

    row = numbered.row
    origin = records.local_uid(id, row.made_from) if row.made_from else None
    return replace(numbered, row=row.model_copy(update={"uid": records.local_uid(id, row.uid), "made_from": origin}))
