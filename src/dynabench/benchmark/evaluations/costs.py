"""The costs of a model: throughput, latency and memory on a fixed sample, three times, with nothing else
running.

The worker computes nothing else meanwhile. The load of other processes of the machine is measured too
(`others`): a disturbed repeat is made again, at most as often as there are repeats, and the calmest ones
count.

The sample belongs to the dataset version, so that all models are measured on the same rows. Throughput is
measured in batches of `BATCH` rows, latency one row at a time. `low` and `high` are the least and the most of
the repeats.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import evaluation_run, queries
from dynabench.benchmark.evaluations.evaluation_run import EvaluationRun
from dynabench.benchmark.evaluations.model_process import ModelProcess
from dynabench.datasets import stored
from dynabench.kit import jobs
from dynabench.kit.compute_lock import TURNS
from dynabench.kit.process_memory import process_family
from dynabench.kit.settings import Settings
from dynabench.models import catalog
from dynabench.models.protocol import Inputs
from dynabench.stats.bootstrap import row_draws

COST_METRICS = ("throughput", "memory", "latency_p50", "latency_p95", "size", "others")
REPEATS = 3
MAX_OTHERS_SHARE = 0.1
"""Share of the machine's processors that others may take before a repeat counts as disturbed."""
SAMPLE, SINGLE_ROWS = 256, 32
"""Rows of the sample, and how many of them are also asked one at a time."""
BATCH = 32
REPEAT_SECONDS = 30.0
"""After which a repeat ends, however many rows it has seen."""
GIB, MIB = 2**30, 2**20


def measure_costs(run: EvaluationRun, plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the costs of a model; empty where they were measured before, or for a file of predictions."""
    if run.source.predictions or jobs.database().read(has_costs, run.evaluation):
        return []
    card = catalog.entry(run.source.model, run.source.version).card
    assert card is not None
    size = _cost_entry("size", [card.size_bytes / MIB], 1)
    if not card.inside:  # each call may cost money, and what it takes is for the most part the way there
        return [size, *jobs.database().read(_throughput, run.evaluation)]
    [first] = [piece["digest"] for piece in plan["pieces"] if piece["part"] == evaluation_run.ROWS][:1]
    rows = cost_sample(run.settings, first)
    model = run.model()
    with TURNS.shared(run.check_wanted):
        model.open()
        model.ask(rows[:BATCH], BATCH, single=True)  # the first batch makes what later ones reuse
    with TURNS.alone(run.check_wanted):
        return [size, *_repeated(model, rows)]


def cost_sample(settings: Settings, digest: str) -> list[Inputs]:
    """Return up to `SAMPLE` rows, drawn by random numbers that belong to the digest."""
    rows = sum(1 for _ in stored.read_rows(settings, digest))
    drawn = np.concatenate([block.ravel() for block in row_draws(digest, rows, -(-2 * SAMPLE // rows))])
    chosen = set(list(dict.fromkeys(drawn.tolist()))[:SAMPLE])
    return [row.inputs for at, row in enumerate(stored.read_rows(settings, digest)) if at in chosen]


def _repeated(model: ModelProcess, rows: Sequence[Inputs]) -> list[dict[str, Any]]:
    repeats: list[dict[str, float]] = []
    while sum(repeat["others"] <= MAX_OTHERS_SHARE for repeat in repeats) < REPEATS and len(repeats) < 2 * REPEATS:
        repeats.append(_once(model, rows))
    calmest = sorted(repeats, key=lambda repeat: repeat["others"])[:REPEATS]
    counts = dict.fromkeys(("latency_p50", "latency_p95"), len(rows[:SINGLE_ROWS]))
    return [_cost_entry(name, [repeat[name] for repeat in calmest], counts.get(name, len(rows))) for name in calmest[0]]


def _once(model: ModelProcess, rows: Sequence[Inputs]) -> dict[str, float]:
    """One repeat: each measure by its name."""
    seconds, done, peak, load = 0.0, 0, 0, ProcessorLoad(model.process)
    for first in range(0, len(rows), BATCH):
        part = rows[first : first + BATCH]
        answers = model.ask(part, BATCH, forget=not done, single=True)
        seconds, done, peak = seconds + sum(answers.seconds), done + len(part), max(peak, answers.peak)
        if seconds > REPEAT_SECONDS:
            break
    waits = 1000 * np.array(list(_waits(model, rows[:SINGLE_ROWS])))
    middle, end = (float(np.quantile(waits, share)) for share in (0.5, 0.95))
    measured = {"throughput": done / max(seconds, 1e-9), "memory": peak / GIB}
    return measured | {"latency_p50": middle, "latency_p95": end, "others": load.others()}


def _waits(model: ModelProcess, rows: Sequence[Inputs]) -> Iterator[float]:
    """Seconds of single answers, as long as these together take no longer than `SECONDS`."""
    begun = time.monotonic()
    for row in rows:
        yield model.ask([row], 1, single=True).seconds[0]
        if time.monotonic() - begun > REPEAT_SECONDS:
            return


def _throughput(session: Session, evaluation: int) -> list[dict[str, Any]]:
    shards = session.scalars(queries.finished_shards(evaluation)).all()
    rates = [shard.rows / shard.seconds for shard in shards if shard.seconds > 0]
    return [_cost_entry("throughput", rates, sum(shard.rows for shard in shards))] if rates else []


def _cost_entry(name: str, values: Sequence[float], n: int) -> dict[str, Any]:
    entry = {"metric": name, "value": float(np.median(values)), "low": min(values), "high": max(values), "n": n}
    return entry | {"repeats": list(map(float, values))}


def has_costs(session: Session, evaluation: int) -> bool:
    """Return True if an evaluation's costs were measured."""
    return session.scalar(queries.one_score(evaluation, "size", "")) is not None


TICKS = os.sysconf("SC_CLK_TCK")


class ProcessorLoad:
    """Processor time of this machine since the object was made, without that of a process and its descendants."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._begun, self._all, self._own = time.monotonic(), _busy_ticks(), _process_ticks(process)

    def others(self) -> float:
        """Return the share of the machine's processors that others used, 0 to 1; 0 where the system does not tell."""
        seconds = (time.monotonic() - self._begun) * (os.cpu_count() or 1)
        ticks = (_busy_ticks() - self._all) - (_process_ticks(self._process) - self._own)
        return min(max(ticks / TICKS / max(seconds, 1e-9), 0.0), 1.0)


def _busy_ticks() -> int:
    """Ticks of all processors that were not idle."""
    try:
        words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return 0
    return sum(int(word) for at, word in enumerate(words[:8]) if at not in (3, 4))  # idle, and waiting for disks


def _process_ticks(process: int) -> int:
    """Ticks that a process and its descendants took, those included that have ended."""
    return sum(_ticks(member) for member in process_family(process))


def _ticks(process: int) -> int:
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(word) for word in words[11:15])
