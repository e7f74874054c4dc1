"""Times the package `evaluate` in its own environment on the inputs of `benchmarks/evaluation.py`; prints JSON."""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import evaluate
from evaluate.evaluator.base import Evaluator
from inputs import labels

HERE = Path(__file__).parent


def seconds(call: Callable[[], object], times: int) -> float:
    """Median wall time."""
    used = []
    for _ in range(times):
        begun = time.perf_counter()
        call()
        used.append(time.perf_counter() - begun)
    return statistics.median(used)


def main() -> None:
    """Every figure once; the bootstrap takes more than a minute."""
    accuracy, f1 = (evaluate.load(str(HERE / f"{name}.py")) for name in ("accuracy", "f1"))
    rows, few = labels(1_000_000), labels(1000)

    def stream() -> None:
        for start in range(0, 1_000_000, 1000):
            accuracy.add_batch(**{name: column[start : start + 1000] for name, column in rows.items()})
        accuracy.compute()

    accuracy.compute(**few)
    f1.compute(**few, average="macro")
    result = {
        "accuracy": seconds(lambda: accuracy.compute(**rows), 5),
        "f1": seconds(lambda: f1.compute(**rows, average="macro"), 5),
        "add_batch": seconds(stream, 3),
        "bca": seconds(lambda: Evaluator._compute_confidence_interval(accuracy, few, ["accuracy"], 0.95, 9999, 0), 1),
        "value": accuracy.compute(**rows)["accuracy"],
    }
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
