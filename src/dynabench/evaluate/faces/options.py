"""Options of a module, read from its signature, so that forms, command lines and the API read them alike.

Only plain values are options here: flags, numbers, texts, choices and lists of them. Options that take a
function, a model or a file are left out and can be passed in Python alone.
"""

import json
import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from dynabench.evaluate.module import Module

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

    def said(self) -> str:
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
        if self.forms & {"whole", "number"} and (value := _number(text, self.forms)) is not None:
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
            raise ValueError(f"takes {self.said()}")
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


def _number(text: str, forms: frozenset[str]) -> int | float | None:
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
