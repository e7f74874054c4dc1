"""Reports of attack programs: read by plug-ins, matched with contexts, proposed as examples."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dynabench.adversaries.program_run import RunStep, idempotency_key, program_facts, send_proposal
from dynabench.adversaries.protocol import AttackCandidate
from dynabench.adversaries.remote_tasks import ProgramHandout, RemoteTask
from dynabench.adversaries.run_journal import Journal
from dynabench.client import Json
from dynabench.kit import plugins
from dynabench.kit.distributions import ATTACK_REPORTS, PLATFORM, install_command
from dynabench.kit.errors import Invalid, NotFound

NO_READER = (
    "Reports of other programs are read by a plug-in that is not installed: "
    f"{install_command(PLATFORM, ATTACK_REPORTS)}"
)


@dataclass(frozen=True)
class AttackFinding:
    """A text that fooled a model elsewhere: `texts` by the names of that program's inputs, one named "" where it has no
    names; `label` is the answer that it takes for right, None where it knows none. `at` says where in the file.
    """

    at: str
    texts: Mapping[str, str]
    label: str | None = None
    queries: int = 0
    cost: float = 0.0
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SkippedEntry:
    """An entry that is not taken, and why."""

    at: str
    why: str


@dataclass(frozen=True)
class AttackReport:
    """The findings of a program; `version` is that of the program, "unknown" where the file does not tell."""

    program: str
    version: str
    findings: Sequence[AttackFinding]
    skipped: Sequence[SkippedEntry]


class ReportReader(Protocol):
    """A function that reads the files of one program."""

    def __call__(self, path: Path) -> AttackReport:
        """Read the report at `path`. Raises `Invalid` for another file."""


def readers() -> Mapping[str, str]:
    """Return the `module:function` of every reader by the name of its program."""
    return plugins.gather("dynabench_report_readers", plugins.references)


def read_report(program: str, path: Path) -> AttackReport:
    """Read the report of a program. Raises `NotFound` where nothing reads its reports, `Invalid` for another file."""
    references = readers()
    if program not in references:
        message = (
            f"Nothing reads reports of {program!r}; there are {', '.join(references)}." if references else NO_READER
        )
        raise NotFound(message)
    reader: ReportReader = plugins.load_reference(references[program])
    try:
        return reader(path)
    except UnicodeDecodeError:
        raise Invalid({"file": f"{path.name} is no text in UTF-8."}) from None


DRAWS = 25
"""Contexts that are requested until one has the values that a text needs."""


@dataclass(frozen=True)
class ReportMapping:
    """The rules that make examples of findings.

    `text` names the input among several texts, `labels` maps the other program's answers to ours, `answer` holds the
    values that all share, such as `{"label": "hateful"}`.
    """

    text: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    answer: Mapping[str, Any] = field(default_factory=dict)


def import_report(
    remote_task: RemoteTask, journal: Journal, report: AttackReport, mapping: ReportMapping, dry: bool = False
) -> Iterator[RunStep]:
    """Propose the findings of a report, a step for each; a finding that is not taken has a step with the reason.

    Findings that the journal has already are skipped. Raise `ApiError` where the platform refuses to give a context.
    """
    if not dry:
        for key, proposal in list(journal.waiting.items()):
            yield send_proposal(remote_task, journal, key, proposal)
    unused: list[ProgramHandout] = []
    for finding in report.findings:
        if finding.at in journal.seen:
            continue
        example = _map_finding(remote_task, finding, mapping)
        if isinstance(example, str):
            yield RunStep(finding.at, refused=example)
            continue
        inputs, values, answer = example
        program = {"name": report.program, "version": report.version, "queries": finding.queries, "cost": finding.cost}
        facts = program_facts(AttackCandidate("", {}, {}, facts={**finding.facts, "at": finding.at}))
        body = {"input": inputs, "answer": answer, "program": program | {"facts": facts}}
        if dry:
            yield RunStep(finding.at, body)
            continue
        handout = _matching_handout(remote_task, unused, values, answer)
        if handout is None:
            yield RunStep(finding.at, refused="The round gave no context with its values and its answer.")
            continue
        yield _propose(remote_task, journal, finding, handout, body)
    for skipped in report.skipped:
        yield RunStep(skipped.at, refused=skipped.why)


def _propose(
    remote_task: RemoteTask, journal: Journal, finding: AttackFinding, handout: ProgramHandout, body: Json
) -> RunStep:
    proposal = {"context": handout.id, "handout": handout.handout, **body}
    key = idempotency_key(remote_task, handout.id, body)
    journal.record(
        {"taken": finding.at, "queries": finding.queries, "cost": finding.cost, "key": key, "proposal": proposal}
    )
    step = send_proposal(remote_task, journal, key, proposal)
    return RunStep(finding.at, step.body, step.outcome, step.refused)


def _matching_handout(
    remote_task: RemoteTask, unused: list[ProgramHandout], values: Mapping[str, str], answer: Mapping[str, Any]
) -> ProgramHandout | None:
    """A context for a text, among those that did not fit other texts, or the next few."""

    def fits(handout: ProgramHandout) -> bool:
        same = all(handout.context.values.get(name) == value for name, value in values.items())
        return same and (handout.goal is None or all(answer.get(name) == value for name, value in handout.goal.items()))

    for handout in unused:
        if fits(handout):
            unused.remove(handout)
            return handout
    for _draw in range(DRAWS):
        handout = remote_task.next_handout()
        if fits(handout):
            return handout
        unused.append(handout)
    return None


def _map_finding(
    remote_task: RemoteTask, finding: AttackFinding, mapping: ReportMapping
) -> tuple[Json, dict[str, str], Json] | str:
    """The input, the context's values that it needs, and the answer; or the reason why it gives no example."""
    texts = dict(finding.texts)
    if mapping.text:
        if mapping.text not in texts:
            return f"It has no text {mapping.text!r}; there are {', '.join(sorted(texts))}."
        texts = {"": texts[mapping.text]}
    if len(texts) == 1 and len(remote_task.inputs) == 1:
        inputs: Json = {remote_task.inputs[0]: next(iter(texts.values()))}
        values: dict[str, str] = {}
    else:
        inputs = {name: texts[name] for name in remote_task.inputs if name in texts}
        values = {name: texts[name] for name in remote_task.contexts if name in texts}
    if len(inputs) < len(remote_task.inputs):
        missing = ", ".join(name for name in remote_task.inputs if name not in inputs)
        return f"Which of its texts ({', '.join(sorted(texts)) or 'none'}) is {missing}? Name it with --text."
    answer = dict(mapping.answer)
    if remote_task.answers and remote_task.answers[0] not in answer:
        label = mapping.labels.get(finding.label or "", finding.label)
        if label is None:
            return f"It does not say which {remote_task.answers[0]} is right. Give one for all with --answer."
        if remote_task.labels and label not in remote_task.labels:
            options = ", ".join(remote_task.labels)
            return f"{remote_task.answers[0]} {label!r} is none of {options}. Map it with --label {label}=..."
        answer[remote_task.answers[0]] = label
    return inputs, values, answer
