"""A card's text in its parts, and changes of single values in its front matter that keep every other byte.

The front matter is what the hub takes for it: the text between the first two lines of three dashes. Changes are written
into the text at the places of their values. Each change is read again, and refused where any other value changed.
"""

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynabench.evaluate.cards.yaml_edits import EditError, TextEdit, apply_edits, edited_values, rewrite_key
from dynabench.evaluate.cards.yaml_text import CardError, dump_yaml, read_yaml, same_values

MAX_BYTES = 16 * 1024 * 1024
_BREAK = r"(?:\r\n|\r|\n)"
_FRONT = re.compile(
    rf"(?P<head>\s*---{_BREAK})(?P<block>.*?)(?P<rule>{_BREAK}---[ \t]*(?:\r\n|\n|\Z))",
    re.DOTALL,
)
_EMPTY_FRONT = re.compile(rf"(?P<head>\s*---{_BREAK})(?P<rule>---[ \t]*(?:\r\n|\n|\Z))")


@dataclass(frozen=True)
class CardText:
    """A card in parts; `head + block + tail` is its text. `block` is None where a card has no front matter."""

    head: str
    block: str | None
    tail: str

    def __str__(self) -> str:
        return self.head + (self.block or "") + self.tail

    @property
    def line_break(self) -> str:
        """The line ending of the front matter, else of the card."""
        for text in (self.head.lstrip(), self.block or "", self.tail):
            if match := re.search(_BREAK, text):
                return match[0]
        return "\n"

    def metadata(self) -> dict[str, Any]:
        """Return the values of the front matter, empty where there is none. Raises `CardError`."""
        values = read_yaml(self.block) if self.block is not None else None
        if values is None:
            return {}
        if not isinstance(values, dict):
            raise CardError("The front matter is not a mapping of keys to values.")
        return values

    def with_edits(self, key: str, edits: Sequence[TextEdit]) -> "CardText":
        """Return the card with edits to the value of one top-level key. Raises `CardError`.

        Where the text is written so that an edit has no place in it (aliases, braces over several lines), the key's
        value is written anew; its comments are lost then, and nothing else.
        """
        if not edits:
            return self
        values = self.metadata()
        expected = edited_values(deepcopy(values), edits)
        if self.block is None:
            return self._with_front_matter(expected)
        attempts: tuple[Callable[[str], str], ...] = (
            lambda block: apply_edits(block, edits, self.line_break),
            lambda block: rewrite_key(block, key, expected[key], self.line_break),
        )
        for attempt in attempts:
            try:
                changed = CardText(self.head, attempt(self.block), self.tail)
                if same_values(changed.metadata(), expected) and split_card(str(changed)).block == changed.block:
                    return changed
            except (EditError, CardError):
                continue
        return self._with_key_first(key, values, expected)

    def _with_key_first(self, key: str, values: dict[str, Any], expected: dict[str, Any]) -> "CardText":
        """Return the card with a new key before the others: behind the last, a block of text would change."""
        if key not in values:
            written = dump_yaml({key: expected[key]}, self.line_break)
            ordered = {key: expected[key]} | values
            changed = CardText(self.head, written + (self.block or ""), self.tail)
            try:
                if same_values(changed.metadata(), ordered) and split_card(str(changed)).block == changed.block:
                    return changed
            except CardError:
                pass
        raise CardError(
            f"The front matter is written so that {key} cannot be changed without changing other values; "
            "write its last key on lines of its own, without braces or aliases."
        )

    def _with_front_matter(self, values: dict[str, Any]) -> "CardText":
        end = self.line_break
        block = dump_yaml(values, end).removesuffix(end)
        if self.head:  # two rules with nothing between them
            return CardText(self.head, block, end + self.tail)
        mark = "\ufeff" if self.tail.startswith("\ufeff") else ""
        body = self.tail.removeprefix("\ufeff")
        return CardText(f"{mark}---{end}", block, f"{end}---{end}{body}")

    def with_value(self, key: str, value: Any) -> "CardText":
        """Return the card with another value of a top-level key. Raises `CardError`."""
        values = self.metadata()
        if key in values and same_values(values[key], value):
            return self
        return self.with_edits(key, [TextEdit((key,), value)])


def split_card(text: str) -> CardText:
    """Return a card's parts as the hub sees them; a byte order mark belongs to the head."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix("\ufeff")
    if empty := _EMPTY_FRONT.match(body):
        return CardText(mark + empty["head"], None, body[len(empty["head"]) :])
    if match := _FRONT.match(body):
        return CardText(mark + match["head"], match["block"], body[match.end("block") :])
    return CardText("", None, text)


def decode_card(content: bytes) -> str:
    """Return a card's text with its line endings and its byte order mark. Raises `CardError`."""
    if len(content) > MAX_BYTES:
        raise CardError(f"The card has {len(content):,} bytes; at most {MAX_BYTES:,} are read.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CardError(f"The card is not UTF-8 text (byte {error.start}).") from None


def load_card(path: Path) -> CardText:
    """Read a card from a file. Raises `CardError`."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CardError(f"{path} cannot be read: {error.strerror}.") from None
    return split_card(decode_card(content))
