"""`dynabench adversary run` and `import`: programs at the door of a platform."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynabench.cli.operator import AsJson, bar, refusals, say

if TYPE_CHECKING:
    from dynabench.adversaries.program_run import Journal, RemoteTask, RunPlan, RunStep
    from dynabench.adversaries.protocol import Adversary

Server = Annotated[str, typer.Option("--url", envvar="DYNABENCH_URL", help="The platform's address.")]
Token = Annotated[str, typer.Option(envvar="DYNABENCH_TOKEN", help="Your API token.", show_default=False)]
Dry = Annotated[bool, typer.Option("--dry-run", help="Propose nothing: say what would be.")]
Options = Annotated[
    list[str] | None, typer.Option("--option", help="An option of the adversary as NAME=VALUE. Again for more.")
]


def pairs(given: list[str] | None) -> dict[str, str]:
    """Return the values of an option that is given as NAME=VALUE; raise `Invalid` for another form."""
    from dynabench.kit.errors import Invalid

    made = {}
    for each in given or ():
        name, equals, value = each.partition("=")
        if not equals:
            raise Invalid({"option": f"Write NAME=VALUE, not {each!r}."})
        made[name.strip()] = value.strip()
    return made


def options(given: list[str] | None) -> dict[str, Any]:
    """Return the values of `--option`; each value that is JSON is decoded, such as numbers, true and false."""
    import json

    made: dict[str, Any] = {}
    for name, value in pairs(given).items():
        try:
            made[name.replace("-", "_")] = json.loads(value)
        except ValueError:
            made[name.replace("-", "_")] = value
    return made


def allowed(token: str, dry: bool) -> None:
    """Raise `Unauthenticated` for proposals without a token, before any query is spent; a dry run needs none."""
    from dynabench.kit.errors import Unauthenticated

    if not token and not dry:
        raise Unauthenticated(
            "What is proposed needs a name: set DYNABENCH_TOKEN to a token of yours with the scope annotate, made on "
            "your settings page, or look first with --dry-run."
        )


def run(
    task: Annotated[str, typer.Argument(help="The task, of which a round is open.")],
    with_: Annotated[str, typer.Option("--with", help="The adversary.")],
    url: Server = "http://127.0.0.1:8000",
    token: Token = "",
    contexts: Annotated[int, typer.Option(min=1, help="Contexts in all, those of earlier runs with them.")] = 20,
    queries: Annotated[int | None, typer.Option(min=1, help="Queries of a target, for each context.")] = 200,
    seconds: Annotated[float | None, typer.Option(min=0, help="Seconds for each context.")] = None,
    cost: Annotated[
        float | None, typer.Option(min=0, help="Dollars for models of the adversary's own, in all.")
    ] = None,
    model: Annotated[str, typer.Option(help="Attack this installed model in place of the round's targets.")] = "",
    texts: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="JSONL of inputs with answers to start from.")
    ] = None,
    only_fooling: Annotated[bool, typer.Option(help="Keep back what does not fool.")] = False,
    journal: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Where to note what was done; by default TASK-ADVERSARY.jsonl.")
    ] = None,
    option: Options = None,
    dry_run: Dry = False,
    as_json: AsJson = False,
) -> None:
    """Attack the open round's targets and propose what comes of it, one example a context, for people to check.

    What was done is noted in a file: the same command goes on where it was stopped, and sends nothing twice.
    """
    from dynabench.adversaries import attacks as files
    from dynabench.adversaries import program_run, protocol
    from dynabench.adversaries.program_run import Journal, RemoteTask
    from dynabench.adversaries.protocol import Budget
    from dynabench.client import Client

    with refusals(), Client(url, token, timeout=120) as client, ExitStack() as stack:
        allowed(token, dry_run)
        adversary = protocol.create_adversary(with_, **options(option))
        stack.callback(getattr(adversary, "close", lambda: None))
        site = RemoteTask(client, task)
        _inform(adversary, site, signed_in=bool(token))
        about = {"task": task, "round": site.round, "program": adversary.name, "version": adversary.version, "url": url}
        noted = Journal.open(journal or Path(f"{task}-{with_}.jsonl"), about)
        given = files.read_start_texts(texts, site.inputs, site.contexts, site.answers) if texts else ()
        plan = program_run.RunPlan(contexts, Budget(queries, seconds, cost), cost, only_fooling, dry_run, given)
        with bar(f"{adversary.name} on {task}", as_json) as tell:
            steps = _watched(program_run.run_program(site, adversary, noted, plan, _local(model)), noted, plan, tell)
    answer = about | _told(noted, steps, dry_run)
    say(as_json, answer, _said(answer, dry_run))


def _inform(adversary: "Adversary", site: "RemoteTask", signed_in: bool) -> None:
    """Tell an adversary that asks for it of the task, and of what fooled before."""
    from dynabench.adversaries.language_model import SHOTS, InformedAdversary

    if isinstance(adversary, InformedAdversary):
        adversary.inform(site.config, site.successes(SHOTS) if signed_in else ())


def _watched(
    steps: "Iterator[RunStep]", noted: "Journal", plan: "RunPlan", tell: Callable[[int, int], object]
) -> "list[RunStep]":
    """All steps, each told as it is done."""
    done: list[RunStep] = []
    tell(noted.done, plan.contexts)
    for step in steps:
        done.append(step)
        tell(len(done) if plan.dry else noted.done, plan.contexts)
    return done


def _told(noted: "Journal", steps: "list[RunStep]", dry: bool) -> dict[str, Any]:
    """Return the figures of all runs so far, and the outcomes of this run's steps."""
    now = Counter("refused" if each.refused else "proposed" if each.body else "nothing" for each in steps)
    told = {
        "contexts": noted.done,
        "proposed": noted.sent,
        "fooled": noted.fooled,
        "refused": [{"context": each.context, "why": each.refused} for each in steps if each.refused],
        "queries": noted.queries,
        "cost": noted.cost,
        "now": dict(now),
    }
    return told | ({"would_propose": [each.body for each in steps if each.body]} if dry else {})


def _local(name: str) -> Any:
    if not name:
        return None
    from dynabench.adversaries.attacks import LocalTarget
    from dynabench.models import catalog

    wanted, _, version = name.partition("@")
    return LocalTarget(catalog.open_model(catalog.entry(wanted, version or None).folder))


def _said(answer: dict[str, Any], dry: bool) -> str:
    lines = [
        f"{answer['program']} {answer['version']} on {answer['task']}, round {answer['round']}: "
        f"{answer['contexts']} contexts, {answer['proposed']} proposed, {answer['fooled']} fooled, "
        f"{len(answer['refused'])} refused; {answer['queries']:,} queries, ${answer['cost']:.4f}."
    ]
    lines += [f"Context {each['context']} was refused: {each['why']}" for each in answer["refused"]]
    for each in answer.get("would_propose", ()) if dry else ():
        lines.append(f"Would propose: {each['input']} as {each['answer']}")
    return "\n".join(lines)


def bring(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="What the other program wrote.")],
    from_: Annotated[str, typer.Option("--from", help="garak, promptfoo or textattack.")],
    task: Annotated[str, typer.Option("--task", help="The task, of which a round is open.")],
    url: Server = "http://127.0.0.1:8000",
    token: Token = "",
    text: Annotated[str, typer.Option(help="Which of several texts is the input.")] = "",
    label: Annotated[list[str] | None, typer.Option(help="THEIRS=OURS: what an answer of theirs is here.")] = None,
    answer: Annotated[list[str] | None, typer.Option(help="FIELD=VALUE: the answer that is right for all.")] = None,
    journal: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Where to note what was done; by default FILE.TASK.jsonl.")
    ] = None,
    dry_run: Dry = False,
    as_json: AsJson = False,
) -> None:
    """Propose what garak, promptfoo or TextAttack found, for people to check; say line by line what is not taken."""
    import hashlib

    from dynabench.adversaries import reports
    from dynabench.adversaries.program_run import Journal, RemoteTask
    from dynabench.client import Client

    with refusals(), Client(url, token, timeout=120) as client:
        allowed(token, dry_run)
        report = reports.read_report(from_, file)
        site = RemoteTask(client, task)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        about = {
            "task": task,
            "round": site.round,
            "program": report.program,
            "version": report.version,
            "file": digest,
        }
        noted = Journal.open(journal or file.with_name(f"{file.name}.{task}.jsonl"), about)
        labels = {name: str(value) for name, value in pairs(label).items()}
        mapped = reports.ReportMapping(text, labels, pairs(answer))
        steps = []
        with bar(f"{report.program} into {task}", as_json) as tell:
            for step in reports.import_report(site, noted, report, mapped, dry_run):
                steps.append(step)
                tell(len(steps), len(report.findings) + len(report.skipped))
    left = [{"at": each.context, "why": each.refused} for each in steps if each.refused]
    told: dict[str, Any] = about | {"proposed": noted.sent, "fooled": noted.fooled, "not_taken": left}
    told |= {"would_propose": [each.body for each in steps if each.body]} if dry_run else {}
    lines = [f"{report.program} {report.version}: {noted.sent} proposed, {noted.fooled} fooled, {len(left)} not taken."]
    lines += [f"{each['at']}: {each['why']}" for each in left]
    lines += [f"Would propose: {each['input']} as {each['answer']}" for each in told.get("would_propose", ())]
    say(as_json, told, "\n".join(lines))
