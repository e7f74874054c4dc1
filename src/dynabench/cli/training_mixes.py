"""From what `dynabench train --on ...` names to a mix: releases, files, sources of recipes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dynabench.benchmark.releases import manifest, training_data
from dynabench.benchmark.releases.training_data import TrainableRelease
from dynabench.kit import errors
from dynabench.kit.settings import get_settings
from dynabench.models.training import recipes, shapes
from dynabench.models.training.mixing import Mix, Part, Rows
from dynabench.models.training.shapes import Shape
from dynabench.tasks import shipped

_ROUND = re.compile(r"release:([a-z0-9-]+)/(\d+)")


@dataclass
class MixSources:
    """Reads what is named, each release once."""

    data: Path | None
    _read: dict[str, TrainableRelease] = field(default_factory=dict)

    def release(self, source: str) -> TrainableRelease | None:
        """The release that is named; None for anything else."""
        if source not in self._read:
            if found := _ROUND.fullmatch(source):
                from dynabench.kit.db import Database

                db = Database(get_settings().url)
                try:
                    self._read[source] = training_data.release_of_round(db, get_settings(), found[1], int(found[2]))
                finally:
                    db.close()
            elif (Path(source) / manifest.MANIFEST_NAME).is_file():
                self._read[source] = training_data.read_release(Path(source))
        return self._read.get(source)

    def part(self, named: str, shape: Shape, weight: float = 1.0, of: str = "train") -> Part:
        """The rows of a source as a part of a mix, of a release those to train, choose (`dev`) or test on."""
        if (found := self.release(named)) is not None:
            return found.train(shape, weight) if of == "train" else Part(found.name, found.rows(of, shape), weight)
        if named.startswith("recipe:"):
            if self.data is None:
                raise errors.Invalid({"data": f"{named} needs the folder of the data sets: --data."})
            return shapes.of_recipe(named.removeprefix("recipe:"), self.data, shape, weight)
        path = Path(named)
        if not path.is_file():
            told = "is no release's folder, JSON lines file, recipe:RECIPE/SOURCE or release:TASK/ROUND."
            raise errors.NotFound(f"{named} {told}")
        if (path.parent.parent / manifest.MANIFEST_NAME).is_file() and of == "train":
            raise errors.Invalid({"on": f"{named} is a file of a release; name the release's folder instead."})
        return shapes.of_file(path, shape, weight)


def _parse_weight(named: str) -> tuple[str, float]:
    """`SOURCE:WEIGHT` as source and weight, which is 1 where none is told."""
    source, _, last = named.rpartition(":")
    try:
        return (source, float(last)) if source else (named, 1.0)
    except ValueError:
        return named, 1.0


def _find_shape(task: str, on: Sequence[str], sources: MixSources) -> Shape:
    """Return the inputs and the answer of the task's models; raise `NotFound` for an unknown task.

    They come from a release among the sources, else from the shipped task, else from a recipe.
    """
    for named, _ in map(_parse_weight, on):
        if (found := sources.release(named)) is not None and found.told.task == task:
            return Shape.of(found.config)
    for each in (*shipped.shipped_tasks(), *shipped.shipped_selections()):
        if each.config.id == task:
            return Shape.of(each.config)
    for recipe in recipes.of_task(task):
        return Shape(task, tuple(recipe.inputs), recipe.answer, tuple(recipe.labels))
    raise errors.NotFound(f"There is no task {task!r} among the shipped ones, and no release of it among the sources.")


def build_mix(task: str, on: Sequence[str], dev: Sequence[str], test: Sequence[str], data: Path | None) -> Mix:
    """The mix of what is named. Without `dev` and `test`, those of the releases among the sources are taken.

    Whatever a release of the task in this deployment keeps to choose or test on is held out.
    """
    sources = MixSources(data)
    shape = _find_shape(task, on, sources)
    parts = [sources.part(named, shape, weight) for named, weight in map(_parse_weight, on)]
    named = [named for named, _ in map(_parse_weight, on) if sources.release(named)]
    chosen = [row for each in (dev or named) for row in sources.part(each, shape, of="dev").rows]
    tests = {part.name: part.rows for each in (test or named) if (part := sources.part(each, shape, of="test")).rows}
    held = [row for each in [*map(sources.release, named), *_own_releases(task)] if each for row in each.kept(shape)]
    return shape.mix(parts, _unique_rows(chosen), tests, held)


def _own_releases(task: str) -> list[TrainableRelease]:
    """The releases of the task in this deployment, if there is one."""
    from dynabench.kit.db import Database

    settings = get_settings()
    if not settings.database_url and not Path(settings.url.removeprefix("sqlite:///")).is_file():
        return []
    db = Database(settings.url)
    try:
        return training_data.releases_of_task(db, settings, task)
    finally:
        db.close()


def _unique_rows(rows: Rows) -> Rows:
    """The rows, each once."""
    return list({repr(row): row for row in rows}.values())
