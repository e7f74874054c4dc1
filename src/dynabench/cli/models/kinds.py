"""`dynabench model kinds`: what a model can be, and what is installed for it."""

import ast
import json
from pathlib import Path
from typing import Annotated, Any

import typer


def kinds(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Every kind of model, what it is, where it runs, and whether all it needs is installed here."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = [_row(name) for name in _names()]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table("kind", "what it is", "runs", "installed", box=None, pad_edge=False)
    for row in rows:
        lacks = "no sandbox here" if row["runs"] == "sandbox" else row["installation"]
        short = row["what"].partition(":")[0]
        what = short if " " in short else row["what"]
        cells = (row["kind"], what, row["runs"], "yes" if row["installed"] else lacks)
        table.add_row(*(Text(cell) for cell in cells))
    Console(highlight=False).print(table)


def _names() -> list[str]:
    from dynabench.models.kinds import kinds as known

    return list(known())


def _row(name: str) -> dict[str, Any]:
    from dynabench.models.kinds import kind

    found = kind(name)
    lacks = found.lacks() or (_unconfined() if found.files is None else "")
    return {
        "kind": name,
        "what": _what(found.backend.partition(":")[0]),
        "runs": "sandbox" if found.files is None else "here" if found.inside else "elsewhere",
        "installed": not lacks,
        "lacks": lacks,
        "extra": found.extra,
        "installation": found.installation,
        "methods": list(found.methods),
    }


def _unconfined() -> str:
    """Why code of others cannot run here; empty where a sandbox can confine it."""
    from dynabench.kit.errors import Unavailable
    from dynabench.models.sandbox.available import sandbox

    try:
        sandbox()
    except Unavailable as problem:
        return problem.detail
    return ""


def _what(module: str) -> str:
    """The first sentence of the backend's module, read without importing what it needs."""
    from importlib.util import find_spec

    try:
        found = find_spec(module)
    except ModuleNotFoundError:
        return ""
    if found is None or not found.origin:
        return ""
    told = ast.get_docstring(ast.parse(Path(found.origin).read_text(encoding="utf-8"))) or ""
    return " ".join(told.split("\n\n")[0].split()).rstrip(".")
