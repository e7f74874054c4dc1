"""The wheel, built once, and empty environments to install it into."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="package")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel's file."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "-w", str(folder), str(ROOT)], check=True)
    return next(folder.glob("*.whl"))


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
