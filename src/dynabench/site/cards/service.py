"""A computation that a person wants from a module, checked: columns, options, interval. Knows no web framework."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dynabench.evaluate import inputs
from dynabench.evaluate.card import CardExample
from dynabench.evaluate.columns import Column
from dynabench.kit.errors import Forbidden, Invalid
from dynabench.kit.language import _
from dynabench.site.cards.library import LibraryEntry, all_entries

ROWS = 10_000
LEVEL = 0.95
COLUMN, OPTION = "column.", "option."


@dataclass(frozen=True)
class Computation:
    """A checked request that can be computed."""

    entry: LibraryEntry
    columns: dict[str, list[Any]]
    options: dict[str, Any] = field(default_factory=dict)
    config: str | None = None
    interval: float | None = None
    per_example: bool = False

    def request(self) -> dict[str, Any]:
        """Return the arguments of `worker.compute_request`."""
        extra = {"interval": self.interval} if self.interval is not None else {}
        return {
            "kind": self.entry.kind,
            "name": self.entry.name,
            "config": self.config,
            "columns": self.columns,
            "options": self.options,
            "extra": extra | ({"per_example": True} if self.per_example else {}),
        }


def column_kinds(entry: LibraryEntry, config: str | None = None) -> dict[str, Column]:
    """Return all columns that the module takes with this config, the optional ones last."""
    known_config = config if config in entry.module.configs else None
    return {**entry.module(known_config).features, **entry.module.optional}


def check_computation(
    entry: LibraryEntry, columns: Mapping[str, Any], options: Mapping[str, Any], **rest: Any
) -> Computation:
    """Check a request with JSON values and return it.

    Raises Forbidden for a closed module, Invalid with messages by field.
    """
    if entry.closed:
        raise Forbidden(entry.closed)
    wrong: dict[str, str] = {}
    columns_of_module = column_kinds(entry)
    for name, column in columns.items():
        if name not in columns_of_module:
            wrong[COLUMN + name] = _(
                "There is no such column; the module's columns are %(known)s.", known=", ".join(columns_of_module)
            )
        elif len(column) > ROWS:
            wrong[COLUMN + name] = _("More than %(rows)s rows; compute this from Python.", rows=f"{ROWS:,}")
    clean = {}
    for name, value in options.items():
        if name not in entry.options:
            wrong[OPTION + name] = _("There is no such option.")
            continue
        try:
            clean[name] = _refuse_paths(name, entry.options[name].check(value))
        except ValueError as error:
            wrong[OPTION + name] = _("%(name)s %(error)s.", name=name, error=error)
    if rest.get("config") not in (None, *entry.module.configs):
        wrong["config"] = _("Choose one of %(configs)s.", configs=", ".join(entry.module.configs))
    if wrong:
        raise Invalid(wrong)
    return Computation(entry, dict(columns), clean, **rest)


def _refuse_paths(name: str, value: Any) -> Any:
    """`value` unless it could name a file or a module that is not open. Raises ValueError."""
    if isinstance(value, str) and (re.search(r"[/\\\\]", value) or value.endswith(".py")):
        raise ValueError("takes no path here")
    if name == "metric" and value not in [open_entry.name for open_entry in all_entries() if not open_entry.closed]:
        raise ValueError("takes the name of a module that can be computed here")
    return value


def computation_from_form(entry: LibraryEntry, fields: Mapping[str, str], upload: str = "") -> Computation:
    """Return a request from the texts of a form; a pasted or uploaded table replaces the fields of the columns.

    Raises as `check_computation` does.
    """
    wrong: dict[str, str] = {}
    columns = _columns(entry, fields, upload, wrong)
    options = {}
    for name, option in entry.options.items():
        try:
            if option.field == "flag":
                options[name] = fields.get(OPTION + name) == "true"
            elif OPTION + name in fields:
                options[name] = option.read(fields[OPTION + name])
        except ValueError as error:
            wrong[OPTION + name] = _("%(name)s %(error)s.", name=name, error=error)
    if wrong:
        raise Invalid(wrong)
    interval = LEVEL if fields.get("interval") == "true" and entry.has_interval else None
    return check_computation(entry, columns, options, config=fields.get("config") or None, interval=interval)


async def uploaded_table(form: Mapping[str, Any]) -> str:
    """Return the text of a form's file; empty without one. Raises Invalid for a file that is no text."""
    file = form.get("file")
    if file is None or isinstance(file, str):
        return ""
    try:
        return str((await file.read()).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Invalid({"table": _("This file is not a UTF-8 text file.")}) from None


def _columns(
    entry: LibraryEntry, fields: Mapping[str, str], upload: str, wrong: dict[str, str]
) -> dict[str, list[Any]]:
    columns_by_name = column_kinds(entry, fields.get("config"))
    table = upload or fields.get("table", "")
    if not table.strip():
        split = {name: inputs.split_lines(fields.get(COLUMN + name, "")) for name in columns_by_name}
        filled_parts = {name: part for name, part in split.items() if part or name in entry.module.columns}
        return {name: inputs.parse_cells(columns_by_name[name], part) for name, part in filled_parts.items()}
    try:
        table_columns = inputs.parse_table(table, columns_by_name)
    except ValueError as error:
        wrong["table"] = f"{str(error)[:1].upper()}{str(error)[1:]}."
        return {}
    missing = [name for name in entry.module.columns if name not in table_columns]
    if missing:
        wrong["table"] = _(
            "The table has no column %(missing)s; it has %(value)s.",
            missing=" and no ".join(missing),
            value=", ".join(table_columns)[:200],
        )
    return {name: table_columns[name] for name in columns_by_name if name in table_columns}


def fill_form(entry: LibraryEntry, example: CardExample) -> dict[str, str]:
    """Return a form's fields with an example in them.

    Columns are lines in their fields, or a table where lines cannot hold them.
    """
    kinds_of_columns = column_kinds(entry, example.config)
    fields = {
        COLUMN + name: inputs.column_lines(kinds_of_columns[name], list(column))
        for name, column in example.inputs.items()
    }
    if any(lines is None for lines in fields.values()):
        fields = {"table": _json(example.inputs)}
    for name, option in entry.options.items():
        fields[OPTION + name] = _field_text(example.options.get(name, option.default))
    return {name: text or "" for name, text in fields.items()} | {"config": example.config or ""}


def changed_options(entry: LibraryEntry, fields: Mapping[str, str]) -> dict[str, str]:
    """Return the options of a form whose values differ from the defaults; a form without a flag has it off."""
    changed = {}
    for name, option in entry.options.items():
        default = _field_text(option.default)
        value = fields.get(OPTION + name, "" if option.field == "flag" else default)
        if value != default:
            changed[name] = value or "–"
    return changed


def _field_text(value: Any) -> str:
    """An option's value as its field holds it."""
    return "true" if value is True else "" if value is None or value is False else option_text(value)


def option_text(value: Any) -> str:
    """Return an option's value as text for a form."""
    return value if isinstance(value, str) else json.dumps(list(value) if isinstance(value, tuple) else value)


def _json(columns: Mapping[str, Any]) -> str:
    """A table as JSON, one column a line."""
    rows = [f"  {json.dumps(name)}: {json.dumps(list(part), ensure_ascii=False)}" for name, part in columns.items()]
    return "{\n" + ",\n".join(rows) + "\n}"


def errors_by_field(entry: LibraryEntry, fields: Mapping[str, str]) -> dict[str, str]:
    """Return errors by field; a module's message, under "", goes to the column or option that it begins with."""
    named = {name: COLUMN + name for name in column_kinds(entry)} | {name: OPTION + name for name in entry.options}
    messages = {}
    for place, message in fields.items():
        starts = (at for name, at in named.items() if message.startswith((f"{name}:", f"{name}=", f"{name} ")))
        place = place or next(starts, "")
        text = message.removeprefix(f"{place.removeprefix(COLUMN)}: ")
        messages[place] = text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
    return messages


def rename_for_api(fields: Mapping[str, str]) -> dict[str, str]:
    """Return errors by the JSON API's names: `column.predictions` becomes `columns.predictions`."""
    return {
        place.replace(COLUMN, "columns.").replace(OPTION, "options.") or "columns": text
        for place, text in fields.items()
    }
