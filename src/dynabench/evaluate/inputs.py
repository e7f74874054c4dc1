"""Inputs of modules as people write them: cells of columns, options, and the check of a card's examples.

What a cell means depends on the column: a line of a text column is that text, a line of labels is a number where all
of them are. Lists and dictionaries are written as JSON.

Only plain values are options here: flags, numbers, texts, choices and lists of them. Options that take a
function, a model or a file are left out and can be passed in Python alone.
"""

import json
import math
import re
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from dynabench.evaluate.card import CardExample
from dynabench.evaluate.columns import Column, Labels, Numbers, References, Texts, Tokens
from dynabench.evaluate.module import Module
from dynabench.evaluate.tables import Columns, parse_columns, refuse_constant
from dynabench.evaluate.values import MissingLibrary

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?")
WHOLE = re.compile(r"[-+]?\d{1,18}")


def parse_cells(column: Column, cells: Sequence[str]) -> list[Any]:
    """Return the values in the cells of a column, one each. Nothing is refused here: the column itself does that."""
    if isinstance(column, Texts):
        return list(cells)
    if isinstance(column, References):
        return [_json(cell, list, cell) for cell in cells]
    if isinstance(column, Tokens):
        return [_json(cell, list, cell.split()) for cell in cells]
    if isinstance(column, Labels | Numbers):
        return parse_scalars(cells)
    return [_json(cell, object, cell) for cell in cells]


def parse_scalars(cells: Sequence[str]) -> list[Any]:
    """Return cells as numbers where each is one or a JSON list, else as texts; empty cells become None."""
    parsed_cells = [None if not cell.strip() else _number(cell.strip()) for cell in cells]
    if any(isinstance(value, str) for value in parsed_cells):
        return [cell.strip() or None for cell in cells]
    return parsed_cells


def column_lines(column: Column, column_values: Sequence[Any]) -> str | None:
    """Return values as lines that `parse_cells` reads back to the same.

    None where that is impossible (line breaks).
    """
    texts = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in column_values]
    text = "\n".join(texts)
    values = [list(value) if isinstance(value, tuple) else value for value in column_values]
    return text if split_lines(text) == texts and parse_cells(column, texts) == values else None


def line_format_hint(column: Column) -> str:
    """Return a hint how a value of this column is written on a line, where that is not obvious."""
    if isinstance(column, Tokens):
        return ", separated by spaces or as a JSON list"
    if isinstance(column, References):
        return ' as JSON: ["one", "other"]'
    if isinstance(column, Texts | Labels | Numbers):
        return ""
    return ", lists and dictionaries as JSON"


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, without empty ones at its end."""
    text_lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while text_lines and not text_lines[-1].strip():
        text_lines.pop()
    return text_lines


def parse_table(text: str, column_kinds: Mapping[str, Column]) -> Columns:
    """Return columns by name from a table: JSON (rows or columns), JSON lines, or CSV with a header.

    Raises ValueError, with the line where there is one, for any other text.
    """
    columns, untyped = parse_columns(text)
    if not untyped:
        return columns
    return {
        name: parse_cells(column_kinds[name], part) if name in column_kinds else parse_scalars(part)
        for name, part in columns.items()
    }


def _number(text: str) -> Any:
    if WHOLE.fullmatch(text):
        return int(text)
    if NUMBER.fullmatch(text):
        return float(text)
    return _json(text, list, text)


def _json(text: str, kind: type, otherwise: Any) -> Any:
    if kind is list and not text.lstrip().startswith("["):
        return otherwise
    try:
        value = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return otherwise
    return value if isinstance(value, kind) else otherwise


MAX_TEXT = 200  # characters of a text
MAX_ITEMS = 10_000  # items of a list
MAX_NUMBER = 1e9
EXCLUDED_NAMES = re.compile(r"^allow_|model|path|file|url|device|checkpoint|folder|dir$")  # names of what lies outside
SCALARS = {bool: "flag", int: "whole", float: "number", str: "text", type(None): "none"}
IN_WORDS = {"flag": "yes or no", "whole": "a whole number", "number": "a number", "text": "a text", "list": "a list"}


@dataclass(frozen=True)
class ModuleOption:
    """One keyword argument.

    `forms` are the kinds of its values, among flag, whole, number, text, list, none and choice.
    """

    name: str
    text: str
    forms: frozenset[str]
    choices: tuple[Any, ...]
    default: Any
    items: "ModuleOption | None" = None

    @property
    def field(self) -> str:
        """The form field that fits: flag, choice, number or text."""
        forms = self.forms - {"none"}
        if forms == {"flag"} and "none" not in self.forms:
            return "flag"
        if forms == {"choice"}:
            return "choice"
        return "number" if forms and forms <= {"whole", "number"} else "text"

    def describe_values(self) -> str:
        """Return the values that it takes, in words."""
        phrases = [IN_WORDS[form] for form in sorted(self.forms - {"none", "choice"})]
        phrases += [", ".join(map(str, self.choices))] if self.choices else []
        return " or ".join(phrases) + (", or nothing" if "none" in self.forms else "")

    def read(self, text: str) -> Any:
        """Return the value of a text, as typed into a form or a command line.

        Raises ValueError for a text that is none.
        """
        text = text.strip()
        if not text and "none" in self.forms:
            return None
        for choice in self.choices:
            if text == str(choice):
                return choice
        if "flag" in self.forms and text.lower() in ("true", "false", "on", "yes", "no"):
            return text.lower() in ("true", "on", "yes")
        if self.forms & {"whole", "number"} and (value := _parse_number(text, self.forms)) is not None:
            return value
        if "list" in self.forms and (text.startswith("[") or not self.forms & {"text"}):
            return self.check(_parse_list(text, self.items))
        return self.check(text)

    def check(self, value: Any) -> Any:
        """Return `value` unchanged.

        Raises ValueError unless it is of one of the forms, and within the limits of size.
        """
        if isinstance(value, str) and len(value) > MAX_TEXT:
            raise ValueError(f"is longer than {MAX_TEXT} characters")
        if isinstance(value, int | float) and not abs(value) <= MAX_NUMBER:
            raise ValueError("is too large a number")
        if any(value == choice and type(value) is type(choice) for choice in self.choices):
            return value
        form = "list" if isinstance(value, list) else SCALARS.get(type(value), "")
        if form not in self.forms and not (form == "whole" and "number" in self.forms):
            raise ValueError(f"takes {self.describe_values()}")
        if form == "list" and self.items is not None:
            if len(value) > MAX_ITEMS:
                raise ValueError(f"has more than {MAX_ITEMS:,} items")
            return [self.items.check(item) for item in value]
        return value


def module_options(module: type[Module]) -> dict[str, ModuleOption]:
    """Return the options of a module that are plain values, by name."""
    by_name = {}
    for name, parameter in module.options_known().items():
        forms, choices, items = _forms(parameter.annotation)
        if forms and not EXCLUDED_NAMES.search(name):
            default = None if parameter.default is parameter.empty else parameter.default
            inner = None if items is None else ModuleOption(name, "", items[0], items[1], None)
            by_name[name] = ModuleOption(name, module.card.options.get(name, ""), forms, choices, default, inner)
    return by_name


Forms = tuple[frozenset[str], tuple[Any, ...]]


def _forms(annotation: Any) -> tuple[frozenset[str], tuple[Any, ...], Forms | None]:
    """Forms, choices, and the same for items of lists; no forms for an annotation that is unknown."""
    if annotation is Any:
        return frozenset({*SCALARS.values(), "list"}) - {"flag"}, (), None
    forms: set[str] = set()
    choices: list[Any] = []
    items: Forms | None = None
    for part in _parts(annotation):
        origin = get_origin(part)
        if origin is Literal:
            choices += [choice for choice in get_args(part) if choice is not None]
            forms |= {"none" if choice is None else "choice" for choice in get_args(part)}
        elif part in SCALARS:
            forms.add(SCALARS[part])
        elif part in (list, tuple) or (
            isinstance(origin, type) and issubclass(origin, Iterable) and not issubclass(origin, Mapping)
        ):
            inner = [_forms(item) for item in get_args(part) if item is not Ellipsis] or [_forms(str | float)]
            items = (frozenset().union(*(item[0] for item in inner)), tuple(c for item in inner for c in item[1]))
            forms.add("list")
    if Path in _parts(annotation):
        forms.discard("text")  # it would be the name of a file
    return (frozenset(forms) if forms - {"none"} else frozenset()), tuple(dict.fromkeys(choices)), items


def _parts(annotation: Any) -> Iterable[Any]:
    if get_origin(annotation) in (Union, types.UnionType):
        for part in get_args(annotation):
            yield from _parts(part)
    else:
        yield annotation


def _parse_number(text: str, forms: frozenset[str]) -> int | float | None:
    if re.fullmatch(r"[-+]?\d{1,12}", text):
        return int(text)
    if "number" not in forms or not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,3})?", text, re.IGNORECASE):
        return None
    return float(text)


def _parse_list(text: str, items: ModuleOption | None) -> list[Any]:
    if text.startswith("["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError("is no list; write it like [1, 2]") from None
        return value if isinstance(value, list) else [value]
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return [items.read(part) if items else part for part in parts]


@dataclass
class ExampleReport:
    """A sentence for each example of a module that fails, and for each that needs a library that is not installed."""

    failures: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)


def check_examples(module: type[Module]) -> ExampleReport:
    """Compute all worked examples of a module and return the report."""
    report = ExampleReport()
    for example in module.card.examples:
        try:
            failure = _failure(module, example)
        except MissingLibrary as lacking:
            report.lacking.append(f"{example.title}: {lacking}")
        else:
            report.failures += [f"{example.title}: {failure}"] if failure else []
    return report


def failures(module: type[Module]) -> list[str]:
    """Return a sentence for each example with another result than the card says; [] where all agree."""
    return check_examples(module).failures


def matches_expected(actual: Any, expected: Any) -> bool:
    """Return whether a result has all that is expected, numbers to 6 digits."""
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(
            key in actual and matches_expected(actual[key], expected[key]) for key in expected
        )
    if isinstance(expected, list | tuple):
        return (
            isinstance(actual, list | tuple)
            and len(actual) == len(expected)
            and all(map(matches_expected, actual, expected))
        )
    if isinstance(expected, float | int) and not isinstance(expected, bool) and isinstance(actual, float | int):
        return math.isclose(actual, expected, rel_tol=1e-6, abs_tol=1e-9)
    return bool(actual == expected)


def _failure(module: type[Module], example: CardExample) -> str:
    try:
        result = module(example.config).compute(**example.inputs, **example.options)
    except MissingLibrary:
        raise
    except ValueError as error:
        if example.error is None:
            return f"it is refused: {error}"
        return "" if example.error in str(error) else f"the error is {error!s}, not {example.error!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if example.error is not None:
        return f"it gives {result} and no error"
    return (
        ""
        if matches_expected(result, dict(example.result))
        else f"it gives {result}, the card says {dict(example.result)}"
    )
