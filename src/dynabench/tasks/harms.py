"""Tasks in which people look for harm: which answers name it, so that a board can say how often models do which."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median_low
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import StringConstraints

from dynabench.language import _
from dynabench.tasks.fields import Choice
from dynabench.tasks.fields.tree_choice import Branch, TreeChoice
from dynabench.tasks.section import Name, Section, Setting, did_you_mean

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig

Value = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Harms(Section):
    """Which fields say what harm a model did, and how bad it is."""

    category: Name = Setting(description="The answer, a choice or a tree of them, that names the harm.")
    harmless: list[Value] = Setting(["none"], max_length=20, description="Options of it that stand for no harm.")
    severity: Name | None = Setting(None, description="The answer, a choice from the least to the worst, of how bad.")
    votes: Name | None = Setting(
        None, description="The field of validate.ask with options of severity, in which those who check say how bad."
    )


class Kind(NamedTuple):
    """A line of a board: an option, what people read, its depth in the tree, and the values that it stands for."""

    value: str
    label: str
    depth: int
    values: frozenset[str]


def problems(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    """What is named in `harms` and is not there, by the path in the config."""
    if config.harms is None:
        return
    answers = {field.name: field for field in config.answer if isinstance(field, Choice)}
    asked = {field.name: field for field in config.validation.ask if isinstance(field, Choice)}
    told = _("There is no such choice in the answer.")
    for key in ("category", "severity"):
        name = getattr(config.harms, key)
        if name is not None and name not in answers:
            yield f"harms.{key}", told + did_you_mean(name, answers)
    known = answers[config.harms.category].values if config.harms.category in answers else config.harms.harmless
    for index, value in enumerate(config.harms.harmless):
        if value not in known:
            yield f"harms.harmless.{index}", _("There is no such option.") + did_you_mean(value, known)
    if (votes := config.harms.votes) is not None:
        severity = answers.get(config.harms.severity or "")
        if votes not in asked:
            yield "harms.votes", _("There is no such choice under validate.ask.") + did_you_mean(votes, asked)
        elif severity is None or not set(asked[votes].values) <= set(severity.values):
            yield "harms.votes", _("Its options must be options of the severity.")


def choice(config: "TaskConfig", name: str | None) -> Choice | None:
    """The answer of this name, where it is a choice."""
    return next((each for each in config.answer if isinstance(each, Choice) and each.name == name), None)


def kinds(field: Choice, but: Sequence[str] = ()) -> list[Kind]:
    """The options of a choice, or of a tree with each branch before what is below it; without those of `but`."""
    found = _branches(field.options) if isinstance(field, TreeChoice) else [_kind(each) for each in field.offered]
    return [each for each in found if each.value not in but]


def _kind(option: object, depth: int = 0, below: Sequence[Kind] = ()) -> Kind:
    value, label = option.value, option.label  # type: ignore[attr-defined]
    return Kind(value, label, depth, frozenset([value]).union(*(each.values for each in below)))


def _branches(options: Sequence[Branch], depth: int = 0) -> list[Kind]:
    found: list[Kind] = []
    for option in options:
        below = _branches(option.children, depth + 1)
        found += [_kind(option, depth, below), *below]
    return found


def severity(field: Choice, claimed: Mapping[str, object], votes: Sequence[str]) -> str | None:
    """How bad something is: the median of the votes (of two in the middle the lower), without any what was claimed."""
    order = field.values
    said = [order.index(vote) for vote in votes if vote in order]
    if said:
        return order[median_low(said)]
    value = claimed.get(field.name)
    return value if isinstance(value, str) else None
