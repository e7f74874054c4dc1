"""`pip install dynabench` alone: statistics and the evaluation library, without torch, web or database."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.packaging.conftest import Environment

ROOT = Path(__file__).parents[2]
HEAVY = {"torch", "transformers", "fastapi", "sqlalchemy", "pandas", "scikit-learn", "datasets", "pyarrow"}
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def light(wheel, tmp_path_factory):
    made = Environment(tmp_path_factory.mktemp("light"))
    made.install("--constraint", ROOT / "requirements" / "run.txt", wheel)
    return made


def run(program: Path, *arguments: str) -> str:
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True, cwd=program.parent).stdout


def test_it_brings_few_packages(light):
    listed = json.loads(light.pip("list", "--format", "json"))
    names = {package["name"].lower() for package in listed}
    assert names & HEAVY == set()
    assert len(names) < 20


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
    assert "dynabench[metrics]" in listed["meteor"]["lacks"]
    assert "dynabench[models]" in listed["bertscore"]["lacks"]
    assert "dynabench[metrics]" in listed["ter"]["lacking"][0], "an option of it alone"
    assert [row["failures"] for row in listed.values() if row["failures"]] == []
    assert sum(row["checked"] for row in listed.values()) > 60
