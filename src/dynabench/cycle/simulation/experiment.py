"""The whole experiment of a task: run what is lacking, then say what was found."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dynabench.cycle.simulation import encoding, material, results, running, sentences
from dynabench.cycle.simulation import report as writing
from dynabench.cycle.simulation.encoding import Tell
from dynabench.cycle.simulation.history import History
from dynabench.cycle.simulation.plan import Plan


@dataclass(frozen=True)
class Found:
    """A finished experiment; `seconds` are its figures of time, which alone differ between runs."""

    plan: Plan
    results: results.Result
    seconds: dict[str, float]

    @property
    def sentences(self) -> list[str]:
        """What the figures say."""
        return sentences.of(self.results)


def run(plan: Plan, data: Path, folder: Path, tell: Tell) -> Found:
    """Run a task's rounds in FOLDER/TASK, with texts' vectors in FOLDER/embeddings, and keep the figures there."""
    tell("reading", 0.0)
    loaded = material.load(plan.task, data, plan.pool, plan.suite)
    own, cache = folder / plan.task, folder / "embeddings"
    running.run(plan, loaded, own, cache, tell)
    tell("measuring", 1.0)
    history = History.read(plan, loaded, own)
    vectors = encoding.vectors([loaded.pool.texts[place][-1] for place in history.used], cache, tell)
    found = results.of(history, vectors)
    (own / "results.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return Found(plan, found, _seconds(own))


def report(found: Sequence[Found], path: Path) -> None:
    """Write what was found of all tasks to `path`."""
    writing.write([each.results for each in found], {each.plan.task: each.seconds for each in found}, path)


def _seconds(folder: Path) -> dict[str, float]:
    """Of a seed's rounds in the mean and at most, and of embedding; a round that was begun twice counts once."""
    kept = [json.loads(line) for line in (folder / "seconds.jsonl").read_text("utf-8").splitlines()]
    rounds = {(each["seed"], each["round"]): each["seconds"] for each in kept if "seed" in each}
    seeds: dict[int, float] = defaultdict(float)
    for (seed, _), seconds in rounds.items():
        seeds[seed] += seconds
    embedding = sum(each["embedding"] for each in kept if "embedding" in each)
    return {"seed": sum(seeds.values()) / len(seeds), "longest": max(seeds.values()), "embedding": embedding}
