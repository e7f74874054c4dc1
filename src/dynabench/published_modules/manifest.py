"""The declaration of a published module: what the metadata of its README.md say, under the key `evaluation-module`.

`describe_module` writes it from a module's class, `read_manifest` reads it from people whom nobody knows, and
`declared_class` makes a class of it that has the columns, options and card of the module, and none of its code.
"""

import inspect
import json
import keyword
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dynabench.evaluate import columns as column_types
from dynabench.evaluate.card import Card, read_card_document, read_mapping, read_text
from dynabench.evaluate.columns import Column
from dynabench.evaluate.inputs import ModuleOption, module_options
from dynabench.evaluate.module import Comparison, Kind, Measurement, Metric, Module

KEY = "evaluation-module"
NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
MOST_COLUMNS, MOST_OPTIONS, MOST_OUTPUTS, MOST_EXAMPLES, MOST_CONFIGS = 20, 40, 100, 20, 40
MOST_CHARACTERS = 60_000
"""Characters of a declaration as JSON; the hub takes 64 KiB of metadata."""
TAKES: dict[str, Column] = {
    "labels": column_types.Labels(),
    "labels-or-sets": column_types.LabelsOrSets(),
    "numbers": column_types.Numbers(),
    "rows-of-numbers": column_types.Numbers(wide=True),
    "weights": column_types.Weights(),
    "texts": column_types.Texts(),
    "references": column_types.References(),
    "tokens": column_types.Tokens(),
    "records": column_types.Records(),
    "values": Column(),
}
"""The kinds of columns by the word that a declaration has for them."""
BASES: dict[str, type[Module]] = {"metric": Metric, "measurement": Measurement, "comparison": Comparison}
FORMS: dict[str, Any] = {"flag": bool, "whole": int, "number": float, "text": str, "none": None, "list": list[Any]}
LARGEST, DEEPEST = 1e300, 8
"""Numbers of a result, and lists in lists."""
CARD_FIELDS = ("description", "formula", "inputs", "options", "outputs", "examples", "limits", "citation", "tasks")


@dataclass(frozen=True)
class ModuleManifest:
    """A declared module. `takes` are the kinds of its columns, the `optional` ones among them.

    `file` is its Python file, `requires` are the packages that it imports, `interval` says whether it has bootstrap
    intervals, `order_matters` whether its result depends on the order of the rows.
    """

    kind: Kind
    name: str
    file: str
    takes: dict[str, str]
    card: Card
    optional: tuple[str, ...] = ()
    options: dict[str, ModuleOption] = field(default_factory=dict)
    configs: tuple[str, ...] = ("default",)
    requires: tuple[str, ...] = ()
    interval: bool = False
    order_matters: bool = False


def describe_module(module: type[Module], file: str) -> dict[str, Any]:
    """Return the declaration of a module, as the metadata of its README.md have it.

    Raises ValueError where a card has values that no YAML can hold.
    """
    card = module.card
    name = module.own_name or file.removesuffix(".py")
    document: dict[str, Any] = {"kind": module.kind, "name": name, "file": file}
    document |= {"description": card.description, "formula": card.formula}
    texts = dict(card.inputs)
    columns = {**module.columns, **module.optional}
    document["inputs"] = {
        name: {"takes": column_word(column), "text": texts.get(name, column.text)}
        | ({"optional": True} if name in module.optional else {})
        for name, column in columns.items()
    }
    if options := module_options(module):
        document["options"] = {name: _describe_option(option) for name, option in options.items()}
    document["outputs"] = {
        item.name: {"text": item.text, "range": [item.low, item.high]}
        | ({"better": item.better} if item.better else {})
        for item in card.outputs
    }
    document["examples"] = [
        {name: value for name, value in vars(example).items() if value not in (None, {})} for example in card.examples
    ]
    document |= {"limits": card.limits, "citation": card.citation}
    if card.tasks:
        document["tasks"] = list(card.tasks)
    if module.configs != ("default",):
        document["configs"] = list(module.configs)
    if hasattr(module, "formula") and "interval" not in module.options_known():
        document["interval"] = True
    try:
        plain: dict[str, Any] = json.loads(json.dumps(document, allow_nan=False, default=list))
    except (TypeError, ValueError) as error:
        raise ValueError(f"the card of {name} has a value that a README.md cannot hold: {error}") from None
    return plain


def column_word(column: Column) -> str:
    """Return the word of a declaration for a kind of column; `values` for a class that a module wrote itself."""
    for word, column_type in TAKES.items():
        wide = getattr(column, "wide", False) == getattr(column_type, "wide", False)
        if type(column) is type(column_type) and wide:
            return word
    return "values"


def _describe_option(option: ModuleOption) -> dict[str, Any]:
    takes: list[Any] = sorted(option.forms - {"choice"})
    entry: dict[str, Any] = {"takes": takes, "text": option.text or option.name}
    if option.choices:
        entry["choices"] = list(option.choices)
    if option.default is not None:
        entry["default"] = option.default
    return entry


def read_manifest(document: object) -> ModuleManifest:
    """Return the module that a declaration declares. Raises ValueError, naming the key that is wrong."""
    entry = read_mapping(document, KEY)
    if len(json.dumps(entry, default=str)) > MOST_CHARACTERS:
        raise ValueError(f"{KEY}: a declaration has at most {MOST_CHARACTERS:,} characters")
    keys = {"kind", "name", "file", "configs", "requires", "interval", "order-matters", *CARD_FIELDS}
    if unknown := [name for name in entry if name not in keys]:
        raise ValueError(f"{KEY}: unknown key {unknown[0]!r}; the keys are {', '.join(sorted(keys))}")
    kind, name, file = (read_text(entry.get(key), key) for key in ("kind", "name", "file"))
    if kind not in BASES:
        raise ValueError(f"kind: give metric, measurement or comparison, not {kind!r:.80}")
    check_module_name(name)
    if not re.fullmatch(r"[A-Za-z0-9_]{1,60}\.py", file):
        raise ValueError(f"file: give the name of a Python file at the top of the repository, not {file!r:.80}")
    inputs = _named(entry.get("inputs"), "inputs", MOST_COLUMNS)
    card_document = {key: entry[key] for key in CARD_FIELDS if key in entry}
    card_document["inputs"] = {
        column: read_text(part.get("text"), f"inputs: {column}") for column, part in inputs.items()
    }
    option_parts = _named(entry["options"], "options", MOST_OPTIONS) if "options" in entry else {}
    options = {name: _read_option(name, part) for name, part in option_parts.items()}
    card_document["options"] = {name: option.text for name, option in options.items()}
    card = read_card_document(card_document, KEY)
    if not card.outputs or len(card.outputs) > MOST_OUTPUTS or len(card.examples) > MOST_EXAMPLES:
        raise ValueError(f"{KEY}: a module has 1 to {MOST_OUTPUTS} outputs and up to {MOST_EXAMPLES} examples")
    _check_examples(card, inputs)
    return ModuleManifest(
        kind=kind,  # type: ignore[arg-type] # one of `BASES`
        name=name,
        file=file,
        takes={column: _takes(column, part) for column, part in inputs.items()},
        card=card,
        optional=tuple(column for column, part in inputs.items() if part.get("optional") is True),
        options=options,
        configs=tuple(_texts(entry.get("configs", ["default"]), "configs", MOST_CONFIGS)) or ("default",),
        requires=tuple(_texts(entry.get("requires", []), "requires", 40)),
        interval=entry.get("interval") is True,
        order_matters=entry.get("order-matters") is True,
    )


def check_module_name(name: str) -> None:
    """Refuse a name that no module can have. Raises ValueError."""
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise ValueError(f"{name!r:.80} cannot be a module's name; take small letters, digits and _, such as mean_gap")


def _takes(column: str, entry: Mapping[str, Any]) -> str:
    word = entry.get("takes", "values")
    if word not in TAKES:
        raise ValueError(f"inputs: {column}: takes: give one of {', '.join(TAKES)}, not {word!r:.80}")
    return str(word)


def _check_examples(card: Card, inputs: Mapping[str, Any]) -> None:
    for example in card.examples:
        for name, values in example.inputs.items():
            if name not in inputs or not isinstance(values, list):
                raise ValueError(f"examples: {example.title}: {name} is no list of an input")


def _read_option(name: str, entry: Mapping[str, Any]) -> ModuleOption:
    text = read_text(entry.get("text", name), f"options: {name}: text")
    forms = set(_texts(entry.get("takes", []), f"options: {name}: takes", 10))
    choices = entry.get("choices", [])
    if not isinstance(choices, list) or not all(isinstance(item, str | int | float) for item in choices):
        raise ValueError(f"options: {name}: choices: give a list of texts and numbers")
    if unknown := forms - set(FORMS):
        raise ValueError(f"options: {name}: takes: give some of {', '.join(FORMS)}, not {min(unknown)!r:.80}")
    if not forms - {"none"} and not choices:
        raise ValueError(f"options: {name}: takes: say what the option takes: {', '.join(FORMS)}")
    forms |= {"choice"} if choices else set()
    items = ModuleOption(name, "", frozenset({"whole", "number", "text"}), (), None) if "list" in forms else None
    option = ModuleOption(name, text, frozenset(forms), tuple(choices), entry.get("default"), items)
    if option.default is not None:
        option.check(option.default)
    return option


def declared_class(manifest: ModuleManifest, base: type[Module] | None = None) -> type[Module]:
    """Return a class with the columns, options and card that a module declares, and none of its code."""
    columns = {name: TAKES[word] for name, word in manifest.takes.items() if name not in manifest.optional}
    optional = {name: TAKES[word] for name, word in manifest.takes.items() if name in manifest.optional}
    parameters = {
        name: inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=_annotation(option)
        )
        for name, option in manifest.options.items()
    }
    members = {
        "__doc__": manifest.card.description,
        "__module__": __name__,
        "card": manifest.card,
        "columns": columns,
        "optional": optional,
        "configs": manifest.configs,
        "options_known": classmethod(lambda cls: dict(parameters)),
    }
    bases = (BASES[manifest.kind],) if base is None else (base, BASES[manifest.kind])
    title = "".join(part.capitalize() for part in manifest.name.split("_"))
    module_class = type(title, bases, members, name=manifest.name)
    assert issubclass(module_class, Module)
    return module_class


def _annotation(option: ModuleOption) -> Any:
    """Return the type of an option, from which `module_options` reads the same option again."""
    parts = [FORMS[form] for form in sorted(option.forms) if form in FORMS]
    if option.choices:
        parts.append(Literal[option.choices])
    union: Any = parts[0]
    for part in parts[1:]:
        union = union | part
    return union


def check_result(manifest: ModuleManifest, result: object, rows: int) -> dict[str, Any]:
    """Return what a module computed of so many rows, where it is a result of the declared form.

    Raises ValueError: no dictionary, no declared output in it, NaN, a number out of its range, scores of other rows.
    """
    name = manifest.name
    if not isinstance(result, dict) or not result:
        raise ValueError(f"{name} gave {_short(result)}; a result is a dictionary of its outputs")
    outputs = {output.name: output for output in manifest.card.outputs}
    if not outputs.keys() & result.keys():
        raise ValueError(f"{name} gave {', '.join(map(str, result))[:80]} and none of its outputs {', '.join(outputs)}")
    scores = {key: value for key, value in result.items() if key not in ("interval", "per_example")}
    for key, value in scores.items():
        if (key in outputs and value is None) or not all(map(_is_finite, _numbers(value))):
            raise ValueError(f"{name} gave no finite number for {key!r:.80}: {_short(value)}")
    for key in outputs.keys() & scores.keys():
        low, high = outputs[key].low, outputs[key].high
        for number in _numbers(scores[key]):
            slack = 1e-9 * max(1.0, abs(number))
            if (low is not None and number < low - slack) or (high is not None and number > high + slack):
                ends = f"{'any' if low is None else low} to {'any' if high is None else high}"
                raise ValueError(f"{name} gave {number:g} for {key}; its card says {ends}")
    per_example = result.get("per_example", {})
    if not isinstance(per_example, dict) or any(
        not isinstance(values, list) or len(values) != rows for values in per_example.values()
    ):
        raise ValueError(f"{name} gave scores of other rows than the {rows} that it got")
    return result


def _is_finite(number: float) -> bool:
    return abs(number) < LARGEST and not math.isnan(number)


def _numbers(value: object, depth: int = 0) -> Iterable[float]:
    """All numbers in a value. Raises ValueError for one that is nested too deeply."""
    if depth > DEEPEST:
        raise ValueError(f"a result has lists in lists, at most {DEEPEST} deep")
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _numbers(part, depth + 1)


def _short(value: object) -> str:
    return f"{value!r:.60}"


def _named(value: object, place: str, most: int) -> dict[str, dict[str, Any]]:
    entries = read_mapping(value, place)
    if not entries or len(entries) > most:
        raise ValueError(f"{place}: give 1 to {most} entries")
    for name in entries:
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_") or len(name) > 60:
            raise ValueError(f"{place}: {name!r:.80} is no name of an argument")
    return {name: read_mapping(part, f"{place}: {name}") for name, part in entries.items()}


def _texts(value: object, place: str, most: int) -> list[str]:
    if not isinstance(value, list) or len(value) > most:
        raise ValueError(f"{place}: give a list of at most {most} texts, not {value!r:.80}")
    return [read_text(item, place) for item in value]
