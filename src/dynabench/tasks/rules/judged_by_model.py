"""Fooled when another model says so."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from dynabench.kit.language import _
from dynabench.tasks.answer_words import answer_words
from dynabench.tasks.fields.base import Field, Values
from dynabench.tasks.rules.base import Judge
from dynabench.tasks.rules.judged import JudgedRule
from dynabench.tasks.section import Line, Name, Setting, did_you_mean

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig

Template = str
GROUPS = ("context", "input", "claim", "answer")
_PLACEHOLDER = re.compile(r"\{([a-z]+)\.([a-z][a-z0-9_]{0,39})\}")


class JudgedByModel(JudgedRule):
    """A model reads the example with the target's answer and says whether that is wrong.

    The judge is a classifier, whose labels are read, or a language model, whose text is read by how it begins. Its
    answer is recorded with its version, and compared with the verdicts of people (calibration).
    """

    rule: Literal["judged_by_model"] = Setting(
        "judged_by_model", description="Fooled when a judge model says that the answer is wrong."
    )
    judged_by: ClassVar[Judge | None] = "model"
    judge: Line = Setting(min_length=1, description="The judge model, NAME or NAME@VERSION; fixed with each round.")
    ask: dict[Name, Template] = Setting(
        min_length=1,
        max_length=20,
        description="What the judge is given, by its input field: text with {context.NAME}, {input.NAME}, {claim.NAME} "
        "(the author's answer) and {answer.NAME} (the target's).",
    )
    says_wrong: list[Line] = Setting(
        min_length=1, max_length=50, description="Labels of the judge, or beginnings of its text, that say wrong."
    )
    says_right: list[Line] = Setting(
        [], max_length=50, description="Those that say right; everything else then says nothing. Empty: all others."
    )

    def given_to_judge(self, config: "TaskConfig", parts: Mapping[str, Values]) -> dict[str, str]:
        """Return the inputs of the judge; `parts` holds the values of `context`, `input`, `claim` and `answer`."""
        fields = _fields(config)

        def filled(place: re.Match[str]) -> str:
            group, name = place.groups()
            field = fields.get((group, name))
            return field.in_words(parts[group].get(name)) if field else place[0]

        return {name: _PLACEHOLDER.sub(filled, template) for name, template in self.ask.items()}

    def verdict(self, judge_answer: Values) -> bool | None:
        """Return whether the judge's answer says wrong; None where it says neither."""
        texts = [str(value) for value in judge_answer.values() if isinstance(value, str)]
        if any(_begins(text, words) for text in texts for words in self.says_wrong):
            return True
        return (
            False
            if not self.says_right or any(_begins(text, beginning) for text in texts for beginning in self.says_right)
            else None
        )

    def problems(self, config: "TaskConfig") -> Iterator[tuple[str, str]]:
        """Places in templates stand for fields of the task, and the judge sees the answer that it judges."""
        yield from super().problems(config)
        fields = _fields(config)
        for name, template in self.ask.items():
            if len(template) > 20_000:
                yield f"ask.{name}", _("Write at most 20,000 characters.")
            for group, field_name in _PLACEHOLDER.findall(template):
                if (group, field_name) not in fields:
                    placeholders = [f"{first}.{second}" for first, second in fields]
                    yield (
                        f"ask.{name}",
                        _("There is no “%(group)s.%(of)s” to fill in.", group=group, of=field_name)
                        + did_you_mean(f"{group}.{field_name}", placeholders),
                    )
        if not any(group == "answer" for template in self.ask.values() for group, _ in _PLACEHOLDER.findall(template)):
            yield "ask", _("The judge is not shown the answer: use {answer.NAME} somewhere.")


def _fields(config: "TaskConfig") -> dict[tuple[str, str], Field]:
    groups: dict[str, Any] = {"context": config.context, "input": config.input}
    groups |= {"claim": config.answer, "answer": config.answer}
    return {(group, field.name): field for group in GROUPS for field in groups[group]}


def _begins(text: str, words: str) -> bool:
    """True where a text begins with these words; case, punctuation and articles are ignored."""
    text_words, first_words = answer_words(text), answer_words(words)
    return bool(first_words) and text_words[: len(first_words)] == first_words
