"""Exporting a million examples with two predictions each, votes, explanations and pseudonyms, by the real command.

The anchor is what anybody would write first: the driver's cursor over the same four tables and `json.dumps` of each
row, without predictions, votes or names. Rows are counted against what was put in; memory is the process's peak.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any

from benchmarks.row import Row
from benchmarks.world import ITEMS, databases, fill
from dynabench.kit.db import Database

PER_SECOND = {"jsonl": 50_000, "csv": 30_000, "parquet": 30_000}
MEGABYTES = 200
PLAIN = """
SELECT e.uid, c."values", h.initial, e.input, e.answer, e.fooled, e.start, e.arm, e.seconds, e.at, s.verdict
FROM examples e JOIN standings s ON s.example_id = e.id
JOIN contexts c ON c.id = e.context_id JOIN handouts h ON h.id = e.handout_id WHERE e.round_id = 1
"""
WATCH = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)
sys.exit(status)
"""
"""Between: a process counts what held its memory before it started, which here would be a million rows' writer."""


@dataclass(frozen=True)
class ExportCost:
    """Cost of an export in its process, start and imports included: seconds, seconds of CPU, megabytes at its peak."""

    seconds: float
    cpu: float
    megabytes: float


def exported(db: Database, form: str, items: int = ITEMS) -> ExportCost:
    """Run `dynabench export` on a million rows."""
    with tempfile.TemporaryDirectory(prefix="dynabench-bench-") as home:
        mine = {"DYNABENCH_HOME": home, "DYNABENCH_DATABASE_URL": db.url, "DYNABENCH_SECRET": "a benchmark's" * 3}
        command = [sys.executable, "-m", "dynabench", "export", "bench", "-o", os.devnull, "--format", form, "--json"]
        begun = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", WATCH, *command], env=os.environ | mine, stderr=subprocess.PIPE, text=True
        )
        seconds = time.perf_counter() - begun
    assert done.returncode == 0, done.stderr
    *_, answer, used = done.stderr.splitlines()
    assert json.loads(answer)["rows"] == items, done.stderr
    return ExportCost(seconds, *map(float, used.split()))


def plain(db: Database) -> float:
    """Rows a second of the anchor."""
    columns = ("uid", "context", "initial", "input", "answer", "fooled", "start", "arm", "seconds", "at", "verdict")
    raw = db.engine.raw_connection()
    driver: Any = raw.driver_connection
    begun, rows = time.perf_counter(), 0
    try:
        cursor = driver.cursor() if db.is_sqlite else driver.cursor(name="plain")
        cursor.execute(PLAIN)
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123
            while some := cursor.fetchmany(4_000):
                rows += len(some)
                nowhere.writelines(f"{json.dumps(dict(zip(columns, row, strict=True)), default=str)}\n" for row in some)
        cursor.close()
    finally:
        raw.close()
    return rows / (time.perf_counter() - begun)


def rows() -> list[Row]:
    """Rates of each format and database, and the most memory of any."""
    result = []
    for kind in ("SQLite", "PostgreSQL"):
        with databases(kind) as held:
            db = held[kind]
            fill(db)
            anchor = plain(db)
            for form in ("jsonl", "csv", "parquet"):
                result += _report_rows(kind, form, exported(db, form), anchor)
    return result


def _report_rows(kind: str, form: str, used: ExportCost, anchor: float) -> list[Row]:
    rate, least = ITEMS / used.seconds, PER_SECOND[form]
    subject, note = f"export of 1e6 examples, {kind}, {form}", f"{used.cpu:.1f} s of CPU"
    name = "cursor and json.dumps, no votes or predictions"
    return [
        Row(subject, rate, "rows/s", name, anchor, f">= {least:,} rows/s", rate >= least, note),
        Row(f"{subject}, memory", used.megabytes, "MB", budget="200 MB", holds=used.megabytes < MEGABYTES),
    ]
