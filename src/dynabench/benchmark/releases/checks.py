"""The checks of a round before its release, and the public report of its division."""

from collections import Counter
from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from dynabench.benchmark.releases.splitting import SPLITS, Division, SplitItem
from dynabench.kit.language import _
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
    text = _("This round is open, so all of this still changes. Close it first: only a closed round is released.")
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
            kind="empty", level="stop", text=_("No example of this round is verified, so there is no dataset.")
        )
        return
    if result.waiting:
        yield warn(
            "waiting",
            _(
                "Examples that still wait for votes: %(waiting)s. They would stay unverified for good.",
                waiting=result.waiting,
            ),
        )
    if result.flags:
        yield warn("flags", _("Flagged examples that no moderator has looked at: %(flags)s.", flags=result.flags))
    if published:
        text = _("A public dataset has this round's examples: anyone with its rows has read the hidden part.")
        yield warn("published", text)
    if result.duplicates:
        yield warn(
            "duplicates",
            _("Examples that repeat another one on the same context: %(duplicates)s.", duplicates=result.duplicates),
        )
    for rule in result.disjoint[len(result.held) :]:
        yield warn(
            f"shared {rule}",
            _("Parts share %(rule)s: kept apart they would leave too few examples to test on.", rule=rule),
        )
    for part, share in (("dev", rules.dev), ("test", rules.test), ("hidden", rules.hidden)):
        if share and not result.parts.get(part):
            yield warn(f"no {part}", _("The part %(part)s is empty: there are too few verified examples.", part=part))
    tested = {label for part in ("test", "hidden") for label in result.labels.get(part, {})}
    missing = sorted(set(result.labels.get("train", {})) - tested)
    if tested and missing and len(missing) < 20:
        yield warn(
            "labels", _("Answers that only the part to train on has: %(value)s.", value=", ".join(missing)[:300])
        )
