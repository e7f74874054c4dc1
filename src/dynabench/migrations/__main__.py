"""`python -m dynabench.migrations "what changes"`: write a migration from the tables in the code."""

import sys
import tempfile
from pathlib import Path

from alembic import command
from alembic.script import ScriptDirectory

from dynabench.db import Database
from dynabench.migrations import config, run


def main(message: str) -> None:
    """Compare the code's tables with a fresh database at the newest version, and write the difference."""
    number = len(list(ScriptDirectory.from_config(config()).walk_revisions())) + 1
    with tempfile.TemporaryDirectory() as folder:
        db = Database(f"sqlite:///{Path(folder) / 'empty.sqlite'}")
        run(db, "head")
        with db.engine.connect() as connection:
            command.revision(config(connection), message, autogenerate=True, rev_id=f"{number:04}")
        db.close()


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].strip():
        sys.exit('Say what changes: make migration NAME="add a table of badges"')
    main(sys.argv[1])
