"""What the candidates of a turn learn from and are held against: releases of the round and of all it came from."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.benchmark.disclosure import Disclosure
from dynabench.cycle import lineage, queries
from dynabench.cycle.plan import Plan
from dynabench.cycle.tables import CycleTurn
from dynabench.datasets import from_rounds, library_queries, stored
from dynabench.datasets.stored import Stored
from dynabench.datasets.tables import DatasetVersion
from dynabench.language import _
from dynabench.models.training.mixing import Mix, Part
from dynabench.models.training.questions import Question
from dynabench.models.training.rows import Row
from dynabench.models.training.shapes import Shape
from dynabench.releases import learning
from dynabench.releases import service as releases
from dynabench.releases.learning import Learnable
from dynabench.releases.tables import Release
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.settings import Settings
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Text


@dataclass(frozen=True)
class Released:
    """The release of a round, with what its training rows weigh and the versions that models are scored on."""

    number: int
    folder: str
    weight: float
    licence: str
    test: int | None
    hidden: int | None
    test_digest: str
    hidden_digest: str


def ancestry(session: Session, settings: Settings, turn: CycleTurn) -> list[Released]:
    """The releases of the turn's round and of all that it came from, oldest first; rounds without one are left out."""
    plan, number = Plan.model_validate(turn.plan), session.get_one(Round, turn.round_id).number
    known = list(session.scalars(round_queries.rounds(turn.task_id)))
    parents = lineage.parents(session, turn.task_id, known)
    ages = lineage.generations(parents, number)
    for merged in plan.next.parents:  # what the next round follows besides, its models have learnt from as well
        for each, age in lineage.generations(parents, merged).items():
            ages[each] = min(age, ages.get(each, age))
    rows = session.execute(queries.released([each.id for each in known if each.number in ages])).all()
    return [_released(session, settings, plan, of, release, ages[of.number]) for of, release in rows]


def _released(session: Session, settings: Settings, plan: Plan, of: Round, release: Release, age: int) -> Released:
    weight = plan.train.weights.get(str(of.number), 1.0) * (1 - plan.train.discount) ** age
    digests = [session.get_one(DatasetVersion, id).digest if id else "" for id in (release.test_id, release.hidden_id)]
    licence = rounds.config_of(session, of.version_id).data.licence
    folder = str(releases.folder(settings, release.id))
    return Released(of.number, folder, weight, licence, release.test_id, release.hidden_id, *digests)


def outside(session: Session, task: str, plan: Plan) -> list[dict[str, Any]]:
    """The rows from elsewhere: name, weight, licence and digest of each. Raises `Invalid`."""
    found = []
    for place, each in enumerate(plan.train.outside):
        dataset = session.scalar(library_queries.named(task, each.dataset))
        version = session.get(DatasetVersion, dataset.version_id) if dataset and dataset.version_id else None
        if dataset is None or version is None or Disclosure.at_most(dataset.visibility).hidden:
            told = _("The task has no dataset %(name)s whose rows may be learnt from.", name=each.dataset)
            raise errors.Invalid({f"train.outside.{place}.dataset": told})
        found.append(
            {"name": dataset.name, "weight": each.weight, "licence": dataset.licence, "digest": version.digest}
        )
    return found


def mix(settings: Settings, config: TaskConfig, released: list[Released], others: list[dict[str, Any]]) -> Mix:
    """All that a candidate is trained, chosen and scored on. Raises `Conflict` where there is nothing to learn from."""
    found, shape = [(each, learning.read(Path(each.folder))) for each in released], Shape.of(config)
    parts = [
        Part(f"round-{each.number}", rows, each.weight, each.licence)
        for each, files in found
        if (rows := list(_rows(files, config, shape, "train")))
    ]
    parts += [
        Part(each["name"], list(_stored(settings, shape, each["digest"])), each["weight"], each["licence"])
        for each in others
    ]
    if not parts:
        raise errors.Conflict(_("No round has released rows to train on, and the plan names no others."))
    spoken = {each.language for each in (*config.model_context, *config.input) if isinstance(each, Text)}
    tests = {f"round-{each.number}": list(_rows(files, config, shape, "test")) for each, files in found}
    return shape.mix(
        parts,
        dev=[row for _, files in found for row in _rows(files, config, shape, "dev")],
        tests={name: rows for name, rows in tests.items() if rows},
        held=[row for each in released if each.hidden_digest for row in _stored(settings, shape, each.hidden_digest)],
        languages=tuple(sorted(spoken - {""})) or ("en",),
    )


def _rows(of: Learnable, config: TaskConfig, shape: Shape, part: str) -> Iterator[Row | Question]:
    """A part of a release, as far as its answers are such as the task has."""
    for example in of.examples(part):
        yield from _row(shape, from_rounds.row_of(example, config))


def _stored(settings: Settings, shape: Shape, digest: str) -> Iterator[Row | Question]:
    for row in stored.read(settings, digest):
        yield from _row(shape, row)


def _row(shape: Shape, row: Stored) -> Iterator[Row | Question]:
    inputs = {name: row.inputs.get(name) or "" for name in shape.inputs}
    try:
        found = shape.row(inputs, [answer[shape.answer] for answer in row.answers])
    except (KeyError, TypeError, IndexError):  # written under another version of the config
        return
    if isinstance(found, Question) or found.label in shape.labels:
        yield found
