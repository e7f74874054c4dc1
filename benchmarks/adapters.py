"""Eight models over the shared encoder in one process against one of them: memory, and a batch that mixes all."""

import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.row import Row
from dynabench.models import catalog
from dynabench.models.backends.encoded import AdapterModel

MANY = 8
NAMES = ("sentiment", "nli", "hate")
VOCABULARY = "the film is not a good story about people who sleep in trains".split()
LENGTHS = (9, 14, 18, 21, 24, 28, 33, 40)
"""Words of the inputs, four of each length in a batch of 32."""
ROUNDS = 15


def rows() -> list[Row]:
    """All figures of this file."""
    with tempfile.TemporaryDirectory() as folder:
        folders = copies(Path(folder))
        item, many = (_measured(folders[:count]) for count in (1, MANY))
    memory, seconds = "memory of a process with eight adapters", "a batch of 32 that mixes eight adapters"
    return [
        _row(memory, many["megabytes"], "MB", "one adapter", item["megabytes"]),
        _row(seconds, many["mixed"], "ms", "for one adapter", many["single"]),
    ]


def _row(subject: str, value: float, unit: str, name: str, anchor: float) -> Row:
    return Row(subject, value, unit, name, anchor, "at most 1.3x", value <= 1.3 * anchor)


def copies(folder: Path) -> list[Path]:
    """Eight models: shipped classifiers under names of their own."""
    created = []
    for index in range(MANY):
        source = catalog.BUILTIN / f"{NAMES[index % len(NAMES)]}-minilm"
        target = folder / f"{source.name}-{index}"
        shutil.copytree(source, target)
        spec = target / "model.yaml"
        spec.write_text(spec.read_text().replace(f"name: {source.name}", f"name: {target.name}"))
        created.append(target)
    return created


def _measured(folders: Sequence[Path]) -> dict[str, float]:
    """Return the figures of a new process that opens these models."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.adapters", *map(str, folders)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def _inputs(model: AdapterModel, rng: random.Random, words: int) -> dict[str, str]:
    return _as(model, {"": " ".join(rng.choices(VOCABULARY, k=words))})


def _time(models: Sequence[AdapterModel], batch: Sequence[dict[str, str]]) -> float:
    calls = [(model, model.prepare(inputs)) for model, inputs in zip(models, batch, strict=True)]
    begun = time.perf_counter()
    models[0].answer(calls)
    return (time.perf_counter() - begun) * 1000


def _main(folders: Sequence[str]) -> dict[str, float]:
    """Times in turns, then the process's share of memory once all sizes of batches have been seen."""
    models = [AdapterModel.load(Path(folder)) for folder in folders]
    rng = random.Random(0)
    single, mixed = [], []
    for _ in range(ROUNDS):
        batch = [_inputs(models[0], rng, words) for words in LENGTHS * (32 // len(LENGTHS))]
        same = [models[0]] * 32
        across = [models[(index // len(LENGTHS) + index) % len(models)] for index in range(32)]
        single.append(_time(same, batch))
        mixed.append(_time(across, [_as(model, inputs) for model, inputs in zip(across, batch, strict=True)]))
    for words in range(1, 120):
        _time(models[:1], [_inputs(models[0], rng, words)])
    return {"megabytes": _megabytes(), "single": statistics.median(single), "mixed": statistics.median(mixed)}


def _as(model: AdapterModel, inputs: dict[str, str]) -> dict[str, str]:
    """The same words under the names of this model's fields."""
    text = " ".join(inputs.values())
    names = model.card.inputs
    cuts = [at * len(text) // len(names) for at in range(len(names) + 1)]
    return {name: text[cuts[at] : cuts[at + 1]] for at, name in enumerate(names)}


def _megabytes() -> float:
    """This process's proportional share of memory."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


if __name__ == "__main__":
    print(json.dumps(_main(sys.argv[1:])))
