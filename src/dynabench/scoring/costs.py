"""What a model costs: throughput, latency and memory on a fixed sample, three times, with nothing else running.

The worker computes nothing else meanwhile. What other processes of the machine take is measured too (`others`): a
repeat that they disturbed is made again, as often as there are repeats, and the calmest count.

The sample belongs to the dataset version, so that all models are measured on the same rows. Throughput is measured in
batches of `BATCH` rows, latency one row at a time. `low` and `high` are the least and the most of the repeats.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from dynabench import jobs
from dynabench.datasets import stored
from dynabench.models import catalog
from dynabench.models.protocol import Inputs
from dynabench.scoring import planning, queries
from dynabench.scoring.asking import Asked
from dynabench.scoring.load import Load
from dynabench.scoring.running import Running
from dynabench.scoring.tables import Shard
from dynabench.settings import Settings
from dynabench.stats.replicates import row_draws
from dynabench.turns import TURNS

MEASURED = ("throughput", "memory", "latency_p50", "latency_p95", "size", "others")
REPEATS = 3
CALM = 0.1
"""Share of the machine's processors that others may take before a repeat counts as disturbed."""
SAMPLE, SINGLES = 256, 32
"""Rows of the sample, and how many of them are also asked one at a time."""
BATCH = 32
SECONDS = 30.0
"""After which a repeat ends, however many rows it has seen."""
GIB, MIB = 2**30, 2**20


def measured(run: Running, plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Costs as `scored.keep` takes them; none where they were measured before, or of a file of predictions."""
    if run.source.predictions or jobs.database().read(known, run.evaluation):
        return []
    card = catalog.entry(run.source.model, run.source.version).card
    assert card is not None
    size = _made("size", [card.size_bytes / MIB], 1)
    if not card.inside:  # each call may cost money, and what it takes is for the most part the way there
        return [size, *_from_shards(jobs.database().read(_shards, run.evaluation))]
    [first] = [piece["digest"] for piece in plan["pieces"] if piece["part"] == planning.ROWS][:1]
    rows = sample(run.settings, first)
    model = run.model()
    with TURNS.shared(run.wanted):
        model.open()
        model.ask(rows[:BATCH], BATCH, single=True)  # the first batch makes what later ones reuse
    with TURNS.alone(run.wanted):
        return [size, *_repeated(model, rows)]


def sample(settings: Settings, digest: str) -> list[Inputs]:
    """Up to `SAMPLE` rows, drawn by random numbers that belong to the digest."""
    rows = sum(1 for _ in stored.read(settings, digest))
    drawn = np.concatenate([block.ravel() for block in row_draws(digest, rows, -(-2 * SAMPLE // rows))])
    chosen = set(list(dict.fromkeys(drawn.tolist()))[:SAMPLE])
    return [row.inputs for at, row in enumerate(stored.read(settings, digest)) if at in chosen]


def _repeated(model: Asked, rows: Sequence[Inputs]) -> list[dict[str, Any]]:
    found: list[dict[str, float]] = []
    while sum(each["others"] <= CALM for each in found) < REPEATS and len(found) < 2 * REPEATS:
        found.append(_once(model, rows))
    calmest = sorted(found, key=lambda each: each["others"])[:REPEATS]
    counts = dict.fromkeys(("latency_p50", "latency_p95"), len(rows[:SINGLES]))
    return [_made(name, [each[name] for each in calmest], counts.get(name, len(rows))) for name in calmest[0]]


def _once(model: Asked, rows: Sequence[Inputs]) -> dict[str, float]:
    """One repeat: each measure by its name."""
    seconds, done, peak, load = 0.0, 0, 0, Load(model.process)
    for part in _cut(rows, BATCH):
        said = model.ask(part, BATCH, forget=not done, single=True)
        seconds, done, peak = seconds + sum(said.seconds), done + len(part), max(peak, said.peak)
        if seconds > SECONDS:
            break
    waits = 1000 * np.array(list(_waits(model, rows[:SINGLES])))
    middle, end = (float(np.quantile(waits, share)) for share in (0.5, 0.95))
    measured = {"throughput": done / max(seconds, 1e-9), "memory": peak / GIB}
    return measured | {"latency_p50": middle, "latency_p95": end, "others": load.others()}


def _waits(model: Asked, rows: Sequence[Inputs]) -> Iterator[float]:
    """Seconds of single answers, as long as these together take no longer than `SECONDS`."""
    begun = time.monotonic()
    for row in rows:
        yield model.ask([row], 1, single=True).seconds[0]
        if time.monotonic() - begun > SECONDS:
            return


def _from_shards(shards: Sequence[Shard]) -> list[dict[str, Any]]:
    rates = [shard.rows / shard.seconds for shard in shards if shard.seconds > 0]
    return [_made("throughput", rates, sum(shard.rows for shard in shards))] if rates else []


def _made(name: str, values: Sequence[float], n: int) -> dict[str, Any]:
    found = {"metric": name, "value": float(np.median(values)), "low": min(values), "high": max(values), "n": n}
    return found | {"repeats": list(map(float, values))}


def _cut(rows: Sequence[Inputs], size: int) -> Iterator[Sequence[Inputs]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def known(session: Session, evaluation: int) -> bool:
    """Whether an evaluation's costs were measured."""
    return session.scalar(queries.score_of(evaluation, "size", "")) is not None


def _shards(session: Session, evaluation: int) -> Sequence[Shard]:
    return session.scalars(queries.shards(evaluation)).all()
