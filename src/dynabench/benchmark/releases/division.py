"""The division of a round's examples into parts, the checks before a release, and the report of both.

The division is a pure function of the examples, the task's rules and their seed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from pydantic import BaseModel

from dynabench.kit.language import _
from dynabench.stats.minhash import UnionFind, near_pairs, normalize_text
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


class Leak(BaseModel):
    """Examples of dev, or of test with hidden, whose writers, contexts or kin (near-duplicates) train has as well."""

    part: str
    examples: int
    writers: int
    contexts: int
    near_duplicates: int


class Finding(BaseModel):
    """A result of the checks. A `stop` must be fixed first; an owner may release a round in spite of a `warning`."""

    kind: str
    level: str
    text: str


class ReleaseReport(BaseModel):
    """The parts with the numbers of their examples, their writers and labels; leaks; and findings.

    `held` are the rules of `disjoint` that hold.
    """

    parts: dict[str, int]
    writers: dict[str, int]
    labels: dict[str, dict[str, int]]
    duplicates: int
    waiting: int
    flags: int
    disjoint: list[str]
    held: list[str]
    leaks: list[Leak]
    findings: list[Finding]

    @property
    def stopped(self) -> list[str]:
        """The texts of the findings that forbid a release."""
        return [finding.text for finding in self.findings if finding.level == "stop"]

    @property
    def warnings(self) -> list[str]:
        """The texts of the findings that an owner has to accept."""
        return [finding.text for finding in self.findings if finding.level == "warning"]


def release_report(
    items: Sequence[SplitItem],
    divided: Division,
    rules: ReleaseSettings,
    waiting: int,
    flags: int,
    published: bool = False,
) -> ReleaseReport:
    """Return the report of a division. `waiting` examples have open votes, `flags` wait for moderators; `published`
    is True if a public dataset has the round's examples already."""
    inside = [(entry, divided.parts[entry.uid]) for entry in items]
    parts = Counter(part for _, part in inside)
    labels: dict[str, Counter[str]] = {}
    for entry, part in inside:
        labels.setdefault(part, Counter())[entry.label] += 1
    result = ReleaseReport(
        parts=dict(parts),
        writers={part: len({entry.writer for entry, own in inside if own == part}) for part in parts},
        labels={part: dict(sorted(counts.items())) for part, counts in labels.items()},
        duplicates=_duplicates(items),
        waiting=waiting,
        flags=flags,
        disjoint=list(rules.disjoint),
        held=list(divided.held),
        leaks=[_leak(inside, divided, "dev", ("dev",)), _leak(inside, divided, "test", ("test", "hidden"))],
        findings=[],
    )
    result.findings.extend(_findings(result, rules, published))
    return result


def still_open() -> Finding:
    """Return the finding for a round that still collects, which cannot be released."""
    text = _("This round is still open and its data change. Close it first: only closed rounds are released.")
    return Finding(kind="open", level="stop", text=text)


def _duplicates(items: Sequence[SplitItem]) -> int:
    """The number of verified examples that repeat another one's text and label on the same context."""
    same = Counter((entry.context, normalize_text(entry.text), entry.label) for entry in items if entry.verified)
    return sum(same.values()) - len(same)


def _leak(inside: Sequence[tuple[SplitItem, str]], divided: Division, name: str, parts: Sequence[str]) -> Leak:
    train = [entry for entry, part in inside if part == "train"]
    tested = [entry for entry, part in inside if part in parts]
    writers, contexts = {entry.writer for entry in train}, {entry.context for entry in train}
    kin = {divided.kin[entry.uid] for entry in train}
    return Leak(
        part=name,
        examples=len(tested),
        writers=sum(entry.writer in writers for entry in tested),
        contexts=sum(entry.context in contexts for entry in tested),
        near_duplicates=sum(divided.kin[entry.uid] in kin for entry in tested),
    )


def _findings(result: ReleaseReport, rules: ReleaseSettings, published: bool) -> Iterator[Finding]:
    def warn(kind: str, text: str) -> Finding:
        return Finding(kind=kind, level="warning", text=text)

    if not any(result.parts.get(part) for part in (*SPLITS, "hidden")):
        yield Finding(
            kind="empty", level="stop", text=_("No example of this round is verified, so there is nothing to release.")
        )
        return
    if result.waiting:
        yield warn(
            "waiting",
            _(
                "Examples still waiting for votes: %(waiting)s. They would stay unverified forever.",
                waiting=result.waiting,
            ),
        )
    if result.flags:
        yield warn("flags", _("Flagged examples not yet reviewed by a moderator: %(flags)s.", flags=result.flags))
    if published:
        text = _("A public dataset contains this round's examples: anyone who has it has seen the hidden part.")
        yield warn("published", text)
    if result.duplicates:
        yield warn(
            "duplicates",
            _("Examples that repeat another one on the same context: %(duplicates)s.", duplicates=result.duplicates),
        )
    for rule in result.disjoint[len(result.held) :]:
        yield warn(
            f"shared {rule}",
            _("Parts share %(rule)s: separating them would leave too few test examples.", rule=rule),
        )
    for part, share in (("dev", rules.dev), ("test", rules.test), ("hidden", rules.hidden)):
        if share and not result.parts.get(part):
            yield warn(f"no {part}", _("The part %(part)s is empty: there are too few verified examples.", part=part))
    tested = {label for part in ("test", "hidden") for label in result.labels.get(part, {})}
    missing = sorted(set(result.labels.get("train", {})) - tested)
    if tested and missing and len(missing) < 20:
        yield warn(
            "labels", _("Answers that occur only in the training part: %(value)s.", value=", ".join(missing)[:300])
        )
