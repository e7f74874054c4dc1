"""Given names of persons replaced by names that are associated with another group of people, gender kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from dynabench.adversaries.perturbations.base import MOST, Axis, Texts
from dynabench.adversaries.perturbations.edits import Edit, Edited, Span, edit
from dynabench.adversaries.perturbations.given import GROUPS, drawn, gender, persons


@dataclass(frozen=True)
class Names:
    """Every person of a row gets a name of `group`; the same person the same one in all fields."""

    group: str
    title: str
    axis: Axis = "fairness"

    @property
    def name(self) -> str:
        """See `Transformation`."""
        return f"names_{self.group}"

    def apply(
        self, texts: Texts, rng: Random, locked: Mapping[str, Sequence[Span]] | None = None
    ) -> dict[str, Edited] | None:
        """See `Transformation.apply`. Names are replaced inside `locked` spans too, so that fields stay of one mind."""
        if any(len(text) > MOST for text in texts.values()) or (known := persons(texts)) is None:
            return None
        found, left = known
        old = list(dict.fromkeys(one.name for each in found.values() for one in each))
        new = chosen(old, {one: [f"{self.group}_{gender()[one]}"] if one in gender() else self._both() for one in old},
                     left, rng)  # fmt: skip
        made = {
            field: changed
            for field, text in texts.items()
            if (changed := edit(text, [Edit(*one.span, new[one.name]) for one in found[field]]))
        }
        return made or None

    def _both(self) -> list[str]:
        return [f"{self.group}_female", f"{self.group}_male"]


def chosen(old: Sequence[str], lists: Mapping[str, Sequence[str]], left: Iterable[str], rng: Random) -> dict[str, str]:
    """Another name for each of `old`, from its lists: one of two never becomes the other, and no two become one."""
    taken, made = {*old, *left}, dict[str, str]()
    for one in old:
        made[one] = rng.choice([name for which in lists[one] for name in drawn(which) if name not in taken])
        taken.add(made[one])
    return made


_TITLES = {"asian": "East, Southeast and South Asian", "black": "Black American"}
TRANSFORMATIONS = {
    f"names_{group}": Names(group, f"Names: {_TITLES.get(group, group.capitalize())}") for group in GROUPS
}
