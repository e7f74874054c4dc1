"""A LoRA adapter on the shared encoder, trained anew from the encoder for every arm and round."""

from pathlib import Path
from typing import cast

import numpy as np

from dynabench.cycle.simulation.encoding import Tell
from dynabench.cycle.simulation.material import Ints, Rows
from dynabench.cycle.simulation.methods import Method, Read, Shares
from dynabench.models.training import by_gradient, mixing
from dynabench.models.training.learning import Checkpoints, Settings
from dynabench.models.training.mixing import Mix, Part
from dynabench.models.training.networks import Labelling
from dynabench.models.training.rows import Row

EPOCHS = 4.0
"""Of a few hundred rows each, at most."""
PATIENCE = 3


class Adapters(Method[Labelling]):
    """Adapters as `dynabench train --method lora` trains them, on a graphics processor where there is one."""

    told = (
        f"A LoRA adapter of rank 16 on all linear layers of the shared encoder, and a head with one hidden layer, "
        f"trained anew from the encoder for every arm and round by the code of `dynabench train`: at most {EPOCHS:g} "
        f"epochs, stopped early on the development rows (twice an epoch, after {PATIENCE} evaluations without a "
        "better one), the best weights kept. The adapters that are shipped have seen some of these rows and are not "
        "used."
    )
    limits = (
        "The model is small: an adapter on an encoder of six layers, trained on some hundred rows. Larger models and "
        "more rows may gain where it loses."
    )
    ran = "adapters on all cores"

    def embed(self, rows: Rows, cache: Path, tell: Tell) -> Read:
        """The texts: the encoder itself is trained, so nothing of it can be kept."""
        texts = np.empty(len(rows), object)
        texts[:] = rows.texts
        return texts

    def fit(self, read: Read, labels: Ints, development: tuple[Read, Ints], seed: int) -> Labelling:
        """The adapter of the best evaluation."""
        material = self.material
        rows, dev = self._rows(read, labels), self._rows(*development)
        mix = Mix(material.task, material.fields, "label", material.labels, [Part("collected", rows)], dev)
        settings = Settings(seed=seed, epochs=EPOCHS, patience=PATIENCE)
        ready = mixing.guarded(mix, seed).mix
        descent = by_gradient.descended(ready, settings, Checkpoints(None, ""), lambda *_: None)
        return cast(Labelling, descent.network)

    def predict(self, model: Labelling, read: Read) -> Shares:
        """See `Method`; inputs of like length go together."""
        unknown = np.zeros(len(read), np.int64)
        return model.shares(model.read(self._rows(read, unknown)))

    def _rows(self, read: Read, labels: Ints) -> list[Row]:
        material = self.material
        return [
            Row(dict(zip(material.fields, texts, strict=True)), material.labels[label])
            for texts, label in zip(read.tolist(), labels.tolist(), strict=True)
        ]
