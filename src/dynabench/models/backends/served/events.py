"""Server-sent events with a JSON document each, as streaming chat APIs send them (WHATWG HTML, section 9.2)."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from dynabench.kit.outgoing import Interrupted

LONGEST = 2**20
"""Bytes of one line."""
END = b"[DONE]"


def documents(parts: Iterable[bytes], host: str) -> Iterator[Any]:
    """The document of each event up to the end mark.

    Raises `Interrupted` for lines that are none, and at an end without the mark or a choice with a reason to finish.
    """
    finished = False
    for line in _lines(parts, host):
        name, _, value = line.partition(b":")
        if name != b"data":
            continue  # comments keep connections open; other fields say nothing here
        value = value.strip()
        if value == END:
            return
        try:
            document = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise Interrupted(f"{host} streams something that is no JSON.") from error
        if isinstance(document, dict) and document.get("error"):
            raise Interrupted(f"{host} broke its answer off with an error.")
        finished = finished or _finished(document)
        yield document
    if not finished:
        raise Interrupted(f"{host} broke its answer off.")


def _finished(document: Any) -> bool:
    choices = document.get("choices") if isinstance(document, dict) else None
    return isinstance(choices, list) and any(isinstance(one, dict) and one.get("finish_reason") for one in choices)


def _lines(parts: Iterable[bytes], host: str) -> Iterator[bytes]:
    rest = b""
    for part in parts:
        *lines, rest = (rest + part).replace(b"\r\n", b"\n").split(b"\n")
        yield from lines
        if len(rest) > LONGEST:
            raise Interrupted(f"{host} streams a line without an end.")
    yield rest
