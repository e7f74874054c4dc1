"""The library is light and keeps to itself: what it imports, and that it runs with the network cut off."""

import shutil
import subprocess
import sys
from functools import cache

import pytest

HEAVY = ("torch", "transformers", "scipy", "sklearn", "nltk", "sacrebleu", "fastapi", "sqlalchemy", "pandas", "socket")
EVERYTHING = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(event) if event.startswith("socket.") else None)
from dynabench.evaluate import load, loading
from dynabench.evaluate.loading import missing_requirement
ran = 0
for kind, name in loading.builtin_modules():
    module = loading.find_module(name, kind)
    if missing_requirement(module) or "models" in module.card.needs:
        continue
    for example in module.card.examples:
        if not example.error:
            load(name, example.config, kind).compute(**example.inputs, **example.options)
            ran += 1
if opened:
    sys.exit(f"opened sockets: {opened}")
print(ran)
"""


@cache
def cut_off() -> list[str]:
    """Return the command prefix that cuts off the network; empty where the system forbids it."""
    for command in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        if (
            shutil.which("unshare")
            and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
        ):
            return command
    return []


def python(code: str, *before: str) -> str:
    command = [*before, sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_it_imports_numpy_alone() -> None:
    loaded = python("import sys, dynabench.evaluate; print(*sys.modules)").split()
    assert "numpy" in loaded
    assert [name for name in HEAVY if name in loaded and name != "socket"] == []


def test_importing_it_opens_no_socket() -> None:
    code = "import sys; seen = []; sys.addaudithook(lambda event, _: seen.append(event)); import dynabench.evaluate"
    assert python(code + "; print([event for event in seen if event.startswith('socket')])") == "[]"


@pytest.mark.release
def test_every_example_that_needs_no_model_runs_with_the_network_cut_off() -> None:
    assert int(python(EVERYTHING, *cut_off())) > 5
