"""JSON Schema of a task's config, for editors that complete and check YAML."""

from typing import Any

from dynabench.tasks import fields, rules
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import types
from dynabench.tasks.section import LANGUAGE_CODE

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def config_schema() -> dict[str, Any]:
    """The schema (2020-12) of what `TaskConfig.parse` reads, with the fields of all installed types and the settings
    of all fooling rules.

    It accepts the short forms as well. What one part says about another, such as the field that spans refer to, is
    left to `parse`.
    """
    schema: dict[str, Any] = _referring(TaskConfig.model_json_schema(by_alias=True))
    definitions: dict[str, Any] = schema.setdefault("$defs", {})
    names = []
    for name, field in types().items():
        own = _referring(field.model_json_schema(ref_template=f"#/$defs/{name}_{{model}}"))
        definitions |= {f"{name}_{key}": value for key, value in own.pop("$defs", {}).items()}
        definitions[f"field_{name}"] = _field(own, name)
        names.append(f"field_{name}")
    definitions["Fooled"] = _fooled(definitions)
    schema["properties"]["instructions"] = _instructions(schema["properties"]["instructions"])
    definitions["Field"] = {
        "title": "Field",
        "type": "object",
        "required": ["name", "type"],
        "properties": {"type": {"enum": sorted(types())}},
        "allOf": [
            {"if": {"properties": {"type": {"const": name}}}, "then": {"$ref": f"#/$defs/field_{name}"}}
            for name in types()
        ],
    }
    for group in ("context", "input", "answer", "ask"):
        _one_or_list(schema["properties"], group)
    _one_or_list(definitions["ValidationSettings"]["properties"], "ask")
    _one_or_list(schema["properties"], "link", "Hidden")
    return {"$schema": _DIALECT, "title": "Dynabench task", **{k: v for k, v in schema.items() if k != "title"}}


def _field(own: dict[str, Any], name: str) -> dict[str, Any]:
    """One field type as it is written: with its type and with short conditions."""
    properties = own["properties"]
    properties["type"] = {"const": name, "description": own.get("description", "")}
    properties["when"] = {
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
        "description": properties["when"].get("description", ""),
    }
    if name in ("choice", "multi_choice", "ranking"):
        own["required"] = [key for key in own.get("required", []) if key != "options"]  # taken from the answer
    own["required"] = sorted({*own.get("required", []), "type"})
    return own


def _fooled(definitions: dict[str, Any]) -> dict[str, Any]:
    """The `fooled:` part: the settings are those of its rule, `differs` where it names none."""
    names = []
    for name, rule in rules.fooling_rules().items():
        own = rule.model_json_schema(ref_template=f"#/$defs/rule_{name}_{{model}}")
        definitions |= {f"rule_{name}_{key}": value for key, value in own.pop("$defs", {}).items()}
        own["properties"]["rule"] = {"const": name, "description": own.pop("description", "")}
        definitions[f"rule_{name}"] = own
        names.append(name)
    return {
        "title": "Fooled",
        "description": "When a model counts as fooled.",
        "type": "object",
        "properties": {"rule": {"enum": names, "default": "differs", "description": "Name of the fooling rule."}},
        "allOf": [
            {
                "if": {"properties": {"rule": {"const": name}}, "required": [] if name == "differs" else ["rule"]},
                "then": {"$ref": f"#/$defs/rule_{name}"},
            }
            for name in names
        ],
    }


def _instructions(plain: dict[str, Any]) -> dict[str, Any]:
    """Instructions in one language, or by the codes of their languages."""
    texts = {"$ref": "#/$defs/InstructionTexts"}
    by_code = {"type": "object", "patternProperties": {LANGUAGE_CODE.pattern: texts}, "additionalProperties": False}
    description = "Instructions for people before they write or check, or these by the codes of their languages."
    return {"anyOf": [plain, by_code | {"minProperties": 1}], "description": description}


def _one_or_list(properties: dict[str, Any], name: str, kind: str = "Field") -> None:
    listed = properties[name]
    description = listed.pop("description", "")
    properties[name] = {"anyOf": [{"$ref": f"#/$defs/{kind}"}, listed], "description": description}


def _referring(schema: Any) -> Any:
    """`schema` with a reference to the field types wherever a field may stand, and to the rules where a rule may."""
    if isinstance(schema, dict):
        for place, name in ((fields.ANY_FIELD_SCHEMA, "Field"), (rules.ANY_RULE_SCHEMA, "Fooled")):
            if place.items() <= schema.items():
                return {**{k: v for k, v in schema.items() if k not in place}, "$ref": f"#/$defs/{name}"}
        return {key: _referring(value) for key, value in schema.items()}
    return [_referring(item) for item in schema] if isinstance(schema, list) else schema
