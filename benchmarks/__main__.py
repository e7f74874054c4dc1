"""`make bench`: run every benchmark, print the rows, and write them into docs/explanation/performance.md.

`python -m benchmarks models loop` runs only those files and replaces their rows alone.
"""

import importlib
import os
import pkgutil
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks.page import HEAD, cells, merged
from benchmarks.row import Row

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "performance.md"


def machine() -> str:
    """Return the machine in words, with the family of its processor: makers give different processors one name."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    answer = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())}
    name = answer.get("model name") or platform.processor()
    family = f" family {answer['cpu family']}" if "cpu family" in answer else ""
    return f"{name}{family}, {os.cpu_count()} cores, Python {platform.python_version()}"


def main() -> None:
    """Run the benchmarks that are named, or all."""
    entries = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.name.startswith("_")]
    result: dict[str, list[Row]] = {}
    for name in sys.argv[1:] or entries:
        module = importlib.import_module(f"benchmarks.{name}")
        if hasattr(module, "rows"):
            Console(stderr=True).print(f"[dim]{name} ...")
            result[name] = module.rows()
    table = Table(*HEAD[:-1], title=machine())
    for row in (row for rows in result.values() for row in rows):
        table.add_row(*cells(row))
    Console(width=200).print(table)
    PAGE.write_text(merged(PAGE.read_text(), result, machine(), f"{datetime.now(UTC):%Y-%m-%d}"))
    if any(row.holds is False for rows in result.values() for row in rows):
        sys.exit("Some budgets are not kept.")


if __name__ == "__main__":
    main()
