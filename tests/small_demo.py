"""The demo for tests that start a whole platform: all of it but the suites and the histories.

Tests begin with first rounds unless they ask for the history of a task. The worker would evaluate all models on suites
beside the tests, which takes more than a minute of processor time.
"""

from pathlib import Path

import pytest

from dynabench.adversaries import checklist
from dynabench.kit.settings import Settings
from dynabench.operations import demo, demo_history, migrations
from dynabench.operations.key_check import check_keys


def prepare_home(home: Path, *histories: str) -> None:
    """Set the demo up in `home`, for a platform that is started there without `--demo`.

    `histories` are the tasks that have their earlier rounds.
    """
    read_archive = demo_history.read_archive
    settings = Settings(home=home)
    migrations.upgrade(settings)
    check_keys(settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checklist, "shipped_suites", list)
        patch.setattr(demo_history, "read_archive", lambda task: read_archive(task) if task in histories else None)
        demo.prepare(settings)
