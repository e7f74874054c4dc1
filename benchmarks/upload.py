"""A million short texts as a dataset: rows in a second, and the memory of the process that reads them."""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.row import Row

N, WORDS = 1_000_000, 12
READ = """
import json, resource, sys, time
from pathlib import Path
from dynabench.datasets.intake import service
from dynabench.kit.settings import Settings
from dynabench.tasks import shipped_tasks

config = next(each.config for each in shipped_tasks() if each.config.id == "sentiment")
settings, path = Settings(home=Path(sys.argv[1])), Path(sys.argv[2])
settings.folder.mkdir(parents=True, exist_ok=True)
begun = time.perf_counter()
written, _ = service.build_version(settings, config, [(path, path.name)], None, "none", print, lambda _: None)
seconds = time.perf_counter() - begun
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([written.rows, seconds, peak]))
"""


def rows(number: int = N) -> list[Row]:
    """Both figures, of one reading in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="dynabench-") as place:
        file = Path(place) / "rows.jsonl"
        draw = random.Random(0)
        words = [f"word{place}" for place in range(1_000)]
        with file.open("w") as out:
            for place_of in range(number):
                text = " ".join(draw.choices(words, k=WORDS))
                label = draw.choice(("positive", "neutral", "negative"))
                out.write(json.dumps({"id": f"row-{place_of}", "statement": text, "label": label}) + "\n")
        command = [sys.executable, "-c", READ, place, str(file)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    read, seconds, peak = json.loads(done.stdout)
    pace = read / seconds
    return [
        Row("upload of a dataset, rows a second", pace, "rows/s", budget="50,000 rows/s", holds=pace >= 50_000),
        Row("upload of a dataset, peak memory", peak, "MiB", budget="300 MiB", holds=peak < 300),
    ]
