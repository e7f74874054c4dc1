"""The strip at once: one forward and one backward pass."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dynabench.models.attribution.fields import by_word
from dynabench.models.backends.network import pad
from dynabench.models.backends.pieces import Pieces
from dynabench.models.protocol import Attribution, Card

if TYPE_CHECKING:
    from dynabench.models.backends.adapter import Explainable

METHOD = "gradient"


def log_odds(logits: Tensor, label: int) -> Tensor:
    """Log-odds (B,) of a label against all others, of logits (B, labels): what both methods explain."""
    others = torch.cat([logits[:, :label], logits[:, label + 1 :]], -1)
    return logits[:, label] - torch.logsumexp(others, -1)


def explain(model: "Explainable", pieces: Pieces, card: Card, label: str) -> Attribution:
    """Gradient of the label's log-odds times the embedding, summed per word."""
    ids, types, mask = pad([pieces])
    embeddings = model.layer(ids).detach().requires_grad_()
    value = log_odds(model.logits(embeddings, types, mask), card.labels.index(label))
    (slope,) = torch.autograd.grad(value.sum(), embeddings)
    weights = (slope * embeddings).sum(-1)[0].tolist()
    return Attribution(METHOD, label, by_word(pieces, card.inputs, weights))
