"""The built wheel, installed from the lock into an empty environment, serves pages with all that they need."""

import os
import re
import subprocess
import urllib.request
import zipfile
from pathlib import Path

import pytest

from benchmarks.running import free_port, wait_for
from tests.packaging.conftest import Environment

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def tracked(*endings):
    listed = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {line.removeprefix("src/") for line in listed.splitlines() if line.endswith(endings)}


def test_the_wheel_has_every_file_of_the_package_and_the_bundles(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert tracked("") - names == set()
    assert {"dynabench/web/static/vendor/htmx.js", "dynabench/web/static/vendor/vega.js"} <= names
    assert not [name for name in names if "node_modules" in name]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    made = Environment(tmp_path_factory.mktemp("empty"))
    lock = ROOT / "requirements" / "run.txt"
    torch = next(line for line in lock.read_text().splitlines() if line.startswith("torch=="))
    for wanted in ([torch], ["--no-deps", "-r", lock], ["--no-deps", wheel]):
        made.install(*wanted)
    return made.programs / "dynabench"


def test_the_installed_wheel_serves_a_page_with_its_assets_and_answers(installed, tmp_path):
    port = free_port()
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DYNABENCH"))}
    command = [str(installed), "serve", "--demo", "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=tmp_path, env=env | {"DYNABENCH_HOME": str(tmp_path)}, stdout=log, stderr=log
        )
    try:
        base = f"http://127.0.0.1:{port}"
        wait_for(f"{base}/readyz")
        with urllib.request.urlopen(base) as answer:
            page = answer.read().decode()
        assets = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', page))
        assert any("vendor/htmx" in asset for asset in assets)
        for asset in assets:
            with urllib.request.urlopen(base + asset) as answer:
                assert answer.status == 200
    finally:
        process.terminate()
        process.wait(20)
