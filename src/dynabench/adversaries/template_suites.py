"""Suites of short tests by phenomenon, made of templates and words.

In the manner of CheckList's minimum functionality tests (Ribeiro et al., ACL 2020): each phenomenon has templates with
slots; the items are a fixed sample of all that the words can make, as many for each template. Same file, same items.
"""

import hashlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from dynabench.kit.errors import Invalid

ITEMS_PER_PHENOMENON = 36
"""Items of a phenomenon, by default."""
SLOT = re.compile(r"\{([a-z]+)(\d?)(?:\.([a-z]+))?\}")
"""`{word}`; `{word2}` is another one than `{word}`; `{word.part}` is a part of a word that has several."""
_SHIPPED = files("dynabench.adversaries") / "templates"

Word = str | dict[str, str]


@dataclass(frozen=True)
class Item:
    """One test: the inputs, the right answer, and the phenomenon."""

    uid: str
    inputs: dict[str, str]
    answer: dict[str, Any]
    phenomenon: str


class Phenomenon(BaseModel):
    """A phenomenon and its templates; each template has the task's input fields and the answer's."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=r"^[a-z][a-z0-9 -]{1,60}$")
    about: str
    templates: list[dict[str, str]] = Field(min_length=1)


class Suite(BaseModel):
    """A file of templates. `answer` is the field that the templates' last key fills."""

    model_config = ConfigDict(extra="forbid")

    name: str
    title: str
    task: str
    licence: str
    answer: str
    words: dict[str, list[Word]] = {}
    phenomena: list[Phenomenon] = Field(min_length=1)

    @model_validator(mode="after")
    def _slots_have_words(self) -> "Suite":
        for phenomenon in self.phenomena:
            for template in phenomenon.templates:
                for word, _, part in SLOT.findall(" ".join(template.values())):
                    entries = self.words.get(word)
                    if not entries:
                        raise ValueError(f"{phenomenon.name}: there are no words for {{{word}}}")
                    if any(isinstance(entry, str) if part else isinstance(entry, dict) for entry in entries):
                        raise ValueError(f"{phenomenon.name}: {{{word}}} is used with parts and without")
        return self

    def items(self, most: int = ITEMS_PER_PHENOMENON) -> Iterator[Item]:
        """Yield at most `most` items of each phenomenon, none twice."""
        for phenomenon in self.phenomena:
            share = -(-most // len(phenomenon.templates))
            samples = [_fill_template(template, self.words, share) for template in phenomenon.templates]
            rows = [row for part in itertools.zip_longest(*samples) for row in part if row is not None]
            for number, row in enumerate(rows[:most], 1):
                inputs = {name: value for name, value in row.items() if name != self.answer}
                uid = f"{phenomenon.name.replace(' ', '-')}-{number}"
                yield Item(uid, inputs, self._answer(row), phenomenon.name)

    def _answer(self, row: Mapping[str, str]) -> dict[str, Any]:
        """The answer; of extracted answers, `field: text` becomes the place of that text in the field."""
        value = row[self.answer]
        field, separator, text = value.partition("::")
        if not separator:
            return {self.answer: value}
        start = row[field].index(text)
        return {self.answer: [{"start": start, "end": start + len(text), "text": text}]}


def shipped_suites() -> list[str]:
    """Return the names of the suites in this package."""
    return sorted(Path(str(file)).stem for file in _SHIPPED.iterdir() if str(file).endswith(".yaml"))


def load_suite(name: str) -> Suite:
    """Return a suite of this package, or of a YAML file by its path; raise `Invalid`."""
    path = Path(name)
    if name not in shipped_suites() and not path.is_file():
        raise Invalid(
            {"suite": f"There is no suite {name!r}; there are {', '.join(shipped_suites())}, or name a file."}
        )
    text = (_SHIPPED / f"{name}.yaml").read_text("utf-8") if name in shipped_suites() else path.read_text("utf-8")
    try:
        return Suite.model_validate(yaml.safe_load(text))
    except (ValueError, yaml.YAMLError) as error:
        raise Invalid({"suite": str(error)}) from error


def _fill_template(template: Mapping[str, str], words: Mapping[str, Sequence[Word]], most: int) -> list[dict[str, str]]:
    """A fixed sample of the ways to fill a template's slots, in the order of their digests."""
    slots = sorted({(word, number) for text in template.values() for word, number, _ in SLOT.findall(text)})
    ways = itertools.product(*(range(len(words[word])) for word, _ in slots))
    distinct = (way for way in ways if len({(slot[0], at) for slot, at in zip(slots, way, strict=True)}) == len(slots))
    template_key = repr(sorted(template.items()))
    chosen = sorted(distinct, key=lambda way: hashlib.sha256(f"{template_key}{way}".encode()).digest())[:most]
    fillings = ({slot: words[slot[0]][at] for slot, at in zip(slots, way, strict=True)} for way in chosen)
    return [
        {name: _fill_sentence(text, entry_by_slot) for name, text in template.items()} for entry_by_slot in fillings
    ]


def _fill_sentence(text: str, entry_by_slot: Mapping[tuple[str, str], Word]) -> str:
    """The text with its slots filled; what begins with a slot begins with a capital, unless it is a single word."""
    filled = SLOT.sub(lambda match: _word_for_slot(match, entry_by_slot), text)
    return filled[0].upper() + filled[1:] if text.startswith("{") and " " in text else filled


def _word_for_slot(match: re.Match[str], entry_by_slot: Mapping[tuple[str, str], Word]) -> str:
    word, number, part = match.groups()
    value = entry_by_slot[word, number]
    return value[part] if isinstance(value, dict) else value
