"""Run by Alembic with the connection that `dynabench.operations.migrations` opened."""

from typing import Any

from alembic import context

from dynabench.kit import heartbeat
from dynabench.operations.migrations import OPTIONS, metadata


def _goes_on(*_: Any, **__: Any) -> None:
    """Tell a supervisor that a step is done: many steps over large tables take long, and each has its own time."""
    heartbeat.progress(heartbeat.STARTING)


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata(),
    on_version_apply=_goes_on,
    **OPTIONS,
)
with context.begin_transaction():
    context.run_migrations()
