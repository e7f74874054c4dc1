"""The form of a config: cards of fields and sections of settings, all made from the config's JSON Schema.

Field types and rules of plug-ins appear by their own schemas. A setting that no input can hold is written as YAML.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from dynabench.kit.errors import Invalid
from dynabench.kit.language import N_, _
from dynabench.tasks import editing, reading
from dynabench.tasks.fields import types
from dynabench.tasks.form_parts import ConfigForm, FieldCard, FieldGroup, FormSection, SettingInput
from dynabench.tasks.form_values import first_value, in_form, input_kind, read_written, usual_flag
from dynabench.tasks.reading import Path
from dynabench.tasks.schema import config_schema

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
BASICS = ("id", "name", "description")
"""Settings of the task itself that are always in view."""
FIELDS = "fields"
"""The key under which a field has fields of its own."""


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
    first = [setting for setting in basics if setting.key in BASICS]
    more = [setting for setting in basics if setting.key not in BASICS]
    return ConfigForm(first, more, groups, sections, other_errors=builder.unclaimed())


def is_field_list(text: str, path: Path) -> bool:
    """Return whether fields can be added to, moved in and removed from the list at a path of a config's text."""
    try:
        values, _places = reading.read_config(text)
    except Invalid:
        return False
    return _FormBuilder(current_schema(), values, {}).is_field_list(path)


def read_setting(text: str, path: Path, written: str) -> Any:
    """Return the value that the written text of a setting stands for, None where the setting is to go.

    Raises `Invalid` under the dotted path.
    """
    values, _places = reading.read_config(text)
    part = _FormBuilder(current_schema(), values, {}).part_at(path)
    kind = input_kind(part, editing.value_at(values, path))
    name = ".".join(map(str, path))
    if kind == "flag":
        checked = written == "true"
        return None if checked == usual_flag(path, part) else checked
    if not written.strip():
        return None
    return read_written(kind, written, name)


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
            fresh[key] = first_value(schema["properties"][key])
    if "options" in schema["properties"] and "options" not in fresh and type_name != "ranking":
        fresh["options"] = ["first", "second"]
    return fresh


def _text_fields(values: Mapping[str, Any]) -> list[str]:
    names = []
    for group in ("context", "input"):
        items = values.get(group)
        listed = [items] if isinstance(items, dict) else items if isinstance(items, list) else []
        texts = [item for item in listed if isinstance(item, dict) and item.get("type") in ("text", "edit")]
        names += [item["name"] for item in texts if isinstance(item.get("name"), str)]
    return names


def _has_fields(schema: Mapping[str, Any]) -> bool:
    """Return whether a field type of this schema is made of fields."""
    items = schema.get("properties", {}).get(FIELDS, {}).get("items", {})
    return str(items.get("$ref", "")).endswith("/Field")


def _first_sentence(text: str) -> str:
    return text.split(". ")[0].rstrip(".").replace("`", "") + "." if text else ""


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
        if len(path) > 2 and self.is_field_list(path[:-2]):
            properties = self.field_schema(path[:-1]).get("properties", {})
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

    def field_schema(self, path: Path) -> Mapping[str, Any]:
        """Return the schema of the field at a path; an empty one where there is no field of a known type."""
        item = editing.value_at(self.values, path)
        kind = item.get("type") if isinstance(item, dict) else None
        schema: Mapping[str, Any] = self.schema["$defs"].get(f"field_{kind}", {})
        return schema

    def is_field_list(self, path: Path) -> bool:
        """Return whether a list of fields stands at a path: a group of the config, or the fields of a field."""
        if path in [group_path for group_path, _title in GROUPS]:
            return True
        return (
            len(path) > 2
            and path[-1] == FIELDS
            and isinstance(path[-2], int)
            and path[:-2] in [group_path for group_path, _title in GROUPS]
            and _has_fields(self.field_schema(path[:-1]))
        )

    def group(self, path: Path, title: str) -> FieldGroup:
        """Return a group of fields with its cards."""
        part = self.schema["properties"][path[0]]
        if len(path) > 1:
            part = self.resolve(part)["properties"][path[1]]
        return self._group(path, title, part.get("description", ""), types())

    def _group(self, path: Path, title: str, about: str, type_names: Iterable[str]) -> FieldGroup:
        items = editing.value_at(self.values, path)
        items = [items] if isinstance(items, dict) else items if isinstance(items, list) else []
        cards = [self.card((*path, place), item) for place, item in enumerate(items)]
        definitions = self.schema["$defs"]
        palette = [(name, _first_sentence(definitions[f"field_{name}"].get("description", ""))) for name in type_names]
        return FieldGroup(path, title, about, cards, palette, self._claim(path))

    def _inner_group(self, path: Path, schema: Mapping[str, Any]) -> FieldGroup | None:
        """Return the fields of a field that is made of fields, which have none themselves."""
        part = schema["properties"].get(FIELDS)
        if part is None or not self.is_field_list((*path, FIELDS)):
            return None
        definitions = self.schema["$defs"]
        plain = [name for name in types() if not _has_fields(definitions[f"field_{name}"])]
        return self._group((*path, FIELDS), N_("Fields"), part.get("description", ""), plain)

    def card(self, path: Path, item: Any) -> FieldCard:
        """Return the card of a field; one of an unknown type has only its name and its type as YAML."""
        item = item if isinstance(item, dict) else {}
        kind = str(item.get("type", ""))
        schema = self.schema["$defs"].get(f"field_{kind}")
        if schema is None:
            return FieldCard(path, str(item.get("name", "")), kind, "", (), (), self._claim(path, below=True))
        required = schema.get("required", ())
        inner = self._inner_group(path, schema)
        keys = [key for key in schema["properties"] if key != "type" and (inner is None or key != FIELDS)]
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
            inner=inner,
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
        kind = input_kind(resolved, value)
        usual = usual_flag(path, resolved) if kind == "flag" else resolved.get("default")
        value = usual if kind == "flag" and value is None else value
        flat = {
            **resolved,
            **next((option for option in resolved.get("anyOf", ()) if option.get("type") != "null"), {}),
        }
        return SettingInput(
            path=path,
            key=str(path[-1]),
            kind=kind,
            text=in_form(value, kind),
            usual=in_form(usual, kind),
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
