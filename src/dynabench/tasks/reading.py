"""Reading a config: YAML with line numbers, errors with their place, changes of single values, older dialects."""

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol

import yaml
from pydantic import ValidationError

from dynabench.kit import plugins
from dynabench.kit.distributions import OLDER_DIALECTS, PLATFORM, install_command
from dynabench.kit.errors import Invalid, validation_message
from dynabench.kit.language import N_, Phrase, _
from dynabench.tasks.section import printable

MAX_CHARACTERS = 100_000
_MAX_CACHED = 10_000
"""Characters of a text whose reading is remembered: shipped configs have fewer, and are read again and again."""
_DEPTH = 20
_WHERE = N_(" (line %(line)s)")
LINE = re.compile(r" \(line (\d+)\)(?=\.?$)")
NO_PLACE = _("This config has no place for it; edit the config.")
NO_MAPPING = _("A config is a mapping that starts with id and name.")
Path = tuple[str | int, ...]
"""Keys and places from the top, such as `("validate", "votes")`."""


def read_config(text: str) -> tuple[dict[str, Any], dict[Path, int]]:
    """Return the mapping in `text`, and the line (from 1) of each of its keys and items.

    Aliases are refused, so a text cannot unfold into more than it contains. Raises Invalid under the key `config`.
    """
    if not isinstance(text, str):
        raise _invalid(_("A config is YAML text."))
    if len(text) > MAX_CHARACTERS:
        raise _invalid(
            _(
                "This has %(n)s characters; a config has at most %(max_characters)s.",
                n=f"{len(text):,}",
                max_characters=f"{MAX_CHARACTERS:,}",
            )
        )
    values, lines = (_read_cached if len(text) <= _MAX_CACHED else _read)(text)
    return deepcopy(values), dict(lines)


def _read(text: str) -> tuple[dict[str, Any], dict[Path, int]]:
    try:
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            if node is not None:
                _check_bounds(node)
            values = loader.construct_document(node) if node is not None else None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        where = _(_WHERE, line=error.problem_mark.line + 1) if error.problem_mark else ""
        raise _invalid(
            _("This is not YAML: %(value)s%(where)s.", value=error.problem or error.context, where=where)
        ) from None
    except yaml.YAMLError:
        raise _invalid(_("This is not YAML text: it contains control characters or broken characters.")) from None
    except (ValueError, RecursionError, OverflowError, TypeError):
        raise _invalid(_("This YAML has values or nesting that a config cannot have.")) from None
    if node is None or not isinstance(values, dict):
        raise _invalid(NO_MAPPING)
    lines: dict[Path, int] = {}
    _mark(node, (), lines)
    return values, lines


_read_cached = lru_cache(maxsize=64)(_read)


def without_line(message: str) -> str:
    """Return a message of `explain_errors` without the line number at its end; it stays translatable."""
    if not isinstance(message, Phrase):
        return LINE.sub("", message)
    end = message.values.get("part1")
    return str(message.values["part0"]) if isinstance(end, Phrase) and end.message == _WHERE else message


def _check_bounds(root: yaml.Node) -> None:
    """Refuse aliases (a node met twice), deep nesting and keys that stand twice in one mapping."""
    seen: set[int] = set()
    todo: list[tuple[yaml.Node, int]] = [(root, 0)]
    while todo:
        node, depth = todo.pop()
        line = node.start_mark.line + 1
        if id(node) in seen:
            raise _invalid(_("Aliases (*name) are not supported: write the value out (line %(line)s).", line=line))
        if depth > _DEPTH:
            raise _invalid(_("This is nested too deeply (line %(line)s).", line=line))
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value]
            if not all(isinstance(key, str) for key in keys):
                raise _invalid(_("Keys must be plain words (line %(line)s).", line=line))
            if len(set(keys)) < len(keys):
                at = next(at for at, key in enumerate(keys) if key in keys[:at])
                line = node.value[at][0].start_mark.line + 1
                raise _invalid(
                    _(
                        "The key “%(keys)s” occurs twice in one mapping (line %(line)s).",
                        keys=printable(keys[at]),
                        line=line,
                    )
                )
            todo += [(child, depth + 1) for pair in node.value for child in pair]
        elif isinstance(node, yaml.SequenceNode):
            todo += [(child, depth + 1) for child in node.value]


def _mark(node: yaml.Node, path: Path, lines: dict[Path, int]) -> None:
    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            _mark(value, (*path, key.value), lines)
            lines[(*path, key.value)] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _mark(value, (*path, index), lines)


def explain_errors(error: ValidationError, lines: dict[Path, int]) -> Invalid:
    """Return pydantic's errors by dotted path and with lines."""
    fields: dict[str, str] = {}
    for problem in error.errors(include_url=False, include_input=False)[:50]:
        path = tuple(part for part in problem["loc"] if part != "by_language")  # which a short form leaves out
        message = validation_message(problem, _MESSAGES)
        line = _line(path, lines)
        name = ".".join(str(part) for part in path) or "config"
        fields.setdefault(name, message + _(_WHERE, line=line) if line else message)
    return Invalid(fields)


_MESSAGES = {
    "missing": _("This is missing."),
    "unexpected_keyword_argument": _("There is no such key."),
    "string_type": _("This must be text; put it in quotes if YAML reads it as something else."),
    "list_type": _("This must be a list."),
    "model_type": _("This must be a mapping of keys to values."),
    "model_attributes_type": _("This must be a mapping of keys to values."),
    "int_type": _("This must be a whole number."),
    "bool_type": _("This must be true or false."),
    "string_pattern_mismatch": _("Use lowercase letters, digits and _, starting with a letter."),
}


def _line(path: Path, lines: dict[Path, int]) -> int | None:
    """The line of the nearest part of `path` that stands in the text; a list of one may be written without a list."""
    while path and path not in lines:
        plain = tuple(part for part in path if part != 0)
        path = plain if plain in lines else path[:-1]
    return lines.get(path) if path else None


def _invalid(message: str) -> Invalid:
    return Invalid({"config": message})


NoteKind = Literal["same", "changed", "dropped", "wrong"]
"""It means the same here; nearly the same; it has no counterpart; no valid task can be made while it stands so."""
UNKNOWN_DIALECT = "neither"
"""The dialect of a text that a reader does not know."""
OLDER_CONFIG_KEYS = frozenset(
    {"goal_message", "metadata", "model_wrong_metric", "perf_metric", "delta_metrics", "user_input", "model_output"}
)
"""Keys at the top of an older config; no config of today has one of them."""
NO_READER = _(
    "Configs in an older dialect need a plug-in that is not installed: %(command)s",
    command=install_command(PLATFORM, OLDER_DIALECTS),
)
IMPORT_HINT = _(
    "This is a config in an older dialect: %(command)s reads it.", command="`dynabench task import FILE --id NAME`"
)


@dataclass(frozen=True)
class DialectNote:
    """A note on one key: its line (from 1; None where it is missing) and its dotted path."""

    line: int | None
    key: str
    kind: NoteKind
    text: str


@dataclass(frozen=True)
class OlderConfig:
    """The result of reading an older config: notes in the order of its lines, and the YAML of the resulting task.

    `dialect` is the reader's name for it, `UNKNOWN_DIALECT` where the reader does not know the text. `source` is
    empty where no task results; with `valid` a task can be created from it.
    """

    dialect: str
    notes: tuple[DialectNote, ...]
    source: str
    valid: bool


class DialectReader(Protocol):
    """A function that reads texts of one dialect or several."""

    def __call__(self, text: str, id: str, name: str = "") -> OlderConfig:
        """Read `text` as a task called `id`; `name` is what people read. Raises nothing."""


def dialect_readers() -> Mapping[str, str]:
    """Return the `module:function` of every reader by its name."""
    return plugins.gather("dynabench_config_dialects", plugins.references)


def read_older_config(text: str, id: str, name: str = "") -> OlderConfig:
    """Read an older config by the first reader that knows its dialect.

    Raises `Invalid` with the command that installs a reader where there is none.
    """
    answers = []
    for reference in dialect_readers().values():
        reader: DialectReader = plugins.load_reference(reference)
        answers.append(reader(text, id, name))
        if answers[-1].dialect != UNKNOWN_DIALECT:
            return answers[-1]
    if not answers:
        raise Invalid({"config": NO_READER}, NO_READER)
    return answers[0]


def explain_older(text: str) -> str:
    """Return what the owner can do with a refused config in an older dialect; "" for a config in no such dialect."""
    try:
        keys = read_config(text)[0].keys()
    except Invalid:
        return ""
    if not OLDER_CONFIG_KEYS & keys:
        return ""
    return IMPORT_HINT if dialect_readers() else NO_READER


SIMPLE = re.compile(r"\w[\w .-]*", re.ASCII)


def with_id(text: str, id: str) -> str:
    """Return the config with another id."""
    return with_values(text, {("id",): id})


def with_values(text: str, changes: Mapping[Path, Any]) -> str:
    """Return the text with plain values (text, number, true or false) at these paths; missing parts are added.

    None removes a value. Raises `Invalid` under `config` where a path leads through something that holds no keys.
    """
    for path, value in changes.items():
        text = _set(text, path, value)
    return text


def _set(text: str, path: Path, value: Any) -> str:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        raise _invalid(NO_MAPPING)
    node: yaml.Node = root
    for depth, part in enumerate(path):
        child = _child(node, part)
        if child is None:
            return text if value is None else _add(text, node, path[depth:], value)
        parent, node = node, child
    if value is None:
        return _without(text, parent, node)
    if not isinstance(node, yaml.ScalarNode):
        raise _invalid(
            _("%(value)s is not a plain value in this config; edit it there.", value=".".join(map(str, path)))
        )
    if node.value == "" and node.start_mark.index == node.end_mark.index:  # a key with nothing after it
        return text[: node.start_mark.index] + " " + dump_value(value) + text[node.end_mark.index :]
    after = "\n" if node.style in ("|", ">") else ""  # a block ends where the next key begins
    return text[: node.start_mark.index] + dump_value(value) + after + text[node.end_mark.index :]


def _child(node: yaml.Node, part: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode) and isinstance(part, str):
        return next((value for key, value in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        return node.value[part] if part < len(node.value) else None
    if isinstance(node, yaml.MappingNode) and part == 0:  # one field may stand without a list
        return node
    raise _invalid(NO_PLACE)


def dump_value(value: Any) -> str:
    """Return a text, number, true or false as YAML writes it on one line."""
    if not isinstance(value, str):
        return json.dumps(value)  # YAML reads JSON
    style = None if SIMPLE.fullmatch(value) else '"'  # commas and braces mean something where braces are open
    dumped: str = yaml.safe_dump(value, default_style=style, width=10**9, allow_unicode=True)
    return dumped.split("\n")[0]


def _add(text: str, to: yaml.Node, path: Path, value: Any) -> str:
    """The value under keys that `to` lacks, after its last one."""
    written = dump_value(value)
    for part in reversed(path[1:]):
        written = f"{{{part}: {written}}}"
    entry = f"{path[0]}: {written}"
    if not isinstance(to, yaml.MappingNode) or not isinstance(path[0], str):
        raise _invalid(NO_PLACE)
    if to.flow_style:
        place = to.end_mark.index - 1
        comma = ", " if to.value else ""
        return text[:place].rstrip().removesuffix(",") + comma + entry + text[place:]
    key, last = to.value[-1]
    end = last.end_mark.index
    if isinstance(last, yaml.ScalarNode) or getattr(last, "flow_style", False):  # then comments may follow on its line
        end = text.find("\n", end - 1 if text[end - 1 : end] == "\n" else end)
        end = len(text) if end < 0 else end
    column = int(key.start_mark.column)
    return text[:end].rstrip("\n ") + "\n" + " " * column + entry + "\n" + text[end:].lstrip("\n")


def _without(text: str, parent: yaml.Node, node: yaml.Node) -> str:
    if not isinstance(parent, yaml.MappingNode):
        raise _invalid(_("This is an item of a list; remove it in the config."))
    key = next(key for key, value in parent.value if value is node)
    start, end = key.start_mark.index, node.end_mark.index
    if parent.flow_style:
        rest = text[end:].lstrip()
        if rest.startswith(","):
            return text[:start] + rest[1:].lstrip()
        return text[:start].rstrip().removesuffix(",") + text[end:]
    newline = text.find("\n", end - 1 if text[end - 1 : end] == "\n" else end)
    line = text.rfind("\n", 0, start) + 1
    return text[:line] + (text[newline + 1 :] if newline >= 0 else "")
