"""Lines of code that use a module, made from its first worked example."""

import pprint
from typing import Any

from dynabench.cards.library import Entry, entries

WIDTH = 68


def of(entry: Entry) -> dict[str, str]:
    """Python, a terminal, and HTTP, by name."""
    found = {"Python": python(entry), "Terminal": terminal(entry)}
    return found if entry.closed else found | {"HTTP": http(entry)}


def python(entry: Entry) -> str:
    """Loading and computing, with what it gives."""
    example = next((each for each in entry.examples if each.error is None), entry.examples[0])
    twins = sum(each.name == entry.name for each in entries()) > 1
    named = [repr(entry.name), *([repr(example.config)] if example.config else [])]
    named += [f"module_type={entry.kind!r}"] if twins else []
    given = [f"{name}={_value(part, len(name) + 5)}" for name, part in {**example.inputs, **example.options}.items()]
    flat = f"module.compute({', '.join(given)})"
    call = flat if len(flat) <= WIDTH else "module.compute(\n    " + ",\n    ".join(given) + ",\n)"
    gives = "\n".join(f"# {line}" for line in pprint.pformat(dict(example.result), width=WIDTH).splitlines())
    lines = ["from dynabench.evaluate import load", "", f"module = load({', '.join(named)})", call]
    return "\n".join([*lines, *([gives] if example.result else [])])


def terminal(entry: Entry) -> str:
    """The command for a file whose columns have the module's names."""
    return f"dynabench evaluate run --metric {entry.name} --data rows.csv"


def http(entry: Entry) -> str:
    """A request to the JSON API."""
    import json

    example = next((each for each in entry.examples if each.error is None), entry.examples[0])
    body = json.dumps({"columns": {name: list(part) for name, part in example.inputs.items()}}, ensure_ascii=False)
    return f"POST /api/v1/evaluate/{entry.kind}/{entry.name}\nContent-Type: application/json\n\n{body}"


def _value(value: Any, indent: int) -> str:
    text = pprint.pformat(list(value) if isinstance(value, tuple) else value, width=WIDTH - indent, compact=True)
    return text.replace("\n", "\n" + " " * indent)
