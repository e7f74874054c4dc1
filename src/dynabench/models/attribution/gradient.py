"""The strip at once: how the answer changes as words fade in, by one forward and one backward pass of two rows.

Each piece gets a gate between 0 (absent) and 1 (present), which weighs it wherever it is looked at: as a factor of its
attention weights and of its part in the mean of the hidden states. The gradient with respect to the gates says what a
word's presence does, which is what removing the word from the text undoes; gradients with respect to embeddings say
what another word in its place would do, and predict removals far worse (`docs/explanation/models.md` has figures).
The gates of all words rise together from 0 to 1 as in integrated gradients (Sundararajan, Taly and Yan, ICML 2017),
sampled at the two Gauss-Legendre points.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dynabench.models.attribution.fields import Asked, by_word
from dynabench.models.backends.network import pad
from dynabench.models.protocol import Attribution

if TYPE_CHECKING:
    from dynabench.models.backends.pool import Explainable

METHOD = "gradient"
POINTS = (0.2113248654051871, 0.7886751345948129)
"""Gauss-Legendre points on [0, 1]; both weigh one half."""


def log_odds(logits: Tensor, label: int) -> Tensor:
    """Log-odds (B,) of a label against all others, of logits (B, labels): what both methods explain."""
    others = torch.cat([logits[:, :label], logits[:, label + 1 :]], -1)
    return logits[:, label] - torch.logsumexp(others, -1)


def explain(model: "Explainable", asked: Asked) -> Attribution:
    """Mean gradient of the asked value with respect to the words' gates, summed per word."""
    pieces = asked.pieces
    ids, types, _ = pad([pieces] * len(POINTS))
    rise = torch.tensor(POINTS).unsqueeze(1)
    ours = torch.tensor([owner is not None for owner in pieces.owner])
    gates = torch.where(ours, rise, 1.0).requires_grad_()
    value = asked.value(model.gated(ids, types, gates))
    (slope,) = torch.autograd.grad(value.mean(), gates)
    return Attribution(METHOD, asked.label, by_word(pieces, asked.fields, slope.sum(0).tolist()))
