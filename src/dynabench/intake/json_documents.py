"""The rows of one JSON document, read as it comes: those of a list, of the list `data` in an object, or the object."""

import codecs
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _

PIECE = 1024**2  # characters
LONGEST_MEMBER = 64 * 1024**2  # of one member, such as an article with all its questions
ROWS_MEMBER = "data"  # the member that holds the rows, in SQuAD and files like it
_SPACE = " \t\r\n"
_ENDS = frozenset(_SPACE + ",]}")  # what a number ends at


class _Text:
    """A document as far as it has been read."""

    def __init__(self, stream: BinaryIO) -> None:
        self.decoded = codecs.iterdecode(iter(lambda: stream.read(PIECE), b""), "utf-8-sig")
        self.text, self.at = "", 0
        self.decoder = json.JSONDecoder()

    def more(self) -> bool:
        """Read on, as much again as is here, so that a long member is not tried too often; False at the end."""
        rest, expected = [self.text[self.at :]], max(len(self.text) - self.at, 1)
        if expected > LONGEST_MEMBER:
            raise errors.TooLarge(
                _("A member of this JSON document is longer than %(most)s characters.", most=f"{LONGEST_MEMBER:,}")
            )
        while expected > 0 and (some := next(self.decoded, "")):
            rest.append(some)
            expected -= len(some)
        grown = len(rest) > 1
        self.text, self.at = "".join(rest), 0
        return grown

    def peek(self) -> str:
        """The next character that is no space; nothing at the end."""
        while True:
            while self.at < len(self.text):
                if self.text[self.at] not in _SPACE:
                    return self.text[self.at]
                self.at += 1
            if not self.more():
                return ""

    def take(self, expected: str) -> bool:
        """Pass over a character, if it is the next one."""
        if self.peek() == expected:
            self.at += 1
            return True
        return False

    def value(self) -> Any:
        """The next value. Raises `ValueError` where there is none, `RecursionError` for one nested too deeply."""
        self.peek()
        while True:
            try:
                parsed, end = self.decoder.raw_decode(self.text, self.at)
            except ValueError:
                if not self.more():
                    raise
                continue
            if isinstance(parsed, int | float) and self.text[end : end + 1] not in _ENDS and self.more():
                continue  # the number may go on
            self.at = end
            return parsed


def read_json_document(stream: BinaryIO) -> Iterator[FileRow]:
    """Yield the rows of a document, numbered from 1; the last one tells where it is no JSON any more."""
    number = 0
    try:
        for member in read_members(stream):
            number += 1
            is_object = isinstance(member, dict)
            yield FileRow(number, member) if is_object else FileRow(number, None, _("This is not a JSON object."))
    except (ValueError, RecursionError):
        yield FileRow(number + 1, None, _("From here on, this is not valid JSON in UTF-8."))


def read_members(stream: BinaryIO) -> Iterator[Any]:
    """Yield the rows of a document. Raises `ValueError` or `RecursionError` where it is no JSON any more."""
    text = _Text(stream)
    if text.peek() != "{":
        yield from _listed(text) if text.take("[") else [text.value()]
    else:
        while text.peek() == "{":  # files of JSON lines are also called .json
            yield from _of_object(text)
    if text.peek():
        raise ValueError("There is more after the document.")


def _listed(text: _Text) -> Iterator[Any]:
    while not text.take("]"):
        yield text.value()
        if not text.take(",") and text.peek() != "]":
            raise ValueError("A list ends early.")


def _of_object(text: _Text) -> Iterator[Any]:
    text.take("{")
    seen: dict[str, Any] = {}
    listed = False
    while not text.take("}"):
        name = text.value()
        if not isinstance(name, str) or not text.take(":"):
            raise ValueError("An object's member has no name.")
        if name == ROWS_MEMBER and text.take("["):
            listed = True
            yield from _listed(text)
        else:
            seen[name] = text.value()
        if not text.take(",") and text.peek() != "}":
            raise ValueError("An object ends early.")
    if not listed:
        yield seen
