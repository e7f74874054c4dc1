"""Toxicity."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.networks.checkpoints import CheckpointModule, require_model
from dynabench.evaluate.networks.classifiers import class_probabilities
from dynabench.evaluate.states import Rows

AGGREGATIONS = ("all", "maximum", "ratio")


class Toxicity(CheckpointModule, Measurement):
    """Toxicity of texts: the probability of hate that a classifier gives."""

    columns = {"predictions": Texts()}

    def update(
        self,
        predictions: list[str],
        *,
        model: Any = None,
        toxic_label: str = "hate",
        batch_size: int = 32,
        device: str | None = None,
    ) -> Rows:
        """The score of each text, shape (n,)."""
        labels, label_probabilities = class_probabilities(
            require_model(model, self.name, "facebook/roberta-hate-speech-dynabench-r4-target"),
            predictions,
            batch_size,
            device,
        )
        if toxic_label not in labels:
            raise ValueError(
                f"no label is {toxic_label!r}; choose toxic_label: the model's labels are {', '.join(labels)}"
            )
        return Rows((label_probabilities[:, labels.index(toxic_label)],))

    def formula(
        self, total: tuple[Floats], *, aggregation: str | None = "all", threshold: float = 0.5
    ) -> dict[str, Floats]:
        """The mean, the highest or the share of scores at or above `threshold`; scores have shape (..., n)."""
        (scores,) = total
        if aggregation not in (*AGGREGATIONS, None):
            raise ValueError(f"no aggregation {aggregation!r}; there are {', '.join(AGGREGATIONS)}")
        if aggregation == "maximum":
            return {"max_toxicity": np.asarray(scores.max(-1))}
        if aggregation == "ratio":
            return {"toxicity_ratio": (scores >= threshold).mean(-1)}
        return {"mean_toxicity": scores.mean(-1)}

    def result(self, state: Rows, **options: Any) -> dict[str, Any]:
        """Return the aggregate; for "all" after the score of each text."""
        aggregate = super().result(state, **options)
        return {"toxicity": state.columns[0].tolist(), **aggregate} if "mean_toxicity" in aggregate else aggregate

    def per_example(self, state: Rows, **options: Any) -> dict[str, Any]:
        """The score of each text."""
        return {"toxicity": state.columns[0]}

    def compatible(self, result: dict[str, Any]) -> dict[str, Any]:
        """Without the mean."""
        return {key: value for key, value in result.items() if key != "mean_toxicity"}
