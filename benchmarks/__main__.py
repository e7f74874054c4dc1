"""`make bench`: run every benchmark, print the rows, and write them to docs/explanation/performance.md.

`python -m benchmarks models loop` runs only those files.
"""

import importlib
import pkgutil
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks.row import Row

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "performance.md"
HEAD = ("figure", "value", "anchor", "ratio", "budget", "kept", "note")


def machine() -> str:
    """What this ran on."""
    import os

    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    name = next((line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name")), "")
    return f"{name or platform.processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def cells(row: Row) -> tuple[str, ...]:
    """The row as text."""
    kept = {True: "yes", False: "**no**", None: ""}[row.kept]
    anchor = f"{row.anchor:.4g} {row.unit} ({row.anchor_name})" if row.anchor is not None else row.anchor_name
    ratio = f"{row.ratio:.2f}x" if row.ratio is not None else ""
    return (row.what, f"{row.value:.4g} {row.unit}", anchor, ratio, row.budget, kept, row.note)


def page(rows: list[Row]) -> str:
    """The rows as a page of the documentation."""
    lines = [
        "# Performance",
        "",
        f"Measured by `make bench` on {datetime.now(UTC):%Y-%m-%d}: {machine()}. Each figure stands beside an anchor",
        "measured in the same run on the same machine; compare the ratios, not the milliseconds.",
        "",
        "| " + " | ".join(HEAD) + " |",
        "|" + "---|" * len(HEAD),
        *("| " + " | ".join(cells(row)) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benchmarks that are named, or all."""
    known = [
        m.name
        for m in pkgutil.iter_modules(benchmarks.__path__)
        if not m.name.startswith("_") and m.name not in ("row", "running")
    ]
    named = sys.argv[1:] or known
    rows: list[Row] = []
    for name in named:
        module = importlib.import_module(f"benchmarks.{name}")
        if hasattr(module, "rows"):
            Console(stderr=True).print(f"[dim]{name} ...")
            rows += module.rows()
    table = Table(*HEAD, title=machine())
    for row in rows:
        table.add_row(*cells(row))
    Console(width=200).print(table)
    if not sys.argv[1:]:
        PAGE.write_text(page(rows))
    if any(row.kept is False for row in rows):
        sys.exit("Some budgets are not kept.")


if __name__ == "__main__":
    main()
