"""Views of a module of the library: its formula, its chart, and code that uses it."""

import pprint
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import nh3
from latex2mathml.converter import convert
from markupsafe import Markup

from dynabench.evaluate.results import chart_of_result, result_lines, result_tables
from dynabench.site.cards.library import LibraryEntry, all_entries
from dynabench.site.cards.service import Computation

SIGNS = re.compile(r"[\\_^=]")  # without any of them a formula is a sentence
TAGS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle", "mpadded", "mphantom"),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover", "mtable", "mtr", "mtd"),
}
ATTRIBUTES = {
    "math": {"display", "xmlns"},
    "mo": {"stretchy", "fence", "form", "largeop", "lspace", "rspace", "minsize", "maxsize", "separator"},
    "mi": {"mathvariant"},
    "mspace": {"width", "height"},
    "mover": {"accent"},
    "munder": {"accentunder"},
    "mfrac": {"linethickness"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtd": {"columnalign"},
}


@cache
def formula_as_mathml(formula: str) -> Markup:
    """Return a formula in TeX as sanitised MathML; plain text, and TeX that cannot be converted, as `<code>`."""
    if SIGNS.search(formula):
        try:
            html = "".join(nh3.clean(convert(part, display="block"), tags=TAGS, attributes=ATTRIBUTES)
                           for part in _parts(formula))  # fmt: skip
        except Exception:  # the converter's errors have no common class; a card is shown all the same
            html = ""
        if "<math" in html and "\\" not in html:
            return Markup(html)  # noqa: S704 - sanitised just now
    return Markup('<code class="formula-text">{}</code>').format(formula)


def _parts(formula: str) -> list[str]:
    """Equations that stand beside each other, `a = b,\\quad c = d`, one by one; the whole where one would be torn."""
    parts = re.split(r"[,;]?\s*\\q?quad\s*", formula)
    whole = all(part.count("{") == part.count("}") and part.count(r"\left") == part.count(r"\right") for part in parts)
    return [part for part in parts if part.strip()] if whole else [formula]


@dataclass(frozen=True)
class ResultPicture:
    """A chart of a computed result: `title` states the finding, `spec` is Vega, `columns` and `rows` are its table."""

    title: str
    spec: dict[str, Any]
    columns: list[str | tuple[str, str]]
    rows: list[list[str]]
    note: str = ""


def result_chart(computation: Computation, per_example: dict[str, Any]) -> ResultPicture | None:
    """Return a chart of the result; None where there is nothing to draw."""
    chart = chart_of_result(computation.entry.module, computation.columns, per_example)
    if chart is None:
        return None
    import vl_convert

    spec: dict[str, Any] = vl_convert.vegalite_to_vega(chart.spec)
    first, *rest = chart.columns
    return ResultPicture(
        chart.title, spec, [first, *((name, "num") for name in rest)], [list(row) for row in chart.rows]
    )


def outcome_values(entry: LibraryEntry, computation: Computation, result: dict[str, Any]) -> dict[str, Any]:
    """Return what pages show of a result that has the scores of single rows (`per_example`)."""
    per_example = result.pop("per_example", {})
    return {
        "result": result,
        "lines": result_lines(entry.card, result),
        "tables": result_tables(result),
        "chart": result_chart(computation, per_example),
        "rows": max((len(column) for column in computation.columns.values()), default=0),
    }


WIDTH = 60


def usage_examples(entry: LibraryEntry) -> dict[str, str]:
    """Return code for Python, a terminal, and HTTP, by name."""
    snippets = {"Python": python_usage(entry), "Terminal": terminal_usage(entry)}
    return snippets if entry.closed else snippets | {"HTTP": http_usage(entry)}


def _usage_example(entry: LibraryEntry) -> Any:
    return next((candidate for candidate in entry.examples if candidate.error is None), entry.examples[0])


def python_usage(entry: LibraryEntry) -> str:
    """Return the lines that load and compute the module, with their result."""
    example = _usage_example(entry)
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

    example = _usage_example(entry)
    body = json.dumps({"columns": {name: list(part) for name, part in example.inputs.items()}}, ensure_ascii=False)
    return f"POST /api/v1/evaluate/{entry.kind}/{entry.name}\nContent-Type: application/json\n\n{body}"


def _value(value: Any, indent: int) -> str:
    text = pprint.pformat(list(value) if isinstance(value, tuple) else value, width=WIDTH - indent, compact=True)
    return text.replace("\n", "\n" + " " * indent)
