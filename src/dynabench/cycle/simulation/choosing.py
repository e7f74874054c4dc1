"""How each arm chooses its new examples from a pool whose answers are known."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynabench.cycle.simulation.material import Ints

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """What there is to choose from and what the target says of it, all of shape (n,): places in the pool, groups,
    whether the target errs, and by how much its first answer is ahead of its second."""

    places: Ints
    groups: Ints
    wrong: Bools
    margin: Floats

    def without(self, taken: Ints) -> "View":
        """All but the rows at these places."""
        left = ~np.isin(self.places, taken)
        return View(self.places[left], self.groups[left], self.wrong[left], self.margin[left])


@dataclass(frozen=True)
class Chosen:
    """Places of what was chosen, how many examples were tried for it, and how many were handed in without fooling."""

    places: Ints
    tries: int
    filled: int = 0


def random(view: View, n: int, tries: int, rng: np.random.Generator) -> Chosen:
    """Whatever comes."""
    return Chosen(rng.permutation(view.places)[:n], n)


def uncertain(view: View, n: int, tries: int, rng: np.random.Generator) -> Chosen:
    """Where the target's two best answers are closest to each other, of all there is; ties by chance."""
    order = np.lexsort((rng.random(len(view.places)), view.margin))
    return Chosen(view.places[order[:n]], n)


def adversarial(view: View, n: int, tries: int, rng: np.random.Generator) -> Chosen:
    """Adversaries come one after another. Each tries examples, context by context in random order, hands in the first
    that fools the target, and leaves after `tries` misses.

    A context is left once it gave an example. Where the pool ends before n are found, those tried whose margin is the
    smallest are handed in unfooled.
    """
    shuffled = rng.permutation(len(view.places))
    rank = rng.permutation(int(view.groups.max(initial=0)) + 1)
    order = shuffled[np.argsort(rank[view.groups[shuffled]], kind="stable")]
    found: list[int] = []
    missed: list[int] = []
    tried = misses = 0
    done = -1
    for row in order.tolist():
        if len(found) == n:
            break
        if view.groups[row] == done:
            continue
        tried += 1
        if view.wrong[row]:
            found.append(row)
            done, misses = int(view.groups[row]), 0
            continue
        missed.append(row)
        misses += 1
        if misses == tries:
            done, misses = int(view.groups[row]), 0
    spare = sorted(missed, key=lambda row: (view.margin[row], row))[: n - len(found)]
    return Chosen(view.places[np.array(found + spare, np.int64)], tried, len(spare))


def mixed(view: View, n: int, tries: int, rng: np.random.Generator) -> Chosen:
    """Half by adversaries, half at random."""
    fooling = adversarial(view, n // 2, tries, rng)
    rest = random(view.without(fooling.places), n - n // 2, tries, rng)
    places = np.concatenate([fooling.places, rest.places])
    return Chosen(places, fooling.tries + rest.tries, fooling.filled)


CHOOSE: dict[str, Callable[[View, int, int, np.random.Generator], Chosen]] = {
    "random": random,
    "uncertain": uncertain,
    "adversarial": adversarial,
    "mixed": mixed,
    "fixed": adversarial,
}
"""How each arm chooses; the arm `fixed` does as `adversarial`, against the first target for ever."""
