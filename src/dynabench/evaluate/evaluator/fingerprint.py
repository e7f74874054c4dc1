"""Fingerprints of content: different fingerprints mean different content."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

SAMPLED = 64  # values of each weight that are looked at: all of a large model's would take minutes


def fingerprint_value(value: Any) -> str:
    """Return 16 hex digits of the SHA-256 of a value.

    Values are texts, numbers, arrays, images, and lists and dictionaries of them.
    """
    digest = hashlib.sha256()
    _feed(digest, value)
    return digest.hexdigest()[:16]


def fingerprint_rows(rows: Iterable[Any]) -> str:
    """Return 16 hex digits of all rows in order; one row at a time is held in memory."""
    digest = hashlib.sha256()
    for row in rows:
        _feed(digest, row)
    return digest.hexdigest()[:16]


def fingerprint_network(model: Any) -> str:
    """Return 16 hex digits of a torch model: its class, configuration, and a sample of each of its weights."""
    parts: list[Any] = [type(model).__qualname__]
    config: Any = getattr(model, "config", None)
    if hasattr(config, "to_dict"):
        parts.append(json.dumps(config.to_dict(), sort_keys=True, default=str))
    for name, weight in model.state_dict().items():
        flat = weight.detach().reshape(-1)
        step = max(flat.numel() // SAMPLED, 1)
        parts += [name, str(tuple(weight.shape)), flat[::step].double().cpu().numpy()]
    return fingerprint_value(parts)


def fingerprint_tokenizer(tokenizer: Any) -> str:
    """Return 16 hex digits of a tokenizer or feature extractor: its vocabulary and settings."""
    if hasattr(tokenizer, "backend_tokenizer"):
        return fingerprint_value(tokenizer.backend_tokenizer.to_str())
    if hasattr(tokenizer, "get_vocab"):
        return fingerprint_value(sorted(tokenizer.get_vocab().items()))
    settings = tokenizer.to_dict() if hasattr(tokenizer, "to_dict") else {}
    return fingerprint_value([type(tokenizer).__qualname__, json.dumps(settings, sort_keys=True, default=str)])


def _feed(digest: Any, value: Any) -> None:
    """Kind and length go before each content, so that no two values run into one."""
    if isinstance(value, Mapping):
        digest.update(f"d{len(value)}:".encode())
        for key in value:
            _feed(digest, key)
            _feed(digest, value[key])
    elif isinstance(value, str | Path):
        content = str(value).encode("utf-8", "surrogatepass")
        digest.update(f"s{len(content)}:".encode() + content)
    elif isinstance(value, np.ndarray):
        digest.update(f"a{value.dtype}{value.shape}:".encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, bytes):
        digest.update(f"b{len(value)}:".encode() + value)
    elif isinstance(value, Sequence):
        digest.update(f"l{len(value)}:".encode())
        for item in value:
            _feed(digest, item)
    elif hasattr(value, "tobytes") and hasattr(value, "size"):
        _feed(digest, [str(value.size), value.tobytes()])
    else:
        _feed(digest, repr(value))
