"""Batches of texts as token ids for models of transformers."""

from collections.abc import Iterator, Sequence
from typing import Any

from dynabench.evaluate.networks.checkpoints import LoadedModel

ENDLESS = 1_000_000  # tokenizers without a limit say 1e30
COUNTED_FROM_PADDING = ("roberta", "camembert", "longformer", "mpnet", "esm", "data2vec-text")


def token_batches(
    model: LoadedModel, columns: Sequence[Sequence[str]], batch_size: int = 32, max_length: int | None = None
) -> Iterator[tuple[list[int], dict[str, Any]]]:
    """Yield numbers of rows, and the model's inputs for them, on its device.

    `columns` are one or two columns of n texts. Rows come sorted by length, the longest first, padded on the
    tokenizer's side, cut after `max_length` tokens (by default the model's limit). Raises ValueError for a batch
    size below 1.
    """
    import torch

    if batch_size < 1:
        raise ValueError(f"batch_size={batch_size}: give 1 or more")
    if not len(columns[0]):
        return
    longest = max_length or token_limit(model)
    encoding = model.tokenizer(*map(list, columns), truncation=longest is not None, max_length=longest, verbose=False)
    sizes = [len(ids) for ids in encoding["input_ids"]]
    order = sorted(range(len(sizes)), key=lambda row: -sizes[row])
    step = batch_size if model.tokenizer.pad_token_id is not None else 1
    for start in range(0, len(order), step):
        rows = order[start : start + step]
        batch = {key: [values[row] for row in rows] for key, values in encoding.items()}
        padded = (
            model.tokenizer.pad(batch, return_tensors="pt")
            if step > 1
            else {key: torch.tensor(values) for key, values in batch.items()}
        )
        yield rows, {key: value.to(model.model.device) for key, value in padded.items()}


def token_limit(model: LoadedModel) -> int | None:
    """Return the number of tokens that the model reads, by its tokenizer or configuration; None without a limit."""
    config = model.model.config
    places = getattr(config, "max_position_embeddings", None)
    if places and any(name in str(getattr(config, "model_type", "")) for name in COUNTED_FROM_PADDING):
        places -= (config.pad_token_id or 0) + 1  # positions begin behind the number of the padding token
    limits = [size for size in (getattr(model.tokenizer, "model_max_length", None), places) if size]
    return min((int(size) for size in limits if 0 < size < ENDLESS), default=None)
