"""The demo for tests that start a whole platform: all of it but the suites and the histories.

Tests begin with first rounds. The worker would evaluate all models on suites beside the tests, which takes more than a
minute of processor time.
"""

from pathlib import Path

import pytest

from dynabench.adversaries import checklist
from dynabench.kit.settings import Settings
from dynabench.operations import demo, demo_history, migrations
from dynabench.operations.key_check import check_keys


def prepare_home(home: Path) -> None:
    """Set the demo up in `home`, for a platform that is started there without `--demo`."""
    settings = Settings(home=home)
    migrations.upgrade(settings)
    check_keys(settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checklist, "shipped_suites", list)
        patch.setattr(demo_history, "read_archive", lambda task: None)
        demo.prepare(settings)
