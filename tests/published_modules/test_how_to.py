"""`docs/how-to/share-a-metric.md`, its five steps as they stand, at a platform that runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hubs.conftest import HubProcess

pytestmark = pytest.mark.release
PAGE = Path(__file__).parents[2] / "docs/how-to/share-a-metric.md"


def test_a_newcomer_publishes_and_another_uses_it_in_five_steps(hub: HubProcess, tmp_path: Path):
    steps = PAGE.read_text(encoding="utf-8").split("\n## ")[1:6]
    assert [step[:2] for step in steps] == ["1.", "2.", "3.", "4.", "5."]
    hub.api("ada")
    people = {"ada": tmp_path / "ada", "ben": tmp_path / "ben"}
    for folder in people.values():
        folder.mkdir()
    program = tmp_path / "bin" / "dynabench"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m dynabench "$@"\n')
    program.chmod(0o755)
    commit = ""
    for number, step in enumerate(steps, start=1):
        folder = people["ada" if number < 4 else "ben"]
        [(kind, text)] = re.findall(r"```(sh|python)\n(.*?)```", step, re.DOTALL)
        text = text.replace("https://bench.example", hub.address).replace("dyna_...", hub.tokens["ada"])
        text = text.replace("COMMIT", commit) if commit else text
        if kind == "python":
            text += "\nimport json; print(json.dumps(module.compute(predictions=[0, 1, 2], references=[0, 1, 1])))\n"
        command = ["sh", "-ec", text] if kind == "sh" else [sys.executable, "-c", text]
        environment = os.environ | {
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "HF_HOME": str(folder / "hub"),
        }
        if kind == "python":
            environment["HF_ENDPOINT"] = hub.endpoint
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (step, done.stdout, done.stderr)
        if number == 3:
            [commit] = re.findall(r'revision="([0-9a-f]{40})"', done.stdout)
    assert '{"mean_gap": 0.666' in done.stdout
