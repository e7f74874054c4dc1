"""Which modules there are, what is known of each, and which of them pages compute."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import structlog

from dynabench.cards import task_names
from dynabench.errors import NotFound
from dynabench.evaluate import registry
from dynabench.evaluate.card import Card, Example
from dynabench.evaluate.faces.options import Option, options
from dynabench.evaluate.loading import checked, trusting
from dynabench.evaluate.module import Kind, Module
from dynabench.language import _, said

log = structlog.get_logger("dynabench.web")
KINDS: tuple[Kind, ...] = ("metric", "measurement", "comparison")


@dataclass(frozen=True)
class Entry:
    """A module under its kind and name. `ours` are those of this package, the others come with installed ones."""

    kind: Kind
    name: str
    module: type[Module]
    ours: bool

    @property
    def card(self) -> Card:
        """Its card."""
        return self.module.card

    @cached_property
    def closed(self) -> str:
        """Why pages do not compute it; "" where they do.

        Nothing that loads a model, runs code or reads what its inputs name is open; a module of another package is
        when it says so itself.
        """
        if trusting(self.module) or not (self.ours or "on_pages" in vars(self.module)):
            return _("It is computed from Python alone: here it would run on what strangers send.")
        if "models" in self.card.needs or self.card.resource:
            return _(
                "It needs a model or other data that is not part of the library, so it is computed from Python alone."
            )
        lacking = checked(self.module)
        return _("This deployment lacks %(lacking)s", lacking=lacking) if lacking else ""

    @property
    def description(self) -> str:
        """What it measures, in the reader's language; what installed packages bring stays as they wrote it."""
        return said(_(self.card.description))

    @property
    def line(self) -> str:
        """The first sentence of its description."""
        return re.split(r"(?<=[.:])\s", self.description, maxsplit=1)[0].rstrip(".:")

    @cached_property
    def options(self) -> dict[str, Option]:
        """The options that a form can have."""
        return options(self.module)

    @property
    def has_interval(self) -> bool:
        """Whether a bootstrap interval can be asked for."""
        return hasattr(self.module, "formula") and "interval" not in self.module.options_known()

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        """The worked examples that JSON and a form can hold: without NaN, and options that Python alone can give."""
        found = (_as_json(each) for each in self.card.examples)
        return tuple(each for each in found if each is not None and self._takes(each.options)) or self.card.examples[:1]

    def _takes(self, given: Mapping[str, Any]) -> bool:
        """Whether all of these options are plain values that can be given here."""
        try:
            for name, value in given.items():
                self.options[name].check(value)
        except (KeyError, ValueError):
            return False
        return True

    def has(self, words: Iterable[str]) -> bool:
        """Whether all words occur in its name, title or card, in English or in the reader's language."""
        card = self.card
        outputs = (each.name for each in card.outputs)
        titles = (said(task_names.title(task)) for task in card.tasks)
        text = " ".join([self.name, self.kind, card.description, self.description, *card.tasks, *titles, *outputs])
        plain = text.casefold().replace("_", " ").replace("-", " ")
        return all(word in text.casefold() or word.replace("_", " ").replace("-", " ") in plain for word in words)


def _as_json(example: Example) -> Example | None:
    """The example with what goes in as JSON has it, lists in place of tuples and ranges; None where it has no such."""
    try:
        inputs, options = json.loads(json.dumps([example.inputs, example.options], allow_nan=False, default=list))
    except (ValueError, TypeError):
        return None
    return replace(example, inputs=inputs, options=options)


@cache
def entries() -> tuple[Entry, ...]:
    """All modules by kind and name. One that cannot be imported is left out and logged."""
    return tuple(_found())


def _found() -> Iterator[Entry]:
    for kind, name in registry.builtin():
        yield Entry(kind, name, registry.find(name, kind), True)
    for kind, name in registry.plugins():
        try:
            yield Entry(kind, name, registry.find(name, kind), False)
        except Exception:
            log.exception("a plug-in's module cannot be imported", kind=kind, name=name)


def entry(kind: str, name: str) -> Entry:
    """One module. Raises NotFound."""
    for each in entries():
        if (each.kind, each.name) == (kind, name):
            return each
    raise NotFound(
        _(
            "There is no %(value)s called “%(name)s”. The list has all.",
            value=kind if kind in KINDS else "module",
            name=name[:60],
        )
    )


def search(words: str = "", task: str = "", kind: str = "") -> list[Entry]:
    """Modules with all these words, for this task, of this kind; whose name begins with the words come first."""
    wanted = words.casefold().split()
    found = [
        each
        for each in entries()
        if kind in ("", each.kind) and (not task or task in each.card.tasks) and each.has(wanted)
    ]
    first = "_".join(wanted)
    return sorted(found, key=lambda each: (not (first and each.name.startswith(first)), KINDS.index(each.kind)))


def tasks(found: Iterable[Entry]) -> dict[str, int]:
    """Tasks by id, with how many of the modules are for each, as the reader's language has them one after the other."""
    counts: dict[str, int] = {}
    for each in found:
        for task in each.card.tasks:
            counts[task] = counts.get(task, 0) + 1
    return dict(sorted(counts.items(), key=lambda each: said(task_names.title(each[0]))))
