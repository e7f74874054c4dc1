"""The strip on demand: Captum's layer integrated gradients over the word embeddings, with its completeness error."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dynabench.models.attribution.fields import Asked, by_word
from dynabench.models.backends.network import pad
from dynabench.models.backends.pieces import CLS, MASK, SEP
from dynabench.models.protocol import Attribution

if TYPE_CHECKING:
    from dynabench.models.backends.pool import Explainable

METHOD = "layer_integrated_gradients"
STEPS = (24, 64, 128)
"""Points of the path, tried in order until the completeness error is small enough; 24 do for most inputs."""
ENOUGH = 0.05
PIECES = 12_800
"""Pieces of all points together, beyond which no further number of steps is tried: some five seconds on two cores."""
AT_ONCE = 8
"""Points of the path in one forward pass: predictions wait for no more than that."""


def explain(model: "Explainable", asked: Asked) -> Attribution:
    """Integrated gradients from the same input with every word masked, summed per word.

    The completeness error is relative to the difference of the asked value between input and baseline, as measured at
    the last number of steps tried.
    """
    from captum.attr import LayerIntegratedGradients

    ids, types, mask = pad([asked.pieces])

    def forward(ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        return asked.value(model.logits(model.layer(ids), types, mask))

    method = LayerIntegratedGradients(forward, model.layer)
    baseline = torch.where((ids == CLS) | (ids == SEP), ids, MASK)
    with torch.no_grad():
        ends = forward(torch.cat([ids, baseline]), types.repeat(2, 1), mask.repeat(2, 1))
    difference = float(ends[0] - ends[1])
    weights, error = torch.zeros(0), 1.0
    for steps in STEPS:
        if steps > STEPS[0] and steps * len(asked.pieces) > PIECES:
            break
        parts = method.attribute(
            ids,
            baselines=baseline,
            additional_forward_args=(types, mask),
            n_steps=steps,
            method="gausslegendre",
            internal_batch_size=AT_ONCE,
        )
        weights = parts.detach().sum(-1)[0]
        error = abs(float(weights.sum()) - difference) / max(abs(difference), 1e-6)
        if error < ENOUGH:
            break
    return Attribution(METHOD, asked.label, by_word(asked.pieces, asked.fields, weights.tolist()), round(error, 6))
