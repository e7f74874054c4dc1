"""Valid configs with one thing broken, and the lines that may be named for it."""

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from dynabench.tasks import reading

Path = tuple[str | int, ...]
_LINE = re.compile(r"line (\d+)")


@dataclass(frozen=True)
class Refusal:
    """The broken part; the lines that a message may name, none where a part is missing from the top."""

    text: str
    lines: frozenset[int]

    def fits(self, path: str, message: str) -> bool:
        """Return true if a message names the broken part."""
        named = _LINE.search(message)
        return int(named[1]) in self.lines if named else not self.lines


def broken(rng: Random, raw: dict[str, Any], written: Callable[[object], str]) -> tuple[str, Refusal]:
    """A config with something broken: in its values, or in the text itself."""
    if rng.random() < 0.15:
        return _garbled(rng, written(raw))
    changed = copy.deepcopy(raw)
    subject, path = rng.choice(_WAYS)(rng, changed)
    text = written(changed)
    lines = reading.read_config(text)[1]
    above = [path[:end] for end in range(1, len(path) + 1)]
    near = [at for at in lines if at in above or at[: len(path)] == path != ()]
    return text, Refusal(subject, frozenset(lines[at] for at in near))


def _fields(raw: dict[str, Any]) -> list[tuple[Path, dict[str, Any]]]:
    """All fields with their paths, those within groups too."""
    result: list[tuple[Path, dict[str, Any]]] = []
    for group in ("context", "input", "answer", "ask"):
        part = raw.get(group, [])
        result += [((group,), part)] if isinstance(part, dict) else [((group, n), item) for n, item in enumerate(part)]
    response = raw.get("validate", {}).get("ask", [])
    result += [(("validate", "ask", n), this_item) for n, this_item in enumerate(response)]
    for path, field in list(result):
        result += [((*path, "fields", n), element) for n, element in enumerate(field.get("fields", []))]
    return result


def _unknown_key(rng: Random, raw: dict[str, Any]) -> tuple[str, Path]:
    path, part = rng.choice([((), raw), *_fields(raw), (("fooled",), raw.setdefault("fooled", {}))])
    part["colour"] = rng.choice(["red", 1, ["red"]])
    return "an unknown key", (*path, "colour")


def _wrong_kind(rng: Random, raw: dict[str, Any]) -> tuple[str, Path]:
    path, part = rng.choice([((), raw), *_fields(raw)])
    keys = [key for key in ("name", "label", "help", "required", "options", "max_length", "votes", "id", "context")
            if key in part] or ["name"]  # fmt: skip
    key = rng.choice(keys)
    part[key] = {"a": [{"b": 1}]}
    return f"{key} of another kind", (*path, key)


def _missing(rng: Random, raw: dict[str, Any]) -> tuple[str, Path]:
    path, part = rng.choice([((), raw), *_fields(raw)])
    key = rng.choice(["id", "name", "input", "answer"] if path == () else ["name", "type"])
    part.pop(key)
    return f"no {key}", path


def _twice(rng: Random, raw: dict[str, Any]) -> tuple[str, Path]:
    first, second = raw["input"], raw["answer"]
    name = (first if isinstance(first, dict) else first[0])["name"]
    path: Path = ("answer",) if isinstance(second, dict) else ("answer", len(second) - 1)
    field = second if isinstance(second, dict) else second[-1]
    field["name"] = name
    return "a name that is taken", (*path, "name")


def _nowhere(rng: Random, raw: dict[str, Any]) -> tuple[str, Path]:
    path, _ = rng.choice([item for item in _fields(raw) if "fields" not in item[0]])
    ways: list[tuple[Path, Callable[[], Any]]] = [
        (("fooled", "fields"), lambda: raw.__setitem__("fooled", {"rule": "differs", "fields": ["nowhere"]})),
        (("perturb", "flip"), lambda: raw.__setitem__("perturb", {"flip": "nowhere"})),
        (("start", "prompt"), lambda: raw.__setitem__("start", {"kinds": ["prompt"], "prompt": {"nowhere": "no"}})),
    ]
    named = [(p, f) for p, f in _fields(raw) if f.get("type") in ("spans", "labelled_spans", "edit", "image_region")]
    if named and rng.random() < 0.7:
        path, field = rng.choice(named)
        field["of"] = "nowhere"
        return "a reference to nothing", (*path, "of")
    path, change = rng.choice(ways)
    change()
    return "a reference to nothing", path


_BOUNDS: dict[str, tuple[str, Any]] = {
    "text": ("max_length", 0), "comment": ("min_length", -1), "choice": ("options", ["alone"]),
    "multi_choice": ("max", 500), "tree_choice": ("pick", "roots"), "ranking": ("options", ["a", "a"]),
    "yes_no": ("reason", "sometimes"), "number": ("tolerance", -1), "slider": ("step", 0), "sliders": ("step", -2),
    "rating": ("max", 10_000), "consent": ("statement", "x" * 6000), "image": ("max_mb", 0),
    "audio": ("max_seconds", 0),
    "file": ("types", ["exe"]), "spans": ("max_spans", 0), "labelled_spans": ("labels", []),
    "edit": ("unchanged", "perhaps"), "image_region": ("shape", "circle"), "comparison": ("of", ["alone"]),
    "group": ("repeat", -1), "chat": ("max_turns", 0),
}  # fmt: skip


def _bounds(rng: Random, raw: dict[str, Any]) -> tuple[str, Path]:
    path, field = rng.choice(_fields(raw))
    key, value = _BOUNDS[field["type"]]
    field[key] = value
    return f"{key} out of bounds", (*path, key)


def _no_such(rng: Random, raw: dict[str, Any]) -> tuple[str, Path]:
    path, field = rng.choice(_fields(raw))
    ways: list[tuple[Path, dict[str, Any], str]] = [((*path, "type"), field, "type")]
    raw.setdefault("fooled", {})
    for part, key in (("fooled", "rule"), ("validate", "mode"), ("contexts", "sampling")):
        ways.append(((part, key), raw.setdefault(part, {}), key))
    ways.append((("annotators",), raw, "annotators"))
    place, part, key = rng.choice(ways)
    part[key] = "hologram"
    return f"no such {key}", place


def _condition(rng: Random, raw: dict[str, Any]) -> tuple[str, Path]:
    path, field = rng.choice(_fields(raw))
    field["when"] = rng.choice(["sometimes", "nowhere == 3", 5, ["nobody"], "a = b"])
    return "a condition that never holds", (*path, "when")


_WAYS: tuple[Callable[[Random, dict[str, Any]], tuple[str, Path]], ...] = (
    _unknown_key, _wrong_kind, _missing, _twice, _nowhere, _bounds, _bounds, _no_such, _condition,
)  # fmt: skip


def _garbled(rng: Random, text: str) -> tuple[str, Refusal]:
    """The text with a line that YAML, or this config's reader, takes offence at."""
    lines = text.splitlines()
    tops = [n for n, line in enumerate(lines) if re.match(r"[a-z]", line)]
    at = rng.choice(tops)
    extra = rng.choice(
        ["\tname: x", "odd: [1, 2", "odd: *nobody", "odd: &x {a: *x}", lines[tops[0]], "odd: @x", "- odd"]
    )
    lines.insert(at, extra)
    near = frozenset(range(at, len(lines) + 2)) | {tops[0] + 1}
    return "\n".join(lines) + "\n", Refusal(f"a line {extra!r}", near)
