"""Edits of a config's text as a form makes them: settings, and fields that are added, moved and removed.

The text around an edit stays as it is written, with comments and order. Each result is read again and compared with
the values that the edit leads to. Where the text is written in a way that this module cannot edit, the whole config is
written anew, and comments are lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import yaml

from dynabench.kit.errors import Invalid
from dynabench.tasks import reading
from dynabench.tasks.reading import Path

FLOW_WIDTH = 100
"""The longest list or mapping that is written on one line."""
KEY_ORDER = (
    *("id", "name", "description", "content_warning", "terms", "instructions", "onboarding"),
    *("context", "input", "answer", "link"),
    *("start", "perturb", "annotators", "output", "fooled", "ask", "validate", "contexts", "metrics", "submissions"),
    *("training", "harms", "data", "near_duplicates", "assistant", "release"),
)
"""The order in which keys of a config are written where they are new."""


@dataclass(frozen=True)
class ConfigEdit:
    """One edit: `set` a `value` at a path (None removes the key), `add` a field to a list (`value`, at the place `to`,
    or at its end), `move` a field of a list to the place `to`, or `remove` it."""

    kind: Literal["set", "add", "move", "remove"]
    path: Path
    value: Any = None
    to: int | None = None


@dataclass(frozen=True)
class EditedConfig:
    """The text after an edit; `rewritten` where all of it was written anew, without comments."""

    text: str
    rewritten: bool = False


def apply_edit(text: str, edit: ConfigEdit) -> EditedConfig:
    """Return the text after an edit. Raises `Invalid` for a text that is no config, and for a path without a place."""
    values, _ = reading.read_config(text)
    expected = _edited_values(values, edit)
    try:
        new_text = _edited_text(text, edit)
        if reading.read_config(new_text)[0] == expected:
            return EditedConfig(new_text)
    except (Invalid, yaml.YAMLError, ValueError, IndexError, StopIteration):
        pass
    dumped = yaml.safe_dump(expected, sort_keys=False, allow_unicode=True, width=FLOW_WIDTH, default_flow_style=None)
    return EditedConfig(dumped, rewritten=True)


def without_onboarding(text: str) -> str:
    """Return the text of a config for everybody: without the onboarding, which holds the right answers of the quiz."""
    values, _places = reading.read_config(text)
    return apply_edit(text, ConfigEdit("set", ("onboarding",))).text if "onboarding" in values else text


def value_at(values: Any, path: Path) -> Any:
    """Return the value at a path of parsed YAML, None where there is none; one field may stand without a list."""
    for part in path:
        if isinstance(part, int):
            items = values if isinstance(values, list) else [values] if isinstance(values, dict) else []
            values = items[part] if 0 <= part < len(items) else None
        else:
            values = values.get(part) if isinstance(values, dict) else None
    return values


def _edited_values(values: dict[str, Any], edit: ConfigEdit) -> dict[str, Any]:
    """Return what the edit means for the parsed config, which is changed in place."""
    if edit.kind == "set":
        if not edit.path or not isinstance(edit.path[-1], str):
            raise _no_place()
        if edit.value is None and value_at(values, edit.path[:-1]) is None:
            return values
        owner = _owner(values, edit.path[:-1])
        if edit.value is None:
            owner.pop(edit.path[-1], None)
            if not owner and len(edit.path) > 1 and isinstance(edit.path[-2], str):
                return _edited_values(values, ConfigEdit("set", edit.path[:-1]))
        else:
            owner[edit.path[-1]] = edit.value
        return values
    list_path = edit.path if edit.kind == "add" else edit.path[:-1]
    owner, key = _owner(values, list_path[:-1]), list_path[-1]
    if not isinstance(key, str):
        raise _no_place()
    items = owner.get(key, [])
    if items is not None and not isinstance(items, dict | list):
        raise _no_place()
    items = [items] if isinstance(items, dict) else list(items or [])
    if edit.kind == "add":
        items.insert(len(items) if edit.to is None else edit.to, edit.value)
    else:
        index = edit.path[-1]
        if not isinstance(index, int) or not 0 <= index < len(items):
            raise _no_place()
        item = items.pop(index)
        if edit.kind == "move":
            items.insert(min(max(edit.to or 0, 0), len(items)), item)
    owner[key] = items
    return values


def _owner(values: Any, path: Path) -> dict[str, Any]:
    """Return the mapping at a path; mappings that are missing are added."""
    for part in path:
        if isinstance(part, int):
            values = value_at(values, (part,))
        elif isinstance(values, dict):
            if values.get(part) is None:
                values[part] = {}
            values = values[part]
        if not isinstance(values, dict | list):
            raise _no_place()
    if not isinstance(values, dict):
        raise _no_place()
    return values


def _no_place() -> Invalid:
    return Invalid({"config": reading.NO_PLACE})


def _edited_text(text: str, edit: ConfigEdit) -> str:
    if edit.kind == "set":
        return _set_value(text, edit.path, edit.value)
    list_path = edit.path if edit.kind == "add" else edit.path[:-1]
    node = _node_at(text, list_path)
    if isinstance(node, yaml.MappingNode):
        text = _as_list(text, node)
        node = _node_at(text, list_path)
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        return _set_value(text, list_path, [edit.value]) if edit.kind == "add" else text
    if node.flow_style:
        return _edit_flow_list(text, node, edit)
    return _edit_block_list(text, node, edit)


def _node_at(text: str, path: Path) -> yaml.Node | None:
    node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    for part in path:
        node = _child(node, part)
    return node


def _child(node: yaml.Node | None, part: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        if part == 0:
            return node
        return next((value for key, value in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part]  # type: ignore[no-any-return]
    return None


def _end(node: yaml.Node) -> int:
    """Return where the last content of a node ends; a block node's own end may lie after comments that follow."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _line_end(text: str, place: int) -> int:
    """Return the place after the line in which content that ends at `place` ends."""
    start = place - 1 if text[place - 1 : place] == "\n" else place
    newline = text.find("\n", start)
    return len(text) if newline < 0 else newline + 1


def _dump_flow(value: Any) -> str:
    dumped: str = yaml.safe_dump(value, default_flow_style=True, width=10**9, allow_unicode=True, sort_keys=False)
    return dumped.removesuffix("...\n").strip()


def _dump_block(value: Any, indent: int) -> str:
    """Return a value as lines that stand below their key, indented."""
    dumped = yaml.safe_dump(value, default_flow_style=None, width=FLOW_WIDTH, allow_unicode=True, sort_keys=False)
    if isinstance(value, list):
        dumped = "".join(_dump_item(item, 0) for item in value)
    return "".join(" " * indent + line + "\n" if line else "\n" for line in dumped.rstrip("\n").split("\n"))


def _dump_item(item: Any, indent: int) -> str:
    """Return an item of a block list, with its dash."""
    flow = _dump_flow(item)
    if len(flow) <= FLOW_WIDTH or not isinstance(item, dict):
        return " " * indent + "- " + flow + "\n"
    lines = yaml.safe_dump(item, default_flow_style=None, width=FLOW_WIDTH, allow_unicode=True, sort_keys=False)
    first, *rest = lines.rstrip("\n").split("\n")
    return " " * indent + "- " + first + "\n" + "".join(" " * (indent + 2) + line + "\n" for line in rest)


def _written(value: Any, indent: int, flow: bool) -> str:
    """Return what stands after `key:`, with the blank or the line before it, and without a line end."""
    if isinstance(value, str) and "\n" in value and not flow:
        body = value.rstrip("\n")
        keep = {0: "-", 1: ""}.get(len(value) - len(body))
        if keep is not None and not body.startswith((" ", "\n")) and "\t" not in body:
            lines = "\n".join(" " * (indent + 2) + line if line else "" for line in body.split("\n"))
            return f" |{keep}\n{lines}"
    if isinstance(value, str | bool | int | float):
        return " " + reading.dump_value(value)
    short = _dump_flow(value)
    if flow or len(short) <= FLOW_WIDTH or not value:
        return " " + short
    return "\n" + _dump_block(value, indent + 2).rstrip("\n")


def _set_value(text: str, path: Path, value: Any) -> str:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    parent: yaml.Node | None = root
    for depth, part in enumerate(path[:-1]):
        child = _child(parent, part)
        if child is None or (isinstance(child, yaml.ScalarNode) and child.value in ("", "null", "~")):
            for rest in reversed(path[depth + 1 :]):
                value = None if value is None else {rest: value}
            return text if value is None else _insert_key(text, parent, part, value, root)
        parent = child
    key_name = path[-1]
    if not isinstance(parent, yaml.MappingNode):
        raise _no_place()
    pair = next(((key, node) for key, node in parent.value if key.value == key_name), None)
    if value is None:
        if pair is not None and len(parent.value) == 1 and len(path) > 1 and isinstance(path[-2], str):
            return _set_value(text, path[:-1], None)  # nothing is left in this section
        return text if pair is None else reading.with_values(text, {path: None})
    if pair is None:
        return _insert_key(text, parent, key_name, value, root)
    key, node = pair
    start = text.index(":", key.end_mark.index) + 1
    written = _written(value, key.start_mark.column, bool(parent.flow_style))
    end = max(_end(node), start)
    after = "\n" if text[end - 1 : end] == "\n" and end > start else ""
    return text[:start] + written + after + text[end:]


def _insert_key(text: str, parent: yaml.Node | None, key: str | int, value: Any, root: yaml.Node | None) -> str:
    """Write a key that a mapping lacks: at the top in the order of `KEY_ORDER`, elsewhere at the end."""
    if not isinstance(parent, yaml.MappingNode) or not isinstance(key, str) or not parent.value:
        raise _no_place()
    if parent.flow_style:
        place = parent.end_mark.index - 1
        entry = f"{key}:{_written(value, 0, True)}"
        return text[:place].rstrip().removesuffix(",") + ", " + entry + text[place:]
    before = parent.value
    if parent is root and key in KEY_ORDER:
        rank = KEY_ORDER.index(key)
        earlier = [pair for pair in parent.value if pair[0].value in KEY_ORDER[:rank]]
        before = earlier or parent.value
    last_key, last = before[-1]
    column = int(last_key.start_mark.column)
    place = _line_end(text, _end(last) if _end(last) > last_key.end_mark.index else last_key.end_mark.index)
    glue = "" if place == 0 or text[place - 1] == "\n" else "\n"
    existing = {pair[0].value: pair[1] for pair in parent.value}.get(key)
    if existing is not None:  # a key with nothing after it
        place = existing.start_mark.index
        return text[:place] + _written(value, column, False) + text[place:]
    return text[:place] + glue + " " * column + f"{key}:{_written(value, column, False)}\n" + text[place:]


def _as_list(text: str, node: yaml.MappingNode) -> str:
    """Write a field that stands without a list as a list of one."""
    start, end = node.start_mark.index, _end(node)
    if node.flow_style:
        return text[:start] + "[" + text[start:end] + "]" + text[end:]
    column = node.start_mark.column
    line_start = text.rfind("\n", 0, start) + 1
    body = text[line_start:end].split("\n")
    lines = [" " * column + "- " + body[0][column:], *("  " + line if line.strip() else line for line in body[1:])]
    return text[:line_start] + "\n".join(lines) + text[end:]


def _edit_flow_list(text: str, node: yaml.SequenceNode, edit: ConfigEdit) -> str:
    entries = [text[item.start_mark.index : item.end_mark.index] for item in node.value]
    entries = _rearranged(entries, edit, _dump_flow(edit.value) if edit.kind == "add" else "")
    start, end = node.start_mark.index, node.end_mark.index
    written = "[" + ", ".join(entries) + "]"
    if edit.kind == "add" and len(written) > FLOW_WIDTH and text[start - 1] == " ":  # too long for its line
        line = text[text.rfind("\n", 0, start) + 1 : start]
        column = len(line) - len(line.lstrip(" "))
        return text[: start - 1] + "".join(f"\n{' ' * (column + 2)}- {entry}" for entry in entries) + text[end:]
    return text[:start] + written + text[end:]


def _edit_block_list(text: str, node: yaml.SequenceNode, edit: ConfigEdit) -> str:
    """Edit a list by its lines: an item goes with the comments right above it."""
    column = node.start_mark.column
    starts = []
    for item in node.value:
        dash = text.rfind("-", 0, item.start_mark.index)
        line = text.rfind("\n", 0, dash) + 1
        while line > 0:  # comments right above
            above = text.rfind("\n", 0, line - 1) + 1
            if not text[above:line].lstrip().startswith("#"):
                break
            line = above
        starts.append(line)
    end = _line_end(text, _end(node.value[-1]))
    bounds = [*starts, end]
    regions = [text[first:last] for first, last in pairwise(bounds)]
    if not regions[-1].endswith("\n"):
        regions[-1] += "\n"
    added = _dump_item(edit.value, column) if edit.kind == "add" else ""
    regions = _rearranged(regions, edit, added)
    if regions:
        return text[: starts[0]] + "".join(regions) + text[end:]
    return text[: starts[0]].rstrip(" \n") + " []\n" + text[end:]


def _rearranged(entries: Sequence[str], edit: ConfigEdit, added: str) -> list[str]:
    result = list(entries)
    if edit.kind == "add":
        result.insert(len(result) if edit.to is None else edit.to, added)
        return result
    index = edit.path[-1]
    entry = result.pop(int(index))
    if edit.kind == "move":
        result.insert(min(max(edit.to or 0, 0), len(result)), entry)
    return result


def free_name(values: dict[str, Any], stem: str) -> str:
    """Return a name for a new field that no other field of the config has."""
    names = set()
    for path in (("context",), ("input",), ("answer",), ("ask",), ("validate", "ask")):
        items = value_at(values, path)
        items = [items] if isinstance(items, dict) else items if isinstance(items, list) else []
        fields = [item for item in items if isinstance(item, dict)]
        within = [inner for item in fields if isinstance(item.get("fields"), list) for inner in item["fields"]]
        names |= {str(item.get("name")) for item in (*fields, *within) if isinstance(item, dict)}
    return next(name for name in (stem, *(f"{stem}_{number}" for number in range(2, 1000))) if name not in names)
