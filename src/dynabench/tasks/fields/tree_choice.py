"""One option out of a tree of them."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator, field_validator, model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.choice import AllowText, Choice, Option, expand_option, refuse_duplicates
from dynabench.tasks.section import Setting

_MOST, _DEEPEST = 500, 8
PATH = " › "
"""Between the steps of a path, as in menus."""


class Branch(Option):
    """An option that may have narrower ones below it."""

    children: "list[AnyBranch]" = Setting([], max_length=200, description="Narrower options, written like options.")


AnyBranch = Annotated[Branch, BeforeValidator(expand_option), AllowText()]
Branch.model_rebuild()


class TreeChoice(Choice):
    """One option of a tree: any, or only those that have none below them."""

    type: Literal["tree_choice"] = "tree_choice"  # type: ignore[assignment]
    options: list[AnyBranch] = Setting(  # type: ignore[assignment]
        min_length=1, max_length=200, description="Texts, or mappings of value, label, description and children."
    )
    pick: Literal["leaves", "any"] = Setting(
        "leaves", description="leaves: only an option without children; any: those with children as well."
    )

    @field_validator("options")
    @classmethod
    def _no_option_twice(cls, options: list[Branch]) -> list[Branch]:  # type: ignore[override]
        tree_options = [step for step, *_ in _paths(options)]
        if len(tree_options) > _MOST:
            raise ValueError(_("A tree has at most %(most)s options.", most=_MOST))
        refuse_duplicates([option.value for option in tree_options])
        return options

    @model_validator(mode="after")
    def _something_to_choose(self) -> "TreeChoice":
        if len(self.offered) < 2:
            raise ValueError(_("A tree needs at least 2 selectable options."))
        return self

    @property
    def offered(self) -> list[Option]:
        """The options that can be chosen, in the order of the tree."""
        return [option for option, *_ in _paths(self.options) if self.can_be_chosen(option)]

    def can_be_chosen(self, option: Branch) -> bool:
        """Return whether people may choose the option."""
        return self.pick == "any" or not option.children

    def path(self, value: object) -> list[Option]:
        """Return the options from the top down to the one with this value.

        For an unknown value it is one option labelled with it.
        """
        upward_path = next((steps for steps in _paths(self.options) if steps[0].value == value), None)
        return [*reversed(upward_path)] if upward_path else [self.option(value)]

    def label_of(self, value: str) -> str:
        """The labels on the way to `value`."""
        return PATH.join(option.label for option in self.path(value))

    def opens(self, option: Branch, value: object) -> bool:
        """Return whether the branch below `option` contains the chosen `value`."""
        return any(below.value == value for below, *_ in _paths(option.children))


def _paths(options: Sequence[Branch], above: tuple[Branch, ...] = ()) -> Iterator[tuple[Branch, ...]]:
    """Each option of a tree, in order, with those above it, the nearest first."""
    if len(above) >= _DEEPEST and options:
        raise ValueError(_("A tree has at most %(deepest)s levels.", deepest=_DEEPEST))
    for option in options:
        yield (option, *above)
        yield from _paths(option.children, (option, *above))
