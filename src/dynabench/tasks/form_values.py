"""Values of settings as a form shows and reads them: the kind of input, the text of a value, the value of a text."""

from collections.abc import Mapping
from typing import Any

import yaml

from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.tasks import reading
from dynabench.tasks.form_parts import InputKind
from dynabench.tasks.reading import Path

LONG_TEXT = 1000
"""The longest text that is written on one line of the form."""


def read_written(kind: InputKind, written: str, name: str) -> Any:
    """Return the value that the written text of an input stands for. Raises `Invalid` under `name`."""
    if kind in ("text", "choice"):
        return written.strip()
    if kind == "long":
        return written.replace("\r\n", "\n").strip() + ("\n" if "\n" in written.strip() else "")
    if kind == "lines":
        return [line.strip() for line in written.splitlines() if line.strip()]
    if kind in ("integer", "number"):
        try:
            return int(written) if kind == "integer" or float(written).is_integer() else float(written)
        except (ValueError, OverflowError):
            raise Invalid({name: _("Give a number.")}) from None
    lines = written.replace("\r\n", "\n").split("\n")
    try:
        nested, _places = reading.read_config("value:\n" + "".join(f"  {line}\n" for line in lines))
    except Invalid as problem:
        raise Invalid({name: reading.without_line(next(iter(problem.fields.values())))}) from None
    return nested["value"]


def usual_flag(path: Path, part: Mapping[str, Any]) -> bool:
    """Return what holds where a flag is absent; fields that are asked beside the answer are optional."""
    is_asked = path[:-2] in (("ask",), ("validate", "ask"))
    return False if is_asked and path[-1] == "required" else bool(part.get("default", False))


def first_value(part: Mapping[str, Any]) -> Any:
    """Return a value for a setting that a new field requires."""
    kinds = {"integer": part.get("minimum", 0), "number": part.get("minimum", 0), "boolean": False, "string": "text"}
    if "$ref" in part.get("items", {}) and part["items"]["$ref"].endswith("/Field"):
        return [{"name": "part", "type": "text"}]
    if part.get("type") == "array":
        return ["first", "second"]
    if part.get("type") == "object":
        return {}
    if "enum" in part:
        return part["enum"][0]
    return kinds.get(part.get("type", ""), "text")


def _kind(part: Mapping[str, Any]) -> InputKind:
    """Return how a setting of this schema is written."""
    options = [option for option in part.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1:
        return _kind({**{key: value for key, value in part.items() if key != "anyOf"}, **options[0]})
    kind = part.get("type")
    if {"string", "array"} == {option.get("type") for option in options}:
        return "lines"
    if "enum" in part and all(isinstance(value, str) for value in part["enum"]):
        return "choice"
    if kind == "string":
        return "long" if part.get("maxLength", 0) > LONG_TEXT else "text"
    items = part.get("items", {})
    if kind == "array" and any(option.get("type") == "string" for option in items.get("anyOf", (items,))):
        return "lines"
    plain: dict[object, InputKind] = {"boolean": "flag", "integer": "integer", "number": "number"}
    return plain.get(kind, "yaml")


def input_kind(part: Mapping[str, Any], value: Any) -> InputKind:
    """Return how a setting is written that has this value now: as YAML where its usual input cannot hold the value."""
    kind = _kind(part)
    if kind == "lines":
        return "lines" if value is None or isinstance(value, str) or _is_plain_list(value) else "yaml"
    return "yaml" if isinstance(value, dict | list) else kind


def _is_plain_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and "\n" not in item for item in value)


class _TextDumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, as people write them."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text and not text.endswith("\n\n") else None
    )


_TextDumper.add_representer(str, _represent_text)


def in_form(value: Any, kind: InputKind) -> str:
    """Return a value as its input shows it."""
    if value is None:
        return ""
    if kind == "flag":
        return "true" if value else "false"
    if kind == "lines":
        return value if isinstance(value, str) else "\n".join(map(str, value))
    if kind == "yaml":
        if value in ([], {}):
            return ""
        dumped = yaml.dump(
            value, Dumper=_TextDumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=80
        )
        return str(dumped).removesuffix("...\n").rstrip("\n")
    return str(value)
