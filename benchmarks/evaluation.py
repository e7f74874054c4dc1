"""The evaluation library against the package `evaluate` in an environment of its own, and against scipy and itself."""

import json
import subprocess
import sys
import venv
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.row import Row, median_ms
from benchmarks.theirs.inputs import labels
from dynabench.evaluate import load

ROOT = Path(__file__).parent.parent
THEIRS = ROOT / "benchmarks" / "theirs"
N = 1_000_000


def environment() -> Path:
    """The Python of an environment with the package `evaluate` and what it still works with, made on the first run."""
    folder = ROOT / ".bench" / "theirs"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", "-r", THEIRS / "requirements.txt"]
        subprocess.run(install, check=True)
        (folder / "ready").touch()
    return python


def theirs(script: str, *arguments: str) -> dict[str, float]:
    """Return the JSON that a script printed in the environment of package evaluate."""
    command = [environment(), "-W", "ignore", THEIRS / script, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=THEIRS)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def rows() -> list[Row]:
    """All figures of this file."""
    return [*_metrics(theirs("metrics.py")), *_alone()]


def _metrics(other: dict[str, float]) -> list[Row]:
    accuracy, f1 = load("accuracy"), load("f1", average="macro")
    many, few = labels(N), labels(1000)
    if abs(accuracy.compute(**many)["accuracy"] - other["value"]) > 1e-12:
        raise RuntimeError("both sides must say the same")

    def stream() -> None:
        for start in range(0, N, 1000):
            accuracy.add_batch(**{name: column[start : start + 1000] for name, column in many.items()})
        accuracy.compute()

    return [
        _against("accuracy, 1e6 rows", lambda: accuracy.compute(**many), other["accuracy"], 100, 10),
        _against("macro F1, 1e6 rows", lambda: f1.compute(**many), other["f1"], 80, 20),
        _against("accuracy, 1,000 batches of 1,000", stream, other["add_batch"], 10),
        _against(
            "BCa interval of accuracy, n 1,000", lambda: accuracy.compute(**few, interval=0.95), other["bca"], 700
        ),
    ]


def _against(
    subject: str, ours: Callable[[], object], seconds: float, least: float, budget_ms: float | None = None
) -> Row:
    used = median_ms(ours, 9)
    faster = seconds * 1000 / used
    budget = f"{least}x faster" + (f", {budget_ms:g} ms" if budget_ms else "")
    rest = faster >= least and (budget_ms is None or used <= budget_ms)
    return Row(subject, used, "ms", "package evaluate", seconds * 1000, budget, rest, f"{faster:,.0f}x faster")


def _alone() -> list[Row]:
    many = labels(N)
    texts = {name: [f"class {value}" for value in column] for name, column in many.items()}
    f1 = load("f1", average="macro")
    result = []
    for method in ("bca", "percentile"):
        used = median_ms(partial(f1.compute, **many, interval=0.95, method=method), 5, 1)
        subject, other = f"{method} interval of macro F1, n 1e6, 9,999 resamples", "package evaluate: does not end"
        result.append(Row(subject, used, "ms", other, budget="200 ms", holds=used <= 200))
    used = median_ms(lambda: f1.compute(**texts), 5, 1)
    result.append(Row("macro F1, 1e6 rows of text labels", used, "ms", budget="150 ms", holds=used <= 150))
    code = "import time; t = time.perf_counter(); import dynabench.evaluate; print(time.perf_counter() - t)"
    fresh = [float(subprocess.check_output([sys.executable, "-c", code])) * 1000 for _ in range(5)]
    middle = float(np.median(fresh))
    return [*result, Row("import dynabench.evaluate", middle, "ms", budget="300 ms", holds=middle <= 300)]
