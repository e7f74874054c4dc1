"""An import in the process of the command, with its own progress: what `dynabench import` does."""

from collections.abc import Callable
from pathlib import Path

from dynabench.datasets.imports import batches
from dynabench.datasets.imports.origins import MISSING
from dynabench.datasets.imports.plan import Plan
from dynabench.datasets.imports.state import State
from dynabench.intake.bad_rows import BadRow
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.rounds import service as rounds


def run(
    db: Database, settings: Settings, task: str, path: Path, plan: Plan, progress: Callable[[int], object]
) -> tuple[State, list[BadRow]]:
    """Store a file, a batch per transaction; what became of its rows, and those that were refused.

    Running it again brings nothing twice: what a run that broke off had stored is passed over.
    """
    config = db.read(rounds.newest_config, task)
    state, refused = State(), []
    for batch in batches.cut(path, plan, config, progress):
        refused += db.write(batches.store, settings, task, plan, batch, state)
    state.note(MISSING, len(state.waiting))
    made = {"created": state.created, "into": plan.into, "file": plan.source[:200]}
    db.write(lambda session: rounds.act(session, None, "data.imported", task=task, **made))
    return state, refused
