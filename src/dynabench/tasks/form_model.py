"""The form of a config: cards of fields, sections of settings, and a palette, all made from the config's JSON Schema.

Field types and rules of plug-ins appear by their own schemas. A setting that no input can hold is written as YAML.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import yaml

from dynabench.kit.errors import Invalid
from dynabench.kit.language import N_, _
from dynabench.tasks import editing, reading
from dynabench.tasks.fields import types
from dynabench.tasks.reading import Path
from dynabench.tasks.schema import config_schema

InputKind = Literal["text", "long", "integer", "number", "flag", "choice", "lines", "yaml"]
LONG_TEXT = 1000
"""The longest text that is written on one line of the form."""
GROUPS: tuple[tuple[Path, str], ...] = (
    (("context",), N_("Context")),
    (("input",), N_("Input")),
    (("answer",), N_("Answer")),
    (("ask",), N_("Asked after the answer")),
    (("validate", "ask"), N_("Asked of validators")),
)
COMMON = ("name", "type", "label", "help", "placeholder", "required", "when", "examples")
"""Settings that every field has; those of its type come first on a card."""
FIRST = ("name", "label")


@dataclass(frozen=True)
class SettingInput:
    """One setting: where it stands, how it is written, its text now, and the text of what holds without it."""

    path: Path
    key: str
    kind: InputKind
    text: str
    usual: str
    help: str
    options: Sequence[str] = ()
    low: float | None = None
    high: float | None = None
    required: bool = False
    suggestions: Sequence[str] = ()
    error: str = ""

    @property
    def address(self) -> str:
        """The path as JSON, for the page."""
        return json.dumps(self.path)

    @property
    def label(self) -> str:
        """The key as people read it."""
        return self.key.replace("_", " ").capitalize()


@dataclass(frozen=True)
class FieldCard:
    """One field of a group: its settings, those that stand behind "More", and what is wrong with it as a whole."""

    path: Path
    name: str
    type: str
    about: str
    settings: Sequence[SettingInput]
    more: Sequence[SettingInput]
    error: str = ""

    @property
    def address(self) -> str:
        """The path as JSON, for the page."""
        return json.dumps(self.path)

    @property
    def wrong(self) -> bool:
        """Tell whether something on the card is wrong."""
        return bool(self.error) or any(setting.error for setting in (*self.settings, *self.more))


@dataclass(frozen=True)
class FieldGroup:
    """A list of fields, such as the context."""

    path: Path
    title: str
    help: str
    cards: Sequence[FieldCard]
    error: str = ""

    @property
    def address(self) -> str:
        """The path as JSON, for the page."""
        return json.dumps(self.path)


@dataclass(frozen=True)
class FormSection:
    """Settings that belong together; `changed` where the config has some of them."""

    name: str
    help: str
    settings: Sequence[SettingInput]
    changed: bool
    error: str = ""

    @property
    def label(self) -> str:
        """The key as people read it."""
        return self.name.replace("_", " ").capitalize()

    @property
    def wrong(self) -> bool:
        """Tell whether something in the section is wrong."""
        return bool(self.error) or any(setting.error for setting in self.settings)


@dataclass(frozen=True)
class ConfigForm:
    """The whole form; with a `problem` the text cannot be read as a config, and there is nothing else."""

    basics: Sequence[SettingInput] = ()
    groups: Sequence[FieldGroup] = ()
    sections: Sequence[FormSection] = ()
    palette: Sequence[tuple[str, str]] = ()
    problem: str = ""
    other_errors: Mapping[str, str] = field(default_factory=dict)


@lru_cache(maxsize=1)
def _schema(_type_names: tuple[str, ...]) -> dict[str, Any]:
    return config_schema()


def current_schema() -> dict[str, Any]:
    """Return the schema of a config with the field types that are installed now."""
    return _schema(tuple(types()))


def config_form(text: str, problems: Mapping[str, str]) -> ConfigForm:
    """Return the form of a config's text; `problems` are messages by dotted path, as `TaskConfig.parse` has them."""
    try:
        values, _places = reading.read_config(text)
    except Invalid as problem:
        return ConfigForm(problem=" ".join(problem.fields.values()))
    schema = current_schema()
    builder = _FormBuilder(schema, values, dict(problems))
    properties = schema["properties"]
    group_keys = {path[0] for path, _title in GROUPS if len(path) == 1}
    groups = [builder.group(path, title) for path, title in GROUPS]
    basics, sections = [], []
    for key, part in properties.items():
        if key in group_keys:
            continue
        resolved = builder.resolve(part)
        if "properties" in resolved:
            sections.append(builder.section(key, part, resolved))
        else:
            basics.append(builder.setting((key,), part, key in schema["required"]))
    palette = [(name, _first_sentence(schema["$defs"][f"field_{name}"].get("description", ""))) for name in types()]
    return ConfigForm(basics, groups, sections, palette, other_errors=builder.unclaimed())


def read_setting(text: str, path: Path, written: str) -> Any:
    """Return the value that the written text of a setting stands for, None where the setting is to go.

    Raises `Invalid` under the dotted path.
    """
    values, _places = reading.read_config(text)
    part = _FormBuilder(current_schema(), values, {}).part_at(path)
    kind = _input_kind(part, editing.value_at(values, path))
    name = ".".join(map(str, path))
    if kind == "flag":
        checked = written == "true"
        return None if checked == _usual_flag(path, part) else checked
    if not written.strip():
        return None
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
    try:
        nested, _places = reading.read_config(f"value:\n{_indented(written)}\n")
    except Invalid as problem:
        raise Invalid({name: reading.without_line(next(iter(problem.fields.values())))}) from None
    return nested["value"]


def new_field(text: str, type_name: str) -> dict[str, Any]:
    """Return a field of a type as it is first written, with a name that is free and what its type requires.

    Raises `Invalid` for an unknown type.
    """
    if type_name not in types():
        raise Invalid({"type": _("There is no field type of this name.")})
    values, _places = reading.read_config(text)
    schema = current_schema()["$defs"][f"field_{type_name}"]
    fresh: dict[str, Any] = {"name": editing.free_name(values, type_name), "type": type_name}
    texts = _text_fields(values)
    for key in schema.get("required", ()):
        if key in fresh:
            continue
        if key == "of":
            fresh[key] = texts[0] if texts else "text"
        else:
            fresh[key] = _first_value(schema["properties"][key])
    if "options" in schema["properties"] and "options" not in fresh and type_name != "ranking":
        fresh["options"] = ["first", "second"]
    return fresh


def _usual_flag(path: Path, part: Mapping[str, Any]) -> bool:
    """Return what holds where a flag is absent; fields that are asked beside the answer are optional."""
    is_asked = path[0] == "ask" or path[:2] == ("validate", "ask")
    return False if is_asked and path[-1] == "required" else bool(part.get("default", False))


def _first_value(part: Mapping[str, Any]) -> Any:
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


def _text_fields(values: Mapping[str, Any]) -> list[str]:
    names = []
    for group in ("context", "input"):
        items = values.get(group)
        listed = [items] if isinstance(items, dict) else items if isinstance(items, list) else []
        texts = [item for item in listed if isinstance(item, dict) and item.get("type") in ("text", "edit")]
        names += [item["name"] for item in texts if isinstance(item.get("name"), str)]
    return names


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in text.replace("\r\n", "\n").split("\n"))


def _first_sentence(text: str) -> str:
    return text.split(". ")[0].rstrip(".").replace("`", "") + "." if text else ""


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
    if kind == "array" and "string" in _item_types(part.get("items", {})):
        return "lines"
    plain: dict[object, InputKind] = {"boolean": "flag", "integer": "integer", "number": "number"}
    return plain.get(kind, "yaml")


def _input_kind(part: Mapping[str, Any], value: Any) -> InputKind:
    """Return how a setting is written that has this value now: as YAML where its usual input cannot hold the value."""
    kind = _kind(part)
    if kind == "lines":
        return "lines" if value is None or isinstance(value, str) or _is_plain_list(value) else "yaml"
    return "yaml" if isinstance(value, dict | list) else kind


def _item_types(items: Mapping[str, Any]) -> set[str]:
    return {str(option.get("type", "")) for option in items.get("anyOf", (items,))}


class _FormBuilder:
    """Makes the parts of a form from the schema and the parsed config; each problem is shown at one place."""

    def __init__(self, schema: dict[str, Any], values: dict[str, Any], problems: dict[str, str]) -> None:
        self.schema, self.values, self.problems = schema, values, problems
        self.text_names = _text_fields(values)

    def unclaimed(self) -> dict[str, str]:
        """Return the problems that no part of the form has shown."""
        return self.problems

    def resolve(self, part: Mapping[str, Any], value: Any = None) -> dict[str, Any]:
        """Return a part of the schema without references; of several rules that of the value's `rule`."""
        if "$ref" in part:
            name = part["$ref"].rsplit("/", 1)[1]
            target = self.schema["$defs"][name]
            if name == "Fooled":
                rule = value.get("rule", "differs") if isinstance(value, dict) else "differs"
                own = self.schema["$defs"].get(f"rule_{rule}", {"properties": {}})
                names = target["properties"]["rule"]["enum"]
                chosen = {
                    "type": "string",
                    "enum": names,
                    "description": own["properties"].get("rule", {}).get("description", ""),
                }
                return {**own, "properties": {**own["properties"], "rule": chosen | {"default": "differs"}}}
            return self.resolve({**target, **{key: item for key, item in part.items() if key != "$ref"}}, value)
        options = [option for option in part.get("anyOf", ()) if option.get("type") != "null"]
        if len(options) == 1 and "$ref" in options[0]:
            return self.resolve({**{key: item for key, item in part.items() if key != "anyOf"}, **options[0]}, value)
        return dict(part)

    def part_at(self, path: Path) -> dict[str, Any]:
        """Return the schema of the setting at a path. Raises `Invalid` for a path without one."""
        group = next(
            (
                group_path
                for group_path, _title in GROUPS
                if path[: len(group_path)] == group_path and len(path) == len(group_path) + 2
            ),
            None,
        )
        if group is not None:
            card = editing.value_at(self.values, path[:-1])
            kind = card.get("type") if isinstance(card, dict) else None
            properties = self.schema["$defs"].get(f"field_{kind}", {}).get("properties", {})
        elif len(path) == 1:
            properties = self.schema["properties"]
        elif len(path) == 2:
            owner = self.schema["properties"].get(str(path[0]), {})
            properties = self.resolve(owner, self.values.get(str(path[0]))).get("properties", {})
        else:
            properties = {}
        if path[-1] not in properties:
            raise Invalid({"config": reading.NO_PLACE})
        return self.resolve(properties[path[-1]])

    def group(self, path: Path, title: str) -> FieldGroup:
        """Return a group of fields with its cards."""
        part = self.schema["properties"][path[0]]
        if len(path) > 1:
            part = self.resolve(part)["properties"][path[1]]
        items = editing.value_at(self.values, path)
        items = [items] if isinstance(items, dict) else items if isinstance(items, list) else []
        cards = [self.card((*path, place), item) for place, item in enumerate(items)]
        return FieldGroup(path, title, part.get("description", ""), cards, self._claim(path))

    def card(self, path: Path, item: Any) -> FieldCard:
        """Return the card of a field; one of an unknown type has only its name and its type as YAML."""
        item = item if isinstance(item, dict) else {}
        kind = str(item.get("type", ""))
        schema = self.schema["$defs"].get(f"field_{kind}")
        if schema is None:
            return FieldCard(path, str(item.get("name", "")), kind, "", (), (), self._claim(path, below=True))
        required = schema.get("required", ())
        keys = [key for key in schema["properties"] if key != "type"]
        own = [key for key in keys if key not in COMMON]
        inputs = {key: self.setting((*path, key), schema["properties"][key], key in required) for key in keys}
        common = [key for key in keys if key in COMMON and key not in FIRST]
        settings = [inputs[key] for key in (*FIRST, *own) if key in inputs]
        more = [inputs[key] for key in common]
        return FieldCard(
            path=path,
            name=str(item.get("name", "")),
            type=kind,
            about=_first_sentence(schema.get("description", "")),
            settings=settings,
            more=more,
            error=self._claim(path, below=True),
        )

    def section(self, key: str, part: Mapping[str, Any], resolved: Mapping[str, Any]) -> FormSection:
        """Return a section of the config."""
        value = self.values.get(key)
        own = self.resolve(part, value)
        names = [name for name in own["properties"] if (key, name) not in {path for path, _title in GROUPS}]
        names.sort(key=lambda name: name != "rule")
        required = own.get("required", ())
        settings = [self.setting((key, name), own["properties"][name], name in required) for name in names]
        about = part.get("description") or resolved.get("description", "")
        return FormSection(key, about, settings, value is not None, self._claim((key,), below=True))

    def setting(self, path: Path, part: Mapping[str, Any], required: bool) -> SettingInput:
        """Return the input of one setting."""
        resolved = self.resolve(part)
        value = editing.value_at(self.values, path)
        kind = _input_kind(resolved, value)
        usual = _usual_flag(path, resolved) if kind == "flag" else resolved.get("default")
        value = usual if kind == "flag" and value is None else value
        flat = {
            **resolved,
            **next((option for option in resolved.get("anyOf", ()) if option.get("type") != "null"), {}),
        }
        return SettingInput(
            path=path,
            key=str(path[-1]),
            kind=kind,
            text=_in_form(value, kind),
            usual=_in_form(usual, kind),
            help=str(resolved.get("description", "")),
            options=[str(option) for option in flat.get("enum", ())],
            low=flat.get("minimum"),
            high=flat.get("maximum"),
            required=required,
            suggestions=self.text_names if path[-1] == "of" else (),
            error=self._claim(path, below=True),
        )

    def _claim(self, path: Path, below: bool = False) -> str:
        """Return the problems at a path (and `below` it), which no other part shows any more."""
        name = ".".join(map(str, path))
        found_names = [key for key in self.problems if key == name or (below and key.startswith(name + "."))]
        return " ".join(dict.fromkeys(self.problems.pop(key) for key in found_names))


def _is_plain_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and "\n" not in item for item in value)


class _TextDumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, as people write them."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text and not text.endswith("\n\n") else None
    )


_TextDumper.add_representer(str, _represent_text)


def _in_form(value: Any, kind: InputKind) -> str:
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
