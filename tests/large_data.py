"""Public data sets, too large or too restricted for the repository: one rule for their place and for their absence.

Their folder is the one that `DYNABENCH_TEST_DATA` names, else `shared/data` beside the checkout. A test that needs
them is skipped where they are not, with the command that would run it; all others run everywhere.
"""

import os
from pathlib import Path

import pytest

VARIABLE = "DYNABENCH_TEST_DATA"
ROOT = Path(__file__).parents[1]


def data_folder() -> Path:
    """Return the folder of the data sets, whether it is there or not."""
    return Path(os.environ.get(VARIABLE) or ROOT.parent / "shared" / "data")


def need_data(place: str) -> Path:
    """Return a file or folder of the data sets; skip the test where it is not."""
    path = data_folder() / place
    if not path.exists():
        command = f"{VARIABLE}=FOLDER make test"
        pytest.skip(f"needs the data set {place.partition('/')[0]}: {command}", allow_module_level=True)
    return path
