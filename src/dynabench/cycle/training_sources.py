"""The data that a turn's candidates are trained and tested on: releases of the round and of its ancestors."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.releases import release_reading
from dynabench.benchmark.releases import service as releases
from dynabench.benchmark.releases.release_reading import TrainableRelease
from dynabench.benchmark.releases.tables import Release
from dynabench.cycle import queries
from dynabench.cycle.plan import TurnPlan
from dynabench.cycle.tables import CycleTurn
from dynabench.datasets import conversions, library, stored
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import DatasetVersion
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models.training.mixing import Mix, Part, Shape
from dynabench.models.training.rows import Question, Row
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Text


@dataclass(frozen=True)
class RoundRelease:
    """The release of a round, with the weight of its training rows and the dataset versions that models are scored
    on."""

    number: int
    folder: str
    weight: float
    licence: str
    test: int | None
    hidden: int | None
    test_digest: str
    hidden_digest: str


def ancestor_releases(session: Session, settings: Settings, turn: CycleTurn) -> list[RoundRelease]:
    """Return the releases of the turn's round and of its ancestors, oldest first; rounds without one are left out."""
    plan, number = TurnPlan.model_validate(turn.plan), session.get_one(Round, turn.round_id).number
    task_rounds = list(session.scalars(round_queries.rounds(turn.task_id)))
    parents = queries.parent_numbers(session, turn.task_id, task_rounds)
    ages = queries.generations(parents, number)
    for merged in plan.next.parents:  # what the next round follows besides, its models have learnt from as well
        for item, age in queries.generations(parents, merged).items():
            ages[item] = min(age, ages.get(item, age))
    rows = session.execute(queries.ready_releases([item.id for item in task_rounds if item.number in ages])).all()
    return [_released(session, settings, plan, round_, release, ages[round_.number]) for round_, release in rows]


def _released(
    session: Session, settings: Settings, plan: TurnPlan, round_: Round, release: Release, age: int
) -> RoundRelease:
    weight = plan.train.weights.get(str(round_.number), 1.0) * (1 - plan.train.discount) ** age
    digests = [session.get_one(DatasetVersion, id).digest if id else "" for id in (release.test_id, release.hidden_id)]
    licence = rounds.config_of(session, round_.version_id).data.licence
    folder = str(releases.release_folder(settings, release.id))
    return RoundRelease(round_.number, folder, weight, licence, release.test_id, release.hidden_id, *digests)


def outside_datasets(session: Session, task: str, plan: TurnPlan) -> list[dict[str, Any]]:
    """Return name, weight, licence and digest of each outside dataset of the plan. Raises `Invalid`."""
    datasets = []
    for place, entry in enumerate(plan.train.outside):
        dataset = session.scalar(library.dataset_named(task, entry.dataset))
        version = session.get(DatasetVersion, dataset.version_id) if dataset and dataset.version_id else None
        if dataset is None or version is None or Disclosure.at_most(dataset.visibility).hidden:
            message = _("The task has no dataset %(name)s whose rows models may train on.", name=entry.dataset)
            raise errors.Invalid({f"train.outside.{place}.dataset": message})
        datasets.append(
            {"name": dataset.name, "weight": entry.weight, "licence": dataset.licence, "digest": version.digest}
        )
    return datasets


def build_mix(
    settings: Settings, config: TaskConfig, released: list[RoundRelease], outside: list[dict[str, Any]]
) -> Mix:
    """Build the training mix of a candidate: its train, dev and test rows. Raises `Conflict` without training rows."""
    files_by_release, shape = (
        [(item, release_reading.read_release(Path(item.folder))) for item in released],
        Shape.of(config),
    )
    parts = [
        Part(f"round-{item.number}", rows, item.weight, item.licence)
        for item, files in files_by_release
        if (rows := list(_rows(files, config, shape, "train")))
    ]
    parts += [
        Part(item["name"], list(_stored(settings, shape, item["digest"])), item["weight"], item["licence"])
        for item in outside
    ]
    if not parts:
        raise errors.Conflict(_("No round has released training data, and the plan names no other data."))
    spoken = {item.language for item in (*config.model_context, *config.input) if isinstance(item, Text)}
    tests = {f"round-{item.number}": list(_rows(files, config, shape, "test")) for item, files in files_by_release}
    return shape.mix(
        parts,
        dev=[row for _, files in files_by_release for row in _rows(files, config, shape, "dev")],
        tests={name: rows for name, rows in tests.items() if rows},
        held=[row for item in released if item.hidden_digest for row in _stored(settings, shape, item.hidden_digest)],
        languages=tuple(sorted(spoken - {""})) or ("en",),
    )


def _rows(files: TrainableRelease, config: TaskConfig, shape: Shape, part: str) -> Iterator[Row | Question]:
    """The rows of one part of a release whose answers the task's present config allows."""
    for example in files.examples(part):
        yield from _row(shape, conversions.example_row(example, config))


def _stored(settings: Settings, shape: Shape, digest: str) -> Iterator[Row | Question]:
    for row in stored.read_rows(settings, digest):
        yield from _row(shape, row)


def _row(shape: Shape, row: StoredRow) -> Iterator[Row | Question]:
    inputs = {name: row.inputs.get(name) or "" for name in shape.inputs}
    try:
        training_row = shape.row(inputs, [answer[shape.answer] for answer in row.answers])
    except (KeyError, TypeError, IndexError):  # written under another version of the config
        return
    if isinstance(training_row, Question) or training_row.label in shape.labels:
        yield training_row
