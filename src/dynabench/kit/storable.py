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


class MemberCount:
    """Counts the members of a JSON text that comes in parts, and the names among them, before it is parsed.

    What stands within texts is not counted. Of a text that is no JSON the count holds up to the place where that shows,
    which is as far as a parser gets.
    """

    def __init__(self) -> None:
        self.members, self.names = 0, 0
        self._in_text = False
        self._escape = b""  # a backslash at the end of the last part

    def add(self, part: bytes) -> None:
        """Count the next part."""
        text = (self._escape + part).replace(b"\\\\", b"")
        self._escape = text[-1:] if text.endswith(b"\\") else b""
        pieces = text.removesuffix(b"\\").replace(b'\\"', b"").split(b'"')
        outside = b"".join(pieces[self._in_text :: 2])
        self.members += sum(map(outside.count, (b",", b"[", b"{")))
        self.names += outside.count(b":")
        self._in_text ^= len(pieces) % 2 == 0
