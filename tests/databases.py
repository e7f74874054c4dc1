"""Choice of the database of each test: both, or one of them in turn.

Tests of code that differs between the databases run on both: upserts, locks and snapshots of recording, voting and
exporting, jobs, copies of a whole database, migrations. Everything else speaks to both through SQLAlchemy alone: there,
each test takes one of them, PostgreSQL one time in three, as copying its databases takes longer. A seed draws which; it
is printed by pytest, and is the commit unless `--database-seed` says otherwise. `--both-databases` runs all.
"""

import subprocess
import zlib
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ON_BOTH = (
    "backups/test_backups.py::test_a_backup_made_while",
    "backups/test_backups.py::test_a_damaged_backup",
    "backups/test_backups.py::test_a_full_database",
    "backups/test_backups.py::test_counts",
    "backups/test_backups.py::test_jobs",
    "collection/test_examples.py::test_a_round_that_closes",
    "collection/test_examples.py::test_an_example_is_answered",
    "collection/test_examples.py::test_concurrent",
    "collection/test_examples.py::test_nothing_of_the_database_is_held",
    "collection/test_examples.py::test_repeating_oneself",
    "collection/test_examples.py::test_text_is_kept_as_written",
    "collection/test_examples.py::test_the_same_request_twice",
    "collection/test_screened_seeds.py::test_marks",
    "collection/test_screened_seeds.py::test_no_draw",
    "collection/test_screened_seeds.py::test_two_people",
    "communities/test_classes.py::test_places_hold",
    "communities/test_competitions.py::test_budgets_hold",
    "crash/",
    "datasets/test_exports.py::test_a_row",
    "datasets/test_exports.py::test_a_value_that_no_column_holds",
    "datasets/test_exports.py::test_an_export_sees_one_moment",
    "datasets/test_exports.py::test_an_export_that_is_given_up",
    "datasets/test_exports.py::test_pages_of_any_size",
    "datasets/test_round_trip.py",
    "hubs/test_clients.py::test_a_pull_request",
    "hubs/test_clients.py::test_files_small",
    "hubs/test_trouble.py::test_a_killed",
    "hubs/test_trouble.py::test_two_commits",
    "hubs/test_xet.py::test_a_killed",
    "hubs/test_xet.py::test_files_that_share",
    "jobs/test_control.py",
    "jobs/test_imports.py::test_an_import_goes_on",
    "jobs/test_imports.py::test_files_are_imported",
    "onboarding/test_service.py::test_a_draw_stands",
    "onboarding/test_service.py::test_sending_twice",
    "onboarding/test_service.py::test_unqualified",
    "open_evaluations/test_files.py",
    "open_evaluations/test_kill.py",
    "pay/test_ledger.py::test_many",
    "pay/test_ledger.py::test_results",
    "pay/test_booking.py",
    "test_migrations.py",
    "test_old_database.py",
    "validation/test_controls.py::test_people_in_two_windows",
    "validation/test_controls.py::test_two_answers",
    "validation/test_concurrency.py",
    "validation/test_exclusion.py::test_all_counts",
    "validation/test_exclusion.py::test_the_median",
    "validation/test_exclusion.py::test_votes_and_decisions",
    "console/test_signal_kinds.py",
    "validation/test_folding.py",
    "validation/test_places.py::test_a_place_that_ran_out",
    "validation/test_places.py::test_no_more_places",
    "validation/test_rebuild.py",
    "validation/test_votes.py::test_every_change",
    "validation/test_votes.py::test_nobody_votes_twice",
    "validation/test_votes.py::test_two_votes",
)
"""Beginnings of the names of files and tests, as pytest gives them below this folder."""
DRAWN = ("postgres", "sqlite", "sqlite")


def commit() -> str:
    """The commit that is checked out, so that one commit gives one choice; empty outside a repository."""
    outcome = subprocess.run(["git", "rev-parse", "HEAD"], cwd=TESTS, capture_output=True, text=True, check=False)
    return outcome.stdout.strip()


def superfluous(items: list[pytest.Item], seed: str) -> list[pytest.Item]:
    """Those of `items` whose twin on the other database runs instead."""
    cases: dict[str, dict[str, pytest.Item]] = {}
    for item in items:
        place = str(item.path.relative_to(TESTS)) if item.path.is_relative_to(TESTS) else None
        kind = getattr(item, "callspec", None) and item.callspec.params.get("database_kind")
        if kind and (place is None or not f"{place}::{item.name}".startswith(ON_BOTH)):
            case = "-".join(part for part in item.nodeid.rstrip("]").replace("[", "-").split("-") if part != kind)
            cases.setdefault(case, {})[kind] = item
    dropped = []
    for case, kinds in cases.items():
        drawn = DRAWN[zlib.crc32(f"{seed} {case}".encode()) % len(DRAWN)]
        stored = drawn if drawn in kinds else min(kinds)
        dropped += [item for kind, item in kinds.items() if kind != stored]
    return dropped
