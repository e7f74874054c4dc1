"""The task that an older config makes, while it is gathered."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dynabench.kit.language import _
from dynabench.tasks.section import printable
from dynabench_older_dialects.notes import Part, Path, becomes

Group = Literal["context", "input", "answer", "ask", "validate.ask"]
LINE = 300  # characters of labels, hints and placeholders
LONG = 20_000
EMPTY: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Type:
    """Conversion of an older field type: the new type, its arguments by their new keys, settings that are always added,
    and differences."""

    becomes: str
    keys: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass
class Draft:
    """A config in the making."""

    fields: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {group: [] for group in ("context", "input", "answer", "ask", "validate.ask")}
    )
    parts: dict[str, Any] = field(default_factory=dict)
    instructions: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # what fields were called -> what they are called here
    lines: dict[Path, int] = field(default_factory=dict)  # where parts of the new config come from
    chats: bool = False

    def add(self, group: Group, created: dict[str, Any], line: int | None) -> None:
        """Put a field in its place."""
        inner = ("validate", "ask") if group == "validate.ask" else (group,)
        if line:
            self.lines[(*inner, len(self.fields[group]))] = line
        self.fields[group].append(created)

    def name(self, part: Part, group: Group, called: str = "") -> str:
        """A name for the field of `part` that is allowed and free; `called` is what it should be."""
        old = part.text
        options = plain(called or old)
        used = {item["name"] for name, fields in self.fields.items() for item in fields
                 if (name == "validate.ask") == (group == "validate.ask")}  # fmt: skip
        name, number = options, 2
        while name in used:
            name, number = f"{options[:36]}_{number}", number + 1
        self.names.setdefault(old, name)
        if name == old:
            part.say("same", becomes(f"{group}.{name}"))
        else:
            part.say(
                "changed", _("becomes %(name)s: contexts and models have to call it so, too", name=f"{group}.{name}")
            )
        return name

    def instruct(self, part: Part) -> None:
        """A text that people read before they write."""
        if part.text:
            part.say("same", becomes("instructions.create"))
            self.instructions.append(part.text)
        elif part.value is not None:
            part.say("dropped", _("Write it into instructions.create as text."))

    def put(self, key: str, value: Any, line: int | None = None) -> None:
        """Set a part of the config that is no field, such as `fooled`."""
        self.parts[key] = value
        if line:
            self.lines[(key,)] = line

    def config(self, id: str, name: str) -> dict[str, Any]:
        """The whole config, in the order in which people write it."""
        request = self.fields["validate.ask"]
        parts = {
            "id": id,
            "name": name,
            "content_warning": self.parts.get("content_warning"),
            "instructions": {"create": "\n\n".join(self.instructions)} if self.instructions else None,
            **{group: self.fields[group] for group in ("context", "input", "answer")},
            **{key: self.parts.get(key) for key in ("output", "fooled")},
            "ask": self.fields["ask"],
            "validate": {"ask": request} if request else None,
            **{key: self.parts.get(key) for key in ("contexts", "metrics")},
        }
        return {key: value for key, value in parts.items() if value or key in ("id", "name")}


def made_of(part: Part, kind: Type, keys: Mapping[str, str] = EMPTY) -> dict[str, Any]:
    """The keys of a field of `part`, but for its name: what its type always says, and its arguments with `keys`."""
    created: dict[str, Any] = {"type": kind.becomes, **kind.fixed}
    for old, new in {**keys, **kind.keys}.items():
        if old not in part:
            continue
        if new == "options":
            created[new] = options(part[old])
        elif isinstance(part[old].value, dict | list):
            part[old].say("dropped", _("%(key)s is plain text here.", key=new))
        elif part[old].text:
            created[new] = line(part[old], new)
        else:
            part[old].say("same", _("it is empty"))
    return created


def options(part: Part) -> list[Any]:
    """Options as texts; YAML takes some labels, such as yes, for something else."""
    words = part.words if isinstance(part.words, list) else [part.words]
    part.say("same", becomes("options"))
    return [_option(item) for item in words]


def _option(word: Any) -> Any:
    if not isinstance(word, dict):
        return word
    value = next((word[key] for key in ("value", "name", "label", "text") if isinstance(word.get(key), str)), None)
    label = next((word[key] for key in ("label", "name", "text") if isinstance(word.get(key), str)), value)
    return {"value": value, "label": label}


def line(part: Part, key: str) -> str:
    """A label or a hint, cut where it is longer than there is room for."""
    text = " ".join(part.text.split())
    if len(text) > LINE:
        part.say("changed", _("becomes %(name)s, cut after %(num)s characters", name=key, num=LINE))
    else:
        part.say("same", becomes(key))
    return text[:LINE]


def plain(name: str) -> str:
    """A name of lower-case letters, digits and _ that begins with a letter."""
    bare = (
        unicodedata.normalize("NFKD", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).encode("ascii", "ignore").decode()
    )
    bare = re.sub(r"[^a-z0-9]+", "_", bare.lower()).strip("_")
    return (bare if bare[:1].isalpha() else f"field_{bare}".strip("_"))[:40]


def unknown(part: Part, sort: str, types: Mapping[str, Any]) -> None:
    """Note a type that neither dialect has."""
    message = part["type"].text if part.keys() else part.text
    text = _(
        "There is no %(what)s “%(name)s”. Known: %(known)s.", what=sort, name=printable(message), known=", ".join(types)
    )
    part.say("wrong", text)
