"""Lines of code that use a module, made from its first worked example."""

import pprint
from typing import Any

from dynabench.site.cards.library import LibraryEntry, all_entries

WIDTH = 68


def usage_examples(entry: LibraryEntry) -> dict[str, str]:
    """Return code for Python, a terminal, and HTTP, by name."""
    snippets = {"Python": python_usage(entry), "Terminal": terminal_usage(entry)}
    return snippets if entry.closed else snippets | {"HTTP": http_usage(entry)}


def python_usage(entry: LibraryEntry) -> str:
    """Return the lines that load and compute the module, with their result."""
    example = next((candidate for candidate in entry.examples if candidate.error is None), entry.examples[0])
    twins = sum(candidate.name == entry.name for candidate in all_entries()) > 1
    named = [repr(entry.name), *([repr(example.config)] if example.config else [])]
    named += [f"module_type={entry.kind!r}"] if twins else []
    arguments = [
        f"{name}={_value(part, len(name) + 5)}" for name, part in {**example.inputs, **example.options}.items()
    ]
    flat = f"module.compute({', '.join(arguments)})"
    call = flat if len(flat) <= WIDTH else "module.compute(\n    " + ",\n    ".join(arguments) + ",\n)"
    result_comment = "\n".join(f"# {line}" for line in pprint.pformat(dict(example.result), width=WIDTH).splitlines())
    lines = ["from dynabench.evaluate import load", "", f"module = load({', '.join(named)})", call]
    return "\n".join([*lines, *([result_comment] if example.result else [])])


def terminal_usage(entry: LibraryEntry) -> str:
    """Return the command for a file whose columns have the module's names."""
    return f"dynabench evaluate run --metric {entry.name} --data rows.csv"


def http_usage(entry: LibraryEntry) -> str:
    """Return a request to the JSON API."""
    import json

    example = next((candidate for candidate in entry.examples if candidate.error is None), entry.examples[0])
    body = json.dumps({"columns": {name: list(part) for name, part in example.inputs.items()}}, ensure_ascii=False)
    return f"POST /api/v1/evaluate/{entry.kind}/{entry.name}\nContent-Type: application/json\n\n{body}"


def _value(value: Any, indent: int) -> str:
    text = pprint.pformat(list(value) if isinstance(value, tuple) else value, width=WIDTH - indent, compact=True)
    return text.replace("\n", "\n" + " " * indent)
