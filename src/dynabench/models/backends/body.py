"""The shared encoder: BERT's forward pass with LoRA adapters beside its linear layers, and small heads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from dynabench.models.backends.lora import Delta, Deltas, EncoderWeights, Lora
from dynabench.models.backends.pieces import PAD, Pieces

Linear = Callable[[Tensor], Tensor]
"""Maps (N, inputs) to (N, outputs)."""
Make = Callable[[Tensor, Tensor], Linear]
"""Makes such a layer of an fp32 weight (outputs, inputs) and bias (outputs,)."""


def plain(weight: Tensor, bias: Tensor) -> Linear:
    """As torch has it: the only one that gradients pass, and the one that needs no memory of its own."""
    return lambda states: functional.linear(states, weight, bias)


def packed(weight: Tensor, bias: Tensor) -> Linear:
    """By oneDNN, in the precision of the weight (outputs, inputs)."""
    blocks = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
    multiply = torch.ops.mkldnn._linear_pointwise.default
    return lambda states: multiply(states, blocks, bias, "none", [], "")


def short(weight: Tensor, bias: Tensor) -> Linear:
    """In bfloat16: by oneDNN where the processor has what that needs."""
    return (packed if _onednn() and torch.ops.mkldnn._is_mkldnn_bf16_supported() else plain)(
        weight.bfloat16(), bias.bfloat16()
    )


def quantised(weight: Tensor, bias: Tensor) -> Linear:
    """In int8: a scale for each output, and for the inputs a scale and a zero that are found anew for each call."""
    scales = (weight.abs().amax(1) / 127).clamp_min(1e-12)
    blocks = torch.ops.onednn.qlinear_prepack((weight / scales.unsqueeze(1)).round().to(torch.int8), None)
    zeros = torch.zeros(len(scales), dtype=torch.long)
    multiply = torch.ops.onednn.qlinear_pointwise.tensor

    def layer(states: Tensor) -> Tensor:
        least, most = states.aminmax()
        scale = ((most.clamp_min(0) - least.clamp_max(0)) / 255).clamp_min(1e-12)
        zero = (-least.clamp_max(0) / scale).round()
        whole = torch.addcdiv(zero, states, scale).round_().clamp_(0, 255).to(torch.uint8)
        arguments = (whole, scale.view(1), zero.to(torch.int32).view(1), blocks, scales, zeros, bias)
        result: Tensor = multiply(*arguments, 1.0, 0, torch.float32, "none", [], "")
        return result

    return layer


def fastest(weight: Tensor, bias: Tensor) -> Linear:
    """In fp32, by oneDNN where torch was built with it."""
    return (packed if _onednn() else plain)(weight, bias)


def _onednn() -> bool:
    return bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]


PRECISIONS: dict[str, Make] = {"exact": plain, "fp32": fastest, "bf16": short, "int8": quantised}
"""How linear layers are made of an fp32 weight and bias."""


def takes(make: Make) -> torch.dtype:
    """Return the dtype that a layer made by `make` reads and returns."""
    return torch.bfloat16 if make is short else torch.float32


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
class PiecePlaces:
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

    def __init__(self, weights: EncoderWeights, precision: str) -> None:
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

    def fit(self, adapter: Sequence[Deltas]) -> list[Deltas]:
        """An adapter's deltas in this precision."""
        return [tuple(None if delta is None else delta.to(self._dtype) for delta in layer) for layer in adapter]

    def __call__(self, states: Tensor, places: PiecePlaces, deltas: Sequence[Deltas]) -> Tensor:
        """Last hidden states (N, width) of first states (N, width), with an adapter's deltas for each layer."""
        for block, (joined, out, up, down) in zip(self._blocks, deltas, strict=True):
            seen = self._attention(_linear(states.to(self._dtype), block.groups[0], joined), places)
            states = self._norm(states + _linear(seen.to(self._dtype), block.groups[1], out), block.norms[0])
            wide = functional.gelu(_linear(states.to(self._dtype), block.groups[2], up))
            states = self._norm(states + _linear(wide, block.groups[3], down), block.norms[1])
        return states

    def _attention(self, joined: Tensor, places: PiecePlaces) -> Tensor:
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


def _block(weights: EncoderWeights, index: int, make: Make) -> Block:
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


def _norm(weights: EncoderWeights, name: str) -> tuple[Tensor, Tensor]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]
