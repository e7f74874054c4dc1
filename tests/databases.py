"""Which tests run on SQLite and PostgreSQL, and which take one of them in turn.

Tests of code that differs between the databases run on both: upserts, locks and snapshots of recording, voting and
exporting, jobs, backups, migrations. Everything else speaks to both through SQLAlchemy alone: there, each test takes
one of them, PostgreSQL one time in three, as copying its databases takes longer. A seed draws which; it is printed by
pytest, and is the commit unless `--database-seed` says otherwise. `--both-databases` runs all.
"""

import subprocess
import zlib
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ON_BOTH = (
    "backups",
    "collection/test_examples.py",
    "crash",
    "datasets/test_exports.py",
    "datasets/test_round_trip.py",
    "jobs",
    "test_migrations.py",
    "test_old_database.py",
    "validation/test_concurrency.py",
    "validation/test_folding.py",
    "validation/test_places.py",
    "validation/test_votes.py",
)
DRAWN = ("postgres", "sqlite", "sqlite")


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
        if kind and (place is None or not any(place.is_relative_to(path) for path in ON_BOTH)):
            case = "-".join(part for part in item.nodeid.rstrip("]").replace("[", "-").split("-") if part != kind)
            cases.setdefault(case, {})[kind] = item
    dropped = []
    for case, kinds in cases.items():
        drawn = DRAWN[zlib.crc32(f"{seed} {case}".encode()) % len(DRAWN)]
        kept = drawn if drawn in kinds else min(kinds)
        dropped += [item for kind, item in kinds.items() if kind != kept]
    return dropped
