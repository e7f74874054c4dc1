"""Parts of the form of a config: inputs of settings, cards of fields, groups of cards, sections of settings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from dynabench.tasks.reading import Path

InputKind = Literal["text", "long", "integer", "number", "flag", "choice", "lines", "yaml"]


@dataclass(frozen=True)
class FormPart:
    """A part of the form with its place in the config."""

    path: Path

    @property
    def address(self) -> str:
        """The path as JSON, for the page."""
        return json.dumps(self.path)


@dataclass(frozen=True)
class SettingInput(FormPart):
    """One setting: where it stands, how it is written, its text now, and the text of what holds without it."""

    key: str
    kind: InputKind
    text: str
    usual: str
    help: str
    options: Sequence[str] = ()
    low: float | None = None
    high: float | None = None
    required: bool = False
    suggestions: Sequence[str] = ()
    error: str = ""

    @property
    def label(self) -> str:
        """The key as people read it."""
        return self.key.replace("_", " ").capitalize()


@dataclass(frozen=True)
class FieldCard(FormPart):
    """One field of a group: its settings, those that stand behind "More", and what is wrong with it as a whole.

    Of a field that is made of fields, `inner` holds their cards.
    """

    name: str
    type: str
    about: str
    settings: Sequence[SettingInput]
    more: Sequence[SettingInput]
    error: str = ""
    inner: "FieldGroup | None" = None

    @property
    def wrong(self) -> bool:
        """Tell whether something on the card is wrong."""
        within = self.inner is not None and self.inner.wrong
        return within or bool(self.error) or any(setting.error for setting in (*self.settings, *self.more))


@dataclass(frozen=True)
class FieldGroup(FormPart):
    """A list of fields, such as the context; `types` are those that it may have, with what each is for."""

    title: str
    help: str
    cards: Sequence[FieldCard]
    types: Sequence[tuple[str, str]]
    error: str = ""

    @property
    def wrong(self) -> bool:
        """Tell whether something in the group is wrong."""
        return bool(self.error) or any(card.wrong for card in self.cards)


@dataclass(frozen=True)
class FormSection:
    """Settings that belong together; `changed` where the config has some of them."""

    name: str
    help: str
    settings: Sequence[SettingInput]
    changed: bool
    error: str = ""

    @property
    def label(self) -> str:
        """The key as people read it."""
        return self.name.replace("_", " ").capitalize()

    @property
    def wrong(self) -> bool:
        """Tell whether something in the section is wrong."""
        return bool(self.error) or any(setting.error for setting in self.settings)


@dataclass(frozen=True)
class ConfigForm:
    """The whole form; with a `problem` the text cannot be read as a config, and there is nothing else."""

    basics: Sequence[SettingInput] = ()
    more_basics: Sequence[SettingInput] = ()
    groups: Sequence[FieldGroup] = ()
    sections: Sequence[FormSection] = ()
    problem: str = ""
    other_errors: Mapping[str, str] = field(default_factory=dict)
