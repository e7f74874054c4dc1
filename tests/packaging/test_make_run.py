"""`make run`, as the README and the first tutorial say it: its line that serves runs here as it stands.

The lines before, which install, take minutes and an index of packages: CI runs the same ones on a clean clone before
its first check (`.ci/run`). Here their stamp says that they have run, in a folder whose programs are those of this
environment.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.running import free_port, wait_for
from dynabench.client import Client

ROOT = Path(__file__).parents[2]


def recipe(target, folder):
    """The lines that make would run for a target where the environment `folder` does not exist."""
    command = ["make", "--no-print-directory", "-n", target, f"VENV={folder}", f"PYTHON={sys.executable}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def test_ci_installs_by_the_lines_of_make_run(tmp_path):
    *installing, serving = recipe("run", tmp_path / "none")
    assert serving == f"{tmp_path / 'none'}/bin/dynabench serve --demo --port 8000"
    assert any("pip install" in line for line in installing)
    checking = recipe("check", tmp_path / "none")
    assert [line for line in checking if line in installing] == installing
    assert "make check" in (ROOT / ".ci/run").read_text().splitlines()


@pytest.mark.release
@pytest.mark.timeout(900)
def test_make_run_serves_the_demo_rounds_and_a_model_answers(tmp_path):
    programs = tmp_path / "venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "dynabench"):
        (programs / name).symlink_to(Path(sys.executable).parent / name)
    (programs.parent / ".run").touch()
    port = free_port()
    env = {name: value for name, value in os.environ.items() if not name.startswith(("DYNABENCH", "MAKE"))}
    command = ["make", "run", f"VENV={programs.parent}", f"PORT={port}"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=env | {"DYNABENCH_HOME": str(tmp_path / "home")},
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        base = f"http://127.0.0.1:{port}"
        wait_for(f"{base}/readyz", 600)
        with Client(base, timeout=60) as client:
            assert sum(task["open_round"] is not None for task in client.tasks()) == 10
            context = client.next_context("sentiment")["id"]
            answer = client.create_example(
                "sentiment", context, {"statement": "A lovely evening."}, {"label": "negative"}, sandbox=True
            )
        assert answer["predictions"][0]["answer"]["label"] in ("positive", "neutral", "negative")
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
    assert "pip install" not in (tmp_path / "log").read_text()
