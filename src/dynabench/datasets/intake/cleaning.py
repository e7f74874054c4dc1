"""A dataset's row as the task takes it: by the task's own rules, and by a short way that comes to the same.

Checking a million rows through `TaskConfig` takes minutes, nearly all of it for texts that need no change and for
labels that came before. `Cleaner` looks for these first, and asks each field itself about other texts; whatever is less
plain or wrong goes the long way, which names every problem.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.tasks import TaskConfig, config_checks
from dynabench.tasks.fields import Choice, FieldError, Text

PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?").fullmatch
"""Texts that normalising leaves as they are: printable ASCII with something to see at both ends."""
KNOWN = 10_000  # lists of answers that are kept in mind
Answers = tuple[Mapping[str, Any], ...]
Inputs = dict[str, Any]


class Cleaner:
    """Checks rows for one task. `row` gives what models get, and the acceptable answers."""

    def __init__(self, config: TaskConfig) -> None:
        self.config = config
        self.context = config.model_context
        fields = [*self.context, *config.fields("input")]
        self.simple = all(type(field) is Text and not field.when for field in fields)
        self.texts = [field for field in fields if isinstance(field, Text)]
        self.alone = all(isinstance(field, Choice) and not field.when for field in config.fields("answer"))
        self.known: dict[int, tuple[Sequence[Mapping[str, Any]], Answers]] = {}

    def row(self, given: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> tuple[Inputs, Answers]:
        """Inputs by field of the context and the input, and the answers, each by field.

        Raises `Invalid` with keys such as `input.hypothesis` and `answer.label`.
        """
        if self.simple and (inputs := self.plain(given)) is not None:
            return inputs, self._answers(answers, inputs, {})
        return self.long_way(given, answers)

    def plain(self, given: Mapping[str, Any]) -> Inputs | None:
        """The inputs where each text of the task is there and fits; None where they need a closer look."""
        if len(given) != len(self.texts):
            return None
        made = {}
        for field in self.texts:
            text = given.get(field.name)
            if type(text) is not str:
                return None
            if not field.min_length <= len(text) <= field.max_length or PLAIN(text) is None:
                try:
                    text = field.clean(text)
                except FieldError:
                    return None
            if text is None:
                return None
            made[field.name] = text
        return made

    def long_way(self, given: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> tuple[Inputs, Answers]:
        """The same by the task's own rules alone."""
        names = {field.name for field in self.context}
        shown = {name: value for name, value in given.items() if name in names}
        context = config_checks.clean_group("context", self.context, shown)
        written = self.config.clean_input({name: each for name, each in given.items() if name not in names}, context)
        return self.config.model_inputs(context, written), self._answers(answers, context, written)

    def _answers(
        self, answers: Sequence[Mapping[str, Any]], context: Mapping[str, Any], written: Mapping[str, Any]
    ) -> Answers:
        if not answers:
            raise Invalid({f"answer.{self.config.fields('answer')[0].name}": _("There is no answer.")})
        if self.alone and (found := self.known.get(id(answers))) is not None and found[0] is answers:
            return found[1]
        made: list[Mapping[str, Any]] = []
        for answer in answers:
            clean = self.config.clean_answer(answer, context=context, input=written)
            if clean not in made:
                made.append(clean)
        if self.alone and len(self.known) < KNOWN:
            self.known[id(answers)] = answers, tuple(made)  # the list is kept, so that no other one gets its id
            return self.known[id(answers)][1]
        return tuple(made)
