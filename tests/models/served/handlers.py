"""Handlers that TorchServe runs in the tests: a linear classifier in torch, and handlers that answer nonsense."""

import json

import torch

LABELS = ("negative", "neutral", "positive")
GOOD, BAD = ("good", "great", "fine"), ("bad", "awful", "dull")


def _text(row):
    body = row.get("data") or row.get("body")
    body = body.decode() if isinstance(body, bytes | bytearray) else body
    return body["statement"] if isinstance(body, dict) else json.loads(body)["statement"] if body[:1] == "{" else body


def classify(data, context):
    """Log-odds from a count of words, then a softmax: probabilities by label, for each row of a batch."""
    if data is None:
        return None
    counts = [[sum(_text(row).lower().count(word) for word in words) for words in (BAD, (), GOOD)] for row in data]
    odds = torch.softmax(2.0 * torch.tensor(counts, dtype=torch.float32), -1)
    return [dict(zip(LABELS, row, strict=True)) for row in odds.tolist()]


def plain(data, context):
    """A label as text."""
    return None if data is None else ["positive" for _ in data]


def broken(data, context):
    """Fails on every input."""
    if data is not None:
        raise ValueError("no such tensor")
