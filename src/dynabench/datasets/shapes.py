"""Columns of tables: which values of a row the task's fields hold, and of which kind."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson

from dynabench.kit.csv_tables import guarded
from dynabench.tasks import TaskConfig

GROUPS = {"context": "context", "initial": "input", "goal": "answer", "input": "input", "answer": "answer",
          "explanation": "ask"}  # fmt: skip
"""Member of a row -> group of the task's fields whose values it holds."""

JSON = ".json"
QUOTE = '"'


def fields(configs: Sequence[TaskConfig], group: str) -> dict[str, dict[str, Any]]:
    """The fields of a group with their JSON Schemas, over all versions; `{}` where versions disagree on the kind."""
    found: dict[str, dict[str, Any]] = {}
    for config in configs:
        for field in config.fields(group):
            schema = field.json_schema()
            if field.name in found and kind(found[field.name]) != kind(schema):
                schema = {}
            found[field.name] = schema
    return found


def kind(schema: dict[str, Any]) -> str:
    """Return the kind of a JSON Schema's values.

    It is `string`, `number`, `integer`, `boolean`, `array`, `object`, or `any`.
    """
    if "enum" in schema:
        return "string" if all(isinstance(one, str) for one in schema["enum"]) else "any"
    named = schema.get("type", "any")
    return named if isinstance(named, str) else "any"


def quoted(text: str) -> str:
    """A cell of CSV that may hold anything."""
    return f'"{text.replace(QUOTE, QUOTE + QUOTE)}"' if text else ""


class Flat:
    """The columns of one member in a table without nesting: a column per field.

    Texts stand as they are (guarded), other values as JSON, in columns whose names say so; an empty cell is a value
    that is absent.
    """

    def __init__(self, configs: Sequence[TaskConfig], member: str) -> None:
        schemas = fields(configs, GROUPS[member])
        self.names = list(schemas)
        self.plain = [kind(schema) == "string" for schema in schemas.values()]
        self.pairs = list(zip(self.names, self.plain, strict=True))
        self.columns = [f"{member}.{name}{'' if plain else JSON}" for name, plain in self.pairs]
        self.empty = [""] * len(self.names)

    def cells(self, values: dict[str, Any]) -> list[str] | None:
        """One cell per column; None where the columns cannot hold these very values."""
        cells, held = [], 0
        for name, plain in self.pairs:
            value = values.get(name)
            if value is None:
                cells.append("")
            elif not plain:
                cells.append(quoted(orjson.dumps(value).decode()))
                held += 1
            elif isinstance(value, str):
                cells.append(quoted(guarded(value)))
                held += 1
            else:
                return None
        return cells if held == len(values) else None


@lru_cache(maxsize=10_000)
def text_of(member: str) -> str:
    """The text that a JSON string holds; names repeat, so most are known."""
    return str(orjson.loads(member))


def without_nothing(value: Any) -> Any:
    """`value` without the members of objects that are null: what a struct's column lacks."""
    if isinstance(value, dict):
        return {name: without_nothing(part) for name, part in value.items() if part is not None}
    return [without_nothing(part) for part in value] if isinstance(value, list) else value
