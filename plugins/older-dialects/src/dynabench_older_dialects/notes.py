"""Notes on the conversion of each line of an older config."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dynabench.kit.language import _, joined
from dynabench.tasks.reading import DialectNote, NoteKind
from dynabench.tasks.section import did_you_mean, printable

Path = tuple[str | int, ...]


@dataclass
class Notes:
    """The notes on a config, and which of its keys they are about.

    `values` is what YAML makes of the text; `words` is the same with every plain value as it is written, since YAML
    takes some labels, such as yes, for something else.
    """

    values: Any
    words: Any
    lines: dict[Path, int]
    entries: list[DialectNote] = field(default_factory=list)
    noted_paths: set[Path] = field(default_factory=set)

    def add(self, kind: NoteKind, path: Path, text: str) -> None:
        """Say what becomes of a key and of all that stands below it."""
        if path:
            self.noted_paths.add(path)
        key = ".".join(printable(part) for part in path)
        self.entries.append(DialectNote(self.lines.get(path) if path else None, key, kind, text))

    def rest(self, keys: list[str]) -> None:
        """Say of all keys that nobody has spoken of that they are left out."""
        for path in list(self._untold(self.values, ())):
            near = did_you_mean(path[-1], keys) if len(path) == 1 and len(keys) > 24 else ""
            self.add("dropped", path, _("Unknown key.") + near)

    def _untold(self, value: Any, path: Path) -> Iterator[Path]:
        if path in self.noted_paths:
            return
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        if not (isinstance(value, dict | list) and value) and path:
            yield path
        for key, item in inner:
            yield from self._untold(item, (*path, key))


@dataclass(frozen=True)
class Part:
    """One value of the older config, with its place."""

    notes: Notes
    path: Path = ()

    @property
    def value(self) -> Any:
        """The value as YAML reads it; None if the key is missing."""
        return _at(self.notes.values, self.path)

    @property
    def words(self) -> Any:
        """The same with plain values as they are written."""
        return _at(self.notes.words, self.path)

    @property
    def text(self) -> str:
        """A plain value as it is written; empty for anything else."""
        return self.words if isinstance(self.words, str) else ""

    def __contains__(self, key: object) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def __getitem__(self, key: str | int) -> "Part":
        return Part(self.notes, (*self.path, key))

    def items(self, key: str) -> list["Part"]:
        """The members of the list under `key`, which one mapping may stand for; none where there is no such key."""
        inner = self[key]
        if isinstance(inner.value, list):
            return [inner[place] for place in range(len(inner.value))]
        return [inner] if inner.value not in (None, "") else []

    def keys(self) -> list[str]:
        """The keys of a mapping, in order."""
        return list(self.value) if isinstance(self.value, dict) else []

    def take(self, key: str, note: str, kind: NoteKind = "same") -> Any:
        """The plain value under `key`, as YAML has it, None if it is not there; `note` is what becomes of it."""
        if key not in self:
            return None
        self[key].say(kind, note)
        return self[key].value

    def say(self, kind: NoteKind, text: str) -> None:
        """Note what becomes of it."""
        self.notes.add(kind, self.path, text)

    def drop(self, reasons: dict[str, str]) -> None:
        """Note those of the keys that have no counterpart, each with the reason."""
        for key, reason in reasons.items():
            if key in self:
                self[key].say("dropped", reason)


def becomes(name: str) -> str:
    """Return the note on a key that has a new name."""
    return _("becomes %(name)s", name=name)


def turned(old: str, new: str, note: str = "") -> str:
    """Return the note on a type that has a new name, with the differences."""
    answer = _("%(old)s becomes %(new)s", old=old, new=new)
    return joined(": ", (answer, note)) if note else answer


def _at(value: Any, path: Path) -> Any:
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return None
    return value
