"""The network: one shared encoder with LoRA adapters, and a small head per adapter."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dynabench.models.backends.pieces import PAD, Pieces


class Head(nn.Module):
    """From hidden states to logits: first and mean state, one hidden layer."""

    def __init__(self, width: int, labels: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dense = nn.Linear(2 * width, width)
        self.out = nn.Linear(width, labels)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Logits (B, labels) of hidden states (B, T, width); `mask` (B, T) is 1 on pieces and 0 on padding.

        Values of `mask` between 0 and 1 weigh pieces in the mean.
        """
        weights = mask.to(states.dtype).unsqueeze(-1)
        mean = (states * weights).sum(1) / weights.sum(1).clamp_min(1e-6)
        features = self.dropout(torch.cat([states[:, 0], mean], -1))
        logits: Tensor = self.out(self.dropout(torch.tanh(self.dense(features))))
        return logits


def pad(batch: Sequence[Pieces]) -> tuple[Tensor, Tensor, Tensor]:
    """Ids, segments and mask, each (B, T) with T the longest input's pieces."""
    longest = max(len(pieces) for pieces in batch)
    ids = torch.full((len(batch), longest), PAD)
    types = torch.zeros((len(batch), longest), dtype=torch.long)
    mask = torch.zeros((len(batch), longest), dtype=torch.long)
    for row, pieces in enumerate(batch):
        ids[row, : len(pieces)] = torch.tensor(pieces.ids)
        types[row, : len(pieces)] = torch.tensor(pieces.types)
        mask[row, : len(pieces)] = 1
    return ids, types, mask


class SpanHead(nn.Module):
    """From hidden states to how well an answer begins and ends at each piece: one linear layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.out = nn.Linear(width, 2)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Logits (B, T, 2), start and end, of hidden states (B, T, width)."""
        logits: Tensor = self.out(states)
        return logits
