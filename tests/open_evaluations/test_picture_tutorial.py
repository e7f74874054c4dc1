"""The tutorial "Evaluate models of pictures", whose blocks run as they stand, and what it teaches."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

from benchmarks.running import platform
from dynabench.client import Client
from tests.test_documented_blocks import ROOT, blocks

pytestmark = pytest.mark.release

MODELS = ("resnet", "regnet", "vit")
PAGE = "docs/tutorial/evaluate-pictures.md"
FILE = re.compile(r"^```python title=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_block(text: str, kind: str, folder: Path, **env: str) -> None:
    """Run a block in a reader's folder, which is also their home."""
    command = ["bash", "-euo", "pipefail", "-c", text] if kind == "sh" else [sys.executable, "-c", text]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {name: value for name, value in os.environ.items() if not name.startswith("DYNABENCH_")}
    done = subprocess.run(
        command, cwd=folder, env=own | {"HOME": str(folder), "PATH": path} | env, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{text}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a reader who has followed the tutorial up to the platform."""
    folder = tmp_path_factory.mktemp("reader")
    for name, text in FILE.findall((ROOT / PAGE).read_text(encoding="utf-8")):
        (folder / name).write_text(text, encoding="utf-8")
    for block in blocks(PAGE)[:-1]:
        run_block(block.text, block.kind, folder)
    return folder


def read_board(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The scores of a board by model and metric."""
    board = json.loads(path.read_text())["board"]
    return {(score["model"], score["metric"].split()[0]): score for score in board["scores"]}


@pytest.mark.timeout(900)
@pytest.mark.xdist_group("picture_tutorial")
def test_scores_are_those_of_scikit_learn_and_mcc_shows_what_accuracy_hides(reader: Path):
    scores = read_board(reader / "board.json")
    with (reader / "predictions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    right = [row["reference"] for row in rows]
    assert len(rows) == 400
    for model in MODELS:
        answers = [row[model] for row in rows]
        expected = {
            "accuracy": accuracy_score(right, answers),
            "f1": f1_score(right, answers, average="macro"),
            "matthews_correlation": matthews_corrcoef(right, answers),
        }
        for metric, value in expected.items():
            score = scores[model, metric]
            assert score["value"] == pytest.approx(value)
            assert score["low"] < value < score["high"]
    assert scores["vit", "accuracy"]["value"] > 0.75  # "dog" alone has 0.80
    assert scores["vit", "matthews_correlation"]["value"] < 0.5
    gap = {metric: scores["resnet", metric]["value"] - scores["vit", metric]["value"] for _model, metric in scores}
    assert gap["matthews_correlation"] > 2 * gap["accuracy"]
    pairs = json.loads((reader / "board.json").read_text())["board"]["pairs"]
    assert ("resnet", "vit") in {(pair["first"], pair["second"]) for pair in pairs if pair["differs"]}


@pytest.mark.timeout(900)
@pytest.mark.xdist_group("picture_tutorial")
def test_a_platform_gives_the_same_scores(reader: Path):
    block = blocks(PAGE)[-1]
    with platform(reader / ".dynabench", ready=False, hub_url="") as address, Client(address) as client:
        client.register("olga", "olga@example.org", "four random words here")
        token = client.log_in("olga", "four random words here")
        run_block(block.text.replace("http://127.0.0.1:8000", address), block.kind, reader, DYNABENCH_TOKEN=token)
    here = read_board(reader / "board.json")
    assert read_board(reader / "server.json") == {key: pytest.approx(score) for key, score in here.items()}
