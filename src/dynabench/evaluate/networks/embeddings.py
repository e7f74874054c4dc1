"""Contextual embeddings of the tokens of texts."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.networks.batches import token_limit
from dynabench.evaluate.networks.checkpoints import LoadedModel, ask_function


class EmbeddedText(NamedTuple):
    """A text's T tokens, their vectors of length 1, shape (T, D), and which of them are no special tokens, (T,)."""

    tokens: tuple[Hashable, ...]
    vectors: Floats
    own: NDArray[np.bool_]


def embed_by_transformers(model: LoadedModel, texts: Sequence[str], layer: int, batch_size: int) -> list[EmbeddedText]:
    """Return embeddings after `layer` of the model's encoder (0: the input embeddings); each text runs once.

    Texts are cut at the model's limit. Raises ValueError for a layer that the model does not have.
    """
    import torch

    layer_count = int(model.model.config.num_hidden_layers)
    if not 0 <= layer <= layer_count:
        raise ValueError(f"num_layers={layer}: the model has {layer_count} layers")
    different = sorted(set(texts), key=lambda text: (-len(text), text))
    by_text: dict[str, EmbeddedText] = {}
    encoder = model.model.get_encoder() if model.model.config.is_encoder_decoder else model.model
    for start in range(0, len(different), batch_size):
        part = different[start : start + batch_size]
        batch = _encode(model, part)
        special = batch.pop("special_tokens_mask").bool().numpy()
        mask = batch["attention_mask"].bool().numpy()
        with torch.inference_mode():
            read = encoder(**batch.to(encoder.device), output_hidden_states=True)
        vectors = read.hidden_states[layer].double().cpu().numpy()
        ids = batch["input_ids"].cpu().numpy()
        for row, text in enumerate(part):
            unpadded = mask[row]
            by_text[text] = EmbeddedText(
                tuple(ids[row][unpadded].tolist()), _unit(vectors[row][unpadded]), ~special[row][unpadded]
            )
    return [by_text[text] for text in texts]


def embed_by_function(function: Any, texts: Sequence[str]) -> list[EmbeddedText]:
    """Return embeddings from a function of texts to {"tokens": ..., "vectors": ...}; no token is special.

    Raises ValueError for another answer, or not one vector of one length for each token.
    """
    different = list(dict.fromkeys(texts))
    by_text = {}
    for text, answer in zip(different, ask_function(function, different, "tokens and vectors"), strict=True):
        if not isinstance(answer, Mapping) or {"tokens", "vectors"} - answer.keys():
            raise ValueError(f'the model gave {answer!r:.80} for {text!r:.40}; it has to give {{"tokens", "vectors"}}')
        tokens = tuple(answer["tokens"])
        vectors = np.asarray(answer["vectors"], float)
        if not len(tokens):
            vectors = vectors.reshape(0, 1)
        if vectors.ndim != 2 or len(vectors) != len(tokens) or not np.isfinite(vectors).all():
            raise ValueError(f"the model has to give one vector of numbers for each of the tokens of {text!r:.40}")
        by_text[text] = EmbeddedText(tokens, _unit(vectors), np.ones(len(tokens), bool))
    return [by_text[text] for text in texts]


def _encode(model: LoadedModel, texts: Sequence[str]) -> Any:
    tokenizer = model.tokenizer
    longest = token_limit(model)
    if tokenizer.pad_token is None:
        raise ValueError("the tokenizer has no padding token; set one (tokenizer.pad_token) and give the pair")
    return tokenizer(
        [text.strip() for text in texts],
        padding=True,
        truncation=longest is not None,
        max_length=longest,
        return_special_tokens_mask=True,
        return_tensors="pt",
        verbose=False,
    )


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    result: Floats = vectors / np.where(lengths > 0, lengths, 1)
    return result
