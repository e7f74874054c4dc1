"""The three wheels, built once; empty environments to install them into; and the image of `deploy/`, replayed once."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.packaging.dockerfile import Replay

ROOT = Path(__file__).parents[2]
PROJECTS = (ROOT, ROOT / "distributions" / "platform", ROOT / "distributions" / "weights")


@pytest.fixture(scope="package")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built wheels, which pip can take for an index."""
    folder = tmp_path_factory.mktemp("wheels")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "-w", str(folder), *map(str, PROJECTS)], check=True)
    return folder


@pytest.fixture(scope="package")
def image(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    """Return the environment that the Dockerfile's own lines make, with Ray's tools."""
    return Replay(ROOT / "deploy" / "Dockerfile", ROOT, tmp_path_factory.mktemp("image"), {"EXTRAS": "ray"})


class Environment:
    """An empty environment in `folder`; this one's pip installs into it, and compiles nothing that is not imported."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder)
        self.programs = folder / "bin"

    def pip(self, *arguments: str | Path) -> str:
        """Run pip on it; what it says."""
        command = [sys.executable, "-m", "pip", "--python", self.programs / "python", *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def install(self, *wanted: str | Path) -> None:
        """Install packages."""
        self.pip("install", "--quiet", "--no-compile", *wanted)
