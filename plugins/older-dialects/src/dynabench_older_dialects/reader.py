"""Read configs of Dynabench's earlier dialects into one of today's, with a note on each of their lines.

`read` takes the original annotation config (`classic.py`), the later one of Dynatask (`later.py`), and texts that hold
both. Tables say what becomes of each type, rule, metric and key.
"""

from collections.abc import Iterator
from typing import Any

import yaml

from dynabench.kit.errors import Invalid
from dynabench.kit.language import Phrase, _
from dynabench.tasks import reading
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.reading import DialectNote, OlderConfig
from dynabench_older_dialects import classic, later
from dynabench_older_dialects.draft import Draft
from dynabench_older_dialects.notes import Notes, Part, Path

OWN = frozenset({"id", "answer", "fooled", "ask", "validate", "metrics", "instructions"})
NEITHER = _("This is neither of the older dialects: those have a context, an input or user_input, and an output.")
TODAY = _("This is a current config: create the task with it as it is.")


def read(text: str, id: str, name: str = "") -> OlderConfig:
    """Read the older config `text` as a task called `id`; `name` is what people read. Raises nothing."""
    try:
        values, lines = reading.read_config(text)
    except Invalid as problem:
        return OlderConfig("neither", (_note_refusal(problem.fields["config"]),), "", False)
    notes = Notes(values, yaml.load(text, Loader=yaml.BaseLoader), lines)  # noqa: S506 - makes nothing but texts
    dialect = _dialect(values)
    if dialect == "neither":
        return OlderConfig(
            "neither", (DialectNote(1, "", "wrong", TODAY if OWN & values.keys() else NEITHER),), "", False
        )
    _hoist(notes)
    draft, source = Draft(), Part(notes)
    if dialect != "classic":
        later.read(source, draft)
    classic.read(source, draft, fields=dialect == "classic")
    if dialect == "both":
        _beside(source, draft)
    if draft.fields["answer"] and not draft.fields["input"]:
        draft.add("input", {"name": "remarks", "type": "comment"}, None)
        notes.add(
            "changed",
            (),
            _("The input is only the answer: an optional comment replaces it, because every task needs an input."),
        )
    notes.rest([*classic.KEYS, *later.KEYS])
    config = draft.config(id, name or id.replace("-", " ").capitalize())
    source_text = _written(config, notes)
    wrong = any(note.kind == "wrong" for note in notes.entries)
    problems = tuple(item for item in _problems(source_text, draft) if item.line or not wrong)
    result = tuple(sorted((*notes.entries, *problems), key=lambda note: (note.line or 0, note.key)))
    return OlderConfig(dialect, result, source_text, not wrong and not problems)


def _dialect(values: dict[str, Any]) -> str:
    is_later = isinstance(values.get("context"), dict) and "name" not in values["context"]
    is_later = is_later or any(key in values for key in later.KEYS)
    is_classic = any(key in values for key in ("output", "model_wrong_metric", "perf_metric", "metadata"))
    is_classic = is_classic or ("input" in values and not OWN & values.keys())
    if is_later and (is_classic or not OWN & values.keys()):
        return "both" if is_classic else "later"
    return "classic" if is_classic else "neither"


def _beside(source: Part, draft: Draft) -> None:
    """Add the classic keys of a config that uses both dialects; the later dialect takes precedence."""
    returned = {part["name"].text for part in source.items("output")} - {""}
    for part in source.items("input"):
        if not draft.fields["answer"] and part["name"].text in returned:
            classic.field(draft, part, "answer")
        else:
            part.say("dropped", _("user_input is used if a config has both dialects."))
    for part in source.items("output"):
        name = part["name"].text
        if name in draft.names or any(created["name"] == name for created in draft.fields["answer"]):
            part.say("same", _("models return it"))
        elif part["type"].text not in classic.PROBABILITIES and draft.fields["answer"]:
            part.say("dropped", _("Models return the answer and its probabilities."))
        else:
            classic.output(draft, part)


def _hoist(notes: Notes) -> None:
    """Early configs have the arguments of a type under `constructor_args`: they go where they went later."""
    result = [path for path in notes.lines if path[-1:] == ("constructor_args",)]
    for path in sorted(result, key=len):
        part = Part(notes, path)
        if not isinstance(part.value, dict):
            continue
        for tree in (notes.values, notes.words):
            for step in path[:-1]:
                tree = tree[step]
            inner = tree.pop("constructor_args")
            tree |= {key: value for key, value in inner.items() if key not in tree}
        moved = {at: line for at, line in notes.lines.items() if at[: len(path)] == path and len(at) > len(path)}
        notes.lines |= {path[:-1] + at[len(path) :]: line for at, line in moved.items()}


def _written(config: dict[str, Any], notes: Notes) -> str:
    """The config as YAML; what was left out stands above it."""
    lost = [
        f"#   {f'line {note.line}, ' if note.line else ''}{note.key}"
        for note in notes.entries
        if note.kind == "dropped"
    ]
    head = ["# Left out of the older config:", *lost, ""] if lost else []
    return "\n".join(head) + yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=110)


def _problems(text: str, draft: Draft) -> Iterator[DialectNote]:
    """Yield the problems of the new config, at the lines of the older config that they come from."""
    try:
        TaskConfig.parse(text)
    except Invalid as problem:
        for key, message in problem.fields.items():
            yield DialectNote(_line(key, draft.lines), key, "wrong", reading.without_line(message))


def _line(key: str, lines: dict[Path, int]) -> int | None:
    path: Path = tuple(int(part) if part.isdecimal() else part for part in key.split("."))
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)


def _note_refusal(message: str) -> DialectNote:
    """A note of what YAML's reader refused, at the line that it names."""
    if message == reading.NO_MAPPING:
        return DialectNote(None, "", "wrong", NEITHER)
    text = message.values if isinstance(message, Phrase) else {}
    where = text.get("where") or message
    line = where.values.get("line") if isinstance(where, Phrase) else None
    return DialectNote(line, "", "wrong", message)
