"""The number of the project's files that one posted example runs through."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST = 25


@pytest.mark.slow
def test_a_posted_example_runs_through_few_files():
    command = [sys.executable, "-m", "benchmarks.posted_example", "--posts", "0"]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=300).stdout
    many = re.search(r"one posted example: (\d+) files", output)
    assert many is not None, output
    assert int(many[1]) <= MOST, output
