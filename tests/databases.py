"""Which tests run on SQLite and PostgreSQL, and which take one of them in turn.

Code that differs between the databases (migrations, statements of `collection`, `validation` and `datasets`, jobs,
backups) is tested on both. Everything else speaks to both through SQLAlchemy alone: there, each test takes one of them,
drawn by a seed that pytest prints, the commit unless `--database-seed` says otherwise. `--both-databases` runs all.
"""

import subprocess
import zlib
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ON_BOTH = ("backups", "collection", "crash", "datasets", "jobs", "test_migrations.py", "validation")


def commit() -> str:
    """The commit that is checked out, so that one commit gives one choice; empty outside a repository."""
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=TESTS, capture_output=True, text=True, check=False)
    return found.stdout.strip()


def superfluous(items: list[pytest.Item], seed: str) -> list[pytest.Item]:
    """Those of `items` whose twin on the other database runs instead."""
    cases: dict[str, dict[str, pytest.Item]] = {}
    for item in items:
        place = item.path.relative_to(TESTS) if item.path.is_relative_to(TESTS) else None
        kind = getattr(item, "callspec", None) and item.callspec.params.get("database_kind")
        if kind and (place is None or place.parts[0] not in ON_BOTH):
            case = "-".join(part for part in item.nodeid.rstrip("]").replace("[", "-").split("-") if part != kind)
            cases.setdefault(case, {})[kind] = item
    dropped = []
    for case, kinds in cases.items():
        kept = sorted(kinds)[zlib.crc32(f"{seed} {case}".encode()) % len(kinds)]
        dropped += [item for kind, item in kinds.items() if kind != kept]
    return dropped
