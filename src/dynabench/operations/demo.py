"""The data that `dynabench serve --demo` adds to a database.

These are the shipped tasks whose models are worth fooling, with their contexts, their seeds, the history of the main
ones (`demo_history`) and an open round of each against the strongest shipped model; the shipped suites, on which all
models are evaluated; and the task in which people choose training data, with its pool, its test data and its baselines.
After `dynabench model fetch` it also has the tasks that language models answer.
"""

from typing import Any

from sqlalchemy.orm import Session

from dynabench.adversaries import checklist
from dynabench.benchmark.registry import queries as submission_queries
from dynabench.benchmark.registry import submissions
from dynabench.collection import seeds
from dynabench.datasets import conversions, library, stored
from dynabench.datasets.schemas import DatasetSettings, Kind, Visibility
from dynabench.datasets.stored import StoredRow, WrittenRows
from dynabench.kit.db import Database
from dynabench.kit.distributions import PLATFORM, install_command
from dynabench.kit.errors import Unavailable
from dynabench.kit.settings import Settings
from dynabench.models import catalog
from dynabench.models.fetched import fetched_names
from dynabench.models.protocol import ModelCard
from dynabench.operations import demo_history
from dynabench.rounds import contexts, demo, queries, service
from dynabench.rounds.contexts import ContextRow
from dynabench.rounds.tables import DemoMark, Task
from dynabench.tasks.fields import Image
from dynabench.tasks.shipped import (
    ShippedTask,
    demo_tasks,
    shipped_conversations,
    shipped_selections,
    shipped_writing,
)

PARTS: tuple[tuple[str, str, Kind, Visibility], ...] = (
    ("dev", "Development messages", "rows", "scoring"),
    ("test", "Test messages", "rows", "hidden"),
    ("pool", "Messages to choose from", "pool", "public"),
)
"""The datasets of a task in which people choose training data: name, title, kind, who sees them."""


def prepare(settings: Settings) -> None:
    """Create what is missing; a task that exists keeps its rounds, open or closed, as its owner left them.

    Raises `Unavailable`, before anything is written, where a task has no shipped model to open its round against.
    """
    cards = [entry.card for entry in catalog.find(catalog.folders(settings)) if entry.card]
    ours = [entry.card for entry in catalog.find([catalog.BUILTIN]) if entry.card]
    answered = {card.task for card in ours}
    if lacking := [item.config.id for item in demo_tasks() if item.answered_by not in answered]:
        mending = install_command(PLATFORM, "models")
        raise Unavailable(f"The demo has no shipped model for the tasks {', '.join(lacking)}: {mending}")
    db = Database(settings.url)
    try:
        for shipped in demo_tasks():
            if db.read(_has_rounds, shipped.config.id):
                demo_history.write_releases(db, settings)
                continue
            if any(isinstance(field, Image) for field in shipped.config.context):  # pictures are noted with their task
                db.write(service.save_task, None, shipped.source)
            contexts = [*shipped.contexts(), *demo.store_picture_contexts(db, settings, shipped.config)]
            own = [card for card in cards if card.task == shipped.answered_by]
            targets = strongest([card for card in ours if card.task == shipped.answered_by])
            archive = demo_history.read_archive(shipped.config.id)
            if archive is not None:
                demo_history.install_files(settings, archive)
            db.write(_add_task, shipped, contexts, own, targets, settings, archive)
            demo_history.write_releases(db, settings)
        for shipped in (*shipped_writing(), *shipped_conversations()):
            own = [card for card in cards if card.task == shipped.config.id and card.name in fetched_names()]
            if own and not db.read(_has_task, shipped.config.id):
                sides = own[:2] if shipped.config.id == "chat-preference" else own[:1]
                db.write(_add_task, shipped, list(shipped.contexts()), own, sides)
        for shipped in shipped_selections():
            if not db.read(_has_task, shipped.config.id):
                add_selection(db, settings, shipped)
        for name in checklist.shipped_suites():
            _add_suite(db, settings, checklist.load_suite(name))
    finally:
        db.close()


def _add_suite(db: Database, settings: Settings, suite: checklist.Suite) -> None:
    """Add a suite that its task lacks; the worker evaluates every model on it."""
    if db.read(lambda session: session.scalar(library.dataset_named(suite.task, suite.name))) is None:
        db.write(conversions.add_suite, suite, stored.write_rows(settings, conversions.suite_rows(suite)))


def add_selection(db: Database, settings: Settings, shipped: ShippedTask) -> None:
    """Add a task in which people choose training data; the worker enters its baselines and scores them."""
    licence = shipped.config.data.licence
    parts = []
    for part, title, kind, visibility in PARTS:
        rows = (
            StoredRow(row["uid"], row["inputs"], tuple(row["answers"]), tuple(row["tags"]))
            for row in shipped.rows(part)
        )
        settled = DatasetSettings(title=title, licence=licence, languages=["en"], visibility=visibility, kind=kind)
        parts.append((part, settled, stored.write_rows(settings, rows)))
    db.write(_add_selection, shipped, parts)


def _add_selection(
    session: Session, shipped: ShippedTask, parts: list[tuple[str, DatasetSettings, WrittenRows]]
) -> None:
    """Add a task with all of its datasets at once, as `_add_task` does."""
    service.save_task(session, None, shipped.source)
    session.add(DemoMark(kind="task", key=shipped.config.id))
    for name, settled, written in parts:
        dataset = library.add_dataset(session, None, shipped.config.id, name, settled)
        library.publish_version(session, library.draft_version(session, None, dataset).id, written)


def _has_task(session: Session, task_id: str) -> bool:
    return session.get(Task, task_id) is not None


def _has_rounds(session: Session, task_id: str) -> bool:
    return session.scalar(queries.last_number(task_id)) is not None


def strongest(ours: list[ModelCard]) -> list[ModelCard]:
    """The one target of a demo round: the model that reads words in their context, where one comes for the task.

    Against `any` of several models an example counts that fooled the weakest: counts of n-grams, which sentences
    without a thought fool. Those stay on the board, and in rounds that owners open.
    """
    return ([card for card in ours if card.kind != "ngram"] or ours)[:1]


def _add_task(
    session: Session,
    shipped: ShippedTask,
    values: list[dict[str, Any]],
    own: list[ModelCard],
    targets: list[ModelCard],
    settings: Settings | None = None,
    archive: demo_history.DemoArchive | None = None,
) -> None:
    """Add a task with everything that belongs to it at once: nobody meets half of one, nor does a crash leave it.

    Its history comes from an `archive`, and the answers of evaluations go to the folder of the `settings`.
    """
    config = shipped.config
    for source in (*(archive.configs if archive else ()), shipped.source):
        service.save_task(session, None, source)
    rows = [ContextRow(number, item["values"], item["tag"]) for number, item in enumerate(values, start=1)]
    for batch in contexts.split_batches(rows):
        contexts.add_contexts(session, config.id, config, batch)
    for some in contexts.split_batches(seeds.rows(shipped.seeds())):
        seeds.add(session, config.id, config, some)
    session.add(DemoMark(kind="task", key=config.id))
    if settings is not None and archive is not None:
        demo_history.load_history(session, settings, config.id, archive)
    if session.scalar(queries.open_round(config.id)) is None:
        drafted = service.draft_round(session, None, config.id, targets, "any")
        service.open_round(session, None, config.id, drafted.number)
    for card in own:
        if session.scalar(submission_queries.submission_of_model(config.id, card.name, card.version)) is None:
            submissions.submit_installed(session, None, config.id, card)
