"""`python -m dynabench.operations.migrations "what changes"`: write a migration from the tables in the code."""

import sys
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path

from alembic import command
from alembic.operations.ops import CreateIndexOp, CreateTableOp, MigrationScript
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Column

from dynabench.kit.db import Database
from dynabench.operations.migrations import config, metadata, newest, run

HOOKS = {
    "hooks": "format, tidy",
    "format.type": "module",
    "format.module": "ruff",
    "format.options": "format --quiet REVISION_SCRIPT_FILENAME",
    "tidy.type": "module",
    "tidy.module": "ruff",
    "tidy.options": "check --fix-only --quiet REVISION_SCRIPT_FILENAME",
}


def expression_indexes(
    _: MigrationContext, __: str | Iterable[str | None] | Iterable[str], scripts: list[MigrationScript]
) -> None:
    """Add the indexes over expressions of new tables: SQLite cannot reflect them, so Alembic leaves them out."""
    for script in scripts:
        operations = script.upgrade_ops.ops if script.upgrade_ops else []
        for table in [operation.table_name for operation in operations if isinstance(operation, CreateTableOp)]:
            indexes = sorted(metadata().tables[table].indexes, key=lambda index: str(index.name))
            operations += [
                CreateIndexOp.from_index(index)
                for index in indexes
                if not all(isinstance(part, Column) for part in index.expressions)
            ]


def main(message: str) -> None:
    """Compare the code's tables with a fresh database at the newest version, and write the difference."""
    number = int(newest()) + 1
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "autogenerate skipping metadata-specified expression-based index")
        db = Database(f"sqlite:///{Path(folder) / 'empty.sqlite'}")
        run(db, "head")
        with db.engine.connect() as connection:
            settings = config(connection)
            settings.set_main_option("file_template", "%%(rev)s_%%(slug)s")
            for name, value in HOOKS.items():
                settings.set_section_option("post_write_hooks", name, value)
            command.revision(
                settings,
                message,
                autogenerate=True,
                rev_id=f"{number:04}",
                process_revision_directives=expression_indexes,
            )
        db.close()


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].strip():
        sys.exit('Say what changes: make migration NAME="add a table of badges"')
    main(sys.argv[1])
