"""The section of a task's config on harms: kinds, severities, and the labels that validators agree on."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median_low
from typing import TYPE_CHECKING, NamedTuple

from dynabench.kit.language import _
from dynabench.tasks.fields import Choice
from dynabench.tasks.fields.choice import Branch, TreeChoice
from dynabench.tasks.section import Name, Section, Setting, did_you_mean
from dynabench.tasks.sections import Value

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig


class Harms(Section):
    """The fields that name the harm a model did, and its severity."""

    category: Name = Setting(description="The answer, a choice or a tree of them, that names the harm.")
    harmless: list[Value] = Setting(["none"], max_length=20, description="Options of it that stand for no harm.")
    severity: Name | None = Setting(None, description="The answer, a choice from the least to the worst, of how bad.")
    votes: Name | None = Setting(
        None, description="The field of validate.ask with options of severity, in which those who check say how bad."
    )


class HarmKind(NamedTuple):
    """A line of a board: an option, what people read, its depth in the tree, and the values that it stands for."""

    value: str
    label: str
    depth: int
    values: frozenset[str]


def harm_problems(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    """Yield path and message of each name in `harms` that does not exist in the config."""
    if config.harms is None:
        return
    answers = {field.name: field for field in config.answer if isinstance(field, Choice)}
    validation_choices = {field.name: field for field in config.validation.ask if isinstance(field, Choice)}
    no_choice_message = _("There is no such choice in the answer.")
    for key in ("category", "severity"):
        name = getattr(config.harms, key)
        if name is not None and name not in answers:
            yield f"harms.{key}", no_choice_message + did_you_mean(name, answers)
    category_values = (
        answers[config.harms.category].values if config.harms.category in answers else config.harms.harmless
    )
    for index, value in enumerate(config.harms.harmless):
        if value not in category_values:
            yield f"harms.harmless.{index}", _("There is no such option.") + did_you_mean(value, category_values)
    if (votes := config.harms.votes) is not None:
        severity = answers.get(config.harms.severity or "")
        if votes not in validation_choices:
            yield (
                "harms.votes",
                _("There is no such choice under validate.ask.") + did_you_mean(votes, validation_choices),
            )
        elif severity is None or not set(validation_choices[votes].values) <= set(severity.values):
            yield "harms.votes", _("Its options must be options of the severity.")


def find_choice(config: "TaskConfig", name: str | None) -> Choice | None:
    """Return the answer field of this name, if it is a choice; else None."""
    return next((field for field in config.answer if isinstance(field, Choice) and field.name == name), None)


def harm_kinds(field: Choice, but: Sequence[str] = ()) -> list[HarmKind]:
    """Return the options of a choice, or of a tree with each branch before the options below it.

    Options in `but` are left out.
    """
    all_kinds = _branches(field.options) if isinstance(field, TreeChoice) else [_kind(kind) for kind in field.offered]
    return [kind for kind in all_kinds if kind.value not in but]


def _kind(option: object, depth: int = 0, below: Sequence[HarmKind] = ()) -> HarmKind:
    value, label = option.value, option.label  # type: ignore[attr-defined]
    return HarmKind(value, label, depth, frozenset([value]).union(*(kind.values for kind in below)))


def _branches(options: Sequence[Branch], depth: int = 0) -> list[HarmKind]:
    branch_kinds: list[HarmKind] = []
    for option in options:
        below = _branches(option.children, depth + 1)
        branch_kinds += [_kind(option, depth, below), *below]
    return branch_kinds


def agreed_severity(field: Choice, claimed: Mapping[str, object], votes: Sequence[str]) -> str | None:
    """Return the median of the votes on the severity (of two in the middle the lower).

    Without votes it is the claimed severity.
    """
    order = field.values
    places = [order.index(vote) for vote in votes if vote in order]
    if places:
        return order[median_low(places)]
    value = claimed.get(field.name)
    return value if isinstance(value, str) else None
