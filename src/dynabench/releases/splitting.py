"""Dividing a round's examples into parts: a pure function of the examples, the task's rules and their seed."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from dynabench.stats.minhash import UnionFind, near_pairs
from dynabench.tasks.sections import ReleaseSettings

PUBLIC = ("train", "dev", "test", "rejected", "unverified")
"""Parts that everybody may read, each a file."""
SPLITS = ("train", "dev", "test")
SLACK = 0.1
"""A part may have so much more than its share, so that units need not be torn apart."""
ENOUGH = 0.5
"""Of its share a part must have, or a rule gives way."""
REJECTED = ("incorrect", "flagged")


@dataclass(frozen=True)
class Item:
    """An example as far as it counts here. `text` is what its author wrote, `label` what they claim."""

    uid: str
    writer: str
    context: str
    text: str
    label: str
    verdict: str
    made_from: str | None = None

    @property
    def verified(self) -> bool:
        """Whether validators found it right."""
        return self.verdict == "correct"


@dataclass(frozen=True)
class Divided:
    """The part of each example by uid, what stays together by uid, and the rules of `disjoint` that hold."""

    parts: dict[str, str]
    kin: dict[str, str]
    held: tuple[str, ...]


def divide(items: Sequence[Item], rules: ReleaseSettings) -> Divided:
    """Divide verified examples into train, dev, test and hidden, and set the others apart.

    Near-duplicates, and examples with those they were made from, always stay together. What `rules.disjoint` names
    holds between train, dev and test (with hidden); where too few would be left to test on, its last gives way. Test
    and hidden are one pool that is divided at random, so that models differ on them only by what they have seen.
    """
    kin = _kin(items, rules.near_duplicate)
    verified = [each for each in items if each.verified]
    held = tuple(rules.disjoint)
    while True:
        units = _units(verified, kin, held)
        parts, enough = _filled(units, rules, len(verified))
        if enough or not held:
            break
        held = held[:-1]
    parts |= _hidden([each for each in verified if parts[each.uid] == "test"], kin, rules)
    secret = {kin[uid] for uid, part in parts.items() if part == "hidden"}
    for each in items:
        if not each.verified:
            parts[each.uid] = "withheld" if kin[each.uid] in secret else _apart(each, rules)
    return Divided(parts, kin, held)


def _apart(item: Item, rules: ReleaseSettings) -> str:
    if item.verdict in REJECTED:
        return "rejected"
    return "train" if rules.unverified == "train" else "unverified"


def _kin(items: Sequence[Item], threshold: float) -> dict[str, str]:
    """Who stays together: the uid that stands for them, by uid."""
    together, known = UnionFind(), {each.uid for each in items}
    for first, second in near_pairs([each.text for each in items], threshold):
        together.join((items[first].uid, items[second].uid))
    for each in items:
        if each.made_from in known:
            together.join((each.made_from, each.uid))
    return {each.uid: str(together.root(each.uid)) for each in items}


def _units(items: Sequence[Item], kin: dict[str, str], held: Sequence[str]) -> list[list[str]]:
    """What may not be torn apart under the rules `held`: lists of uids, in an order that follows from these alone."""
    together = UnionFind()
    for each in items:
        shared: list[object] = [("kin", kin[each.uid])]
        if "writers" in held:
            shared.append(("writer", each.writer))
        if "contexts" in held:
            shared.append(("context", each.context))
        together.join(shared)
    units: dict[object, list[str]] = defaultdict(list)
    for each in items:
        units[together.root(("kin", kin[each.uid]))].append(each.uid)
    return sorted(sorted(unit) for unit in units.values())


def _filled(units: list[list[str]], rules: ReleaseSettings, total: int) -> tuple[dict[str, str], bool]:
    """Units drawn into test (with hidden), then dev, as far as they fit; the rest is to train on."""
    left = Random(f"{rules.seed} parts").sample(units, len(units))
    parts: dict[str, str] = {}
    enough = True
    for part, share in (("test", rules.test + rules.hidden), ("dev", rules.dev)):
        wanted, have, rest = round(share * total), 0, []
        for unit in left:
            if have < wanted and have + len(unit) <= wanted * (1 + SLACK):
                parts.update(dict.fromkeys(unit, part))
                have += len(unit)
            else:
                rest.append(unit)
        enough = enough and have >= ENOUGH * wanted
        left = rest
    parts.update({uid: "train" for unit in left for uid in unit})
    return parts, enough


def _hidden(pool: Sequence[Item], kin: dict[str, str], rules: ReleaseSettings) -> dict[str, str]:
    """The part of the pool that is hidden, drawn by kin; a pool of few has its share too, if it has one at all."""
    wanted = round(len(pool) * rules.hidden / (rules.test + rules.hidden)) if rules.hidden else 0
    sizes = Counter(kin[each.uid] for each in pool)
    chosen: set[str] = set()
    have = 0
    for one in Random(f"{rules.seed} hidden").sample(sorted(sizes), len(sizes)):
        if have < wanted and have + sizes[one] <= wanted * (1 + SLACK):
            chosen.add(one)
            have += sizes[one]
    return {each.uid: "hidden" for each in pool if kin[each.uid] in chosen}
