"""A round to release: writers with contexts of their own, verified examples and others, a chain of edits, copies."""

import random
from pathlib import Path
from typing import Any

from dynabench.benchmark.releases import release_steps, service
from dynabench.benchmark.releases.tables import Release
from dynabench.collection.tables import Example
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.rounds.tables import Context, Round
from tests.datasets.world import explain, written
from tests.validation.world import World

WORDS = """river candle orbit meadow signal copper lantern harvest violin glacier button thunder pocket marble anchor
ribbon walnut comet saddle engine velvet harbour pepper mirror cactus ladder falcon basket pillow magnet""".split()


def sentence(number: int) -> str:
    """A text that is like no other."""
    drawn = random.Random(number)
    return " ".join(drawn.sample(WORDS, 9)).capitalize() + "."


def collected(database: Database, writers: int = 10, per_writer: int = 4) -> World:
    """`writers` people with a context each and `each` verified examples on it; the last of each is not verified."""
    world = World(database)
    judges = [world.person(), world.person()]
    for number in range(writers):
        author, tag = world.person(), f"c{number}"

        def context(session: Any, tag: str = tag, number: int = number) -> int:
            values = {"premise": f"Scene {number}: {sentence(1000 + number)}"}
            created = Context(task_id=world.task, values=values, tag=tag, digest=f"{number + 10:064x}", draw=number)
            session.add(created)
            session.flush()
            return created.id

        world.tagged[tag] = database.write(context)
        for place in range(per_writer):
            label = ("entailment", "neutral", "contradiction")[(number + place) % 3]
            text = sentence(100 * number + place)
            id = written(world, author, text, tag=tag, answer={"label": label}, fooled=place != 2)
            if place == 0:
                explain(world, id, {})
            if place != 2:
                for judge in judges:
                    world.vote(judge, id, "incorrect" if place == per_writer - 1 else "correct")
    return world


def collected_once(settings: Settings) -> World:
    """A collected round as what a database holds from the start."""
    database = Database(settings.url)
    world = collected(database)
    database.close()
    return world


def released(world: World, settings: Settings, anyway: bool = True, number: int = 1, **changes: Any) -> Release:
    """The round, closed and released as the command does it."""
    if world.db.read(lambda session: service.rounds.round_of(session, world.task, number).state) == "open":
        world.db.write(service.rounds.close_round, None, world.task, number)

    def begin(session: Any) -> int:
        rules = service.release_rules(session, world.task, number, changes)
        return service.prepare_release(session, None, world.task, number, rules, anyway).id

    return release_steps.make_release(world.db, settings, world.db.write(begin))


def second_round(world: World) -> list[int]:
    """Round 1 is closed, and round 2 edits each of its examples; the ids of the edits."""
    world.db.write(service.rounds.close_round, None, world.task, 1)
    author, judges = world.person(), [world.person(), world.person()]
    origins = world.db.read(lambda session: [row.id for row in session.query(Example)])

    def opened(session: Any) -> int:
        created = Round(task_id=world.task, number=2, version_id=world.version_id, state="open")
        session.add(created)
        session.flush()
        return created.id

    world.round_id = world.db.write(opened)
    edits = [written(world, author, sentence(5000 + origin), made_from=origin, start="seed") for origin in origins]
    for edit in edits:
        for judge in judges:
            world.vote(judge, edit, "correct")
    return edits


def files(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def texts(world: World) -> dict[str, str]:
    """Return the texts of examples, by uid."""

    def read(session: Any) -> dict[str, str]:
        return {row.uid: row.input["hypothesis"] for row in session.query(Example)}

    return world.db.read(read)
