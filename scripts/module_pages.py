"""Reference pages of the evaluation library for the documentation site, made from the modules' cards while it is built.

`mkdocs.yml` names this file as a hook: the pages under `reference/modules/` exist in the site alone.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

from dynabench.evaluate.results import range_text
from dynabench.kit.distributions import LIBRARY, install_command
from dynabench.site.cards import library, views
from dynabench.site.cards.views import formula_as_mathml

TITLES = {"metric": "Metrics", "measurement": "Measurements", "comparison": "Comparisons"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each kind, and the list of all."""
    for kind, title in TITLES.items():
        text = page(title, [item for item in library.all_entries() if item.kind == kind and item.ours])
        files.append(File.generated(config, f"reference/modules/{kind}s.md", content=text))
    return files


def page(title: str, entries: list[library.LibraryEntry]) -> str:
    """All modules of a kind: a table, then each one's card."""
    rows = "\n".join(
        f"| [`{item.name}`](#{item.name}) | {cell(item.line)} | {cell(range_of(item))} |" for item in entries
    )
    intro = f"# {title}\n\nMade from the cards in the code. `dynabench evaluate show` prints one, `/evaluate` computes."
    head = "| module | what it says | range |\n|---|---|---|"
    return "\n\n".join([intro, f"{head}\n{rows}", *(card(item) for item in entries)]) + "\n"


def range_of(entry: library.LibraryEntry) -> str:
    """Range and direction of a module's first output."""
    return range_text(entry.card.outputs[0])


def card(entry: library.LibraryEntry) -> str:
    """One module."""
    entries = entry.card
    parts = [
        f"## {entry.name} {{#{entry.name}}}",
        plain(entries.description),
        f"<div>{formula_as_mathml(entries.formula)}</div>",
    ]
    parts.append(terms("column", entries.inputs))
    if entries.options:
        parts.append(terms("option", entries.options))
    parts.append(terms("result", {item.name: f"{item.text} ({range_text(item)})" for item in entries.outputs}))
    parts.append(f"```python\n{views.python_usage(entry)}\n```")
    parts.append(f"**Limits.** {plain(entries.limits)}")
    needs = [f"`{install_command(LIBRARY, extra)}`" for extra in entries.needs] + (
        [entries.resource] if entries.resource else []
    )
    if needs:
        parts.append(f"**Needs** {', '.join(needs)}.")
    parts.append(f"**Source.** {plain(entries.citation)}")
    return "\n\n".join(parts)


def terms(name: str, lines: Mapping[str, str]) -> str:
    """A table of names and what they mean."""
    rows = "\n".join(f"| `{key}` | {cell(text)} |" for key, text in lines.items())
    return f"| {name} | meaning |\n|---|---|\n{rows}"


def cell(text: str) -> str:
    """A text for a table's cell."""
    return plain(text).replace("|", "\\|").replace("\n", " ")


def plain(text: str) -> str:
    """A text that Markdown shows as it stands, but for `code`."""
    for mark in ("<", "*", "_", "[", "]"):
        text = mark_outside(text, mark)
    return text


def mark_outside(text: str, mark: str) -> str:
    """The text with `mark` escaped outside of code."""
    parts = text.split("`")
    escaped = "&lt;" if mark == "<" else f"\\{mark}"
    return "`".join(part if at % 2 else part.replace(mark, escaped) for at, part in enumerate(parts))
