"""Sentence embeddings by the shared encoder, where it is installed."""

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np

from dynabench.insight.data_measurements.sample import Embed, Floats
from dynabench.kit.settings import get_settings
from dynabench.models import encoder

PIECES, AT_ONCE = 256, 16


def embed() -> Embed | None:
    """A function from texts to vectors; None where no encoder is here: measuring downloads nothing."""
    here = bool(get_settings().encoder) or importlib.util.find_spec(encoder.PACKAGE) is not None
    return vectors if here and importlib.util.find_spec("torch") is not None else None


def vectors(texts: Sequence[str]) -> Floats:
    """The mean of each text's last states over its first 256 pieces, shape (n, width)."""
    import torch

    model, tokenizer = encoder.load(), encoder.tokenizer()
    parts: list[Any] = []
    with torch.inference_mode():
        for at in range(0, len(texts), AT_ONCE):
            ids = [encoding.ids[:PIECES] for encoding in tokenizer.encode_batch(list(texts[at : at + AT_ONCE]))]
            longest = max(map(len, ids))
            padded = torch.tensor([encoding + [0] * (longest - len(encoding)) for encoding in ids])
            mask = torch.tensor([[1] * len(encoding) + [0] * (longest - len(encoding)) for encoding in ids])
            states = model(input_ids=padded, attention_mask=mask).last_hidden_state * mask[..., None]
            parts.append((states.sum(1) / mask.sum(1, keepdim=True)).numpy())
    embeddings: Floats = np.concatenate(parts).astype(np.float64)
    return embeddings
