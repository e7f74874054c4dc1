"""Compiled templates on disk: compiling those that a run shows takes several seconds of each of its processes."""

import hashlib
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

import jinja2
from jinja2 import FileSystemBytecodeCache

import dynabench
from dynabench.web.environment import environment

DAY = 24 * 3600


def keep_in(folder: Path) -> None:
    """Keep them in a folder while no Python file of the package changes, as filters of constants are compiled too."""
    place = folder / _digest()
    place.mkdir(exist_ok=True)
    os.utime(place)
    for other in folder.iterdir():
        with suppress(FileNotFoundError):  # another process of the run was first
            if other.stat().st_mtime < time.time() - DAY:  # another run may still write to a younger one
                shutil.rmtree(other, ignore_errors=True)
    environment().bytecode_cache = FileSystemBytecodeCache(str(place))


def _digest() -> str:
    digest = hashlib.sha256(jinja2.__version__.encode())
    for path in sorted(Path(dynabench.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
