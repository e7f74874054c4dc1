"""Modules in a table, and one module's card."""

from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.progress import track
from rich.table import Table
from rich.text import Text

from dynabench.evaluate import loading
from dynabench.evaluate.inputs import ExampleReport
from dynabench.evaluate.inputs import check_examples as look
from dynabench.evaluate.loading import missing_requirement
from dynabench.evaluate.module import Module
from dynabench.evaluate.results import range_text


def rows(kind: str, task: str, check: bool) -> list[dict[str, Any]]:
    """A row for each module; `lacks` says what is missing here.

    With `check`, `failures` says which examples went wrong, `lacking` which need what is not installed.
    """
    named = [*loading.builtin_modules(), *loading.plugin_modules()]
    found = [(its, name, loading.find_module(name, its)) for its, name in named if kind in ("", its)]
    chosen = [each for each in found if not task or task in each[2].card.tasks]
    return [_row(*each, check) for each in (track(chosen, "Computing", transient=True) if check else chosen)]


def _row(kind: str, name: str, module: type[Module], check: bool) -> dict[str, Any]:
    lacks = missing_requirement(module)
    looked = look(module) if check and not lacks else ExampleReport()
    return {
        "kind": kind,
        "name": name,
        "description": module.card.description,
        "tasks": list(module.card.tasks),
        "outputs": [each.name for each in module.card.outputs],
        "lacks": lacks,
        "checked": check and not lacks,
        "failures": looked.failures,
        "lacking": looked.lacking,
    }


def table(found: list[dict[str, Any]], check: bool) -> RenderableType:
    """The rows for people, and how many there are."""
    shown = Table("module", "kind", "what it says", "here", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for each in found:
        state = Text("lacks " + each["lacks"], "yellow") if each["lacks"] else Text("runs", "green")
        if each["checked"]:
            state = Text("wrong", "bold red") if each["failures"] else Text("checked", "green")
        line = each["description"].split(". ")[0].rstrip(".")
        shown.add_row(Text(each["name"], "bold"), each["kind"], escape(line), state)
    wrong = [Text(f"{each['name']}: {text}", "red") for each in found for text in each["failures"]]
    partly = [Text(f"{each['name']}: {text}", "yellow") for each in found for text in each["lacking"]]
    lacking = sum(bool(each["lacks"]) for each in found)
    total = f"{len(found)} modules, {lacking} of which cannot run here"
    return Group(shown, *partly, *wrong, Text(total + (f", {len(wrong)} examples are wrong" if check else ""), "dim"))


def find(name: str, kind: str) -> type[Module]:
    """The module of this name. Raises ValueError, with near names, for none."""
    return loading.find_module(name, kind or None)


def document(module: type[Module]) -> dict[str, Any]:
    """A card as JSON."""
    card = module.card
    return {
        "name": module.name_of(),
        "kind": module.kind,
        "description": card.description,
        "formula": card.formula,
        "inputs": dict(card.inputs),
        "options": dict(card.options),
        "configs": list(module.configs),
        "outputs": [vars(each) for each in card.outputs],
        "limits": card.limits,
        "citation": card.citation,
        "tasks": list(card.tasks),
        "references": list(card.references),
        "lacks": missing_requirement(module),
    }


def card(module: type[Module]) -> RenderableType:
    """A card for people."""
    known = module.card
    parts: list[RenderableType] = [Text.assemble((module.name_of(), "bold"), f"  {module.kind}"), known.description, ""]
    parts += [_indented(known.formula), ""]
    parts += [_terms("Columns", {name: _column(module, name, text) for name, text in known.inputs.items()})]
    if known.options:
        parts += [_terms("Options", known.options)]
    parts += [_terms("Result", {each.name: f"{each.text} ({range_text(each)})" for each in known.outputs})]
    parts += [Text("Limits", "bold"), _indented(known.limits), ""]
    parts += [Text("Examples", "bold"), *(_indented(_example(each)) for each in known.examples), ""]
    parts += [Text("Source", "bold"), _indented(known.citation)]
    if missing_requirement(module):
        parts += ["", Text(f"Cannot run here: lacks {missing_requirement(module)}", "yellow")]
    return Group(*(escape(part) if isinstance(part, str) else part for part in parts))


def _column(module: type[Module], name: str, text: str) -> str:
    return f"{text} (may be left out)" if name in module.optional else text


def _terms(title: str, terms: Any) -> RenderableType:
    shown = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for name, text in terms.items():
        shown.add_row(Text(name, "cyan"), Text(text))
    return Group(Text(title, "bold"), Padding(shown, (0, 0, 1, 2)))


def _example(example: Any) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in {**example.inputs, **example.options}.items())
    gives = f"error: {example.error}" if example.error else repr(dict(example.result))
    return f"{example.title}: compute({given})\n  {gives}"


def _indented(text: str) -> RenderableType:
    return Padding(Text(text), (0, 0, 0, 2))
