"""What text and JSON every database and UTF-8 can hold, whoever sent it: a browser, a file or a model."""

import re
from collections.abc import Iterator

UNSTORABLE = re.compile("[\0\ud800-\udfff]")
DEEPEST = 32
"""Levels of nested JSON; no field of a task needs more than three."""


def unstorable(value: object) -> Iterator[str]:
    """Dotted names of what cannot be kept: NUL and halves of surrogate pairs (PostgreSQL and UTF-8 refuse them), and
    anything nested deeper than `DEEPEST`.
    """
    todo: list[tuple[str, object, int]] = [("", value, 0)]
    while todo:
        name, part, depth = todo.pop()
        if depth > DEEPEST:
            yield name
        elif isinstance(part, str):
            if UNSTORABLE.search(part):
                yield name or "body"
        elif isinstance(part, dict):
            todo += [(name, key, depth) for key in part]
            todo += [(f"{name}.{key}" if name else str(key), inner, depth + 1) for key, inner in part.items()]
        elif isinstance(part, list):
            todo += [(f"{name}.{index}" if name else str(index), inner, depth + 1) for index, inner in enumerate(part)]


def printable(name: str) -> str:
    """A name that somebody sent, safe to send back: at most 100 characters of valid Unicode."""
    return UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", name[:100])
