"""`python -m benchmarks.pairs FOLDER [NAME ...]`: run benchmarks of another checkout and of this one in turn.

Prints each figure of both with the ratio of now to before, as a table in Markdown. The other checkout runs its own copy
of a benchmark; its figures are matched by their names, or by their order where both have as many.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROGRAM = """
import importlib, json, sys
rows = importlib.import_module("benchmarks." + sys.argv[1]).rows()
with open(sys.argv[2], "w") as file:
    json.dump([[getattr(row, "subject", ""), row.value, row.unit, row.anchor] for row in rows], file)
"""
Figure = tuple[str, float, str, float | None]
"""Name, value, unit and anchor of a row."""


def run(checkout: Path, name: str, seconds: float) -> list[Figure]:
    """Return the figures of a benchmark of a checkout, none where it fails or takes too long."""
    result = Path(os.environ.get("TMPDIR", "/tmp")) / f"pairs-{os.getpid()}.json"
    environment = os.environ | {"PYTHONPATH": f"{checkout / 'src'}:{checkout}"}
    try:
        subprocess.run(
            [sys.executable, "-c", PROGRAM, name, str(result)],
            env=environment,
            cwd=checkout,
            timeout=seconds,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        figures = [tuple(row) for row in json.loads(result.read_text())]
    except subprocess.CalledProcessError as error:
        print(f"{name} of {checkout} failed: {error.stderr[-400:]}", file=sys.stderr)
        return []
    except subprocess.TimeoutExpired:
        print(f"{name} of {checkout} takes more than {seconds:g} s", file=sys.stderr)
        return []
    finally:
        result.unlink(missing_ok=True)
    return figures


def pair(before: Sequence[Figure], after: Sequence[Figure]) -> list[tuple[Figure, Figure]]:
    """Return the figures that stand for the same, by name or, where both runs have as many, by order."""
    if len(before) == len(after):
        return list(zip(before, after, strict=True))
    named = {figure[0]: figure for figure in before}
    return [(named[figure[0]], figure) for figure in after if figure[0] in named]


def compare(other: Path, name: str, turns: int, seconds: float) -> list[tuple[str, ...]]:
    """Return the rows of the table for one benchmark: the medians of all turns, which alternate."""
    runs: list[list[tuple[Figure, Figure]]] = []
    for _ in range(turns):
        runs.append(pair(run(other, name, seconds), run(ROOT, name, seconds)))
        if not runs[-1]:
            return []
    rows = []
    for turn in zip(*runs, strict=True):
        old, new = (statistics.median(side[1] for side in sides) for sides in zip(*turn, strict=True))
        ratios = [after[1] / before[1] for before, after in turn if before[1]]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}" if len(ratios) > 1 else ""
        unit = turn[0][1][2]
        ratio = f"{new / old:.2f}x" if old else ""
        rows.append((name, turn[0][1][0], f"{old:.4g} {unit}", f"{new:.4g} {unit}", ratio, spread))
    return rows


def main() -> None:
    """Compare the benchmarks that are named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs")
    parser.add_argument("other", type=Path, help="another checkout, installed nowhere")
    parser.add_argument("names", nargs="+", help="benchmarks that both checkouts have")
    parser.add_argument("--turns", type=int, default=2, help="runs of each, which alternate (default: 2)")
    parser.add_argument("--seconds", type=float, default=900, help="the longest that one run may take (default: 900)")
    options = parser.parse_args()
    print("| benchmark | figure | before | now | ratio | in turns |\n|---|---|---|---|---|---|")
    for name in options.names:
        for row in compare(options.other.absolute(), name, options.turns, options.seconds):
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
