"""Attributions of models over the shared encoder by gradients."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dynabench.models.backends.body import pad
from dynabench.models.backends.pieces import CLS, MASK, SEP, Pieces
from dynabench.models.protocol import Attribution, WordWeight

if TYPE_CHECKING:
    from dynabench.models.backends.pool import Explainable


@dataclass(frozen=True)
class ExplainedWindow:
    """The subject of an explanation: one window of pieces and the label to explain.

    `value` (B,) is what the head says of the window, `label` its name.
    """

    pieces: Pieces
    fields: Sequence[str]
    label: str
    value: Callable[[Tensor], Tensor]


def by_word(pieces: Pieces, names: Sequence[str], weights: Sequence[float]) -> dict[str, list[WordWeight]]:
    """Words of each field with the sum of their pieces' weights, scaled so that the largest magnitude is 1.

    `weights` has one entry a piece; the encoder's own marks are left out. Words that were cut off weigh 0.
    """
    sums = [[0.0] * len(words) for words in pieces.words]
    for owner, weight in zip(pieces.owner, weights, strict=True):
        if owner is not None:
            sums[owner[0]][owner[1]] += weight
    largest = max((abs(weight) for field in sums for weight in field), default=0.0) or 1.0
    return {
        name: [
            WordWeight(word.text, word.start, word.end, weight / largest)
            for word, weight in zip(words, field, strict=True)
        ]
        for name, words, field in zip(names, pieces.words, sums, strict=True)
    }


GRADIENT = "gradient"
POINTS = (0.2113248654051871, 0.7886751345948129)
"""Gauss-Legendre points on [0, 1]; both weigh one half."""


def log_odds(logits: Tensor, label: int) -> Tensor:
    """Log-odds (B,) of a label against all others, of logits (B, labels): what both methods explain."""
    others = torch.cat([logits[:, :label], logits[:, label + 1 :]], -1)
    return logits[:, label] - torch.logsumexp(others, -1)


def explain_by_gradient(model: "Explainable", subject: ExplainedWindow) -> Attribution:
    """Mean gradient of the asked value with respect to the words' gates, summed per word."""
    pieces = subject.pieces
    ids, types, _ = pad([pieces] * len(POINTS))
    rise = torch.tensor(POINTS).unsqueeze(1)
    ours = torch.tensor([owner is not None for owner in pieces.owner])
    gates = torch.where(ours, rise, 1.0).requires_grad_()
    value = subject.value(model.gated(ids, types, gates))
    (slope,) = torch.autograd.grad(value.mean(), gates)
    return Attribution(GRADIENT, subject.label, by_word(pieces, subject.fields, slope.sum(0).tolist()))


INTEGRATED = "layer_integrated_gradients"
STEPS = (24, 64, 128)
"""Points of the path, tried in order until the completeness error is small enough; 24 do for most inputs."""
ENOUGH = 0.05
PIECES = 12_800
"""Pieces of all points together, beyond which no further number of steps is tried: some five seconds on two cores."""
AT_ONCE = 8
"""Points of the path in one forward pass: predictions wait for no more than that."""


def explain_by_integration(model: "Explainable", subject: ExplainedWindow) -> Attribution:
    """Integrated gradients from the same input with every word masked, summed per word.

    The completeness error is relative to the difference of the asked value between input and baseline, as measured at
    the last number of steps tried.
    """
    from captum.attr import LayerIntegratedGradients

    ids, types, mask = pad([subject.pieces])

    def forward(ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        return subject.value(model.logits(model.layer(ids), types, mask))

    method = LayerIntegratedGradients(forward, model.layer)
    baseline = torch.where((ids == CLS) | (ids == SEP), ids, MASK)
    with torch.no_grad():
        ends = forward(torch.cat([ids, baseline]), types.repeat(2, 1), mask.repeat(2, 1))
    difference = float(ends[0] - ends[1])
    weights, error = torch.zeros(0), 1.0
    for steps in STEPS:
        if steps > STEPS[0] and steps * len(subject.pieces) > PIECES:
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
    return Attribution(
        INTEGRATED, subject.label, by_word(subject.pieces, subject.fields, weights.tolist()), round(error, 6)
    )


METHODS = {GRADIENT: explain_by_gradient, INTEGRATED: explain_by_integration}
