"""A LoRA adapter on the shared encoder, trained anew from the encoder for every arm and round."""

from pathlib import Path
from typing import cast

import numpy as np

from dynabench.models.training import mixing
from dynabench.models.training.descent import run_descent
from dynabench.models.training.learning import Checkpoints, LearningSettings
from dynabench.models.training.mixing import Mix, MixPart
from dynabench.models.training.networks import Labelling
from dynabench.models.training.rows import TrainingRow
from experiments.simulation.task_data import IntArray, LabelledRows
from experiments.simulation.text_vectors import ProgressCallback
from experiments.simulation.training_methods import Features, Probabilities, TrainingMethod

EPOCHS = 4.0
"""Largest number of epochs, of a few hundred rows each."""
PATIENCE = 3


class AdapterMethod(TrainingMethod[Labelling]):
    """Adapters as `dynabench train --method lora` trains them, on a graphics processor where there is one."""

    description = (
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
    execution = "adapters on all cores"

    def embed(self, rows: LabelledRows, folder: Path, report_progress: ProgressCallback) -> Features:
        """Return the texts themselves: the encoder is trained, so no vector of it can be stored."""
        texts = np.empty(len(rows), object)
        texts[:] = rows.texts
        return texts

    def fit(self, features: Features, labels: IntArray, development: tuple[Features, IntArray], seed: int) -> Labelling:
        """Train an adapter and return it as it was at its best evaluation."""
        data = self.data
        rows, development_rows = self._rows(features, labels), self._rows(*development)
        mix = Mix(data.task, data.fields, "label", data.labels, [MixPart("collected", rows)], development_rows)
        settings = LearningSettings(seed=seed, epochs=EPOCHS, patience=PATIENCE)
        safe_mix = mixing.guarded(mix, seed).mix
        descent = run_descent(safe_mix, settings, Checkpoints(None, ""), lambda *_: None)
        return cast(Labelling, descent.network)

    def predict(self, model: Labelling, features: Features) -> Probabilities:
        """Return a model's probabilities; inputs of similar length are computed together."""
        no_labels = np.zeros(len(features), np.int64)
        return model.shares(model.read(self._rows(features, no_labels)))

    def _rows(self, features: Features, labels: IntArray) -> list[TrainingRow]:
        return [
            TrainingRow(dict(zip(self.data.fields, texts, strict=True)), self.data.labels[label])
            for texts, label in zip(features.tolist(), labels.tolist(), strict=True)
        ]
