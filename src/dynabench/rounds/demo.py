"""The shipped tasks of the demo: contexts that are pictures, and the progress of setting the tasks up."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session
from starlette.requests import Request

from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.media.file_formats import MediaFacts
from dynabench.rounds import queries
from dynabench.rounds.tables import Task
from dynabench.tasks import TaskConfig, shipped
from dynabench.tasks.fields import Image


def store_picture_contexts(db: Database, settings: Settings, config: TaskConfig) -> Iterator[dict[str, Any]]:
    """As `Shipped.contexts`, the pictures stored first; none for tasks of other kinds."""
    fields = {field.name: field for field in config.context if isinstance(field, Image)}
    stored: list[tuple[str, MediaFacts, str]] = []
    contexts: list[dict[str, Any]] = []
    for picture_context in shipped.picture_contexts(config.id) if fields else ():
        values = {}
        for name, picture in picture_context["values"].items():
            held = io.BytesIO()
            picture.save(held, "PNG")
            digest, facts = media.store_upload(settings, held.getvalue(), fields[name])
            stored.append((digest, facts, ""))
            values[name] = {"media": digest}
        contexts.append({"values": values, "tag": picture_context["tag"]})
    if stored:
        db.write(media.record_uploads, config.id, None, stored)
    yield from contexts


RETRY_SECONDS = 2


@dataclass(frozen=True)
class DemoProgress:
    """Tasks of the demo that are set up, of how many; `missing` are the others' ids."""

    done: int
    total: int
    missing: frozenset[str]


class DemoNotReady(errors.Unavailable):
    """A task of the demo is not there yet."""

    status, title = 503, _("Setting up the demo")

    @classmethod
    def of(cls, progress: DemoProgress) -> "DemoNotReady":
        """The answer while the demo is set up."""
        message = _("Setting up the demo: %(done)s of %(total)s tasks.",
                 done=progress.done, total=progress.total)  # fmt: skip
        return cls(message, retry_after=RETRY_SECONDS)


def demo_progress(session: Session) -> DemoProgress:
    """Count the demo's tasks: two index probes each, a dozen tasks."""
    rounds = [shipped_task.config.id for shipped_task in shipped.demo_tasks()]
    plain = [shipped_task.config.id for shipped_task in shipped.shipped_selections()]
    missing = {task for task in rounds if session.scalar(queries.last_number(task)) is None}
    missing |= {task for task in plain if session.get(Task, task) is None}
    total = len(rounds) + len(plain)
    return DemoProgress(total - len(missing), total, frozenset(missing))


async def progress_of_demo(request: Request) -> DemoProgress | None:
    """Return how far the demo is, None once it is complete or where none was asked for."""
    state = request.app.state
    if not state.settings.demo or getattr(state, "demo_complete", False):
        return None
    db: Database = state.db
    current = await db.aread(demo_progress)
    state.demo_complete = not current.missing
    return current if current.missing else None


async def answer_instead(request: Request, problem: errors.NotFound) -> errors.Problem:
    """Return what is answered in place of a 404 at the address of a task that is being set up."""
    parts = request.url.path.removeprefix("/api/v1").strip("/").split("/")
    if len(parts) < 2 or parts[0] != "tasks":
        return problem
    progress = await progress_of_demo(request)
    return DemoNotReady.of(progress) if progress and parts[1] in progress.missing else problem
