"""Run by Alembic with the connection that `dynabench.migrations` opened."""

from alembic import context

from dynabench.migrations import OPTIONS, metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata(), **OPTIONS)
with context.begin_transaction():
    context.run_migrations()
