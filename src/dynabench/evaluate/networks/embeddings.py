"""Contextual embeddings of the tokens of texts."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.networks.batches import reads
from dynabench.evaluate.networks.checkpoints import Loaded, asked


class Embedded(NamedTuple):
    """A text's T tokens, their vectors of length 1, shape (T, D), and which of them are no special tokens, (T,)."""

    tokens: tuple[Hashable, ...]
    vectors: Floats
    own: NDArray[np.bool_]


def by_transformers(model: Loaded, texts: Sequence[str], layer: int, batch_size: int) -> list[Embedded]:
    """Embeddings after `layer` of the model's encoder (0 are the inputs'); each text is read once.

    Texts are cut where the model reads no further. Raises ValueError for a layer that the model does not have.
    """
    import torch

    has = int(model.model.config.num_hidden_layers)
    if not 0 <= layer <= has:
        raise ValueError(f"num_layers={layer}: the model has {has} layers")
    different = sorted(set(texts), key=lambda text: (-len(text), text))
    found: dict[str, Embedded] = {}
    encoder = model.model.get_encoder() if model.model.config.is_encoder_decoder else model.model
    for start in range(0, len(different), batch_size):
        part = different[start : start + batch_size]
        batch = _encoded(model, part)
        special = batch.pop("special_tokens_mask").bool().numpy()
        mask = batch["attention_mask"].bool().numpy()
        with torch.inference_mode():
            read = encoder(**batch.to(encoder.device), output_hidden_states=True)
        vectors = read.hidden_states[layer].double().cpu().numpy()
        ids = batch["input_ids"].cpu().numpy()
        for row, text in enumerate(part):
            kept = mask[row]
            found[text] = Embedded(tuple(ids[row][kept].tolist()), _unit(vectors[row][kept]), ~special[row][kept])
    return [found[text] for text in texts]


def by_function(function: Any, texts: Sequence[str]) -> list[Embedded]:
    """Embeddings from a function of texts to {"tokens": ..., "vectors": ...} each; all tokens are the text's own.

    Raises ValueError where it gives anything else, or not one vector of one length for each token.
    """
    different = list(dict.fromkeys(texts))
    found = {}
    for text, answer in zip(different, asked(function, different, "tokens and vectors"), strict=True):
        if not isinstance(answer, Mapping) or {"tokens", "vectors"} - answer.keys():
            raise ValueError(f'the model gave {answer!r:.80} for {text!r:.40}; it has to give {{"tokens", "vectors"}}')
        tokens = tuple(answer["tokens"])
        vectors = np.asarray(answer["vectors"], float)
        if not len(tokens):
            vectors = vectors.reshape(0, 1)
        if vectors.ndim != 2 or len(vectors) != len(tokens) or not np.isfinite(vectors).all():
            raise ValueError(f"the model has to give one vector of numbers for each of the tokens of {text!r:.40}")
        found[text] = Embedded(tokens, _unit(vectors), np.ones(len(tokens), bool))
    return [found[text] for text in texts]


def _encoded(model: Loaded, texts: Sequence[str]) -> Any:
    tokenizer = model.tokenizer
    longest = reads(model)
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
