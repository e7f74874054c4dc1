"""Public data sets, too large or too restricted for the repository: one rule for their place and for their absence.

Their folder is the one that `DYNABENCH_TEST_DATA` names, else `shared/data` beside the checkout. A test that needs
a data set itself says `@pytest.mark.large_data(FILE, ...)`: it is skipped where one of the files is missing, with the
command that would run it. All others run everywhere, on texts of our own where they only need some (`folder_with`).
"""

import os
from pathlib import Path

import pytest

from tests import original_data

VARIABLE = "DYNABENCH_TEST_DATA"
MARKER = "large_data"
ROOT = Path(__file__).parents[1]
running: list[pytest.Item] = []
"""The test that runs, set before its fixtures are."""


def data_folder() -> Path:
    """Return the folder of the data sets, whether it is there or not."""
    return Path(os.environ.get(VARIABLE) or ROOT.parent / "shared" / "data")


def skip_without_data(item: pytest.Item) -> None:
    """Skip a test where a file that its marker names is missing."""
    missing = [place for place in marked(item) if not (data_folder() / place).exists()]
    if missing:
        test = item.nodeid.partition("[")[0]
        pytest.skip(f"needs {', '.join(missing)}: {VARIABLE}=FOLDER make test ARGS={test}")


def marked(item: pytest.Item) -> list[str]:
    """The files of the data sets that a test says it needs."""
    return [place for mark in item.iter_markers(MARKER) for place in mark.args]


def need_data(place: str) -> Path:
    """Return a file or folder of the data sets; the test that asks for it is marked to need it."""
    if place not in marked(running[-1]):
        pytest.fail(f"mark this test with @pytest.mark.{MARKER}({place!r})")
    return data_folder() / place


def folder_with(*places: str) -> Path:
    """Return a folder that has these files: the data sets' where they are all there, else our own texts."""
    if all((data_folder() / place).exists() for place in places):
        return data_folder()
    for place in places:
        original_data.written(place)
    return original_data.folder()
