"""Cards: what is known of a module, from a YAML file beside its Python file.

A card file has the fields of `Card` as keys, and `includes`: paths of files with fields that several cards share,
from the folder of this package. The entries of `inputs`, `options` and `outputs` add to those of the included files;
any other field replaces theirs.
"""

import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class Output:
    """One key of the result: its range (None: unbounded) and the better direction (None: neither)."""

    name: str
    text: str
    low: float | None = None
    high: float | None = None
    better: Literal["higher", "lower"] | None = None


@dataclass(frozen=True)
class CardExample:
    """A worked example of inputs and result. Each runs as a test; the first fills the form of the web page.

    `result` may name only some of the keys; numbers are compared to 6 digits. An example of a refusal has `error`
    instead of `result`: the message of the ValueError.
    """

    title: str
    inputs: Mapping[str, Any]
    result: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    config: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Card:
    """All that a reader must know about a module before trusting its numbers.

    `inputs` and `options` say in a line each what the columns and keyword arguments of `compute` mean; `formula`
    is plain text or TeX; `citation` BibTeX or a reference; `needs` names the extras with the libraries that the
    module uses ("metrics", "models"), `resource` what the caller has to pass because it cannot be shipped (a
    model's weights).
    """

    description: str
    formula: str
    inputs: Mapping[str, str]
    outputs: tuple[Output, ...]
    examples: tuple[CardExample, ...]
    limits: str
    citation: str
    options: Mapping[str, str] = field(default_factory=dict)
    tasks: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    resource: str = ""
    references: tuple[str, ...] = ()


PACKAGE = Path(__file__).parent
REQUIRED = frozenset(
    field.name for field in fields(Card) if field.default is MISSING and field.default_factory is MISSING
)


class CardFile:
    """A class attribute that is the card in the YAML file of the module, or else of its nearest base class."""

    def __get__(self, instance: object, owner: type) -> Card:
        return find_card(owner)


@cache
def find_card(module: type) -> Card:
    """Return the card of a module without a card in Python. Raises AttributeError where there is no card file."""
    for cls in module.__mro__:
        path = card_path(cls)
        if path is not None and path.is_file():
            return read_card(path)
    raise AttributeError(
        f"{module.__name__} has no card: give it `card = Card(...)`, or write {card_path(module) or 'a card file'}"
    )


def card_path(module: type) -> Path | None:
    """Return the path where the card file of a class belongs; None for a class that is not from a file."""
    source = getattr(sys.modules.get(module.__module__), "__file__", None)
    return Path(source).with_name(f"{getattr(module, 'own_name', '') or Path(source).stem}.yaml") if source else None


def read_card(path: Path) -> Card:
    """Return the card in a YAML file. Raises ValueError, naming file and key, for keys missing, unknown or wrong."""
    document_keys = _read_document(path)
    included = _read_texts(document_keys.pop("includes", []), f"{path}: includes")
    card: dict[str, Any] = {}
    for source, document in [
        *((PACKAGE / name, _read_document(PACKAGE / name)) for name in included),
        (path, document_keys),
    ]:
        for key, value in document.items():
            if key not in FIELDS:
                raise ValueError(f"{source}: unknown key {key!r}; a card has {', '.join(FIELDS)}")
            entry = FIELDS[key](value, f"{source}: {key}")
            card[key] = {**card.get(key, {}), **entry} if isinstance(entry, dict) else entry
    return _make_card(card, str(path))


def read_card_document(document: Mapping[str, Any], place: str) -> Card:
    """Return the card with the keys of a mapping. Raises ValueError, naming `place` and key, as `read_card` does."""
    _check_keys(document, place, REQUIRED, FIELDS)
    return _make_card({key: FIELDS[key](value, f"{place}: {key}") for key, value in document.items()}, place)


def _make_card(card: dict[str, Any], place: str) -> Card:
    _check_keys(card, place, REQUIRED, FIELDS)
    return Card(**{**card, "outputs": tuple(card["outputs"].values())})


def _read_document(path: Path) -> dict[str, Any]:
    import yaml  # here, because computing a metric needs no YAML

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc] # libyaml's is ten times as fast
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            if duplicates := [key for key in keys if keys.count(key) > 1]:
                raise ValueError(f"the key {duplicates[0]!r} stands twice")
            mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
            return mapping

    try:
        document = yaml.load(path.read_text(encoding="utf-8"), Loader)  # noqa: S506 - a safe loader
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ValueError(f"{path}: {error}") from error
    return read_mapping(document, str(path))


def read_mapping(value: Any, place: str) -> dict[str, Any]:
    """Return a mapping with texts as keys; raises ValueError with its place for anything else."""
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"{place}: give a mapping with texts as keys, not {value!r:.80}")
    return value


def _read_list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{place}: give a list, not {value!r:.80}")
    return value


def read_text(value: Any, place: str) -> str:
    """Return a text that is not blank; raises ValueError with its place for anything else."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{place}: give a text, not {value!r:.80}")
    return value


def _read_texts(value: Any, place: str) -> tuple[str, ...]:
    return tuple(read_text(text, place) for text in _read_list(value, place))


def _read_lines(value: Any, place: str) -> dict[str, str]:
    return {name: read_text(text, f"{place}: {name}") for name, text in read_mapping(value, place).items()}


def _read_outputs(value: Any, place: str) -> dict[str, Output]:
    outputs = read_mapping(value, place)
    return {name: _read_output(name, entry, f"{place}: {name}") for name, entry in outputs.items()}


def _read_output(name: str, value: Any, place: str) -> Output:
    entry = read_mapping(value, place)
    _check_keys(entry, place, {"text"}, ("text", "range", "better"))
    limits, better = _read_list(entry.get("range", [None, None]), f"{place}: range"), entry.get("better")
    if len(limits) != 2 or not all(limit is None or type(limit) in (int, float) for limit in limits):
        raise ValueError(f"{place}: range: give the lowest and the highest value, null where there is none")
    if better not in ("higher", "lower", None):
        raise ValueError(f"{place}: better: give higher or lower, not {better!r:.80}")
    low, high = limits
    return Output(name, read_text(entry["text"], f"{place}: text"), low, high, better)


def _read_examples(value: Any, place: str) -> tuple[CardExample, ...]:
    examples = _read_list(value, place)
    return tuple(_read_example(entry, f"{place}: {number}") for number, entry in enumerate(examples, 1))


def _read_example(value: Any, place: str) -> CardExample:
    entry = read_mapping(value, place)
    _check_keys(entry, place, {"title", "inputs"}, EXAMPLE)
    return CardExample(**{key: EXAMPLE[key](item, f"{place}: {key}") for key, item in entry.items()})


def _check_keys(entry: Mapping[str, Any], place: str, required: frozenset[str] | set[str], names: Any) -> None:
    if unknown := [key for key in entry if key not in names]:
        raise ValueError(f"{place}: unknown key {unknown[0]!r}; the keys are {', '.join(names)}")
    if missing := [key for key in names if key in required and key not in entry]:
        raise ValueError(f"{place}: the key {missing[0]!r} is missing")


EXAMPLE: dict[str, Callable[[Any, str], Any]] = {
    "title": read_text,
    "inputs": read_mapping,
    "result": read_mapping,
    "options": read_mapping,
    "config": read_text,
    "error": read_text,
}
FIELDS: dict[str, Callable[[Any, str], Any]] = {
    "description": read_text,
    "formula": read_text,
    "inputs": _read_lines,
    "options": _read_lines,
    "outputs": _read_outputs,
    "examples": _read_examples,
    "limits": read_text,
    "citation": read_text,
    "tasks": _read_texts,
    "needs": _read_texts,
    "resource": read_text,
    "references": _read_texts,
}
