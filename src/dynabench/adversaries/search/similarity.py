"""Similarity of meaning, by the shared sentence encoder."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_TOKENS = 256
"""Tokens of a text that are compared; the encoder was trained on no more."""
BATCH = 32


def cosines(text: str, others: Sequence[str]) -> list[float]:
    """Return the cosine between the embeddings of `text` and of each of `others`, from -1 to 1."""
    if not others:
        return []
    return [float(cosine) for cosine in embeddings(others) @ _text_vector(text)]


def embeddings(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return unit vectors, shape (texts, width): the mean of the encoder's states over a text's tokens."""
    return np.concatenate([_encode(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)])


def word_vectors(tokens: Sequence[int]) -> NDArray[np.float32]:
    """Return the encoder's input embeddings of these tokens, without their text; unit vectors, a row each."""
    table = _encoder().get_input_embeddings().weight.detach().numpy()[list(tokens)]
    return np.asarray(table / np.linalg.norm(table, axis=1, keepdims=True))


@lru_cache(64)
def _text_vector(text: str) -> NDArray[np.float32]:
    return np.asarray(_encode([text])[0])


def _encode(texts: Sequence[str]) -> NDArray[np.float32]:
    from dynabench.models import encoder

    model = _encoder()
    import torch

    pieces = [encoding.ids[:MAX_TOKENS] for encoding in encoder.tokenizer().encode_batch(list(texts))]
    width = max(map(len, pieces))
    tokens = torch.tensor([ids + [0] * (width - len(ids)) for ids in pieces])
    mask = torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids in pieces])
    with torch.inference_mode():
        states = model(input_ids=tokens, attention_mask=mask).last_hidden_state
        mean = (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        vectors: NDArray[np.float32] = torch.nn.functional.normalize(mean, dim=1).numpy()
    return vectors


@cache
def _encoder() -> Any:
    from dynabench.models import encoder

    return encoder.load()
