"""The OpenAPI document as a reference for people: operations by subject, with parameters, bodies and a curl line."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

JSON = "application/json"
METHODS = ("get", "post", "put", "patch", "delete")
MAX_DEPTH = 3
"""Levels of schemas that are written out; deeper ones are named."""


@dataclass(frozen=True)
class SchemaMember:
    """A parameter, or a member of a schema; `depth` is 0 at the top of a body."""

    name: str
    kind: str
    required: bool
    text: str
    place: str = ""
    depth: int = 0


@dataclass(frozen=True)
class ApiAnswer:
    """An answer of an operation that is no error."""

    status: str
    kind: str
    members: tuple[SchemaMember, ...]


@dataclass(frozen=True)
class Operation:
    """An operation. `scopes` are those that a token needs; `open_to_all` where nobody needs to log in."""

    method: str
    path: str
    title: str
    text: str
    scopes: tuple[str, ...]
    open_to_all: bool
    parameters: tuple[SchemaMember, ...]
    body: tuple[SchemaMember, ...]
    body_kind: str
    sample: Any
    answers: tuple[ApiAnswer, ...]

    @property
    def anchor(self) -> str:
        """The operation's anchor on its subject's page."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.method} {self.path.removeprefix('/api/v1')}".lower()).strip("-")

    def curl(self, origin: str) -> str:
        """Return a command that calls the operation at an origin, with a token in `$DYNABENCH_TOKEN`."""
        needed = [p for p in self.parameters if p.place == "query" and p.required]
        query = "?" + "&".join(f"{parameter.name}=…" for parameter in needed) if needed else ""
        parts = ["curl"] + ([f"-X {self.method}"] if self.method != "GET" else [])
        parts.append(shlex.quote(f"{origin}{self.path}{query}"))
        if self.scopes:
            parts.append('\\\n  -H "Authorization: Bearer $DYNABENCH_TOKEN"')
        if self.sample is not None:
            text = json.dumps(self.sample, ensure_ascii=False)
            parts.append(f"\\\n  -H 'Content-Type: application/json' \\\n  -d {shlex.quote(text)}")
        elif self.body_kind:
            parts.append("\\\n  --data-binary @FILE")
        return " ".join(parts)


@dataclass(frozen=True)
class Subject:
    """A tag of the document with its operations."""

    name: str
    text: str
    operations: tuple[Operation, ...]

    @property
    def title(self) -> str:
        """The tag as a heading."""
        return self.name.capitalize()


@dataclass(frozen=True)
class Reference:
    """The whole reference."""

    version: str
    subjects: tuple[Subject, ...]

    @cached_property
    def count(self) -> int:
        """The number of operations."""
        return sum(len(subject.operations) for subject in self.subjects)


_last_reference: list[tuple[int, Reference]] = []


def read_reference(document: Mapping[str, Any]) -> Reference:
    """Return the reference of an OpenAPI document; that of the last document is kept."""
    if not _last_reference or _last_reference[0][0] != id(document):
        _last_reference[:] = [(id(document), _reference(document))]
    return _last_reference[0][1]


def _reference(document: Mapping[str, Any]) -> Reference:
    schemas = document.get("components", {}).get("schemas", {})
    by_tag: dict[str, list[Operation]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = _operation(method, path, methods[method], schemas)
                for tag in methods[method].get("tags", ()):
                    by_tag.setdefault(tag, []).append(operation)
    texts = {tag["name"]: tag.get("description", "") for tag in document["tags"]}
    subjects = [Subject(name, texts.get(name, ""), tuple(some)) for name, some in by_tag.items() if some]
    return Reference(document["info"]["version"], tuple(subjects))


def _operation(method: str, path: str, entry: Mapping[str, Any], schemas: Mapping[str, Any]) -> Operation:
    security = entry.get("security", [])
    scopes = tuple(dict.fromkeys(scope for need in security for some in need.values() for scope in some))
    content = entry.get("requestBody", {}).get("content", {})
    schema = content.get(JSON, {}).get("schema", {})
    return Operation(
        method=method.upper(),
        path=path,
        title=entry.get("summary", "").capitalize(),
        text=entry.get("description", ""),
        scopes=scopes,
        open_to_all=not security or {} in security,
        parameters=tuple(_parameter(parameter, schemas) for parameter in entry.get("parameters", ())),
        body=tuple(_members(schema, schemas)),
        body_kind=_kind(schema, schemas) if schema else next(iter(content), ""),
        sample=_sample(schema, schemas) if schema else None,
        answers=tuple(_answers(entry.get("responses", {}), schemas)),
    )


def _answers(responses: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[ApiAnswer]:
    for status, response in responses.items():
        if status.startswith("2"):
            content = response.get("content", {})
            schema = content.get(JSON, {}).get("schema", {})
            kind = _kind(schema, schemas) if schema else next(iter(content), "")
            yield ApiAnswer(status, kind, tuple(_members(schema, schemas)))


def _parameter(entry: Mapping[str, Any], schemas: Mapping[str, Any]) -> SchemaMember:
    schema = entry.get("schema", {})
    text = entry.get("description") or schema.get("description", "")
    return SchemaMember(entry["name"], _kind(schema, schemas), entry.get("required", False), text, entry["in"])


def _resolve(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that a reference names; of a choice with null the other one."""
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    others = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    return _resolve(others[0], schemas) if len(others) == 1 else schema


def _members(
    schema: Mapping[str, Any], schemas: Mapping[str, Any], depth: int = 0, above: tuple[int, ...] = ()
) -> Iterator[SchemaMember]:
    """The members of an object, those of objects within it below their own."""
    resolved = _resolve(schema, schemas)
    if resolved.get("type") == "array":
        resolved = _resolve(resolved.get("items", {}), schemas)
    if depth >= MAX_DEPTH or id(resolved) in above:
        return
    required = resolved.get("required", ())
    for name, member in resolved.get("properties", {}).items():
        text = member.get("description") or ""
        yield SchemaMember(name, _kind(member, schemas), name in required, text, depth=depth)
        yield from _members(member, schemas, depth + 1, (*above, id(resolved)))


def _kind(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    """A schema in words: `string`, `list of ExampleOut`, `"open" or "closed"`, with limits."""
    if "$ref" in schema:
        name: str = schema["$ref"].rpartition("/")[2]
        target = schemas.get(name, {})
        return _kind(target, schemas) if "enum" in target else str(target.get("title", name))
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        kinds = dict.fromkeys(_kind(choice, schemas) for choice in choices if choice.get("type") != "null")
        return " or ".join(kinds)
    if "enum" in schema:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    kind = schema.get("type", "any value")
    if kind == "array":
        return f"list of {_kind(schema.get('items', {}), schemas)}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {_kind(schema['additionalProperties'], schemas)}"
    return str(kind) + _limits(schema)


def _limits(schema: Mapping[str, Any]) -> str:
    low = schema.get("minimum", schema.get("minLength"))
    high = schema.get("maximum", schema.get("maxLength"))
    unit = " characters" if schema.get("type") == "string" else ""
    if high is not None and high < 2**31 - 1:
        return f", {low:g} to {high:g}{unit}" if low else f", at most {high:,.10g}{unit}"
    return f", at least {low:g}{unit}" if low else ""


def _sample(schema: Mapping[str, Any], schemas: Mapping[str, Any], depth: int = 0) -> Any:
    """A value that a schema takes: examples and defaults where it has them, required members alone."""
    resolved = _resolve(schema, schemas)
    for source in (schema, resolved):
        if source.get("examples"):
            return source["examples"][0]
        if "default" in source and source["default"] is not None:
            return source["default"]
    if "enum" in resolved:
        return resolved["enum"][0]
    if choices := resolved.get("anyOf") or resolved.get("oneOf"):
        return _sample(choices[0], schemas, depth + 1)
    if resolved.get("type") == "object":
        names = resolved.get("required", ()) if depth < MAX_DEPTH else ()
        return {name: _sample(resolved["properties"][name], schemas, depth + 1) for name in names}
    if resolved.get("type") == "array":
        return [_sample(resolved.get("items", {}), schemas, depth + 1)] if depth < MAX_DEPTH else []
    plain: dict[str, Any] = {"string": "…", "integer": 1, "number": 0.5, "boolean": True}
    return plain.get(resolved.get("type", ""))
