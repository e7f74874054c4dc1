"""Our own exports, read back: rows of JSONL as they are, cells of CSV and columns of Parquet put together again."""

from datetime import datetime
from typing import Any

import orjson
from pydantic import ValidationError

from dynabench.datasets import rows
from dynabench.datasets.rows import MOMENT, Row
from dynabench.datasets.shapes import GROUPS, JSON, without_nothing
from dynabench.kit import errors
from dynabench.kit.csv_tables import unguarded
from dynabench.kit.language import _

JSON_CELLS = ("predictions", "validations", "assistance", "program", "attributions")
NUMBERS = ("task_version", "round", "edit_distance", "attempt", "seconds", "latency_ms")


def is_ours(values: dict[str, Any]) -> bool:
    """Return whether a row of a file comes from an export of Dynabench."""
    return {"uid", "task_version", "predictions", "validations"} <= values.keys()


def row(values: dict[str, Any]) -> Row:
    """The row that a line of one of our files holds. Raises `Invalid`."""
    try:
        plain = _plain(values)
        rows.check_storable(plain)
        return Row.model_validate(plain)
    except ValidationError as problem:
        raise errors.Invalid({".".join(map(str, one["loc"])): one["msg"] for one in problem.errors()[:5]}) from None
    except orjson.JSONDecodeError as problem:
        raise errors.Invalid(
            {"row": _("A cell that holds JSON cannot be read: %(problem)s.", problem=problem)}
        ) from None
    except KeyError as problem:
        raise errors.Invalid({"row": _("The column %(problem)s is missing.", problem=problem)}) from None
    except (AttributeError, TypeError, ValueError):
        raise errors.Invalid({"row": _("This is no row of an export: a column holds something else.")}) from None


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    if isinstance(exact := values.get("exact"), str) and exact:
        found = orjson.loads(exact)
        return found if isinstance(found, dict) else {}
    if "condition.start" in values:
        return _from_cells(values)
    if isinstance(values.get("at"), datetime):
        return _from_columns(values)
    return values


def _from_cells(values: dict[str, Any]) -> dict[str, Any]:
    """A record of CSV: texts without their guard, numbers and JSON read."""
    made: dict[str, Any] = {name: _group(values, name) for name in GROUPS}
    made["context"] = {"values": made["context"], "tag": unguarded(values.get("tag", ""))}
    made["goal"] = made["goal"] or None
    said, at = made["explanation"], values.get("explanation.at")
    made["explanation"] = {"values": said, "at": at} if at else None
    made["condition"] = {
        "start": values["condition.start"],
        "arm": unguarded(values["condition.arm"]),
        "share": orjson.loads(values["condition.share"]) if values["condition.share"] else None,
        "ensemble": values["condition.ensemble"],
        "targets": orjson.loads(values["condition.targets"]),
        "assistant": values.get("condition.assistant") == "true",
    }
    made |= {name: orjson.loads(values[name]) for name in JSON_CELLS if values.get(name)}
    made |= {name: orjson.loads(values[name]) for name in NUMBERS if values.get(name)}
    made |= {"uid": unguarded(values["uid"]), "made_from": unguarded(values.get("made_from") or "") or None}
    made["fooled"] = {"true": True, "false": False}.get(values.get("fooled", ""))
    return made | {name: values[name] for name in ("task", "author", "source", "at", "verdict") if values.get(name)}


def _group(values: dict[str, Any], member: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, cell in values.items():
        field = name.removeprefix(f"{member}.")
        if field == name or not cell or (member, field) == ("explanation", "at"):
            continue
        plain = field.removesuffix(JSON)
        found[plain] = unguarded(cell) if plain == field else orjson.loads(cell)
    return found


def _from_columns(values: dict[str, Any]) -> dict[str, Any]:
    """A record of Parquet: structs without the members that are null, moments as text."""
    made = {name: value for name, value in values.items() if name in rows.COLUMNS}
    for name in ("context", "initial", "goal", "input", "answer", "explanation", "condition"):
        made[name] = without_nothing(made.get(name))
    if isinstance(values.get("attributions"), str):
        made["attributions"] = orjson.loads(values["attributions"])
    made["predictions"] = [without_nothing(one) for one in made.get("predictions") or []]
    made["validations"] = [without_nothing(one) for one in made.get("validations") or []]
    for one in (made, made["explanation"] or {}, *made["validations"]):
        if isinstance(one.get("at"), datetime):
            one["at"] = one["at"].strftime(MOMENT)
    return made
