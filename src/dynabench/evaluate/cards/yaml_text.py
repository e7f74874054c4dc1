"""YAML text from people whom nobody knows: read within bounds, written on known lines."""

import math
from collections.abc import Mapping
from typing import Any

import yaml

MAX_CHARACTERS = 4 * 1024 * 1024
MAX_DEPTH = 50
MAX_VALUES = 400_000
"""Values of a document, each counted as often as aliases repeat it."""

_SafeLoader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's is ten times as fast
_OPENING = yaml.MappingStartEvent, yaml.SequenceStartEvent
_CLOSING = yaml.MappingEndEvent, yaml.SequenceEndEvent


class CardError(ValueError):
    """A card or a log that cannot be read or written; the message is one sentence for the person who sent it."""


def compose_yaml(text: str) -> yaml.Node | None:
    """Return the root of a YAML document, None where it has no content. Raises `CardError`.

    Refuses nesting beyond `MAX_DEPTH`, values beyond `MAX_VALUES`, nodes that contain themselves, and second documents.
    """
    if len(text) > MAX_CHARACTERS:
        raise CardError(f"The YAML has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read.")
    try:
        _check_depth(text)
        root: yaml.Node | None = yaml.compose(text, Loader=_SafeLoader)
        if root is not None:
            _count_values(root, {}, set())
    except yaml.MarkedYAMLError as error:
        where = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        raise CardError(f"This is not YAML: {error.problem or error.context}{where}.") from None
    except (yaml.YAMLError, UnicodeError):
        raise CardError("This is not YAML: it contains control characters or broken characters.") from None
    except (RecursionError, ValueError) as error:
        raise error if isinstance(error, CardError) else CardError("This YAML cannot be read.") from None
    return root


def construct_yaml(root: yaml.Node | None) -> Any:
    """Return the values of a composed document. Raises `CardError`."""
    if root is None:
        return None
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        where = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        raise CardError(f"This is not YAML: {error.problem or error.context}{where}.") from None
    except (ValueError, OverflowError, TypeError, ArithmeticError, RecursionError, LookupError) as error:
        # a date of month 13, a whole number of thousands of digits, an unhashable key
        raise CardError(f"A value of this YAML cannot be read: {error}.") from None
    finally:
        loader.dispose()


def read_yaml(text: str) -> Any:
    """Return the values of one YAML document, as the hub's own client reads them. Raises `CardError`."""
    return construct_yaml(compose_yaml(text))


def dump_yaml(value: Any, line_break: str = "\n") -> str:
    """Return a value as YAML in block style, in the order of its keys. Raises `CardError` for other than plain data."""
    try:
        written: str = yaml.dump(
            value,
            Dumper=_PlainDumper,
            sort_keys=False,
            allow_unicode=True,
            width=1_000_000,
            line_break=line_break,
        )
    except (yaml.YAMLError, RecursionError) as error:
        raise CardError(f"This cannot be written as YAML: {error}.") from None
    return written


def same_values(first: Any, second: Any) -> bool:
    """Return True if two documents are equal in values, types and order of keys; NaN equals NaN."""
    waiting = [(first, second)]
    while waiting:
        first_value, second_value = waiting.pop()
        if type(first_value) is not type(second_value):
            return False
        if isinstance(first_value, dict):
            if list(map(_key, first_value)) != list(map(_key, second_value)):
                return False
            waiting += zip(first_value.values(), second_value.values(), strict=True)
        elif isinstance(first_value, list | tuple):
            if len(first_value) != len(second_value):
                return False
            waiting += zip(first_value, second_value, strict=True)
        elif isinstance(first_value, float) and math.isnan(first_value):
            if not math.isnan(second_value):
                return False
        elif first_value != second_value:
            return False
    return True


def given_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def plain_values(value: Any) -> Any:
    """Return values of YAML as JSON has them: dates as ISO text, keys as text, sets as lists. NaN stays."""
    if isinstance(value, Mapping):
        return {str(key): plain_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_values(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


class _PlainDumper(yaml.SafeDumper):
    """Writes each value out, because readers of cards seldom expect aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _key(key: Any) -> tuple[str, str]:
    return type(key).__name__, repr(key)


def _check_depth(text: str) -> None:
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=_SafeLoader)):
        if isinstance(event, _OPENING):
            depth += 1
        elif isinstance(event, _CLOSING):
            depth -= 1
        if depth > MAX_DEPTH:
            raise CardError(f"This YAML is nested more than {MAX_DEPTH} deep.")
        if count > 2 * MAX_VALUES:
            raise CardError(f"This YAML has more than {MAX_VALUES:,} values.")


def _count_values(node: yaml.Node, sizes: dict[int, int], above: set[int]) -> int:
    """Return how many values a node has with aliases written out; recursion is bounded by `_check_depth`."""
    if id(node) in sizes:
        return sizes[id(node)]
    if id(node) in above:
        raise CardError(f"A value of this YAML contains itself (line {node.start_mark.line + 1}).")
    if isinstance(node, yaml.ScalarNode):
        return 1
    above.add(id(node))
    children = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
    total = 1
    for child in children:
        total += _count_values(child, sizes, above)
        if total > MAX_VALUES:
            raise CardError(f"This YAML has more than {MAX_VALUES:,} values.")
    above.discard(id(node))
    sizes[id(node)] = total
    return total
