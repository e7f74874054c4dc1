"""The encoder's forward pass: BERT (Devlin et al., NAACL 2019), with query, key and value in one product, no padding
but in attention, and an adapter's low-rank products beside each linear layer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from dynabench.models.backends.layers import PRECISIONS, Linear, Make, takes
from dynabench.models.backends.lora import Delta, Deltas, Lora
from dynabench.models.backends.weights import Weights

GROUPS = (
    ("attention.self.query", "attention.self.key", "attention.self.value"),
    ("attention.output.dense",),
    ("intermediate.dense",),
    ("output.dense",),
)
"""The linear layers of a block; those of a group have one input."""
SHORT = 40
"""Pieces of a row up to which attention is computed for all heads at once."""
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")


@dataclass(frozen=True)
class Places:
    """Places of pieces in a batch: `rows` of up to `longest` pieces.

    `mask`, if any, is added to attention's logits (rows, heads or 1, longest or 1, longest). Where the
    pieces of all rows follow each other without padding, `spread` (rows * longest,) gives the piece that
    stands at each place, and `gather` (N,) the place at which each piece stands.
    """

    rows: int
    longest: int
    mask: Tensor | None = None
    spread: Tensor | None = None
    gather: Tensor | None = None

    def grid(self, states: Tensor) -> Tensor:
        """States (N, width) as (rows, longest, width)."""
        states = states if self.spread is None else states.index_select(0, self.spread)
        return states.view(self.rows, self.longest, -1)


@dataclass(frozen=True)
class Block:
    """One layer: its groups of linear layers, and weight and bias of its two norms."""

    groups: tuple[Linear, ...]
    norms: tuple[tuple[Tensor, Tensor], ...]


class Body:
    """The encoder in one precision of `layers.PRECISIONS`, which is that of linear layers; all else is fp32."""

    def __init__(self, weights: Weights, precision: str) -> None:
        self._heads = weights.heads
        self._epsilon = weights.epsilon
        self._words, self._positions, self._types = (
            weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        self._start = _norm(weights, "embeddings.LayerNorm")
        make = PRECISIONS[precision]
        self._dtype = takes(make)
        self._blocks = [_block(weights, index, make) for index in range(weights.layers)]

    def embed(self, words: Tensor, positions: Tensor, types: Tensor) -> Tensor:
        """First states (N, width) of word ids (N,) or word embeddings (N, width), positions (N,) and segments (N,)."""
        words = functional.embedding(words, self._words) if words.ndim == 1 else words
        states = words + self._positions[positions] + self._types[types]
        return self._norm(states, self._start)

    def fit(self, given: Sequence[Deltas]) -> list[Deltas]:
        """An adapter's deltas in this precision."""
        return [tuple(None if delta is None else delta.to(self._dtype) for delta in layer) for layer in given]

    def __call__(self, states: Tensor, places: Places, deltas: Sequence[Deltas]) -> Tensor:
        """Last hidden states (N, width) of first states (N, width), with an adapter's deltas for each layer."""
        for block, (joined, out, up, down) in zip(self._blocks, deltas, strict=True):
            seen = self._attention(_linear(states.to(self._dtype), block.groups[0], joined), places)
            states = self._norm(states + _linear(seen.to(self._dtype), block.groups[1], out), block.norms[0])
            wide = functional.gelu(_linear(states.to(self._dtype), block.groups[2], up))
            states = self._norm(states + _linear(wide, block.groups[3], down), block.norms[1])
        return states

    def _attention(self, joined: Tensor, places: Places) -> Tensor:
        grid = places.grid(joined).float().view(places.rows, places.longest, 3, self._heads, -1)
        query, key, value = grid.permute(2, 0, 3, 1, 4)
        seen = _attend(query, key, value, places.mask)
        flat = seen.transpose(1, 2).reshape(places.rows * places.longest, -1)
        return flat if places.gather is None else flat.index_select(0, places.gather)

    def _norm(self, states: Tensor, norm: tuple[Tensor, Tensor]) -> Tensor:
        return functional.layer_norm(states, states.shape[-1:], *norm, self._epsilon)


def _attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Attention (rows, heads, T, width) of states of that shape; for short rows all heads in one product.

    torch's fused kernel multiplies head by head, which takes up to a third longer where each is small.
    """
    rows, heads, longest, width = query.shape
    if longest > SHORT or not torch.is_inference_mode_enabled():
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    query, key, value = (states.reshape(rows * heads, longest, width) for states in (query, key, value))
    added = query.new_zeros(()) if mask is None else mask.expand(rows, heads, longest, longest).flatten(0, 1)
    odds = torch.baddbmm(added, query, key.transpose(1, 2), alpha=width**-0.5)
    return torch.bmm(odds.softmax(-1), value).view(rows, heads, longest, width)


def deltas(lora: Lora, layers: int) -> list[Deltas]:
    """Return the additions of an adapter, for each layer of the encoder."""
    names = [[[f"encoder.layer.{at}.{name}" for name in group] for group in GROUPS] for at in range(layers)]
    return [tuple(lora.delta(group) for group in groups) for groups in names]


def _block(weights: Weights, index: int, make: Make) -> Block:
    at = f"encoder.layer.{index}."
    groups = tuple(
        make(*(_joined([weights[f"{at}{name}.{part}"] for name in names]) for part in ("weight", "bias")))
        for names in GROUPS
    )
    return Block(groups, tuple(_norm(weights, at + name) for name in NORMS))


def _linear(states: Tensor, layer: Linear, delta: Delta | None) -> Tensor:
    output = layer(states)
    return output if delta is None else delta.add(states, output)


def _joined(parts: Sequence[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(list(parts))


def _norm(weights: Weights, name: str) -> tuple[Tensor, Tensor]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]
