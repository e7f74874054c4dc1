"""The section of a task's config on the assistant, whose models suggest texts to annotators."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields import Text
from dynabench.tasks.section import Line, Markdown, Name, Section, Setting, did_you_mean

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig

PROMPT_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
"""Where a value stands in a prompt."""


PROMPT_VALUES = ("number", "goal", "draft", "examples", "instructions")
"""What a prompt may have beside the fields of the context."""


class AssistantModel(Section):
    """A language model that suggests texts."""

    name: Line = Setting(min_length=1, description="The served model, perhaps as name@version; one that converses.")
    system: Markdown = Setting("", description="What it is told before the prompt.")
    prompt: Markdown = Setting(
        "",
        description="What it is asked for; {number}, {goal}, {draft}, {examples}, {instructions} and the context's "
        "fields in braces are filled in. Empty: a prompt of our own.",
    )
    max_tokens: int = Setting(200, ge=1, le=1000, description="Tokens that it may write.")


class Assistant(Section):
    """Help with writing, in the arms of a round that offer it."""

    providers: list[Literal["neighbours", "edits", "model"]] = Setting(
        ["neighbours", "edits"],
        min_length=1,
        max_length=3,
        description="neighbours: examples of released rounds that fooled models on a context like this one; edits: "
        "small changes of what the author has written; model: texts of a language model.",
    )
    field: Name | None = Setting(None, description="The text of the input that is helped with; the first one.")
    most: int = Setting(3, ge=1, le=5, description="Suggestions at a time.")
    times: int = Setting(5, ge=1, le=20, description="How often an author may ask on one handout.")
    edits: list[Name] = Setting(
        [
            *("contractions_expanded", "contractions_made", "spelling_variants", "numerals", "misspellings"),
            *("punctuation_removed", "emphasis", "gender_swapped", "gender_neutral"),
        ],
        min_length=1,
        max_length=40,
        description="Transformations that edits are made by: those that `dynabench adversary list` shows.",
    )
    model: AssistantModel | None = Setting(None, description="The language model of the provider model.")

    @model_validator(mode="after")
    def _model_is_named(self) -> "Assistant":
        if len(set(self.providers)) < len(self.providers):
            raise ValueError(_("providers has a duplicate entry."))
        if ("model" in self.providers) != (self.model is not None):
            raise ValueError(
                _("Give both the provider model and a mapping such as model: {name: my-model}, or neither.")
            )
        return self


def assisted_field(config: "TaskConfig") -> Text | None:
    """Return the text field that suggestions are for; None where annotators write no text by themselves."""
    texts = [field for field in config.input if isinstance(field, Text)]
    field_name = config.assistant.field
    return next((field for field in texts if field_name in (None, field.name)), None)


def assistant_problems(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    """Yield the path and message of each name in the assistant's config that refers to nothing."""
    names = [field.name for field in config.input if isinstance(field, Text)]
    if config.assistant.field is not None and config.assistant.field not in names:
        message = _("There is no such text field in the input.") + did_you_mean(config.assistant.field, names)
        yield "assistant.field", message
    placeholders = [*PROMPT_VALUES, *(field.name for field in config.context)]
    for name in PROMPT_PLACEHOLDER.findall(config.assistant.model.prompt) if config.assistant.model else ():
        if name not in placeholders:
            yield (
                "assistant.model.prompt",
                _("{%(name)s} has no value.", name=name) + did_you_mean(name, placeholders),
            )
