"""The modules of the library, with what is known of each, and whether pages compute it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import structlog

from dynabench.evaluate import loading
from dynabench.evaluate.card import Card, CardExample
from dynabench.evaluate.inputs import ModuleOption, module_options
from dynabench.evaluate.loading import missing_requirement, needs_trusted_input
from dynabench.evaluate.module import Kind, Module
from dynabench.kit.errors import NotFound
from dynabench.kit.language import _, translate

log = structlog.get_logger("dynabench.web")
KINDS: tuple[Kind, ...] = ("metric", "measurement", "comparison")
TASK_NAMES = {
    "annotation": _("annotation"),
    "audio-classification": _("audio classification"),
    "automatic-speech-recognition": _("automatic speech recognition"),
    "coreference-resolution": _("coreference resolution"),
    "document-question-answering": _("document question answering"),
    "fact-checking": _("fact checking"),
    "fill-mask": _("filling in masked words"),
    "image-captioning": _("image captioning"),
    "image-classification": _("image classification"),
    "image-segmentation": _("image segmentation"),
    "image-to-text": _("image to text"),
    "language-modeling": _("language modelling"),
    "natural-language-inference": _("natural language inference"),
    "question-answering": _("question answering"),
    "reinforcement-learning": _("reinforcement learning"),
    "sentence-similarity": _("sentence similarity"),
    "summarization": _("summarization"),
    "tabular-classification": _("tabular classification"),
    "tabular-regression": _("tabular regression"),
    "text-classification": _("text classification"),
    "text-generation": _("text generation"),
    "text-regression": _("text regression"),
    "text-retrieval": _("text retrieval"),
    "text2text-generation": _("text to text generation"),
    "time-series-forecasting": _("time series forecasting"),
    "token-classification": _("token classification"),
    "translation": _("translation"),
    "visual-question-answering": _("visual question answering"),
    "zero-shot-classification": _("zero-shot classification"),
}
"""Names of the tasks in cards, which hold the model hubs' ids, such as `fill-mask`."""


@dataclass(frozen=True)
class LibraryEntry:
    """A module under its kind and name. `ours` are modules of this package, the others come with plug-ins."""

    kind: Kind
    name: str
    module: type[Module]
    ours: bool

    @property
    def card(self) -> Card:
        """The card of the module."""
        return self.module.card

    @cached_property
    def closed(self) -> str:
        """The reason why pages do not compute it; "" where they do.

        Modules that load a model, run code or read files that their inputs name are closed; a module of another
        package is open only if it says so itself.
        """
        if needs_trusted_input(self.module) or not (self.ours or "on_pages" in vars(self.module)):
            return _("Only available from Python: here it would execute untrusted code.")
        if "models" in self.card.needs or self.card.resource:
            return _("Only available from Python: it needs a model or other data that is not part of the library.")
        lacking = missing_requirement(self.module)
        return _("This deployment lacks %(lacking)s", lacking=lacking) if lacking else ""

    @property
    def description(self) -> str:
        """The description, in the reader's language; descriptions from plug-ins are not translated."""
        return translate(_(self.card.description))

    @property
    def line(self) -> str:
        """The first sentence of its description."""
        return re.split(r"(?<=[.:])\s", self.description, maxsplit=1)[0].rstrip(".:")

    @cached_property
    def options(self) -> dict[str, ModuleOption]:
        """The options that a form can have."""
        return module_options(self.module)

    @property
    def has_interval(self) -> bool:
        """True where a bootstrap interval can be computed."""
        return hasattr(self.module, "formula") and "interval" not in self.module.options_known()

    @cached_property
    def examples(self) -> tuple[CardExample, ...]:
        """The worked examples that JSON and a form can hold.

        Examples with NaN, or with options that only Python can pass, are left out.
        """
        converted = (_as_json(example) for example in self.card.examples)
        return (
            tuple(example for example in converted if example is not None and self._takes(example.options))
            or self.card.examples[:1]
        )

    def _takes(self, values: Mapping[str, Any]) -> bool:
        try:
            for name, value in values.items():
                self.options[name].check(value)
        except (KeyError, ValueError):
            return False
        return True

    def has(self, words: Iterable[str]) -> bool:
        """Return whether all words occur in its name, title or card, in English or in the reader's language."""
        card = self.card
        outputs = (output.name for output in card.outputs)
        titles = (translate(task_title(task)) for task in card.tasks)
        text = " ".join([self.name, self.kind, card.description, self.description, *card.tasks, *titles, *outputs])
        plain = text.casefold().replace("_", " ").replace("-", " ")
        return all(word in text.casefold() or word.replace("_", " ").replace("-", " ") in plain for word in words)


def _as_json(example: CardExample) -> CardExample | None:
    """The example with what goes in as JSON has it, lists in place of tuples and ranges; None where it has no such."""
    try:
        inputs, options = json.loads(json.dumps([example.inputs, example.options], allow_nan=False, default=list))
    except (ValueError, TypeError):
        return None
    return replace(example, inputs=inputs, options=options)


@cache
def all_entries() -> tuple[LibraryEntry, ...]:
    """Return all modules by kind and name. A module that cannot be imported is left out and logged."""
    return tuple(_load_entries())


def _load_entries() -> Iterator[LibraryEntry]:
    for kind, name in loading.builtin_modules():
        yield LibraryEntry(kind, name, loading.find_module(name, kind), True)
    for kind, name in loading.plugin_modules():
        try:
            yield LibraryEntry(kind, name, loading.find_module(name, kind), False)
        except Exception:
            log.exception("a plug-in's module cannot be imported", kind=kind, name=name)


def find_entry(kind: str, name: str) -> LibraryEntry:
    """Return one module. Raises NotFound."""
    for candidate in all_entries():
        if (candidate.kind, candidate.name) == (kind, name):
            return candidate
    raise NotFound(
        _(
            "There is no %(value)s called “%(name)s”. The list has all.",
            value=kind if kind in KINDS else "module",
            name=name[:60],
        )
    )


def search_entries(words: str = "", task: str = "", kind: str = "") -> list[LibraryEntry]:
    """Return modules with all these words, for this task, of this kind; names that begin with the words come first."""
    search_words = words.casefold().split()
    matches = [
        candidate
        for candidate in all_entries()
        if kind in ("", candidate.kind) and (not task or task in candidate.card.tasks) and candidate.has(search_words)
    ]
    first = "_".join(search_words)
    return sorted(
        matches, key=lambda candidate: (not (first and candidate.name.startswith(first)), KINDS.index(candidate.kind))
    )


def count_tasks(selection: Iterable[LibraryEntry]) -> dict[str, int]:
    """Return the number of modules for each task id, in the alphabetical order of the reader's language."""
    counts: dict[str, int] = {}
    for module_entry in selection:
        for task in module_entry.card.tasks:
            counts[task] = counts.get(task, 0) + 1
    return dict(sorted(counts.items(), key=lambda module_entry: translate(task_title(module_entry[0]))))


def task_title(task: str) -> str:
    """Return the name of a task; for a task that only a plug-in knows, its id in words."""
    return TASK_NAMES.get(task, task.replace("-", " "))
