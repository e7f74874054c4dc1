"""From what `dynabench train --on ...` names to a mix: releases, files, sources of recipes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dynabench.benchmark.releases import manifest, release_reading
from dynabench.benchmark.releases.release_reading import TrainableRelease
from dynabench.kit import errors
from dynabench.kit.settings import get_settings
from dynabench.models.training import mixing, recipes
from dynabench.models.training.mixing import Mix, MixPart, Shape
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
            if match := _ROUND.fullmatch(source):
                from dynabench.kit.db import Database

                db = Database(get_settings().url)
                try:
                    self._read[source] = release_reading.trainable_release(db, get_settings(), match[1], int(match[2]))
                finally:
                    db.close()
            elif (Path(source) / manifest.MANIFEST_NAME).is_file():
                self._read[source] = release_reading.read_release(Path(source))
        return self._read.get(source)

    def part(self, named: str, shape: Shape, weight: float = 1.0, purpose: str = "train") -> MixPart:
        """The rows of a source as a part of a mix, of a release those to train, choose (`dev`) or test on."""
        if (release := self.release(named)) is not None:
            return (
                release.train(shape, weight)
                if purpose == "train"
                else MixPart(release.name, release.rows(purpose, shape), weight)
            )
        if named.startswith("recipe:"):
            if self.data is None:
                raise errors.Invalid({"data": f"{named} needs the folder of the data sets: --data."})
            return mixing.part_of_recipe(named.removeprefix("recipe:"), self.data, shape, weight)
        path = Path(named)
        if not path.is_file():
            problem = "is no release's folder, JSON lines file, recipe:RECIPE/SOURCE or release:TASK/ROUND."
            raise errors.NotFound(f"{named} {problem}")
        if (path.parent.parent / manifest.MANIFEST_NAME).is_file() and purpose == "train":
            raise errors.Invalid({"on": f"{named} is a file of a release; name the release's folder instead."})
        return mixing.part_of_file(path, shape, weight)


def parse_weight(named: str) -> tuple[str, float]:
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
    for named, _ in map(parse_weight, on):
        if (release := sources.release(named)) is not None and release.manifest.task == task:
            return Shape.of(release.config)
    for item in (*shipped.shipped_tasks(), *shipped.shipped_selections()):
        if item.config.id == task:
            return Shape.of(item.config)
    for recipe in recipes.recipes_of_task(task):
        return Shape(task, tuple(recipe.inputs), recipe.answer, tuple(recipe.labels))
    raise errors.NotFound(f"There is no task {task!r} among the shipped ones, and no release of it among the sources.")


def build_mix(task: str, on: Sequence[str], dev: Sequence[str], test: Sequence[str], data: Path | None) -> Mix:
    """The mix of what is named. Without `dev` and `test`, those of the releases among the sources are taken.

    Whatever a release of the task in this deployment keeps to choose or test on is held out.
    """
    sources = MixSources(data)
    shape = _find_shape(task, on, sources)
    parts = [sources.part(named, shape, weight) for named, weight in map(parse_weight, on)]
    named = [named for named, _ in map(parse_weight, on) if sources.release(named)]
    chosen = [row for item in (dev or named) for row in sources.part(item, shape, purpose="dev").rows]
    tests = {
        part.name: part.rows for item in (test or named) if (part := sources.part(item, shape, purpose="test")).rows
    }
    held = [
        row
        for item in [*map(sources.release, named), *_own_releases(task)]
        if item
        for row in item.held_out_rows(shape)
    ]
    unique_rows = list({repr(row): row for row in chosen}.values())
    return shape.mix(parts, unique_rows, tests, held)


def _own_releases(task: str) -> list[TrainableRelease]:
    """The releases of the task in this deployment, if there is one."""
    from dynabench.kit.db import Database

    settings = get_settings()
    if not settings.database_url and not Path(settings.url.removeprefix("sqlite:///")).is_file():
        return []
    db = Database(settings.url)
    try:
        return release_reading.releases_of_task(db, settings, task)
    finally:
        db.close()
