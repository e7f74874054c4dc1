"""How near two texts are in meaning, as the shared sentence encoder sees it."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST = 256
"""Tokens of a text that are compared; the encoder was trained on no more."""
BATCH = 32


def cosines(text: str, others: Sequence[str]) -> list[float]:
    """The cosine between the embeddings of `text` and of each of `others`, from -1 to 1."""
    if not others:
        return []
    return [float(cosine) for cosine in embeddings(others) @ _one(text)]


def embeddings(texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors, shape (texts, width): the mean of the encoder's states over a text's tokens."""
    return np.concatenate([_encode(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)])


def word_vectors(tokens: Sequence[int]) -> NDArray[np.float32]:
    """The encoder's own embeddings of these tokens, before it reads them in their text; unit vectors, a row each."""
    table = _model().get_input_embeddings().weight.detach().numpy()[list(tokens)]
    return np.asarray(table / np.linalg.norm(table, axis=1, keepdims=True))


@lru_cache(64)
def _one(text: str) -> NDArray[np.float32]:
    return np.asarray(_encode([text])[0])


def _encode(texts: Sequence[str]) -> NDArray[np.float32]:
    from dynabench.models import encoder

    model = _model()
    import torch

    pieces = [each.ids[:LONGEST] for each in encoder.tokenizer().encode_batch(list(texts))]
    width = max(map(len, pieces))
    tokens = torch.tensor([ids + [0] * (width - len(ids)) for ids in pieces])
    mask = torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids in pieces])
    with torch.inference_mode():
        states = model(input_ids=tokens, attention_mask=mask).last_hidden_state
        mean = (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        found: NDArray[np.float32] = torch.nn.functional.normalize(mean, dim=1).numpy()
    return found


@cache
def _model() -> Any:
    from dynabench.models import encoder

    return encoder.load()
