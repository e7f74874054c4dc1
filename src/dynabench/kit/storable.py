"""A check that text and JSON can be kept in every database and in UTF-8.

It applies to all senders alike: a browser, a file or a model.
"""

import re
from collections.abc import Iterator

UNSTORABLE = re.compile("[\0\ud800-\udfff]")
DEEPEST = 32
"""Levels of nested JSON; no field of a task needs more than three."""


def unstorable(value: object) -> Iterator[str]:
    """Dotted names of what cannot be kept: NUL and halves of surrogate pairs (PostgreSQL and UTF-8 refuse them), and
    anything nested deeper than `DEEPEST`.

    Takes little memory besides the value: the name of a part is put together only where it is needed.
    """
    open_parts: list[Iterator[tuple[str, object]]] = [iter([("", value)])]
    path: list[str] = []
    while open_parts:
        name, part = next(open_parts[-1], (None, None))
        if name is None:
            open_parts.pop()
            del path[-1:]
        elif len(open_parts) > DEEPEST + 1 or (isinstance(part, str) and UNSTORABLE.search(part)):
            yield _dotted([*path, name])
        elif isinstance(part, dict | list):
            path.append(name)
            if isinstance(part, dict):
                if any(isinstance(key, str) and UNSTORABLE.search(key) for key in part):
                    yield _dotted(path)
                open_parts.append((str(key), inner) for key, inner in part.items())
            else:
                open_parts.append((str(index), inner) for index, inner in enumerate(part))


def _dotted(path: list[str]) -> str:
    return ".".join(path[1:]) or "body"


def printable(name: str) -> str:
    """A name from a request, safe to send back: at most 100 characters of valid Unicode."""
    return UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", name[:100])
