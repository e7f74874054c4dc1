"""The division of a round's examples into parts: a pure function of the examples, the task's rules and their
seed."""

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
MIN_SHARE_MET = 0.5
"""Of its share a part must have, or a rule gives way."""
REJECTED = ("incorrect", "flagged")


@dataclass(frozen=True)
class SplitItem:
    """The properties of an example that its part depends on. `text` is the author's text, `label` the claimed
    answer."""

    uid: str
    writer: str
    context: str
    text: str
    label: str
    verdict: str
    made_from: str | None = None

    @property
    def verified(self) -> bool:
        """True if the verdict is correct."""
        return self.verdict == "correct"


@dataclass(frozen=True)
class Division:
    """The part of each example by uid, the group of examples that stay together by uid, and the rules of `disjoint`
    that hold."""

    parts: dict[str, str]
    kin: dict[str, str]
    held: tuple[str, ...]


def divide_items(items: Sequence[SplitItem], rules: ReleaseSettings) -> Division:
    """Divide verified examples into train, dev, test and hidden, and set the others apart.

    Near-duplicates, and examples with those they were made from, always stay together. What `rules.disjoint` names
    holds between train, dev and test (with hidden); where too few would be left to test on, its last gives way. Test
    and hidden are one pool that is divided at random, so that models differ on them only by what they have seen.
    """
    kin = _kin(items, rules.near_duplicate)
    verified = [entry for entry in items if entry.verified]
    rules_held = tuple(rules.disjoint)
    while True:
        units = _units(verified, kin, rules_held)
        parts, enough = _filled(units, rules, len(verified))
        if enough or not rules_held:
            break
        rules_held = rules_held[:-1]
    parts |= _hidden_part([entry for entry in verified if parts[entry.uid] == "test"], kin, rules)
    secret = {kin[uid] for uid, part in parts.items() if part == "hidden"}
    for entry in items:
        if not entry.verified:
            parts[entry.uid] = "withheld" if kin[entry.uid] in secret else _apart(entry, rules)
    return Division(parts, kin, rules_held)


def _apart(item: SplitItem, rules: ReleaseSettings) -> str:
    if item.verdict in REJECTED:
        return "rejected"
    return "train" if rules.unverified == "train" else "unverified"


def _kin(items: Sequence[SplitItem], threshold: float) -> dict[str, str]:
    """The group of examples that stay together, by uid: the uid of the group's root."""
    together, uids = UnionFind(), {entry.uid for entry in items}
    for first, second in near_pairs([entry.text for entry in items], threshold):
        together.join((items[first].uid, items[second].uid))
    for entry in items:
        if entry.made_from in uids:
            together.join((entry.made_from, entry.uid))
    return {entry.uid: str(together.root(entry.uid)) for entry in items}


def _units(items: Sequence[SplitItem], kin: dict[str, str], rules_held: Sequence[str]) -> list[list[str]]:
    """The groups that may not be divided under the rules `held`: lists of uids, in an order that follows from these
    alone."""
    together = UnionFind()
    for entry in items:
        shared: list[object] = [("kin", kin[entry.uid])]
        if "writers" in rules_held:
            shared.append(("writer", entry.writer))
        if "contexts" in rules_held:
            shared.append(("context", entry.context))
        together.join(shared)
    units: dict[object, list[str]] = defaultdict(list)
    for entry in items:
        units[together.root(("kin", kin[entry.uid]))].append(entry.uid)
    return sorted(sorted(unit) for unit in units.values())


def _filled(units: list[list[str]], rules: ReleaseSettings, total: int) -> tuple[dict[str, str], bool]:
    """Units drawn into test (with hidden), then dev, as far as they fit; the rest goes to train. The flag says
    whether both parts have enough."""
    remaining = Random(f"{rules.seed} parts").sample(units, len(units))
    parts: dict[str, str] = {}
    enough = True
    for part, share in (("test", rules.test + rules.hidden), ("dev", rules.dev)):
        target, have, rest = round(share * total), 0, []
        for unit in remaining:
            if have < target and have + len(unit) <= target * (1 + SLACK):
                parts.update(dict.fromkeys(unit, part))
                have += len(unit)
            else:
                rest.append(unit)
        enough = enough and have >= MIN_SHARE_MET * target
        remaining = rest
    parts.update({uid: "train" for unit in remaining for uid in unit})
    return parts, enough


def _hidden_part(pool: Sequence[SplitItem], kin: dict[str, str], rules: ReleaseSettings) -> dict[str, str]:
    """The part of the pool that is hidden, drawn by groups; a small pool has its share too."""
    target = round(len(pool) * rules.hidden / (rules.test + rules.hidden)) if rules.hidden else 0
    sizes = Counter(kin[entry.uid] for entry in pool)
    chosen: set[str] = set()
    have = 0
    for root in Random(f"{rules.seed} hidden").sample(sorted(sizes), len(sizes)):
        if have < target and have + sizes[root] <= target * (1 + SLACK):
            chosen.add(root)
            have += sizes[root]
    return {entry.uid: "hidden" for entry in pool if kin[entry.uid] in chosen}
