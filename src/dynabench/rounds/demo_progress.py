"""Progress of setting up the demo, from the tasks that exist.

`dynabench serve --demo` adds them one after the other.
"""

from dataclasses import dataclass

from sqlalchemy.orm import Session
from starlette.requests import Request

from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.rounds import queries
from dynabench.rounds.tables import Task
from dynabench.tasks import shipped

RETRY_SECONDS = 2


@dataclass(frozen=True)
class DemoProgress:
    """Tasks of the demo that are set up, of how many; `missing` are the others' ids."""

    done: int
    total: int
    missing: frozenset[str]


class BeingSetUp(errors.Unavailable):
    """A task of the demo is not there yet."""

    status, title = 503, _("Setting up the demo")

    @classmethod
    def of(cls, progress: DemoProgress) -> "BeingSetUp":
        """The answer while the demo is set up."""
        told = _("Setting up the demo: %(done)s of %(total)s tasks.",
                 done=progress.done, total=progress.total)  # fmt: skip
        return cls(told, retry_after=RETRY_SECONDS)


def demo_progress(session: Session) -> DemoProgress:
    """Count the demo's tasks: two index probes each, a dozen tasks."""
    rounds = [each.config.id for each in shipped.shipped_tasks()]
    plain = [each.config.id for each in shipped.shipped_selections()]
    missing = {task for task in rounds if session.scalar(queries.last_number(task)) is None}
    missing |= {task for task in plain if session.get(Task, task) is None}
    total = len(rounds) + len(plain)
    return DemoProgress(total - len(missing), total, frozenset(missing))


async def progress_of(request: Request) -> DemoProgress | None:
    """Return how far the demo is, None once it is complete or where none was asked for."""
    state = request.app.state
    if not state.settings.demo or getattr(state, "demo_complete", False):
        return None
    db: Database = state.db
    found = await db.aread(demo_progress)
    state.demo_complete = not found.missing
    return found if found.missing else None


async def instead_of(request: Request, problem: errors.NotFound) -> errors.Problem:
    """Return what is answered in place of a 404 at the address of a task that is being set up."""
    parts = request.url.path.removeprefix("/api/v1").strip("/").split("/")
    if len(parts) < 2 or parts[0] != "tasks":
        return problem
    progress = await progress_of(request)
    return BeingSetUp.of(progress) if progress and parts[1] in progress.missing else problem
