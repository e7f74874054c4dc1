"""A TorchServe handler over the same encoder, adapter and head as `sentiment-minilm`, as its builder might write it."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer

from dynabench.models.backends.body import Head

LABELS = ("negative", "neutral", "positive")
_loaded: dict[str, Any] = {}


def classify(data: list[dict[str, Any]], context: Any) -> list[dict[str, float]]:
    """One object from label to probability a request; TorchServe calls it once without data."""
    if not _loaded:
        folder = Path(context.system_properties["model_dir"])
        torch.set_num_threads(1)
        body = AutoModel.from_pretrained(folder).eval()
        head = Head(body.config.hidden_size, len(LABELS)).eval()
        head.load_state_dict({name: value.float() for name, value in load_file(folder / "head.safetensors").items()})
        _loaded.update(body=body, head=head, tokenizer=AutoTokenizer.from_pretrained(folder))
    if not data:
        return []
    texts = [item["body"]["statement"] for item in data]
    values = _loaded["tokenizer"](texts, padding=True, truncation=True, max_length=256, return_tensors="pt")
    with torch.inference_mode():
        states = _loaded["body"](**values).last_hidden_state
        rows = torch.softmax(_loaded["head"](states, values["attention_mask"]), -1)
    return [dict(zip(LABELS, row.tolist(), strict=True)) for row in rows]
