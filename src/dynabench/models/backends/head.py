"""Logistic heads over the frozen shared encoder: each text's mean state, and what two texts' states have in common.

Two texts are read one by one and related as in InferSent (Conneau et al., EMNLP 2017): u, v, |u - v| and u * v.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from dynabench.kit.errors import Invalid
from dynabench.models import spec
from dynabench.models.attribution import removal
from dynabench.models.backends.base import output
from dynabench.models.backends.encoded import Encoded, check, key_of
from dynabench.models.backends.pieces import Pieces, encode
from dynabench.models.backends.pool import Pool, shared_pool
from dynabench.models.protocol import Attribution, Card, Inputs, Output

LEAD = 1.0
"""Log-odds between the two likeliest labels below which the answer is computed again, exactly."""


class MeanHead(nn.Module):
    """The mean state of each text, and one linear layer over the features of all texts of an input."""

    def __init__(self, width: int, texts: int, labels: int) -> None:
        super().__init__()
        self.out = nn.Linear(width * (1 if texts == 1 else 4), labels)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Mean states (B, width) of hidden states (B, T, width), `mask` (B, T) being 1 on pieces."""
        return mean(states, mask)


def mean(states: Tensor, mask: Tensor) -> Tensor:
    """Mean states (B, width), of length 1."""
    weights = mask.to(states.dtype).unsqueeze(-1)
    return normalize((states * weights).sum(1) / weights.sum(1).clamp_min(1e-6), dim=-1)


def related(means: Sequence[Tensor]) -> Tensor:
    """Features (B, F) of the mean states (B, width) of one text or of two."""
    if len(means) == 1:
        return means[0]
    first, second = means
    return torch.cat([first, second, (first - second).abs(), first * second], -1)


@dataclass(frozen=True)
class Apart:
    """The pieces of each text, read one by one."""

    texts: tuple[Pieces, ...]

    def __len__(self) -> int:
        return sum(len(text) for text in self.texts)


def apart(inputs: Inputs, names: Sequence[str], max_length: int) -> Apart:
    """The pieces of each of the inputs."""
    return Apart(tuple(encode([inputs], [name], max_length)[0] for name in names))


class HeadModel(Encoded):
    """A classifier over one or two texts."""

    def __init__(self, card: Card, max_length: int, pool: Pool, key: str) -> None:
        super().__init__(card, pool, key)
        self._max_length = max_length

    @classmethod
    def load(cls, folder: Path, pool: Pool | None = None) -> "HeadModel":
        """Load a model folder into `pool`, by default the process's; raises `Invalid` when it is broken."""
        pool = pool or shared_pool()
        details, card = spec.read(folder), spec.card(folder)
        pool.add(key_of(card), folder, lambda width: MeanHead(width, len(card.inputs), len(card.labels)), adapted=False)
        return cls(card, details.max_length, pool, key_of(card))

    def prepare(self, inputs: Inputs) -> Apart:
        """Each input's word pieces."""
        return apart(check(inputs, self.card), self.card.inputs, self._max_length)

    def windows(self, prepared: Apart) -> Sequence[Pieces]:
        """Each text by itself."""
        return prepared.texts

    @torch.inference_mode()
    def read(self, prepared: Apart, said: Sequence[Tensor]) -> tuple[Output, bool]:
        """The likeliest label."""
        head: nn.Module = self._pool.head(self._key)
        assert isinstance(head, MeanHead)
        logits: Tensor = head.out(related([text.unsqueeze(0) for text in said]))[0]
        second, first = logits.sort().values[-2:]
        return output(self.card, logits.numpy()), bool(first - second >= LEAD)

    def predict(self, batch: Sequence[Inputs]) -> list[Output]:
        """One output per input, in order."""
        return self.answer([(self, self.prepare(inputs)) for inputs in batch])

    def attribute(self, inputs: Inputs, label: str, method: str, seconds: float | None = None) -> Attribution:
        """Weights of all words towards `label`, by taking words away; the best after `seconds`."""
        if label not in self.card.labels:
            raise Invalid({"label": f"One of {', '.join(self.card.labels)}."})
        return removal.explain(self, inputs, label, method, seconds or removal.SECONDS)
