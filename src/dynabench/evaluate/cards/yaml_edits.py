"""Edits of single values in YAML text: one value replaced, a key or items of a list added, all else as it was."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import yaml

from dynabench.evaluate.cards.yaml_text import CardError, compose_yaml, dump_yaml

ValuePath = tuple[str | int, ...]
"""Keys and places from the top, such as `("model-index", 0, "results")`."""


class EditError(Exception):
    """The text has no place for an edit."""


@dataclass(frozen=True)
class TextEdit:
    """One change: `set` gives the value at `path` (a missing last key is added), `append` adds an item to a list."""

    path: ValuePath
    value: Any
    kind: Literal["set", "append"] = "set"


def edited_values(values: Any, edits: Sequence[TextEdit]) -> Any:
    """Return the document with all edits; `values` itself is changed."""
    for edit in edits:
        inner = values
        for part in edit.path if edit.kind == "append" else edit.path[:-1]:
            inner = inner[part]
        if edit.kind == "append":
            inner.append(edit.value)
        else:
            inner[edit.path[-1]] = edit.value
    return values


def apply_edits(text: str, edits: Sequence[TextEdit], line_break: str) -> str:
    """Return the text with all edits in place. Raises `EditError` where one has no place, and `CardError`."""
    root = compose_yaml(text)
    # From behind, also among those at one place: what is added there keeps the order of the edits.
    splices = [_splice(text, root, edit, line_break) for edit in reversed(edits)]
    result, after = text, len(text) + 1
    for start, end, new in sorted(splices, key=lambda splice: splice[0], reverse=True):
        if end > after:
            raise EditError
        result, after = result[:start] + new + result[end:], start
    return result


def rewrite_key(text: str, key: str, value: Any, line_break: str) -> str:
    """Return the text with the whole value of a top-level key written anew. Raises `EditError`, `CardError`."""
    root = compose_yaml(text)
    pair = _pair(root, key)
    if not isinstance(root, yaml.MappingNode) or root.flow_style or pair is None:
        raise EditError
    start, end = pair[0].start_mark.index, _line_end(text, _content_end(text, pair[1]))
    written = _indented(dump_yaml({key: value}, line_break), " " * pair[0].start_mark.column, line_break)
    return text[:start] + written.lstrip(" ") + text[end:]


def _splice(text: str, root: yaml.Node | None, edit: TextEdit, line_break: str) -> tuple[int, int, str]:
    if edit.kind == "append":
        return _appended(text, _node(root, edit.path), edit.value, line_break)
    parent = _node(root, edit.path[:-1]) if edit.path[:-1] else root
    key = edit.path[-1]
    if parent is None and isinstance(key, str):  # comments alone
        written = dump_yaml({key: edit.value}, line_break).removesuffix(line_break)
        return len(text), len(text), line_break + written
    node = _child(parent, key)
    if node is not None:
        return _replaced(text, node, edit.value)
    if not isinstance(parent, yaml.MappingNode) or not isinstance(key, str):
        raise EditError
    return _added(text, parent, key, edit.value, line_break)


def _replaced(text: str, node: yaml.Node, value: Any) -> tuple[int, int, str]:
    """Replace a value on one line by another."""
    start, end = node.start_mark.index, node.end_mark.index
    written = text[start:end]
    if not isinstance(node, yaml.ScalarNode) or node.style in ("|", ">") or not written.strip():
        raise EditError
    if isinstance(value, dict | list) or re.search(r"[\r\n]", written):
        raise EditError
    return start, start + len(written.rstrip()), _one_line(value)


def _added(text: str, parent: yaml.MappingNode, key: str, value: Any, line_break: str) -> tuple[int, int, str]:
    if not parent.value:
        raise EditError
    if parent.flow_style:
        end = _content_end(text, parent.value[-1][1])
        return end, end, f", {_one_line(key)}: {_flow(value)}"
    first, last = parent.value[0][0], parent.value[-1][1]
    end = _line_end(text, _content_end(text, last))
    indent = " " * first.start_mark.column
    written = dump_yaml({key: value}, line_break)
    return end, end, line_break + _indented(written, indent, line_break)


def _appended(text: str, node: yaml.Node, item: Any, line_break: str) -> tuple[int, int, str]:
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        raise EditError
    if node.flow_style:
        end = _content_end(text, node.value[-1])
        return end, end, f", {_flow(item)}"
    end = _line_end(text, _content_end(text, node.value[-1]))
    indent = " " * node.start_mark.column
    return end, end, line_break + _indented(dump_yaml([item], line_break), indent, line_break)


def _indented(written: str, indent: str, line_break: str) -> str:
    lines = written.removesuffix(line_break).split(line_break)
    return line_break.join(indent + line if line else line for line in lines)


def _one_line(value: Any) -> str:
    written = dump_yaml([value]).removeprefix("- ").removesuffix("\n")
    if "\n" in written:
        raise EditError
    return written


def _flow(value: Any) -> str:
    written: str = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=1_000_000
    ).removesuffix("\n...\n")
    written = written.removesuffix("\n")
    if "\n" in written:
        raise EditError
    return written


def _content_end(text: str, node: yaml.Node) -> int:
    """Return where a node's text ends; of a block collection that is where its last value does."""
    while not getattr(node, "flow_style", True) and node.value:
        node = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
    start, end = node.start_mark.index, node.end_mark.index
    return int(start + len(text[start:end].rstrip()))


def _line_end(text: str, place: int) -> int:
    match = re.compile(r"[\r\n]").search(text, place)
    return match.start() if match else len(text)


def _node(root: yaml.Node | None, path: ValuePath) -> yaml.Node:
    node = root
    for part in path:
        node = _child(node, part)
    if node is None:
        raise EditError
    return node


def _child(node: yaml.Node | None, part: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode) and isinstance(part, str):
        pair = _pair(node, part)
        return pair[1] if pair else None
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        child: yaml.Node = node.value[part]
        return child
    raise EditError


def _pair(node: yaml.Node | None, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    pairs = [pair for pair in node.value if isinstance(pair[0], yaml.ScalarNode) and pair[0].value == key]
    if len(pairs) > 1:
        raise CardError(f"The key {key!r} occurs twice in one mapping; remove one of them.")
    return pairs[0] if pairs else None
