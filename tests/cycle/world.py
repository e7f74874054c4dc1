"""A task whose annotators choose, from films' reviews with known labels, what fools the target; turns of its cycle.

Everything that is written here follows from a seed, so that two deployments that were copied from one another collect
the same, whatever happened to their workers meanwhile.
"""

import hashlib
import random
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import make_url, select
from sqlalchemy.orm import Session

from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import Example, Prediction
from dynabench.cycle import plan as plans
from dynabench.cycle import service, views
from dynabench.cycle.api import TurnOut
from dynabench.cycle.plan import TurnPlan
from dynabench.insight.data_measurements.tables import StoredMeasurement
from dynabench.kit import jobs
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.models import catalog, spec
from dynabench.models.protocol import ModelCard
from dynabench.models.training.mixing import Mix, MixPart
from dynabench.models.training.rows import TrainingRow
from dynabench.models.training.run import retrain
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Role
from dynabench.rounds import queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context
from dynabench.validation.rebuild import count_written
from dynabench.validation.tables import Validation
from tests.evaluate import real
from tests.furnished import Server

TASK = "films"
LABELS = ("negative", "positive")
CONFIG = """
id: films
name: Films
input: {name: review, type: text, max_length: 1000, language: en}
answer: {name: label, type: choice, options: [negative, positive], goal: chosen}
validate: {votes: 2}
data: {licence: CC0-1.0}
release: {train: 0.6, dev: 0.1, test: 0.3, hidden: 0.0, disjoint: [writers]}
"""
BEGUN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
WRITERS = 12
Read = list[dict[str, Any]]


@dataclass(frozen=True)
class AnsweredExample:
    """A text that a person wrote on a context, with the target's answer."""

    context: int
    input: dict[str, Any]
    answer: dict[str, Any]
    predicted: dict[str, Any]
    fooled: bool


def reviews(seed: int, many: int) -> Read:
    """Reviews of the pool, drawn with a seed; those of two seeds below 10 never meet."""
    every = real.rows("rotten_tomatoes/all.jsonl.gz")
    mine = [row for row in every if int(hashlib.sha256(row["id"].encode()).hexdigest(), 16) % 10 == seed]
    return random.Random(seed).sample(mine, min(many, len(mine)))


def first_target(settings: Settings, rows: int = 300) -> str:
    """Train the first target on a few reviews, and install it; its `name@version`."""
    part = MixPart(
        "reviews", [TrainingRow({"review": row["text"]}, row["label"]) for row in reviews(0, rows)], 1.0, "CC0-1.0"
    )
    folder = settings.folder / "models" / "films-first"
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    retrain(Mix(TASK, ("review",), "label", LABELS, [part]), folder, name="films-first", method="ngram")
    return f"films-first@{spec.card(folder).version}"


def begin(database: Database, settings: Settings) -> None:
    """The task with its people, and an open round against the first target."""
    target = first_target(settings)
    card = spec.card(settings.folder / "models" / target.partition("@")[0])

    def make(session: Session) -> None:
        rounds.save_task(session, None, CONFIG)
        open_round(session, TASK, card)

    database.write(make)


def open_round(session: Session, task: str, card: ModelCard) -> None:
    """The task's people, and its first round, open against a target."""
    for number in range(WRITERS + 3):
        name = f"person{number}"
        person = Person(username=name, email=f"{name}@example.org", password_hash="", terms="1", agreed_at=BEGUN)
        session.add(person)
        session.flush()
        if number == 0:
            session.add(Role(task_id=task, person_id=person.id, role="owner"))
    created = rounds.draft_round(session, None, task, [card])
    rounds.open_round(session, None, task, created.number)
    created.created_at = created.opened_at = BEGUN


def collect(database: Database, settings: Settings, examples: int = 240, fooling: float = 0.7) -> int:
    """Write the examples of the open round: examples of which a share fools its target, all of them verified twice. The
    round's number."""
    number, model, version = database.read(_target)
    read = reviews(number, 4000)
    opened = catalog.open_model(catalog.entry(model, version, _places(settings)).folder)
    labels = [output.answer["label"] for output in opened.predict([{"review": row["text"]} for row in read])]
    wrong = [(row, label) for row, label in zip(read, labels, strict=True) if label != row["label"]]
    right = [(row, label) for row, label in zip(read, labels, strict=True) if label == row["label"]]
    many = round(examples * fooling)
    chosen = wrong[:many] + right[: examples - min(many, len(wrong))]
    random.Random(number).shuffle(chosen)
    context = database.read(lambda session: session.scalars(select(Context.id).where(Context.task_id == TASK)).one())
    written = [
        AnsweredExample(
            context, {"review": row["text"]}, {"label": row["label"]}, {"label": label}, label != row["label"]
        )
        for row, label in chosen
    ]
    database.write(write, TASK, written)
    return number


def _places(settings: Settings) -> list[Path]:
    return [settings.folder / "models"]


def _target(session: Session) -> tuple[int, str, str]:
    result = session.scalars(queries.open_round(TASK)).one()
    return result.number, result.targets[0].model, result.targets[0].version


def write(session: Session, task: str, written: Sequence[AnsweredExample]) -> None:
    """Put what was written into the open round, each verified twice."""
    origin = session.scalars(queries.open_round(task)).one()
    number, target = origin.number, origin.targets[0]
    people = session.scalars(select(Person.id).order_by(Person.id)).all()
    writers, judges = people[1 : WRITERS + 1], people[WRITERS + 1 :]
    examples = []
    for place, item in enumerate(written):
        at = BEGUN + timedelta(days=number, minutes=place)
        handout = Handout(
            round_id=origin.id, context_id=item.context, person_id=writers[place % WRITERS], start="blank", initial={},
            at=at,
        )  # fmt: skip
        session.add(handout)
        session.flush()
        example = Example(
            uid=f"r{number}-{place}", round_id=origin.id, context_id=item.context, handout_id=handout.id,
            author_id=writers[place % WRITERS], version_id=origin.version_id, input=item.input,
            answer=item.answer, fooled=item.fooled, source="person", start="blank", attempt=1, seconds=20.0,
            latency_ms=5.0, key=f"r{number}-{place}", request="", at=at,
        )  # fmt: skip
        session.add(example)
        session.flush()
        examples.append(example)
        session.add(
            Prediction(
                example_id=example.id, position=0, model=target.model, version=target.version,
                answer=item.predicted, probabilities=None, fooled=item.fooled, latency_ms=5.0,
            )
        )  # fmt: skip
        for judge in judges:
            session.add(
                Validation(example_id=example.id, person_id=judge, vote="correct", by_owner=False, values={}, at=at)
            )
    session.flush()
    count_written(session, examples)
    _put_off_measuring(session, origin.id)


def _put_off_measuring(session: Session, round_id: int) -> None:
    """Say what the round is like in a hundred years, not while a turn is timed: that takes a minute of computing."""
    request = jobs.enqueue(session, "measure_round", {"round": round_id}, due_at=BEGUN + timedelta(days=36_500))
    session.add(StoredMeasurement(round_id=round_id, job_id=request.id))


def plan(number: int = 1, **changes: Any) -> TurnPlan:
    """A quick turn, which bears a moment of its own."""
    values: dict[str, Any] = {
        "candidates": [{"name": "ngram", "method": "ngram"}],
        "promote": {"by": "recency"},
        "anyway": True,
        "moment": (BEGUN + timedelta(days=number, hours=20)).isoformat(),
    }
    return plans.read_plan(values | changes)


def start(database: Database, plan: TurnPlan, number: int | None = None, task: str = TASK) -> int:
    """Ask for a turn."""
    return database.write(lambda session: service.start_turn(session, None, task, plan, number).id)


def turn(database: Database, settings: Settings, id: int | None = None, task: str = TASK) -> TurnOut:
    """Play a turn."""
    return database.read(lambda session: views.turn_out(session, service.find_turn(session, task, id)))


@contextmanager
def copied(settings: Settings, home: Path, server: Server | None = None) -> Iterator[Settings]:
    """The same deployment once more, in another folder; on PostgreSQL its `server` copies the database, which is
    dropped afterwards and to which nobody may be connected."""
    shutil.copytree(settings.folder, home)
    if server is not None:
        with server.database(str(make_url(settings.url).database)) as url:
            yield _settings(settings, home, url)
        return
    with (
        sqlite3.connect(settings.url.removeprefix("sqlite:///")) as source,
        sqlite3.connect(home / "dynabench.sqlite") as target,
    ):
        source.backup(target)
    source.close()
    target.close()
    yield _settings(settings, home, "")


def _settings(settings: Settings, home: Path, url: str) -> Settings:
    return Settings(home=home, secret=settings.secret, database_url=url, _env_file=None)  # type: ignore[call-arg]
