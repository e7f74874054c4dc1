"""What somebody asks of a module, checked: columns, options, interval. Knows no web framework."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dynabench.cards.library import Entry, entries
from dynabench.errors import Forbidden, Invalid
from dynabench.evaluate.card import Example
from dynabench.evaluate.columns import Column
from dynabench.evaluate.faces import cells
from dynabench.language import _

ROWS = 10_000
LEVEL = 0.95
COLUMN, OPTION = "column.", "option."


@dataclass(frozen=True)
class Asked:
    """A request that can be computed."""

    entry: Entry
    columns: dict[str, list[Any]]
    options: dict[str, Any] = field(default_factory=dict)
    config: str | None = None
    interval: float | None = None
    per_example: bool = False

    def request(self) -> dict[str, Any]:
        """The same as `worker.computed` takes it."""
        extra = {"interval": self.interval} if self.interval is not None else {}
        return {
            "kind": self.entry.kind,
            "name": self.entry.name,
            "config": self.config,
            "columns": self.columns,
            "options": self.options,
            "extra": extra | ({"per_example": True} if self.per_example else {}),
        }


def kinds(entry: Entry, config: str | None = None) -> dict[str, Column]:
    """All columns that the module takes with this config, those that may be left out last."""
    known = config if config in entry.module.configs else None
    return {**entry.module(known).features, **entry.module.optional}


def asked(entry: Entry, columns: Mapping[str, Any], options: Mapping[str, Any], **rest: Any) -> Asked:
    """A request with values as JSON has them. Raises Forbidden for a closed module, Invalid with messages by field."""
    if entry.closed:
        raise Forbidden(entry.closed)
    wrong: dict[str, str] = {}
    known = kinds(entry)
    for name, column in columns.items():
        if name not in known:
            wrong[COLUMN + name] = _("There is no such column; the module takes %(known)s.", known=", ".join(known))
        elif len(column) > ROWS:
            wrong[COLUMN + name] = _("More than %(rows)s rows; compute them from Python.", rows=f"{ROWS:,}")
    clean = {}
    for name, value in options.items():
        if name not in entry.options:
            wrong[OPTION + name] = _("There is no such option here.")
            continue
        try:
            clean[name] = _harmless(name, entry.options[name].check(value))
        except ValueError as error:
            wrong[OPTION + name] = _("%(name)s %(error)s.", name=name, error=error)
    if rest.get("config") not in (None, *entry.module.configs):
        wrong["config"] = _("Choose one of %(configs)s.", configs=", ".join(entry.module.configs))
    if wrong:
        raise Invalid(wrong)
    return Asked(entry, dict(columns), clean, **rest)


def _harmless(name: str, value: Any) -> Any:
    """`value` unless it could name a file or a module that is not open. Raises ValueError."""
    if isinstance(value, str) and (re.search(r"[/\\\\]", value) or value.endswith(".py")):
        raise ValueError("takes no path here")
    if name == "metric" and value not in [each.name for each in entries() if not each.closed]:
        raise ValueError("takes the name of a module that can be computed here")
    return value


def typed(entry: Entry, fields: Mapping[str, str], upload: str = "") -> Asked:
    """A request from the texts of a form; a table, pasted or uploaded, takes the place of the columns' own fields.

    Raises what `asked` does.
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
    return asked(entry, columns, options, config=fields.get("config") or None, interval=interval)


def _columns(entry: Entry, fields: Mapping[str, str], upload: str, wrong: dict[str, str]) -> dict[str, list[Any]]:
    known = kinds(entry, fields.get("config"))
    table = upload or fields.get("table", "")
    if not table.strip():
        split = {name: cells.split(fields.get(COLUMN + name, "")) for name in known}
        given = {name: part for name, part in split.items() if part or name in entry.module.columns}
        return {name: cells.values(known[name], part) for name, part in given.items()}
    try:
        found = cells.table(table, known)
    except ValueError as error:
        wrong["table"] = f"{str(error)[:1].upper()}{str(error)[1:]}."
        return {}
    missing = [name for name in entry.module.columns if name not in found]
    if missing:
        wrong["table"] = _(
            "The table has no column %(missing)s; it has %(value)s.",
            missing=" and no ".join(missing),
            value=", ".join(found)[:200],
        )
    return {name: found[name] for name in known if name in found}


def filled(entry: Entry, example: Example) -> dict[str, str]:
    """A form's fields with an example in them: lines in the columns' fields, or a table where no lines can say it."""
    known = kinds(entry, example.config)
    fields = {COLUMN + name: cells.lines(known[name], list(column)) for name, column in example.inputs.items()}
    if any(lines is None for lines in fields.values()):
        fields = {"table": _json(example.inputs)}
    for name, option in entry.options.items():
        value = example.options.get(name, option.default)
        fields[OPTION + name] = "true" if value is True else "" if value is None or value is False else written(value)
    return {name: text or "" for name, text in fields.items()} | {"config": example.config or ""}


def written(value: Any) -> str:
    """An option's value as one types it."""
    return value if isinstance(value, str) else json.dumps(list(value) if isinstance(value, tuple) else value)


def _json(columns: Mapping[str, Any]) -> str:
    """A table as JSON, one column a line."""
    rows = [f"  {json.dumps(name)}: {json.dumps(list(part), ensure_ascii=False)}" for name, part in columns.items()]
    return "{\n" + ",\n".join(rows) + "\n}"


def placed(entry: Entry, fields: Mapping[str, str]) -> dict[str, str]:
    """Errors by field; what a module said, which came under "", goes to the column or option that it begins with."""
    named = {name: COLUMN + name for name in kinds(entry)} | {name: OPTION + name for name in entry.options}
    found = {}
    for place, message in fields.items():
        starts = (at for name, at in named.items() if message.startswith((f"{name}:", f"{name}=", f"{name} ")))
        place = place or next(starts, "")
        text = message.removeprefix(f"{place.removeprefix(COLUMN)}: ")
        found[place] = text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
    return found


def named_for_api(fields: Mapping[str, str]) -> dict[str, str]:
    """A form's fields as the JSON API names them: `column.predictions` is `columns.predictions` there."""
    return {
        place.replace(COLUMN, "columns.").replace(OPTION, "options.") or "columns": text
        for place, text in fields.items()
    }
