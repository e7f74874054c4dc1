"""Reports on large data: the processor time and the memory of a report on a file, measured in a process of its own.

`python -m benchmarks.data_reports FILE` prints the seconds of a processor and the peak memory of a report on FILE.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import orjson

from benchmarks.row import Row

SIZES = (1_000_000, 10_000_000)
VOCABULARY, WORDS = 300_000, 11
BUDGET_GB = 2.0
BATCH = 10_000


def write_rows(path: Path, rows: int) -> None:
    """Write a file of rows whose words follow Zipf's law; one row in fifty repeats an earlier text."""
    rng = np.random.default_rng(7)
    vocabulary = np.array([f"{chr(97 + at % 26)}word{at}" for at in range(VOCABULARY)], object)
    vocabulary[100:104] = ("she", "he", "woman", "man")
    texts: list[str] = []
    with path.open("wb") as file:
        for at in range(0, rows, BATCH):
            ranks = np.minimum(rng.zipf(1.25, (BATCH, WORDS)), VOCABULARY) - 1
            lengths = rng.integers(3, WORDS + 1, BATCH).tolist()
            fresh = [" ".join(line[:length]) for line, length in zip(vocabulary[ranks].tolist(), lengths, strict=True)]
            for place in range(0, BATCH if texts else 0, 50):
                fresh[place] = texts[place]
            texts = texts or fresh
            labels = rng.integers(3, size=BATCH).tolist()
            file.writelines(
                b'{"id": %d, "text": "%b", "label": "c%d"}\n' % (at + number, text.encode(), label)
                for number, (text, label) in enumerate(zip(fresh, labels, strict=True))
            )


def measure(path: Path) -> dict[str, float]:
    """Return the processor seconds and the peak memory of a report on a file, and the seconds of parsing its lines."""
    from dynabench.insight.data_reports.report import ReportOptions, measure_data
    from dynabench.insight.data_reports.sources import file_source

    begun = time.process_time()
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)
    parsed = time.process_time() - begun
    begun = time.process_time()
    report = measure_data(file_source(path), ReportOptions())
    seconds = time.process_time() - begun
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return {"rows": report.facts.rows, "seconds": seconds, "parsed": parsed, "gigabytes": gigabytes}


def rows() -> list[Row]:
    """Two rows for each size."""
    result = []
    with tempfile.TemporaryDirectory(prefix="dynabench-") as folder:
        path = Path(folder) / "rows.jsonl"
        for size in SIZES:
            write_rows(path, size)
            command = [sys.executable, "-m", "benchmarks.data_reports", str(path)]
            answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            name = f"report on {size:.0e} rows".replace("e+0", "e")
            rate, anchor = answer["rows"] / answer["seconds"], answer["rows"] / answer["parsed"]
            result.append(Row(name, rate, "rows/s of one core", "parsing the lines alone", anchor))
            memory = answer["gigabytes"]
            result.append(
                Row(f"{name}, peak memory", memory, "GB", budget=f"{BUDGET_GB:g} GB", holds=memory < BUDGET_GB)
            )
    return result


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
