"""What other programs found elsewhere, proposed for a task of a platform through the same door."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dynabench.adversaries.journal import Journal
from dynabench.adversaries.proposing import Candidate
from dynabench.adversaries.reports import AttackFinding, AttackReport
from dynabench.adversaries.running import Step, key_of, send
from dynabench.adversaries.site import Given, Json, Site, facts

DRAWS = 25
"""Contexts that are asked for until one has what a text needs."""


@dataclass(frozen=True)
class Mapped:
    """How what was found becomes examples: `text` names the one of several texts that is meant, `labels` maps the other
    program's answers to ours, `answer` holds what is the same for all, such as `{"label": "hateful"}`.
    """

    text: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    answer: Mapping[str, Any] = field(default_factory=dict)


def bring(site: Site, journal: Journal, report: AttackReport, mapped: Mapped, dry: bool = False) -> Iterator[Step]:
    """Propose what a report holds, a step for each, and one with the reason for each that is not taken.

    What the journal says was proposed is passed over. Raises `ApiError` where the platform refuses to give a context.
    """
    if not dry:
        for key, proposal in list(journal.waiting.items()):
            yield send(site, journal, key, proposal)
    kept: list[Given] = []
    for found in report.findings:
        if found.at in journal.seen:
            continue
        made = _mapped(site, found, mapped)
        if isinstance(made, str):
            yield Step(found.at, refused=made)
            continue
        written, asked, claimed = made
        program = {"name": report.program, "version": report.version, "queries": found.queries, "cost": found.cost}
        told = facts(Candidate("", {}, {}, facts={**found.facts, "at": found.at}))
        body = {"input": written, "answer": claimed, "program": program | {"facts": told}}
        if dry:
            yield Step(found.at, body)
            continue
        given = _given(site, kept, asked, claimed)
        if given is None:
            yield Step(found.at, refused="The round gave no context with its values and its answer.")
            continue
        yield _propose(site, journal, found, given, body)
    for left in report.skipped:
        yield Step(left.at, refused=left.why)


def _propose(site: Site, journal: Journal, found: AttackFinding, given: Given, body: Json) -> Step:
    proposal = {"context": given.id, "handout": given.handout, **body}
    key = key_of(site, given.id, body)
    journal.note({"taken": found.at, "queries": found.queries, "cost": found.cost, "key": key, "proposal": proposal})
    step = send(site, journal, key, proposal)
    return Step(found.at, step.body, step.outcome, step.refused)


def _given(site: Site, kept: list[Given], asked: Mapping[str, str], claimed: Mapping[str, Any]) -> Given | None:
    """A context for a text, of those that were given for others and did not fit, or one of the next few."""

    def fits(given: Given) -> bool:
        same = all(given.context.values.get(name) == value for name, value in asked.items())
        return same and (given.goal is None or all(claimed.get(name) == value for name, value in given.goal.items()))

    for each in kept:
        if fits(each):
            kept.remove(each)
            return each
    for _draw in range(DRAWS):
        given = site.next()
        if fits(given):
            return given
        kept.append(given)
    return None


def _mapped(site: Site, found: AttackFinding, mapped: Mapped) -> tuple[Json, dict[str, str], Json] | str:
    """The input, the context's values that it needs, and the answer; or why there is no example in it."""
    texts = dict(found.texts)
    if mapped.text:
        if mapped.text not in texts:
            return f"It has no text {mapped.text!r}; there are {', '.join(sorted(texts))}."
        texts = {"": texts[mapped.text]}
    if len(texts) == 1 and len(site.inputs) == 1:
        written: Json = {site.inputs[0]: next(iter(texts.values()))}
        asked: dict[str, str] = {}
    else:
        written = {name: texts[name] for name in site.inputs if name in texts}
        asked = {name: texts[name] for name in site.contexts if name in texts}
    if len(written) < len(site.inputs):
        missing = ", ".join(name for name in site.inputs if name not in written)
        return f"Which of its texts ({', '.join(sorted(texts)) or 'none'}) is {missing}? Name it with --text."
    claimed = dict(mapped.answer)
    if site.answers and site.answers[0] not in claimed:
        label = mapped.labels.get(found.label or "", found.label)
        if label is None:
            return f"It does not say which {site.answers[0]} is right. Give one for all with --answer."
        if site.labels and label not in site.labels:
            return f"{site.answers[0]} {label!r} is none of {', '.join(site.labels)}. Map it with --label {label}=..."
        claimed[site.answers[0]] = label
    return written, asked, claimed
