"""One model asked by many processes of a cluster at once: for evaluating on more than one machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dynabench.kit import process_memory
from dynabench.models import catalog, spec
from dynabench.models.protocol import Attributable, Attribution, Inputs, ModelOutput

SHARD = 256
"""Inputs that a worker is given at a time: enough to sort by length, few enough to share out evenly."""


class Asker:
    """An actor that holds the model."""

    def __init__(self, folder: str) -> None:
        self._model = catalog.open_model(Path(folder), bulk=True)

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order."""
        return self._model.predict(batch)

    def peak_bytes(self) -> int:
        """Bytes of the most memory that it held since `reset_peak`."""
        return process_memory.peak_bytes()

    def reset_peak(self) -> None:
        """Measure that anew."""
        process_memory.reset_peak()


class DistributedModel:
    """A model whose `predict` is shared out among actors; the folder must be on each machine at the same path.

    A shard whose actor dies is given to another one, since asking twice changes nothing.
    """

    def __init__(self, folder: Path, ray: Any, workers: int = 0, processors: float = 1.0) -> None:
        """`workers` actors of so many `processors` each; by default as many actors as the cluster has room for."""
        self.card = spec.card(folder)
        self.workers = workers or max(1, int(ray.available_resources().get("CPU", 1) / processors))
        self._ray = ray
        self._here: Attributable | None = None
        self._folder = folder.resolve()
        actor = ray.remote(num_cpus=processors, max_restarts=2, max_task_retries=2)(Asker)
        self._actors = [actor.remote(str(self._folder)) for _ in range(self.workers)]

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order; raises what the model raises."""
        from ray.util import ActorPool

        rows = list(batch)
        size = max(1, min(SHARD, -(-len(rows) // self.workers)))
        shards = [rows[at : at + size] for at in range(0, len(rows), size)]
        pool = ActorPool(self._actors)
        text = pool.map(lambda actor, shard: actor.predict.remote(shard), shards)
        return [output for part in text for output in part]

    def predict_single(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """The outputs of a single actor: what one process can do."""
        result: list[ModelOutput] = self._ray.get(self._actors[0].predict.remote(list(batch)))
        return result

    def peak_bytes(self) -> int:
        """Bytes of the most memory that this actor held since `reset_peak`."""
        return int(self._ray.get(self._actors[0].peak_bytes.remote()))

    def reset_peak(self) -> None:
        """Measure that anew."""
        self._ray.get(self._actors[0].reset_peak.remote())

    def attribute(self, inputs: Inputs, label: str, method: str) -> Attribution:
        """Explained in this process: one input is nothing to share out."""
        self._here = self._here or catalog.open_model(self._folder)
        return self._here.attribute(inputs, label, method)

    def close(self) -> None:
        """End the actors."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []
