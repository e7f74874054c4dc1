"""Changes of single values in a config's text, which keep its comments, order and spelling."""

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from dynabench.kit.errors import Invalid
from dynabench.kit.language import _

SIMPLE = re.compile(r"\w[\w .-]*", re.ASCII)
Path = tuple[str | int, ...]
"""Keys and places from the top, such as `("validate", "votes")`."""


def with_id(text: str, id: str) -> str:
    """Return the config with another id."""
    return with_values(text, {("id",): id})


def with_values(text: str, changes: Mapping[Path, Any]) -> str:
    """Return the text with plain values (text, number, true or false) at these paths; missing parts are added.

    None removes a value. Raises `Invalid` under `config` where a path leads through something that holds no keys.
    """
    for path, value in changes.items():
        text = _set(text, path, value)
    return text


def _set(text: str, path: Path, value: Any) -> str:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        raise Invalid({"config": _("A config is a mapping that starts with id and name.")})
    node: yaml.Node = root
    for depth, part in enumerate(path):
        child = _child(node, part)
        if child is None:
            return text if value is None else _add(text, node, path[depth:], value)
        parent, node = node, child
    if value is None:
        return _without(text, parent, node)
    if not isinstance(node, yaml.ScalarNode):
        raise Invalid(
            {
                "config": _(
                    "%(value)s is not a plain value in this config; edit it there.", value=".".join(map(str, path))
                )
            }
        )
    if node.value == "" and node.start_mark.index == node.end_mark.index:  # a key with nothing after it
        return text[: node.start_mark.index] + " " + _dump_value(value) + text[node.end_mark.index :]
    after = "\n" if node.style in ("|", ">") else ""  # a block ends where the next key begins
    return text[: node.start_mark.index] + _dump_value(value) + after + text[node.end_mark.index :]


def _child(node: yaml.Node, part: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode) and isinstance(part, str):
        return next((value for key, value in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        return node.value[part] if part < len(node.value) else None
    if isinstance(node, yaml.MappingNode) and part == 0:  # one field may stand without a list
        return node
    raise Invalid({"config": _("This config has no place for it; edit the config.")})


def _dump_value(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)  # YAML reads JSON
    style = None if SIMPLE.fullmatch(value) else '"'  # commas and braces mean something where braces are open
    dumped: str = yaml.safe_dump(value, default_style=style, width=10**9, allow_unicode=True)
    return dumped.split("\n")[0]


def _add(text: str, to: yaml.Node, path: Path, value: Any) -> str:
    """The value under keys that `to` lacks, after its last one."""
    written = _dump_value(value)
    for part in reversed(path[1:]):
        written = f"{{{part}: {written}}}"
    entry = f"{path[0]}: {written}"
    if not isinstance(to, yaml.MappingNode) or not isinstance(path[0], str):
        raise Invalid({"config": _("This config has no place for it; edit the config.")})
    if to.flow_style:
        place = to.end_mark.index - 1
        comma = ", " if to.value else ""
        return text[:place].rstrip().removesuffix(",") + comma + entry + text[place:]
    key, last = to.value[-1]
    end = last.end_mark.index
    if isinstance(last, yaml.ScalarNode) or getattr(last, "flow_style", False):  # then comments may follow on its line
        end = text.find("\n", end - 1 if text[end - 1 : end] == "\n" else end)
        end = len(text) if end < 0 else end
    column = int(key.start_mark.column)
    return text[:end].rstrip("\n ") + "\n" + " " * column + entry + "\n" + text[end:].lstrip("\n")


def _without(text: str, parent: yaml.Node, node: yaml.Node) -> str:
    if not isinstance(parent, yaml.MappingNode):
        raise Invalid({"config": _("This is an item of a list; remove it in the config.")})
    key = next(key for key, value in parent.value if value is node)
    start, end = key.start_mark.index, node.end_mark.index
    if parent.flow_style:
        rest = text[end:].lstrip()
        if rest.startswith(","):
            return text[:start] + rest[1:].lstrip()
        return text[:start].rstrip().removesuffix(",") + text[end:]
    newline = text.find("\n", end - 1 if text[end - 1 : end] == "\n" else end)
    line = text.rfind("\n", 0, start) + 1
    return text[:line] + (text[newline + 1 :] if newline >= 0 else "")
