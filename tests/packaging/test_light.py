"""The README's `pip install` line: statistics and the evaluation library, without torch, web or database."""

import json
import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

from dynabench import __version__
from dynabench.kit.distributions import PLATFORM, install_command
from tests.packaging.conftest import Environment

ROOT = Path(__file__).parents[2]
HEAVY = {"torch", "transformers", "fastapi", "sqlalchemy", "pandas", "scikit-learn", "datasets", "pyarrow"}
PLATFORM_COMMAND = install_command(PLATFORM, "models")
pytestmark = [pytest.mark.release, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def light(wheels, tmp_path_factory):
    """An environment made by the README's own line, with the folder of wheels in place of an index."""
    environment = Environment(tmp_path_factory.mktemp("light"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    environment.install("--constraint", ROOT / "requirements" / "run.txt", *project["dependencies"])
    line = re.search(r"^pip install ([^#\n]*)", (ROOT / "README.md").read_text(), re.MULTILINE)[1]
    environment.install("--no-index", "--find-links", wheels, *shlex.split(line))
    return environment


def start(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment, which sees no code of whoever runs the tests."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run([program, *arguments], capture_output=True, text=True, cwd=program.parent, env=env)


def run(program: Path, *arguments: str) -> str:
    done = start(program, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_brings_few_packages(light):
    listed = json.loads(light.pip("list", "--format", "json"))
    names = {package["name"].lower() for package in listed}
    assert names & HEAVY == set()
    assert len(names) < 20


def test_it_has_our_import_package_and_no_file_of_the_platform(light):
    code = "import dynabench.evaluate, importlib.util as u; print(dynabench.__version__, u.find_spec('dynabench.site'))"
    assert run(light.programs / "python", "-I", "-c", code).strip() == f"{__version__} None"


def test_a_command_of_the_platform_says_what_to_install(light):
    done = start(light.programs / "dynabench", "serve")
    assert (done.returncode, done.stderr) == (1, f"`dynabench serve` needs the platform: {PLATFORM_COMMAND}\n")


def test_the_client_says_what_to_install(light):
    done = start(light.programs / "python", "-I", "-c", "from dynabench import Client")
    assert "ImportError: Client comes with the platform: pip install dynabench-platform" in done.stderr


def test_it_computes_with_an_interval(light):
    code = (
        "from dynabench.evaluate import combine; "
        "found = combine(['accuracy', 'f1']).compute(predictions=[1, 0, 1], references=[1, 1, 1], interval=0.95); "
        "print(round(found['accuracy'], 3), sorted(found['interval']))"
    )
    assert run(light.programs / "python", "-c", code).strip() == "0.667 ['accuracy', 'f1']"


def test_its_command_checks_every_module_and_says_what_each_lacks(light):
    listed = {
        row["name"]: row
        for row in json.loads(run(light.programs / "dynabench", "evaluate", "list", "--check", "--json"))
    }
    assert listed["accuracy"]["checked"]
    assert "dynabench-eval[metrics]" in listed["meteor"]["lacks"]
    assert "dynabench-eval[models]" in listed["bertscore"]["lacks"]
    assert "dynabench-eval[metrics]" in listed["ter"]["lacking"][0], "an option of it alone"
    assert [row["failures"] for row in listed.values() if row["failures"]] == []
    assert sum(row["checked"] for row in listed.values()) > 60
