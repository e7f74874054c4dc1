"""What is looked at before a round is released, and what everybody may know of its division afterwards."""

from collections import Counter
from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from dynabench.language import _
from dynabench.releases.splitting import SPLITS, Divided, Item
from dynabench.stats.minhash import normalize_text
from dynabench.tasks.sections import ReleaseSettings


class Leak(BaseModel):
    """Examples of dev, or of test with hidden, whose writers, contexts or kin (near-duplicates) train has as well."""

    part: str
    examples: int
    writers: int
    contexts: int
    near_duplicates: int


class Finding(BaseModel):
    """Something that was found. A `stop` has to be mended first; of a `warning` an owner may say: release it anyway."""

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
        """Why there can be no release."""
        return [each.text for each in self.findings if each.level == "stop"]

    @property
    def warnings(self) -> list[str]:
        """What an owner has to accept."""
        return [each.text for each in self.findings if each.level == "warning"]


def report(
    items: Sequence[Item], divided: Divided, rules: ReleaseSettings, waiting: int, flags: int, published: bool = False
) -> ReleaseReport:
    """Everything about a division; `waiting` examples have open votes, `flags` wait for moderators, and with
    `published` everybody has the round's examples as a dataset already."""
    inside = [(each, divided.parts[each.uid]) for each in items]
    parts = Counter(part for _, part in inside)
    labels: dict[str, Counter[str]] = {}
    for each, part in inside:
        labels.setdefault(part, Counter())[each.label] += 1
    made = ReleaseReport(
        parts=dict(parts),
        writers={part: len({each.writer for each, own in inside if own == part}) for part in parts},
        labels={part: dict(sorted(found.items())) for part, found in labels.items()},
        duplicates=_duplicates(items),
        waiting=waiting,
        flags=flags,
        disjoint=list(rules.disjoint),
        held=list(divided.held),
        leaks=[_leak(inside, divided, "dev", ("dev",)), _leak(inside, divided, "test", ("test", "hidden"))],
        findings=[],
    )
    made.findings.extend(_findings(made, rules, published))
    return made


def still_open() -> Finding:
    """A round that still collects cannot be released."""
    text = _("This round is open, so all of this still changes. Close it first: only a closed round is released.")
    return Finding(kind="open", level="stop", text=text)


def _duplicates(items: Sequence[Item]) -> int:
    """Examples that say of a context what another one has said already, case and signs aside."""
    same = Counter((each.context, normalize_text(each.text), each.label) for each in items if each.verified)
    return sum(same.values()) - len(same)


def _leak(inside: Sequence[tuple[Item, str]], divided: Divided, name: str, parts: Sequence[str]) -> Leak:
    train = [each for each, part in inside if part == "train"]
    tested = [each for each, part in inside if part in parts]
    writers, contexts = {each.writer for each in train}, {each.context for each in train}
    kin = {divided.kin[each.uid] for each in train}
    return Leak(
        part=name,
        examples=len(tested),
        writers=sum(each.writer in writers for each in tested),
        contexts=sum(each.context in contexts for each in tested),
        near_duplicates=sum(divided.kin[each.uid] in kin for each in tested),
    )


def _findings(made: ReleaseReport, rules: ReleaseSettings, published: bool) -> Iterator[Finding]:
    def warn(kind: str, text: str) -> Finding:
        return Finding(kind=kind, level="warning", text=text)

    if not any(made.parts.get(part) for part in (*SPLITS, "hidden")):
        yield Finding(
            kind="empty", level="stop", text=_("No example of this round is verified, so there is no dataset.")
        )
        return
    if made.waiting:
        yield warn(
            "waiting",
            _(
                "Examples that still wait for votes: %(waiting)s. They would stay unverified for good.",
                waiting=made.waiting,
            ),
        )
    if made.flags:
        yield warn("flags", _("Flagged examples that no moderator has looked at: %(flags)s.", flags=made.flags))
    if published:
        text = _("A public dataset has this round's examples: anyone with its rows has read the hidden part.")
        yield warn("published", text)
    if made.duplicates:
        yield warn(
            "duplicates",
            _("Examples that repeat another one on the same context: %(duplicates)s.", duplicates=made.duplicates),
        )
    for rule in made.disjoint[len(made.held) :]:
        yield warn(
            f"shared {rule}",
            _("Parts share %(rule)s: kept apart they would leave too few examples to test on.", rule=rule),
        )
    for part, share in (("dev", rules.dev), ("test", rules.test), ("hidden", rules.hidden)):
        if share and not made.parts.get(part):
            yield warn(f"no {part}", _("The part %(part)s is empty: there are too few verified examples.", part=part))
    tested = {label for part in ("test", "hidden") for label in made.labels.get(part, {})}
    missing = sorted(set(made.labels.get("train", {})) - tested)
    if tested and missing and len(missing) < 20:
        yield warn(
            "labels", _("Answers that only the part to train on has: %(value)s.", value=", ".join(missing)[:300])
        )
